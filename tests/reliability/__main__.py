"""Runs the crash matrix and tells what came of it, as JSON: python -m tests.reliability [--kills N] [--verb NAME]."""

import argparse
import json
import shutil
import tempfile
from dataclasses import asdict
from pathlib import Path

import pyarrow as pa

from tests.reliability.children import try_first
from tests.reliability.matrix import FULL, Case, Tried
from tests.reliability.verbs import VERBS, Verb, make_world


def try_all(verb: Verb, world: Path, folder: Path, kills: int, points: int, seed: int) -> Tried:
    """Do everything to one verb."""
    case = Case(verb, world, folder)
    if points:
        case.kill_here_and_there(points)
    else:
        case.kill_everywhere()
    case.kill_at_random(kills, seed)
    case.fill_the_disk(FULL[1:2] if points else FULL)
    case.refuse()
    case.pair()
    return case.tried


def prepare(world: Path) -> int:
    """Make the inputs, and what verbs need that work on outputs of others."""
    from undust import cli, corpus, pipeline

    make_world(world)
    for state in ("old", "new"):
        rules = pipeline.learn(corpus.read_clusters(str(world / f"{state}.tsv")))
        rules.save(str(world / f"rules.{state}.json"))
        pages, made = str(world / f"{state}.jsonl"), str(world / f"{state}.pages.parquet")
        assert cli.main(["fingerprint", pages, "-o", made, "--links", "--quiet"]) == 0
    shutil.copy(world / "rules.old.json", world / "more.json")
    return 0


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser(prog="python -m tests.reliability", description=__doc__)
    parser.add_argument("--kills", type=int, default=0, help="of each verb at random, beside those at each change")
    parser.add_argument("--points", type=int, default=0, help="kill before so many changes of files only (3 or more)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--verb", action="append", choices=[verb.name for verb in VERBS], help="all if none is given")
    options = parser.parse_args()
    pa.set_cpu_count(1)
    pa.set_io_thread_count(1)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        place.chmod(0o755)  # one fault is to be a stranger
        world = place / "world"
        (world / "tmp").mkdir(parents=True)
        end = try_first(lambda: prepare(world), world)
        assert end.code == 0, end.said
        (world / "tmp").rmdir()
        for number, verb in enumerate(VERBS):
            if options.verb and verb.name not in options.verb:
                continue
            found = try_all(verb, world, place / str(number), options.kills, options.points, options.seed)
            print(json.dumps({"verb": verb.name, **asdict(found)}), flush=True)


if __name__ == "__main__":
    main()
