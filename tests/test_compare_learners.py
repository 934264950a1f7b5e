"""`undust compare` without a flag: learners side by side, the tables of both papers, and the page that shows them."""

import json
from pathlib import Path

import pyarrow as pa
import pytest

from tests.test_learn import FAMILIES, table
from undust.cli import main
from undust.compare import compare, joined
from undust.compare.learners import PROTOCOLS, parted, variants
from undust.compare.page import as_page
from undust.compare.papers import COVERAGES, PRECISIONS
from undust.compare.report import KOPPULA, LEI, LearnerReport, as_text, tables
from undust.errors import InputError, UsageError
from undust.evaluate.report import evaluate
from undust.pipeline import learn


def clusters() -> pa.Table:
    """Give three sites, each with another way to spell a page twice, and pages that are alone."""
    rows = []
    for host, family in (("a", "a session id"), ("b", "www"), ("c", "index files")):
        for url, cluster in FAMILIES[family][0]:
            rows.append((url.replace("h.com", f"{host}.com"), f"{host}{cluster}"))
        rows += [(f"http://{host}.com/alone/{i}", f"{host} alone {i}") for i in range(10)]
    return table(*rows)


@pytest.fixture(scope="module")
def report() -> LearnerReport:
    return compare(clusters(), seeds=(0, 1))


def test_every_learner_is_measured_by_both_protocols(report: LearnerReport) -> None:
    assert {(each.learner, each.protocol) for each in report.learners} == {
        (a, b) for a in variants() for b in PROTOCOLS
    }
    assert (report.urls, report.sites) == (len(clusters()), 3)
    assert all(0 <= each.compression <= 1 and each.seconds >= 0 for each in report.learners)


def test_figures_are_those_of_learning_and_evaluating_by_hand(report: LearnerReport) -> None:
    for protocol, (split, share) in PROTOCOLS.items():
        found = []
        for seed in (0, 1):
            seen, unseen = split(clusters(), share, seed)
            found.append(evaluate(learn(seen, method="tree"), unseen))
        (told,) = (each for each in report.learners if (each.learner, each.protocol) == ("tree", protocol))
        assert told.compression == sum(each.micro.compression for each in found) / 2
        assert told.macro_recall_of_possible == sum(each.macro["recall_of_possible"] for each in found) / 2
        assert told.rules == sum(each.rules for each in found) / 2


def test_the_tables_of_both_papers_are_there(report: LearnerReport) -> None:
    assert report.papers is not None
    assert set(report.papers.koppula) == set(KOPPULA)
    assert set(report.papers.lei) == set(LEI)
    levels = report.papers.koppula["tables 3 and 5"]
    assert [row["precision"] for row in levels] == list(PRECISIONS)
    assert len(report.papers.koppula["tables 4 and 6"]) == len(PRECISIONS) * len(COVERAGES)
    for row in report.papers.koppula["tables 4 and 6"]:
        if row["min_coverage"] == 1000:  # no site has so many URLs
            assert row["pairwise_rules"] == 0
    covered = [
        row["cumulative_coverage"] for row in report.papers.koppula["figure 3"] if row["rules"].startswith("all")
    ]
    assert covered == sorted(covered)
    rates = [row["rate"] for row in report.papers.lei["figure 10"] if row["candidates"] == "tree"]
    assert rates == sorted(rates)


def test_a_report_is_told_as_text_and_as_a_page_that_needs_nothing_else(report: LearnerReport) -> None:
    text, page = as_text(report), as_page(report)
    for shown in tables(report):
        assert shown.title in text
        assert f"<h2>{shown.title}</h2>" in page
    assert page.count("<svg") == 15
    assert "<script" not in page
    assert "<link" not in page
    assert "src=" not in page


def test_names_from_the_web_are_text_on_the_page() -> None:
    hostile = compare(clusters(), only=("tree",), papers=False)
    told = LearnerReport(1, 1, 1, (0,), hostile.learners)
    assert "<svg" in as_page(told)
    assert told.to_dict()["papers"] is None


def test_clusters_of_several_tables_are_not_mixed_up() -> None:
    one = table(("http://h.com/a", 0), ("http://h.com/b", 0))
    found = joined([("x.tsv", one), ("y.tsv", table(("http://h.com/c", 0)))])
    assert len(found["cluster"].unique()) == 2
    assert joined([("x.tsv", one)])["cluster"].to_pylist() == ["0", "0"]


def test_nothing_to_compare_is_refused() -> None:
    with pytest.raises(InputError, match="no rows"):
        compare(table())
    with pytest.raises(InputError, match="no cluster has two URLs"):
        compare(table(("http://h.com/a", 0), ("http://h.com/b", 1)))
    with pytest.raises(UsageError, match="unknown learner 'trees'"):
        compare(clusters(), only=("trees",))


def test_parts_are_those_of_the_seed() -> None:
    one, same, other = (parted(clusters(), "by_cluster", seed).unseen for seed in (0, 0, 1))
    assert one == same
    assert one != other


def test_the_command_line_compares_learners(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = [f"{row['url']}\t{row['cluster']}" for row in clusters().to_pylist()]
    given, page = tmp_path / "c.tsv", tmp_path / "compare.html"
    given.write_text("\n".join(["url\tcluster", *lines]))
    arguments = ["compare", str(given), "--learner", "both", "--learner", "tree", "--brief", "-q"]
    assert main([*arguments, "--json", "-o", str(page)]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [each["learner"] for each in told["learners"]] == ["both", "tree"] * 2
    assert page.read_text().startswith("<!doctype html>")
    assert main(arguments) == 0
    assert "Learners by sample" in capsys.readouterr().out
    alone = tmp_path / "alone.tsv"
    alone.write_text("url\tcluster\nhttp://h.com/a\t1\n")
    assert main(["compare", str(alone), "-q"]) == 1
    assert "no cluster has two URLs" in capsys.readouterr().err
