"""`undust compare`: pairs are counted as if one by one, and the figures of paper 001 are what its own scan gives."""

import itertools
import json
from importlib import resources
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from undust import comparison, corpus, pipeline
from undust.cli import main
from undust.detect.captures import TableFingerprints
from undust.detect.clusters import BY
from undust.detect.kmodes import ModeIndex
from undust.errors import InputError
from undust.evaluate import cascade
from undust.evaluate.partitions import compare_codes, match_truth

SAMPLE = str(resources.files("undust") / "data" / "sample.warc.gz")
CODES = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=25)


@given(CODES)
def test_pairs_are_counted_as_if_one_by_one(codes: list[tuple[int, int]]) -> None:
    pairs = list(itertools.combinations(codes, 2))
    found = [a[0] == b[0] for a, b in pairs]
    true = [a[1] == b[1] for a, b in pairs]
    both = [one and other for one, other in zip(found, true, strict=True)]
    measured = compare_codes(np.array([a for a, _ in codes]), np.array([b for _, b in codes]))
    assert (measured.found, measured.true, measured.common) == (sum(found), sum(true), sum(both))
    assert measured.precision == (sum(both) / sum(found) if any(found) else 1)
    assert measured.recall == (sum(both) / sum(true) if any(true) else 1)
    expected = 2 * sum(both) / (sum(found) + sum(true)) if any(found) and any(true) else measured.f1
    assert measured.f1 == pytest.approx(expected)


def test_a_cluster_of_a_million_is_counted_without_its_pairs() -> None:
    codes = np.zeros(1_000_000, np.int64)
    assert compare_codes(codes, codes).common == 499_999_500_000


def test_pages_and_clusters_that_do_not_meet_are_left_out() -> None:
    truth = pa.table({"url": ["a", "b", "c", "b"], "cluster": ["1", "1", "2", "1"]})
    known = match_truth(pa.array(["x", "b", "a"], pa.large_string()), truth)
    assert (known.places.tolist(), known.unknown, known.missing) == ([1, 2], 1, 1)
    assert known.measure(np.array([7, 5, 5])).to_dict() == {
        "pairs_found": 1, "pairs_true": 1, "pairs_common": 1, "precision": 1.0, "recall": 1.0, "f1": 1.0,
    }  # fmt: skip


@pytest.fixture
def truth(tmp_path: Path) -> Path:
    """What exact duplicates of the sample are: so exact has to be right in all."""
    corpus.write_table(pipeline.cluster(pipeline.fingerprint(SAMPLE)), tmp_path / "truth.tsv")
    return tmp_path / "truth.tsv"


