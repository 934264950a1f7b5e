"""Writes one small file of each format that undust keeps: python -m tests.data.make_formats FOLDER.

What a released version has written stays in `tests/data/formats/` for good; later versions must open it.
"""

import contextlib
import json
import sys
import tempfile
from pathlib import Path

import pyarrow as pa

from undust import cli, corpus, pipeline
from undust.corpus import Tally
from undust.crawl.seen import Seen
from undust.index.online import Index

URLS = [(f"http://a.example/p{i}{s}", f"p{i}") for i in range(12) for s in ("", f"?sid={i}", f"?sid={i + 40}")]


def make(folder: Path) -> None:
    """Write them."""
    folder = folder.absolute()
    folder.mkdir(parents=True)
    table = pa.table({"url": [url for url, _ in URLS], "cluster": [cluster for _, cluster in URLS]})
    corpus.write_table(table, folder / "clusters.parquet")
    rules = pipeline.learn(table)
    rules.save(str(folder / "rules.json"))
    rules.save(str(folder / "rules.bin"))
    with tempfile.TemporaryDirectory() as aside:
        lines = [json.dumps({"url": url, "html": f"<p>{name} is a page"}) for url, name in URLS]
        with contextlib.chdir(aside):  # the table tells which file a page is of
            Path("pages.jsonl").write_text("\n".join(lines))
            assert cli.main(["fingerprint", "pages.jsonl", "-o", str(folder / "pages.parquet"), "--quiet"]) == 0
    with Index(folder / "index", methods=("exact",)) as index:
        index.add_many(corpus.read_fingerprints(str(folder / "pages.parquet"), tally=Tally()))
    with Seen(folder / "seen.store", rules=rules) as seen:
        seen.seen_urls(url for url, _ in URLS)
    assert cli.main(["run", str(folder / "clusters.parquet"), "-o", str(folder / "run"), "--quiet"]) == 0
    for name in ("report.html", "report.txt", "report.json"):
        (folder / "run" / name).unlink()  # for people; nothing reads them again
    (folder / "index" / "lock").unlink()


if __name__ == "__main__":
    make(Path(sys.argv[1]))
