"""`undust rules`, `undust explain` and `undust learn --into`: what they print, write and refuse."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from undust import cli
from undust.rule_files import load_rules
from undust.rules.line_reader import read_line
from undust.rules.rule import Rule, Statistics
from undust.rules.ruleset import RuleSet

Run = Callable[..., tuple[int, str, str]]

NEWS = "h.com  //….h.com/news/{a}/…?ref={?}  →  //….h.com/news/{a}/…"
SID = "h.com  //….h.com/…?sid={?}  →  //….h.com/…"
INDEX = "i.com  //….i.com/…/index.html  →  //….i.com/…/"
KNOWN = [
    Statistics(40, 30, 2, 12, 9, (("http://h.com/news/a?ref=1", "http://h.com/news/a"),), "edits", 90, "2026-01-01"),
    Statistics(900, 800, 0, 70, 300, (), "edits", 1000, "2026-06-01", "2026-09-01"),
    Statistics(),
]


@pytest.fixture
def run(capsysbinary: pytest.CaptureFixture[bytes]) -> Run:
    def run_it(*arguments: object) -> tuple[int, str, str]:
        code = cli.main([str(argument) for argument in arguments])
        out, err = capsysbinary.readouterr()
        return code, out.decode(), err.decode()

    return run_it


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    made = [read_line(line) for line in (NEWS, SID, INDEX)]
    some = [Rule(rule.site, rule.context, rule.operations, statistics=of) for rule, of in zip(made, KNOWN, strict=True)]
    RuleSet(some).save(str(tmp_path / "rules.json"))
    return tmp_path / "rules.json"


@pytest.mark.parametrize("verb", ["list", "show", "drop", "restore", "merge", "diff"])
def test_each_has_help(run: Run, verb: str) -> None:
    code, out, _ = run("rules", verb, "--help")
    assert (code, "--quiet" in out) == (0, True)


def test_rules_are_listed_by_site_with_figures(run: Run, rules: Path) -> None:
    code, out, err = run("rules", "list", rules)
    assert (code, err) == (0, "3 rules of 2 sites\n")
    lines = out.splitlines()
    assert [line for line in lines if not line.startswith(" ")] == ["h.com", "i.com"]
    assert "40 URLs        9 fewer  fpr  6.25%" in lines[1]
    assert "by hand" in lines[4]
    assert (
        load_rules(rules)[1].id
        in run("rules", "list", rules, "--sort", "coverage", "--site", "h.com")[1].split("\n")[1]
    )


def test_a_list_for_programs_says_everything(run: Run, rules: Path) -> None:
    told = json.loads(run("rules", "list", rules, "--json")[1])["rules"]
    assert [rule["number"] for rule in told] == [1, 2, 3]
    assert told[0]["statistics"]["fpr"] == 0.0625
    assert told[0]["id"] == load_rules(rules)[0].id


def test_a_rule_is_shown_by_number_and_by_id(run: Run, rules: Path) -> None:
    code, out, _ = run("rules", "show", rules, 1, load_rules(rules)[2].id[:5])
    assert code == 0
    for text in (
        'segment 1 is "news"',
        "argument ref goes",
        "30 right and 2 wrong pairs",
        "http://h.com/news/a?ref=1  =",
        "none was",
    ):
        assert text in out
    assert json.loads(run("rules", "show", rules, 2, "--json")[1])["rules"][0]["statistics"]["expires"] == "2026-09-01"


@pytest.mark.parametrize(
    ("arguments", "left"),
    [
        (["3"], [NEWS, SID]),
        (["--site", "i.com"], [NEWS, SID]),
        (["--below-precision", "0.96"], [SID, INDEX]),
        (["--below-coverage", "50", "--site", "h.com"], [SID, INDEX]),
        (["--older-than", "2026-03-01"], [SID]),
    ],
)  # fmt: skip
def test_rules_are_dropped_into_another_file(run: Run, rules: Path, arguments: list[str], left: list[str]) -> None:
    before = rules.read_bytes()
    code, _, err = run("rules", "drop", rules, *arguments, "-o", rules.with_name("left.json"))
    assert (code, rules.read_bytes()) == (0, before)
    assert [str(rule) for rule in load_rules(rules.with_name("left.json")) if rule.acts] == left
    assert "dropped" in err


def test_expired_rules_are_dropped_by_the_clock(run: Run, rules: Path) -> None:
    told = json.loads(run("rules", "drop", rules, "--expired", "--json")[1])
    assert [rule["line"] for rule in told["dropped"]] in ([SID], [])  # [] before 1 September 2026


def test_a_withdrawn_rule_stays_so_when_it_is_learned_again(run: Run, rules: Path, tmp_path: Path) -> None:
    clusters = tmp_path / "clusters.tsv"
    rows = [f"http://h.com/a{i}{end}\tc{i}\n" for i in range(60) for end in ("", f"?sid={i}", f"?sid={i}x")]
    clusters.write_text("url\tcluster\n" + "".join(rows))
    assert run("learn", clusters, "-o", tmp_path / "first.json", "--date", "2026-05-01", "--expires", 30)[0] == 0
    (rule,) = load_rules(tmp_path / "first.json")
    assert (rule.statistics.learned_at, rule.statistics.expires) == ("2026-05-01", "2026-05-31")
    kept = tmp_path / "kept.json"
    assert (
        run("rules", "drop", tmp_path / "first.json", rule.id, "--withdraw", "--reason", "two pages", "-o", kept)[0]
        == 0
    )
    code, _, err = run("learn", clusters, "--into", kept)
    assert code == 0
    assert "stays withdrawn" in err
    assert list(load_rules(kept)) == []
    listed = json.loads(run("rules", "list", kept, "--withdrawn", "--json")[1])["withdrawn"]
    assert [each["reason"] for each in listed] == ["two pages"]
    assert "two pages" in run("rules", "list", kept, "--withdrawn")[1]
    assert run("rules", "restore", kept, 1)[0] == 0
    assert run("learn", clusters, "--into", kept, "-o", tmp_path / "again.json")[0] == 0
    assert list(load_rules(tmp_path / "again.json")) == [rule]


def test_rule_files_are_merged_and_compared(run: Run, rules: Path, tmp_path: Path) -> None:
    other, urls = tmp_path / "other.json", tmp_path / "urls.txt"
    RuleSet([read_line("h.com  //….h.com/…?sid={?}  →  //….h.com/…?sid=x"), read_line(INDEX)]).save(str(other))
    code, _, err = run("rules", "merge", rules, other, "-o", tmp_path / "merged.json")
    assert code == 0
    assert "conflict" in err
    told = json.loads(run("rules", "merge", rules, other, "-o", tmp_path / "merged.json", "--json")[1])
    assert told["merged"][0]["conflicts"][0]["kept"]["rule"].startswith("h.com")
    urls.write_text("http://h.com/?sid=1\nnothing\nhttp://i.com/index.html\n")
    code, out, _ = run("rules", "diff", rules, other, "--urls", urls)
    assert code == 0
    assert "1 of 3 URLs change their key" in out
    assert out.count("\n- ") + out.startswith("- ") == 2
    found = json.loads(run("rules", "diff", rules, other, "--urls", urls, "--json")[1])
    assert (found["urls"]["changed"], len(found["added"]), len(found["removed"])) == (1, 1, 2)


@pytest.mark.parametrize(
    ("arguments", "code", "why"),
    [
        (["drop", "RULES"], 2, "say which rules"),
        (["drop", "RULES", "1", "--reason", "x"], 2, "goes with --withdraw"),
        (["drop", "RULES", "zzzz"], 2, "no rule 'zzzz'"),
        (["show", "RULES", "9"], 2, "give a number from 1 to 3"),
        (["merge", "RULES", "-o", "x"], 2, "two rule files"),
        (["list", "missing.json"], 1, "cannot be read"),
        (["drop", "RULES", "1", "--older-than", "soon"], 2, "soon"),
    ],
)
def test_wrong_usage_is_told(run: Run, rules: Path, arguments: list[str], code: int, why: str) -> None:
    before = rules.read_bytes()
    found = run("rules", *(str(rules) if argument == "RULES" else argument for argument in arguments))
    assert (found[0], found[1]) == (code, "")
    assert why in found[2]
    assert rules.read_bytes() == before


def test_an_explanation_is_told_in_plain_words(run: Run, rules: Path) -> None:
    code, out, _ = run("explain", "-r", rules, "http://h.com/news/a?ref=1&x=2")
    assert code == 0
    for text in (
        'because   segment 1 is "news"',
        "does      argument ref goes",
        "evidence  30 right",
        "such as   http://h.com/",
    ):
        assert text in out
    (told,) = json.loads(run("explain", "-r", rules, "http://h.com/news/a?ref=1", "--json")[1])["explanations"]
    assert told["ignored"] == {"?ref": "1"}
    assert told["statistics"]["clusters"] == 12
    assert told["operations"] == ["argument ref goes"]


def test_two_urls_are_compared_key_by_key(run: Run, rules: Path) -> None:
    code, out, _ = run("explain", "-r", rules, "http://h.com/news/a?ref=1&x=2", "http://h.com/b?sid=7&x=2")
    assert code == 0
    assert "not known to be the same page" in out
    assert "equal, or be ignored by a rule  segment 1: news and b" in out
    assert f"decided by  rule {load_rules(rules)[0].id} and rule {load_rules(rules)[1].id}" in out
    told = json.loads(run("explain", "-r", rules, "http://h.com/?sid=1", "http://h.com/?sid=2", "--json")[1])
    assert told["same"]
    assert told["settled"] == [{"key": "?sid", "values": ["1", "2"]}]
    assert "two sites" in run("explain", "-r", rules, "http://h.com/", "http://i.com/")[1]
