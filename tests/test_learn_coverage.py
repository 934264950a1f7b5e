"""Least coverage: what is learned has to hold for so many URLs; small sites keep what they have."""

from pathlib import Path

import pytest

from tests.test_learn import FAMILIES, table
from undust.cli import main
from undust.errors import UsageError
from undust.learn.methods import METHODS
from undust.pipeline import learn
from undust.rule_files import load_rules
from undust.rules.ruleset import RuleSet

PAIRS = [(f"http://h.com/p{i}{s}", i) for i in range(8) for s in ("", "?v=1")]


@pytest.mark.parametrize("method", METHODS)
def test_rules_for_fewer_urls_than_asked_for_are_left_out(method: str) -> None:
    clusters = table(*FAMILIES["www"][0])
    assert len(learn(clusters, method=method, min_coverage=12))
    assert len(learn(clusters, method=method, min_coverage=25)) == 0


def test_a_site_of_twenty_urls_keeps_its_rules() -> None:
    pages = [(f"http://{w}h.com/p{i}", i) for i in range(5) for w in ("", "www.")]
    alone = [(f"http://h.com/alone/{i}", f"alone {i}") for i in range(10)]
    clusters = table(*pages, *alone)
    assert learn(clusters).same("http://h.com/new", "http://www.h.com/new")
    assert len(learn(clusters, min_coverage=21)) == 0


def test_urls_of_a_rule_that_is_left_out_are_left_to_no_other() -> None:
    both = [(f"http://h.com/a/{i}{s}", f"a{i}") for i in range(60) for s in ("?v=1", "?v=2")]
    both += [(f"http://h.com/b/{i}{s}&w={i}", f"b{i}{s}") for i in range(60) for s in ("?v=1", "?v=2")]
    clusters = table(*both)
    every, few = learn(clusters), learn(clusters, min_coverage=100)
    assert every.same("http://h.com/a/9?v=1", "http://h.com/a/9?v=2")
    for rules in (every, few):
        assert not rules.same("http://h.com/b/9?v=1&w=9", "http://h.com/b/9?v=2&w=9")


def test_less_than_nothing_is_refused() -> None:
    with pytest.raises(UsageError, match="min_coverage: -1"):
        learn(table(*PAIRS), min_coverage=-1)


def test_the_command_line_filters_and_says_what_is_odd(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given, out = tmp_path / "c.tsv", str(tmp_path / "r.json")
    odd = [*PAIRS, PAIRS[0], ("http://h.com/p1", "another"), ("nothing", 1)]
    given.write_text("url\tcluster\n" + "".join(f"{url}\t{cluster}\n" for url, cluster in odd))
    assert main(["learn", str(given), "-o", out]) == 0
    said = capsys.readouterr().err
    for line in ("1 URLs cannot be parsed", "1 rows are repeated", "1 URLs are in several clusters"):
        assert line in said
    assert len(load_rules(out)) == 1
    assert main(["learn", str(given), "-o", out, "--min-coverage", "50", "-q"]) == 0
    assert load_rules(out).same("http://h.com/x", "http://h.com/x?v=1") is False
    given.write_text("url\tcluster\n")
    assert main(["learn", str(given), "-o", out]) == 1
    assert "no rows" in capsys.readouterr().err


def test_rules_without_a_site_are_none() -> None:
    assert len(RuleSet([])) == len(learn(table(), min_coverage=5)) == 0
