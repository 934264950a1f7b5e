"""Files that undust wrote earlier open now and mean the same; those of a later undust are refused with a reason.

`tests/data/formats/1` was written by `tests.data.make_formats` and stays as it is, whatever is written now.
"""

import json
import shutil
import sqlite3
import struct
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import orjson
import pyarrow.parquet as pq
import pytest

from tests.data.make_formats import URLS
from undust import cli, corpus, pipeline
from undust.corpus import Tally
from undust.corpus.fingerprints import FingerprintFiles
from undust.crawl.frontier import Frontier
from undust.crawl.seen import Seen
from undust.crawl.sqlite_store import APPLICATION
from undust.crawl.store import open_store
from undust.errors import InputError
from undust.index.online import Index
from undust.run.flow import run

KEPT = Path(__file__).parent / "data" / "formats"
VERSIONS = sorted(path.name for path in KEPT.iterdir())


@pytest.fixture(params=VERSIONS)
def old(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Copy the files of a version: some are changed by being opened."""
    return Path(shutil.copytree(KEPT / request.param, tmp_path / "old"))


def test_the_first_version_is_kept() -> None:
    assert "1" in VERSIONS
    assert sum(path.stat().st_size for path in KEPT.rglob("*") if path.is_file()) < 200_000


def test_rules_open_in_both_forms_and_do_what_they_did(old: Path) -> None:
    plain, binary = pipeline.load_rules(old / "rules.json"), pipeline.load_rules(old / "rules.bin")
    assert list(plain) == list(binary)
    for url, cluster in URLS:
        assert plain.normalize(url) == binary.normalize(url) == f"http://a.example/{cluster}"
    assert plain.normalize("http://a.example/new?sid=1") == "http://a.example/new"


def test_tables_open(old: Path) -> None:
    assert corpus.read_clusters(old / "clusters.parquet").num_rows == len(URLS)
    pages = corpus.read_fingerprints(str(old / "pages.parquet"), tally=Tally())
    assert set(pages["url"].to_pylist()) == {url for url, _ in URLS}
    found = pipeline.cluster(pages, method="exact")
    assert len(set(found["cluster"].to_pylist())) == 12


def test_an_index_opens_and_goes_on(old: Path) -> None:
    with Index(old / "index") as index:
        index.check()
        assert len(index) == len(URLS)
        assert index.stats()["duplicates"] == len(URLS) - 12
        kept = index.get("http://a.example/p3")
        assert kept is not None
        assert index.remove("http://a.example/p3?sid=3")


def test_a_store_opens_and_remembers(old: Path) -> None:
    rules = pipeline.load_rules(old / "rules.json")
    with Seen(old / "seen.store", rules=rules) as seen:
        assert all(seen.known_urls(url for url, _ in URLS))
        assert not seen.known_url("http://a.example/other")


def test_a_run_opens_and_goes_on(old: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["run", str(old / "clusters.parquet"), "-o", str(old / "run"), "--quiet", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["rules"] == len(pipeline.load_rules(old / "rules.json"))


# A newer file


def in_json(path: Path, name: str) -> None:
    found = orjson.loads(path.read_bytes())
    found[name] = 99
    path.write_bytes(orjson.dumps(found))


def in_sqlite(path: Path) -> None:
    with closing(sqlite3.connect(path)) as base:
        base.execute("PRAGMA user_version = 99")


def rules_json(folder: Path) -> None:
    in_json(folder / "rules.json", "version")
    pipeline.load_rules(folder / "rules.json")


def rules_bin(folder: Path) -> None:
    path = folder / "rules.bin"
    data = bytearray(path.read_bytes())
    struct.pack_into("<q", data, 8, 99)
    path.write_bytes(data)
    pipeline.load_rules(path)


def index(folder: Path) -> None:
    in_json(folder / "index" / "manifest.json", "format")
    Index(folder / "index")


def store(folder: Path) -> None:
    in_sqlite(folder / "seen.store")
    open_store(folder / "seen.store")


def crawl(folder: Path) -> None:
    Frontier(folder / "state.sqlite").close()
    in_sqlite(folder / "state.sqlite")
    Frontier(folder / "state.sqlite")


def run_folder(folder: Path) -> None:
    in_json(folder / "run" / "run.json", "version")
    run(folder / "clusters.parquet", output=folder / "run")


def pages(folder: Path) -> None:
    table = pq.read_table(folder / "pages.parquet")
    (key,) = (name for name in table.schema.metadata if b"undust" in name or b"signature" in name)
    said = json.loads(table.schema.metadata[key]) | {"something_new": 1}
    changed = table.replace_schema_metadata({**table.schema.metadata, key: json.dumps(said).encode()})
    pq.write_table(changed, folder / "pages.parquet")
    pipeline.cluster(FingerprintFiles((str(folder / "pages.parquet"),)), method="minhash")


NEWER: list[Callable[[Path], None]] = [rules_json, rules_bin, index, store, crawl, run_folder, pages]


@pytest.mark.parametrize("meet", NEWER, ids=lambda meet: meet.__name__)
def test_a_newer_file_is_refused_with_a_reason(old: Path, meet: Callable[[Path], None]) -> None:
    with pytest.raises(InputError) as caught:
        meet(old)
    said = str(caught.value)
    assert "\n" not in said
    assert "99" in said or "something_new" in said, said
    assert "version" in said or "format" in said or "parameters" in said, said


def test_a_newer_run_is_left_as_it_is(old: Path) -> None:
    before = {path.name: path.read_bytes() for path in (old / "run").iterdir() if path.name != "run.json"}
    with pytest.raises(InputError):
        run_folder(old)
    assert {path.name: path.read_bytes() for path in (old / "run").iterdir() if path.name != "run.json"} == before


def test_stores_are_known_by_their_mark(old: Path) -> None:
    with closing(sqlite3.connect(old / "seen.store")) as base:
        assert base.execute("PRAGMA application_id").fetchone()[0] == APPLICATION
