"""What writes, and how it is called: with the inputs of an older and of a newer state of the world."""

import itertools
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from undust import cli, corpus
from undust.errors import UndustError

Call = Callable[[str], int]
"""Does its work with the inputs `old` or `new`, which are in the folder it is called in."""

VARYING = ("report.html", "report.json", "report.txt", "run.json", "about.json", "compared.html")
"""Outputs that tell when they were made: they are looked at for being whole only."""


@dataclass(frozen=True, slots=True)
class Verb:
    """One row of the matrix."""

    name: str
    call: Call
    shares: bool = False
    """Whether two may write the same output at once, the later of which stays; else the second is told to wait."""


def verb(*arguments: str) -> Call:
    """Call the command line; `{}` is the name of the state of the world."""
    return lambda state: cli.main([argument.replace("{}", state) for argument in arguments])


def seeded(call: Call) -> Call:
    """Use numbers where a verb takes no names."""
    return lambda state: call({"old": "1", "new": "2"}[state])


def told(call: Call) -> Call:
    """Let a function of the API end as the command line does."""

    def ended(state: str) -> int:
        try:
            return call(state)
        except UndustError as error:
            print(f"undust: {error}", file=sys.stderr)
            return error.exit_code

    return ended


def index(state: str) -> int:
    """Add pages to an index, remove some, and write it anew."""
    from tests.index_load import MADE, METHODS, THRESHOLD, change
    from tests.index_oracle import table
    from undust.index.online import Index

    with Index("out/index", methods=METHODS, threshold=THRESHOLD, buffer_pages=16) as opened:
        for number in range(3 if state == "old" else 6):
            kind, pages = change(7, number)
            if kind == "add":
                opened.add_many(table(pages[:40], MADE))
        opened.compact()
        opened.remove_many([f"http://a.test/{n}" for n in range(1000)] if state == "new" else [])
    return 0


def catalog(state: str) -> int:
    """Make the index of a served run; it is made anew when the run has changed."""
    from undust.serve.catalog import open_catalog
    from undust.serve.folder import RunFolder

    Path("out/run").mkdir(exist_ok=True)
    source, target = Path(f"{state}.tsv"), Path("out/run/clusters.parquet")
    if not target.exists() or corpus.read_clusters(str(target)).num_rows != corpus.read_clusters(str(source)).num_rows:
        corpus.write_table(corpus.read_clusters(str(source)), target)
    with open_catalog(RunFolder(Path("out/run")), lambda said: None) as opened:
        assert opened is not None
    return 0


def rule_binary(state: str) -> int:
    """Save rules in their binary form."""
    from undust.pipeline import load_rules

    load_rules(f"rules.{state}.json").save("out/rules.bin")
    return 0


PAGES = "{}.jsonl"
RULES = "rules.{}.json"
OF_INPUTS = {
    "fingerprint": ("fingerprint", PAGES, "-o", "out/pages.parquet"),
    "fingerprint to text": ("fingerprint", PAGES, "-o", "out/pages.jsonl.gz"),
    "learn": ("learn", "{}.tsv", "-o", "out/rules.json", "--date", "2026-01-01"),
    "rules drop": ("rules", "drop", RULES, "--site", "b.example", "--withdraw", "-o", "out/rules.json"),
    "rules merge": ("rules", "merge", RULES, "more.json", "-o", "out/rules.json"),
    "export": ("export", RULES, "--to", "nutch", "-o", "out/regex-normalize.xml"),
    "import": ("import", "{}.params", "--from", "clean-param", "--sites", "{}.tsv", "-o", "out/rules.json"),
    "compare": ("compare", "{}.tsv", "--brief", "--learner", "tree", "-o", "out/compared.html"),
}
ONE_AT_A_TIME = {
    "cluster": ("cluster", PAGES, "-o", "out/clusters.parquet", "--method", "bag"),
    "dedup": ("dedup", PAGES, "-o", "out/kept.jsonl", "--method", "minhash"),
    "run from clusters": ("run", "{}.tsv", "-o", "out"),
    "run from pages": ("run", PAGES, "-o", "out"),
}
SYNTH = ("synth", "-o", "out", "--sites", "2", "--urls", "40", "--pages", "warc", "--seed", "{}", "--quiet")
RELATED = ("related", "{}.pages.parquet", "http://a.example/p1", "--index", "out/index.related")
VERBS = (
    *(Verb(name, verb(*arguments, "--quiet"), shares=True) for name, arguments in OF_INPUTS.items()),
    *(Verb(name, verb(*arguments, "--quiet")) for name, arguments in ONE_AT_A_TIME.items()),
    Verb("synth", seeded(verb(*SYNTH)), shares=True),
    Verb("related", verb(*RELATED), shares=True),
    Verb("rules in binary form", told(rule_binary), shares=True),
    Verb("serve", told(catalog), shares=True),
    Verb("index", told(index)),
)


def make_world(folder: Path) -> None:
    """Write the inputs of both states."""
    for state, pages in (("old", 12), ("new", 24)):
        rows = [
            (f"http://a.example/p{i}{s}", f"a{i}") for i in range(pages) for s in ("", f"?sid={i}", f"?sid={i + 7}")
        ]
        rows += [(f"http://b.example/{i}", f"b{i}") for i in range(5)]
        table = pa.table({"url": [url for url, _ in rows], "cluster": [cluster for _, cluster in rows]})
        corpus.write_table(table, folder / f"{state}.tsv")
        lines = [json.dumps({"url": url, "html": page(cluster)}) for url, cluster in rows]
        (folder / f"{state}.jsonl").write_text("\n".join(lines))
        (folder / f"{state}.params").write_text(
            "User-agent: *\n" + "".join(f"Clean-param: sid{i} /\n" for i in range(pages))
        )


def page(name: str) -> str:
    """Give a page of its own words."""
    words = itertools.islice(itertools.cycle(f"{name} tells of {name}{n} and what it is" for n in range(9)), 12)
    return f"<title>{name}</title><p>{'. '.join(words)}</p>"
