"""Near duplicates by every method, from fingerprints as they are written."""

import itertools
import json
import random
from collections import Counter
from importlib import resources
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from undust import corpus, pipeline
from undust.cli import main
from undust.clustering import THRESHOLDS
from undust.corpus.fingerprints import FingerprintFiles
from undust.detect.captures import find_captures
from undust.detect.clusters import BY
from undust.detect.evidence import Search
from undust.detect.fingerprints import fingerprints as make_fingerprints
from undust.detect.fingerprints_parameters import SignatureParameters
from undust.detect.near import near_rows
from undust.detect.shingles import flattened_bags
from undust.errors import InputError, UsageError

SAMPLE = str(resources.files("undust") / "data" / "sample.warc.gz")
METHODS = ("simhash", "minhash", "bag", "cascade")


def words(seed: int, count: int = 300) -> list[str]:
    chance = random.Random(seed)
    return ["".join(chance.choices("abcdefghijklmnop", k=6)) for _ in range(count)]


def texts() -> dict[str, str]:
    """A page, the same with a few words changed, an unlike one, two short ones and two without words."""
    page, other = words(1), words(2)
    changed = [*page[:100], "changed", *page[101:]]
    return {
        "http://a.test/page": " ".join(page) + ".",
        "http://a.test/changed": " ".join(changed) + ".",
        "http://a.test/unlike": " ".join(other) + ".",
        "http://a.test/short": "hello there",
        "http://a.test/shorter": "goodbye",
        "http://a.test/none": "- - -",
        "http://a.test/nothing": "…",
    }


def fingerprints(tmp_path: Path, pages: dict[str, str]) -> pa.Table:
    table = pa.table({"url": list(pages), "text": list(pages.values())})
    corpus.write_table(table, tmp_path / "pages.jsonl")
    return pipeline.fingerprint(tmp_path / "pages.jsonl")


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("by", BY)
def test_a_changed_page_is_found_and_others_are_left_alone(tmp_path: Path, method: str, by: str) -> None:
    clusters = pipeline.cluster(fingerprints(tmp_path, texts()), method=method, by=by, distance=6)
    found = dict(zip(clusters["url"].to_pylist(), clusters["cluster"].to_pylist(), strict=True))
    assert found["http://a.test/page"] == found["http://a.test/changed"]
    assert len(set(found.values())) == len(found) - 1
    similarity = dict(zip(clusters["url"].to_pylist(), clusters["similarity"].to_pylist(), strict=True))
    assert min(similarity.values()) > 0.8
    assert sum(value < 1 for value in similarity.values()) <= 1


@pytest.mark.parametrize("method", METHODS)
def test_the_order_of_pages_does_not_matter(tmp_path: Path, method: str) -> None:
    table = pipeline.fingerprint(SAMPLE)
    order = list(range(len(table)))
    random.Random(5).shuffle(order)
    assert pipeline.cluster(table, method=method).equals(pipeline.cluster(table.take(order), method=method))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("by", BY)
def test_files_and_little_memory_give_what_a_table_gives(tmp_path: Path, method: str, by: str) -> None:
    table = pipeline.fingerprint(SAMPLE)
    order = list(range(len(table)))
    random.Random(6).shuffle(order)
    for number, part in enumerate((order[:100], order[100:])):
        corpus.write_table(table.take(part), tmp_path / f"{number}.parquet")
    files = FingerprintFiles((str(tmp_path / "0.parquet"), str(tmp_path / "1.parquet")))
    captures = find_captures(files)
    search = Search(THRESHOLDS.get(method, 1.0), memory_bytes=1 << 14, folder=tmp_path)
    found = near_rows(files, captures, method, search, by=by)
    expected = pipeline.cluster(table, method=method, by=by)
    assert captures.url_column(found.rows).to_pylist() == expected["cluster"].to_pylist()
    assert found.similarities.tolist() == expected["similarity"].to_pylist()
    assert (method in THRESHOLDS) == (tmp_path / "shingles").exists()