def test_every_method_is_compared(truth: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["compare", str(truth), "--clusters", SAMPLE, "--threshold", "0.7", "--threshold", "0.9"]
    assert main([*arguments, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["unknown"], told["missing"]) == (0, 0)
    found = {(row["method"], row["by"], row["setting"]): row for row in told["methods"]}
    assert found.keys() == {
        ("exact", None, None),
        *itertools.product(["simhash", "cascade"], BY, ["distance 3"]),
        *itertools.product(["minhash", "bag"], BY, ["threshold 0.7", "threshold 0.9"]),
    }
    exact = found["exact", None, None]
    assert (exact["precision"], exact["recall"], exact["f1"], exact["clusters"]) == (1, 1, 1, told["clusters"])
    loose, strict = (found["minhash", "components", f"threshold {value}"] for value in ("0.7", "0.9"))
    assert loose["recall"] == strict["recall"] == 1
    assert loose["precision"] < strict["precision"] < 1
    assert main(arguments) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[1:4]] == ["method", "exact", "simhash"]


def test_fingerprints_can_be_compared_as_well(truth: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    corpus.write_table(pipeline.fingerprint(SAMPLE, content="main"), tmp_path / "pages.parquet")
    shown = []
    for source in (SAMPLE, str(tmp_path / "pages.parquet")):
        assert main(["compare", str(truth), "--clusters", source, "--json", "-q"]) == 0
        told = json.loads(capsys.readouterr().out)
        shown.append([{name: row[name] for name in row if name != "seconds"} for row in told["methods"]])
    assert shown[0] == shown[1]


def documents(truth_path: Path) -> cascade.Documents:
    table = pipeline.fingerprint(SAMPLE)
    return comparison._documents(TableFingerprints(table), corpus.read_clusters(truth_path))


@pytest.mark.parametrize("clustering", [False, True])
@pytest.mark.parametrize("limits", [(0, 3), (2, 3), (4, 8)])
def test_the_accuracy_of_the_cascade_is_that_of_a_scan(truth: Path, limits: tuple[int, int], clustering: bool) -> None:
    known = documents(truth)
    max_sentences, max_distance = limits
    found = cascade.accuracy(known, max_sentences=max_sentences, max_distance=max_distance, clustering=clustering)
    modes = cascade.modes_of(known, clustering=clustering)
    labels = ModeIndex(modes).assign(known.keywords).tolist()
    hashes = [int(half) for (half,) in known.simhashes.tolist()]
    sentences = known.sentences.tolist()
    kept: list[int] = []
    detected = right = 0
    for new in range(len(known)):
        near = [
            ((hashes[old] ^ hashes[new]).bit_count(), old)
            for old in kept
            if labels[old] == labels[new] and abs(sentences[old] - sentences[new]) <= max_sentences
        ]
        if near and min(near)[0] <= max_distance:
            detected += 1
            right += int(known.clusters[min(near)[1]] == known.clusters[new])
        else:
            kept.append(new)
    assert (found.detected, found.right) == (detected, right)
    assert found.duplicates == len(known) - len(set(known.clusters.tolist()))
    assert found.precision == right / detected


def test_the_figures_of_the_paper_are_printed(truth: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", str(truth), "--cascade", SAMPLE, "--json", "-q"]) == 0
    told = json.loads(capsys.readouterr().out)
    for name in ("without", "with"):
        recalls = [row["recall"] for row in told["accuracy"][name]]
        assert [row["max_sentences"] for row in told["accuracy"][name]] == list(cascade.SENTENCES)
        assert all(0 < recall <= 1 for recall in recalls)
    assert [row["documents"] for row in told["times"]] == cascade.document_counts(told["documents"])
    assert all(value > 0 for row in told["times"] for name, value in row.items() if name != "compared_with")
    first, last = told["times"][0], told["times"][-1]
    assert first["compared_without"] < last["compared_without"] <= last["documents"]
    assert all(row["compared_with"] < row["compared_without"] / 2 for row in told["times"])  # what clustering is for
    assert main(["compare", str(truth), "--cascade", SAMPLE, "-q"]) == 0
    out = capsys.readouterr().out
    assert "figure 5" in out
    assert "figure 8" in out


@pytest.mark.parametrize(
    "arguments", [["t", "--clusters"], ["t", "--clusters", "--cascade", "p"], ["t", "p", "--clusters", "-o", "x.html"]]
)
def test_what_to_compare_must_be_said(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", *arguments]) == 2
    assert capsys.readouterr().err.count("Error") == 1


def test_clusters_of_other_pages_are_refused(tmp_path: Path) -> None:
    other = pa.table({"url": ["http://elsewhere.test/"], "cluster": ["1"]})
    with pytest.raises(InputError, match="no page has a known cluster"):
        comparison.compare_detection(pipeline.fingerprint(SAMPLE), other)


@pytest.mark.parametrize("crawl", ["docs", "wordpress"])
def test_duplicates_of_real_crawls_are_found(shared_data: Path, crawl: str) -> None:
    """The floor of what was measured; see docs/duplicates.md."""
    truth = corpus.read_clusters(shared_data / "webapps" / f"{crawl}.clusters.tsv")
    report = comparison.compare_detection(
        pipeline.fingerprint(shared_data / "webapps" / f"{crawl}.warc.gz", content="main"), truth
    )
    best = {one.method: one.measures for one in report.methods if one.by == "star"}
    assert best["minhash"].f1 > 0.99
    assert best["simhash"].f1 > 0.97
    assert best["cascade"].f1 > 0.97
