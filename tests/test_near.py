"""Near duplicates by every method, from fingerprints as they are written."""

import random
from importlib import resources
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from undust import corpus, pipeline
from undust.cli import main
from undust.detect.fingerprints_parameters import SignatureParameters
from undust.errors import InputError, UsageError

SAMPLE = str(resources.files("undust") / "data" / "sample.warc.gz")
METHODS = ("simhash", "minhash", "cascade")


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
@pytest.mark.parametrize("by", ["center", "components"])
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
    with pytest.raises(UsageError, match="one of exact, simhash, minhash, cascade"):
        pipeline.cluster(pipeline.fingerprint(SAMPLE, exact_only=True), method="guess")
