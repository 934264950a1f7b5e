"""Fuzzes every target in a process of its own: python -m tests.fuzz --seconds 600 [--target NAME] [--keep]."""

import argparse
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from tests.fuzz.targets import CORPUS, TARGETS

LIMITS = ["-rss_limit_mb=1500", "-timeout=30", "-max_len=6000", "-print_final_stats=1", "-verbosity=1"]


@dataclass(frozen=True, slots=True)
class Run:
    """What came of fuzzing one target."""

    target: str
    executions: int
    new_inputs: int
    findings: list[Path]

    def __str__(self) -> str:
        found = f"{len(self.findings)} findings" if self.findings else "no findings"
        return f"{self.target:10} {self.executions:>11,} executions  {self.new_inputs:>5} new inputs  {found}"


def fuzz(target: str, seconds: int, folder: Path, *, keep: bool) -> Run:
    """Fuzz one target until the time is over or a law is broken; the input that broke it is saved in the folder."""
    saved = folder / target
    saved.mkdir(parents=True, exist_ok=True)
    before = set(saved.glob("*-*"))
    seeds = CORPUS / target
    seeds.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="undust-fuzz-") as grown:
        options = [f"-max_total_time={seconds}", f"-artifact_prefix={saved}/", *LIMITS]
        log = _child("one", target, *options, grown, str(seeds))
        (saved / "log.txt").write_text(log)
        if keep:
            _child("keep", target, grown)
    return Run(
        target,
        _stat(log, "number_of_executed_units"),
        _stat(log, "new_units_added"),
        sorted(set(saved.glob("*-*")) - before),
    )


def _child(module: str, *arguments: str) -> str:
    command = [sys.executable, "-m", f"tests.fuzz.{module}", *arguments]
    done = subprocess.run(command, capture_output=True, check=False, cwd=Path(__file__).parents[2])
    return done.stderr.decode("utf-8", "replace") + done.stdout.decode("utf-8", "replace")


def _stat(log: str, name: str) -> int:
    found = re.search(rf"stat::{name}:\s*(\d+)", log)
    return int(found[1]) if found else 0


def main() -> None:
    """Share the time among the targets, and fail where one has a finding."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--seconds", type=int, default=600, help="for all targets together, if one runs at a time")
    parser.add_argument("--target", action="append", choices=sorted(TARGETS), help="all if none is given")
    parser.add_argument("--jobs", type=int, default=1, help="targets at a time")
    parser.add_argument("--save", type=Path, default=Path("build", "fuzz"), help="folder for inputs that break a law")
    parser.add_argument("--keep", action="store_true", help="add inputs that reach new code to tests/fuzz/corpus")
    options = parser.parse_args()
    targets = options.target or list(TARGETS)
    seconds = max(1, options.seconds // len(targets))
    runs = []
    with ThreadPoolExecutor(options.jobs) as pool:
        for run in pool.map(lambda name: fuzz(name, seconds, options.save.resolve(), keep=options.keep), targets):
            print(run, flush=True)
            for finding in run.findings:
                print(f"    {finding}; log beside it", flush=True)
            if not run.executions:
                print(f"    did not start; see {options.save / run.target / 'log.txt'}", flush=True)
            runs.append(run)
    if any(run.findings or not run.executions for run in runs):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