@pytest.mark.parametrize("method", METHODS)
def test_pages_without_words_join_pages_of_equal_content(tmp_path: Path, method: str) -> None:
    rows: list[dict[str, Any]] = [
        {"url": "http://a.test/1.png", "html": "\x00\x01picture"},
        {"url": "http://a.test/2.png", "html": "\x00\x01picture"},
        {"url": "http://a.test/3.png", "html": "\x00\x01another"},
        {"url": "http://a.test/page", "html": "<p>hello there, you all", "digest": "sha1:AAAA"},
        {"url": "http://a.test/again", "digest": "AAAA"},  # as an archive names a page that it has already
        {"url": "http://a.test/unknown", "digest": "BBBB"},
    ]
    (tmp_path / "p.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    clusters = pipeline.cluster(pipeline.fingerprint(tmp_path / "p.jsonl"), method=method)
    found = dict(zip(clusters["url"].to_pylist(), clusters["cluster"].to_pylist(), strict=True))
    assert found == {
        "http://a.test/1.png": "http://a.test/1.png",
        "http://a.test/2.png": "http://a.test/1.png",
        "http://a.test/3.png": "http://a.test/3.png",
        "http://a.test/page": "http://a.test/page",
        "http://a.test/again": "http://a.test/page",
        "http://a.test/unknown": "http://a.test/unknown",
    }
    assert set(clusters["similarity"].to_pylist()) == {1.0}


@pytest.mark.parametrize("method", ["exact", "minhash"])
def test_the_keeper_of_each_cluster_is_named(tmp_path: Path, method: str) -> None:
    table = pipeline.fingerprint(SAMPLE)
    clusters = pipeline.cluster(table, method=method, keep="longest,shortest")
    lengths = dict(zip(table["url"].to_pylist(), table["length"].to_pylist(), strict=True))
    best: dict[str, tuple[int, int, str]] = {}
    for row in clusters.to_pylist():
        rank = (-lengths[row["url"]], len(row["url"]), row["url"])
        best[row["cluster"]] = min(best.get(row["cluster"], rank), rank)
    assert [best[row["cluster"]][2] for row in clusters.to_pylist()] == clusters["keeper"].to_pylist()


def test_the_order_of_words_does_not_matter_to_bags_but_their_number_does(tmp_path: Path) -> None:
    page = words(3)
    pages = {
        "http://a.test/list?sort=name": " ".join(sorted(page)),
        "http://a.test/list?sort=size": " ".join(page),
        "http://a.test/twice": " ".join(page[:150] * 2),
    }
    table = fingerprints(tmp_path, pages)
    found = {method: pipeline.cluster(table, method=method)["cluster"].to_pylist() for method in ("bag", "minhash")}
    first, second, twice = pages
    assert found == {"bag": [first, first, twice], "minhash": [first, second, twice]}


@given(st.lists(st.lists(st.sampled_from("abcde"), max_size=12), min_size=2, max_size=6))
def test_bags_of_random_texts_are_near_as_counting_their_words_says(texts: list[list[str]]) -> None:
    parameters = SignatureParameters(stop_words="none", stemmer="none")
    table = make_fingerprints(pa.array([" ".join(text) for text in texts]), parameters, signatures=["bags", "terms"])
    sets = flattened_bags(table["bag"], table["bag_counts"])
    for a, b in itertools.combinations(range(len(texts)), 2):
        one, other = Counter(texts[a]), Counter(texts[b])
        expected = (one & other).total() / max(1, (one | other).total())
        assert sets.similarities([a], [b])[0] == pytest.approx(expected)


def test_a_higher_threshold_gives_no_larger_clusters() -> None:
    table = pipeline.fingerprint(SAMPLE)
    counts = [
        pipeline.count_clusters(pipeline.cluster(table, method="minhash", threshold=t))["clusters"] for t in (0.5, 0.9)
    ]
    assert counts[0] < counts[1]


@pytest.mark.parametrize("method", METHODS)
def test_the_command_line_clusters_near_duplicates(tmp_path: Path, method: str) -> None:
    pages, raw, ready = (str(tmp_path / name) for name in ("pages.parquet", "raw.parquet", "ready.parquet"))
    assert main(["fingerprint", SAMPLE, "-o", pages, "-q"]) == 0
    assert main(["cluster", pages, "-o", ready, "--method", method, "-q"]) == 0
    assert main(["cluster", SAMPLE, "-o", raw, "--method", method, "-q"]) == 0
    assert pq.read_table(raw).equals(pq.read_table(ready))
    assert pq.read_table(raw).schema.names == ["url", "cluster", "similarity"]


def test_fingerprints_without_signatures_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="fingerprint"):
        pipeline.cluster(pipeline.fingerprint(SAMPLE, exact_only=True), method="simhash")


def test_signatures_made_differently_are_not_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, content in (("all", "all"), ("main", "main")):
        assert main(["fingerprint", SAMPLE, "-o", str(tmp_path / f"{name}.parquet"), "--content", content, "-q"]) == 0
    files = [str(tmp_path / "all.parquet"), str(tmp_path / "main.parquet")]
    assert main(["cluster", *files, "-o", str(tmp_path / "c.tsv"), "--method", "simhash"]) == 2
    assert "made differently" in capsys.readouterr().err


def test_wide_simhashes_work_as_well() -> None:
    wide = pipeline.fingerprint(SAMPLE, parameters=SignatureParameters(simhash_bits=128))
    assert pipeline.count_clusters(pipeline.cluster(wide, method="simhash"))["duplicates"] > 50


def test_an_unknown_method_is_refused() -> None:
    with pytest.raises(UsageError, match="one of exact, simhash, minhash, bag, cascade"):
        pipeline.cluster(pipeline.fingerprint(SAMPLE, exact_only=True), method="guess")
