"""`undust dedup`: the pages that stay are rows of the input, and each that goes has its reason."""

import gzip
import json
import os
import random
import re
import subprocess
import sys
from collections import Counter
from importlib import resources
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import undust
from undust import corpus
from undust.cli import main
from undust.dedup import KEPT
from undust.detect.clusters import BY
from undust.errors import InputError, UsageError
from undust.memory import resident_bytes
from undust.tables import REMOVED

SAMPLE = str(resources.files("undust") / "data" / "sample.warc.gz")
METHODS = ("exact", "simhash", "minhash", "bag", "cascade")


def words(seed: int, count: int = 200) -> list[str]:
    chance = random.Random(seed)
    return ["".join(chance.choices("abcdefghijklmnop", k=6)) for _ in range(count)]


def page(url: str, seed: int, changed: int = 0, **more: Any) -> dict[str, Any]:
    """A page of random words, the last of them changed."""
    text = words(seed)
    text[len(text) - changed :] = words(1000 + seed + changed, changed)
    return {"url": url, "text": " ".join(text), **more}


def write_lines(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def shingles(text: str) -> set[tuple[str, ...]]:
    found = text.split()
    return {tuple(found[at : at + 5]) for at in range(len(found) - 4)}


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    """Three pages, near duplicates and equal ones of them, an older capture, and pages that are alone."""
    rows = [
        page("http://a.test/one?sid=1", 1, time="2024-01-02"),
        page("http://a.test/one", 1, time="2024-01-02"),
        page("https://a.test/one?long=name", 1, 5, time="2024-01-01"),
        page("http://a.test/two", 2, time="2024-01-03"),
        page("http://a.test/two", 3, time="2024-01-01"),  # an older capture, of what was another page then
        page("http://a.test/two/print", 2, 9, time="2024-01-01"),
        {"url": "http://a.test/empty", "text": "…", "time": "2024-01-01"},
        {"url": "http://a.test/nothing", "text": "- -", "time": "2024-01-01"},
        page("http://a.test/three", 4, time="2024-01-01"),
    ]
    return write_lines(tmp_path / "pages.jsonl", rows)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("by", BY)
def test_every_page_stays_or_goes_and_what_stays_is_as_it_was(method: str, by: str) -> None:
    found = undust.dedup(SAMPLE, method=method, by=by)
    read = [row for batch in undust.read_pages([SAMPLE], tally=undust.Tally()) for row in batch.to_pylist()]
    kept, removed = found.kept().to_pylist(), found.removed().to_pylist()
    assert found.kept().schema == KEPT
    assert found.removed().schema == REMOVED
    assert Counter(row["url"] for row in read) == Counter(row["url"] for row in kept + removed)
    places = [read.index({name: value for name, value in row.items() if name != "title"}) for row in kept]
    assert places == sorted(places)  # rows of the input, in its order
    urls = {row["url"] for row in kept}
    assert len(urls) == len(kept)
    assert {row["keeper"] for row in removed} <= urls
    assert any(row["title"] for row in kept)
    told = found.to_dict()
    assert told["pages"] == len(read) == told["kept"] + told["removed"]
    assert told["removed_by"] == Counter(row["method"] for row in removed)


def test_the_list_says_of_which_page_by_which_method_and_how_similar(pages: Path) -> None:
    found = undust.dedup(pages, threshold=0.8, keep="shortest")
    assert [row["url"] for row in found.kept().to_pylist()] == [
        "http://a.test/one",
        "http://a.test/two",
        "http://a.test/empty",
        "http://a.test/nothing",
        "http://a.test/three",
    ]
    removed = {(row["url"], row["method"]): row for row in found.removed().to_pylist()}
    texts = {row["url"]: row["text"] for row in map(json.loads, reversed(pages.read_text().splitlines()))}

    def jaccard(a: str, b: str) -> float:
        one, other = shingles(texts[a]), shingles(texts[b])
        return len(one & other) / len(one | other)

    near = "https://a.test/one?long=name"
    assert removed.keys() == {
        ("http://a.test/one?sid=1", "exact"),
        (near, "minhash"),
        ("http://a.test/two", "url"),
        ("http://a.test/two/print", "minhash"),
    }
    assert removed["http://a.test/one?sid=1", "exact"]["similarity"] == 1
    assert removed[near, "minhash"]["keeper"] == "http://a.test/one"
    assert removed[near, "minhash"]["similarity"] == pytest.approx(jaccard(near, "http://a.test/one"))
    assert removed["http://a.test/two", "url"] == {
        "url": "http://a.test/two",
        "keeper": "http://a.test/two",
        "method": "url",
        "similarity": None,
    }
    assert found.to_dict()["least_similar"] == pytest.approx(jaccard("http://a.test/two/print", "http://a.test/two"))


@pytest.mark.parametrize(
    ("keep", "keeper"),
    [
        ("https", "https://a.test/one?long=name"),
        ("shortest", "http://a.test/one"),
        ("first", "https://a.test/one?long=name"),
        ("newest,shortest", "http://a.test/one"),
        (["newest", "longest"], "http://a.test/one"),
    ],
)
def test_policies_choose_which_page_stays(pages: Path, keep: Any, keeper: str) -> None:
    kept = {row["url"] for row in undust.dedup(pages, keep=keep).kept().to_pylist()}
    assert {url for url in kept if "/one" in url} == {keeper}


def test_the_page_that_most_pages_link_to_can_stay(tmp_path: Path) -> None:
    body = " ".join(words(1))
    link = '<a href="http://a.test/long-name?x=1#top">read</a>'
    rows = [
        {"url": "http://a.test/b", "html": f"<p>{body}"},
        {"url": "http://a.test/long-name?x=1", "html": f"<p>{body} <a href='?x=1'>itself</a>"},
        {"url": "http://a.test/c", "html": f"<p>{' '.join(words(2))} {link} {link} <a href='/b'>b</a>"},
        {"url": "http://a.test/d", "html": f"<p>{' '.join(words(3))} {link}"},
    ]
    source = write_lines(tmp_path / "p.jsonl", rows)
    kept = [row["url"] for row in undust.dedup(source, keep="inlinks").kept().to_pylist()]
    assert kept == ["http://a.test/long-name?x=1", "http://a.test/c", "http://a.test/d"]


def test_pages_kept_by_their_centre_are_as_similar_as_was_asked_for() -> None:
    found = undust.dedup(SAMPLE, threshold=0.6, keep="center", content="all")
    near = [row["similarity"] for row in found.removed().to_pylist() if row["method"] == "minhash"]
    assert len(near) > 20
    assert min(near) >= 0.6


@pytest.mark.parametrize("ending", [".parquet", ".jsonl", ".jsonl.gz", ".csv", ".tsv"])
def test_the_list_is_beside_the_pages_in_the_same_format(tmp_path: Path, pages: Path, ending: str) -> None:
    out = tmp_path / f"kept{ending}"
    assert main(["dedup", str(pages), "-o", str(out), "-q"]) == 0
    listed = tmp_path / f"kept.removed{ending}"
    if ending == ".parquet":
        assert pq.read_table(out).num_rows == 5
        assert pq.read_table(listed).schema.names == REMOVED.names
    else:
        opened = gzip.open if ending.endswith(".gz") else open
        with opened(listed, "rt") as file:
            assert "http://a.test/two/print" in file.read()
        (read,) = undust.read_pages([out], tally=undust.Tally())
        assert len(read) == 5  # pages, for whoever reads on
    assert not list(tmp_path.glob("*.parts"))


def test_the_text_of_pages_can_be_written_instead_of_their_html(tmp_path: Path) -> None:
    out, listed = tmp_path / "kept.jsonl", tmp_path / "gone.tsv"
    assert main(["dedup", SAMPLE, "-o", str(out), "--text", "--removed", str(listed), "-q"]) == 0
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert "html" not in rows[0]
    assert sum("<" not in (row["text"] or "") for row in rows) > len(rows) / 2
    assert listed.read_text().startswith("url\tkeeper\tmethod\tsimilarity\n")


def test_a_program_can_read_the_summary(tmp_path: Path, pages: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "kept.tsv"
    assert main(["dedup", str(pages), "-o", str(out), "--keep", "shortest", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["pages"], told["kept"], told["removed"]) == (9, 5, 4)
    assert told["removed_by"] == {"minhash": 2, "exact": 1, "url": 1}
    assert told["removed_output"] == str(tmp_path / "kept.removed.tsv")
    assert main(["dedup", str(pages), "-o", str(out), "--keep", "shortest"]) == 0
    err = capsys.readouterr().err
    assert "kept 5 of 9 pages; removed 4 (44.4%): minhash 2, exact 1, url 1" in err


def test_pages_come_from_a_pipe_and_go_into_one(pages: Path) -> None:
    command = [sys.executable, "-m", "undust", "dedup", "-", "-o", "-", "-q"]
    done = subprocess.run(command, input=pages.read_bytes(), capture_output=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 6


def test_an_interrupted_run_goes_on_where_it_was(tmp_path: Path, pages: Path) -> None:
    out = tmp_path / "kept.jsonl"
    (tmp_path / "kept.removed.jsonl").mkdir()  # in the way of the list, after the first pass
    assert main(["dedup", str(pages), "-o", str(out), "-q"]) == 1
    assert not out.exists()
    made = tmp_path / "kept.jsonl.parts" / "fingerprints.parquet"
    assert made.exists()
    (tmp_path / "kept.removed.jsonl").rmdir()
    before = made.stat().st_mtime_ns
    # The input changes without a trace: what is known of it can only be what was kept.
    seen = pages.stat()
    pages.write_text(pages.read_text().replace("a.test/three", "a.test/3hree"))
    os.utime(pages, ns=(seen.st_atime_ns, seen.st_mtime_ns))
    found = undust.dedup(pages, folder=made.parent)
    assert made.stat().st_mtime_ns == before
    assert "http://a.test/three" in found.removals.captures.urls.to_pylist()
    assert main(["dedup", str(pages), "-o", str(out), "-q"]) == 0
    assert not made.parent.exists()


def test_other_options_do_not_go_on_with_what_was_kept(tmp_path: Path, pages: Path) -> None:
    folder = tmp_path / "parts"
    undust.dedup(pages, folder=folder)
    first = (folder / "fingerprints.parquet").read_bytes()
    undust.dedup(pages, folder=folder, content="all")
    assert (folder / "fingerprints.parquet").read_bytes() != first


def test_an_input_that_changes_between_the_passes_is_refused(pages: Path) -> None:
    found = undust.dedup(pages)
    rows = pages.read_text().splitlines(keepends=True)
    pages.write_text("".join(rows[:-1]))
    with pytest.raises(InputError, match="changed while it was read"):
        found.kept()
    pages.write_text("".join([*rows, rows[0]]))
    with pytest.raises(InputError, match="changed while it was read"):
        found.kept()


def test_the_result_is_the_same_for_any_number_of_processes_and_little_memory(tmp_path: Path, pages: Path) -> None:
    little = resident_bytes() + 200 * 2**20  # what other tests have left in this process counts too
    results = [undust.dedup(SAMPLE, pages, jobs=1), undust.dedup(SAMPLE, pages, jobs=2, memory=little)]
    assert results[0].removed().equals(results[1].removed())
    assert results[0].kept().equals(results[1].kept())


def test_what_cannot_be_is_refused_before_anything_is_read(tmp_path: Path, pages: Path) -> None:
    with pytest.raises(UsageError, match="one of exact, simhash"):
        undust.dedup(pages, method="guess")
    with pytest.raises(UsageError, match="unknown policy 'best'"):
        undust.dedup(pages, keep="shortest,best")
    with pytest.raises(UsageError, match="no size"):
        undust.dedup(pages, memory="much")
    assert main(["dedup", str(pages), "-o", str(tmp_path / "kept.doc"), "-q"]) == 2
    assert main(["dedup", str(tmp_path / "none.warc"), "-o", str(tmp_path / "kept.tsv"), "-q"]) == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["pages.jsonl"]


@pytest.mark.parametrize(
    ("output", "removed", "says"),
    [
        ("pages.jsonl", None, "pages.jsonl: is an input already"),
        ("kept.jsonl", "pages.jsonl", "pages.jsonl: is an input already"),
        ("kept.jsonl", "./kept.jsonl", "kept.jsonl: is where the kept pages go already"),
    ],
)
def test_nothing_is_written_over_the_input_or_over_the_other_output(
    pages: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    output: str,
    removed: str | None,
    says: str,
) -> None:
    monkeypatch.chdir(pages.parent)
    before = pages.read_bytes()
    listed = ["--removed", removed] if removed else []
    assert main(["dedup", "pages.jsonl", "-o", output, *listed]) == 2
    assert says in capsys.readouterr().err
    with pytest.raises(UsageError, match=says):
        undust.dedup("pages.jsonl").save(output, removed)
    assert pages.read_bytes() == before
    assert list(pages.parent.iterdir()) == [pages]


def test_rows_with_columns_of_their_own_are_had_by_their_urls(tmp_path: Path, pages: Path) -> None:
    lines = map(json.loads, pages.read_text().splitlines())
    distinct = {row["url"]: {**row, "id": at, "tags": ["x", str(at)]} for at, row in enumerate(lines)}
    pq.write_table(pa.Table.from_pylist(list(distinct.values())), tmp_path / "corpus.parquet")
    found = undust.dedup(tmp_path / "corpus.parquet")
    found.save(tmp_path / "kept.parquet")
    docs = (Path(__file__).parents[1] / "docs" / "duplicates.md").read_text("utf-8")
    (query,) = re.findall(r'duckdb\.sql\("(.*)"\)', docs)
    with duckdb.connect() as connection:
        connection.execute(f"SET file_search_path = '{tmp_path}'")
        joined = connection.sql(query).to_arrow_table().to_pylist()
    stay = found.kept()["url"].to_pylist()
    assert len(stay) < len(distinct)
    assert {row["url"]: (row["id"], row["tags"]) for row in joined} == {
        url: (distinct[url]["id"], distinct[url]["tags"]) for url in stay
    }


def test_fingerprints_are_no_pages(tmp_path: Path, pages: Path) -> None:
    corpus.write_table(undust.fingerprint(pages), tmp_path / "f.parquet")
    with pytest.raises(InputError, match="holds fingerprints, not pages"):
        undust.dedup(tmp_path / "f.parquet")
