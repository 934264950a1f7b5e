"""Exports: what each format says and does not say; no URL gets another answer than ours."""

import csv
import io
import json
import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import rules_strategies as wild
from tests.export_targets import by_duckdb, by_python
from tests.exports_strategies import plain_rules, plain_urls
from undust import export_rules
from undust.cli import main
from undust.errors import UsageError
from undust.rules.exports.formats import FORMATS
from undust.rules.line_reader import read_line
from undust.rules.rule import Rule, Statistics
from undust.rules.ruleset import RuleSet

VIEW = read_line("example.com  //….example.com/view.php?sid={?}  →  //….example.com/view.php")
BELOW = read_line("example.com  //….example.com/view.php/…?sid={?}  →  //….example.com/view.php/…")
SID = read_line("example.com  //….example.com/…?sid={?}  →  //….example.com/…")

# What each format says of "on example.com drop the argument sid", and of the same below view.php.
SAID = [
    ("dud", SID, '"include": [\n    "example.com"\n   ]'),
    ("dud", VIEW, '"example.com/view.php|"\n'),
    ("dud", BELOW, '"example.com/view.php|",\n    "example.com/view.php/*"\n'),
    ("adguard", SID, "||example.com^$removeparam=sid\n"),
    ("adguard", VIEW, "||example.com/view.php?$removeparam=sid,match-case\n"),
    ("adguard", BELOW, "||example.com/view.php^$removeparam=sid,match-case\n"),
    ("clean-param", SID, "Clean-param: sid\n"),
    ("clean-param", VIEW, "Clean-param: sid /view.php\n"),
    ("clearurls", SID, json.dumps(r"^https?:\/\/(?:[a-z0-9_-]+\.)*?example\.com(?::\d+)?(?:[\/?]|$)")),
    ("clearurls", VIEW, json.dumps(r"^https?:\/\/(?:[a-z0-9_-]+\.)*?example\.com(?::\d+)?\/view\.php(?:\?|$)")),
    ("clearurls", BELOW, json.dumps(r"^https?:\/\/(?:[a-z0-9_-]+\.)*?example\.com(?::\d+)?\/view\.php(?:[\/?]|$)")),
    ("pywb", SID, 'url_prefix: ["com,example)", "com,example,", "com,example:"]'),
    ("nutch", SID, "<substitution>$1$2</substitution>"),
    ("heritrix", SID, 'name="format" value="$1$2"'),
    ("stormcrawler", SID, '"substitution": "$1$2"'),
    ("nginx", SID, '" "$1$2";'),
    ("apache", SID, 'RewriteRule "^" "%1?%2%3" [R=301,L,NE,QSD]'),
    ("sql", SID, "CREATE OR REPLACE MACRO undust_normalize(url)"),
    ("regex", SID, r",\1\2"),
]


@pytest.mark.parametrize(("to", "rule", "text"), SAID)
def test_each_format_says_it_in_its_way(to: str, rule: Rule, text: str) -> None:
    made = export_rules([rule], to)
    assert text in made.text
    assert made.count("exported") == 1


def test_all_formats_are_in_the_table_above() -> None:
    assert {to for to, _, _ in SAID} == set(FORMATS)


# (rules of a site, formats, what becomes of the first, reason)
LEFT_OUT = [
    (["h.com  //….h.com/{a}  →  //….h.com/{a|lower}"], "regex sql nutch", "left out", "lower or upper case"),
    (["h.com  //….h.com/i.php?t={a}  →  //….h.com/w/{a}"], "regex sql", "left out", "it adds a segment"),
    (["h.com  //{?}.h.com/…  →  //{*=www}.h.com/…"], "dud clearurls adguard clean-param pywb", "left out",
     "not about dropping"),
    (["h.com  //….h.com/…?p=1  →  //….h.com/…"], "dud clearurls adguard", "left out", "asks for ?p"),
    (["h.com  //….{?}.h.com/…?s={?}  →  //….{*=}.h.com/…"], "dud adguard", "in part", "only ?s can go; host[1]"),
    (["h.com  //….h.com/…?s={?}  →  //….h.com/…  (arguments in order)"], "regex sql dud", "in part",
     "not put in order"),
    (["h.com  //….h.com/…  →  //….h.com/…  (arguments in order)"], "regex", "left out", "only puts arguments in order"),
    (["co.uk  //….co.uk/…?s={?}  →  //….co.uk/…"], "regex sql dud", "left out", "other sites begin below it"),
    (["www.h.com  //….www.h.com/…?s={?}  →  //….www.h.com/…"], "dud clearurls adguard clean-param pywb", "left out",
     "it is for one host"),
    # What a.h.com does is its own business: a format that knows sites only would do it there, too.
    (["h.com  //….h.com/…?s={?}  →  //….h.com/…", "a.h.com  //….a.h.com/…?t={?}  →  //….a.h.com/…"], "dud clearurls",
     "left out", "hosts of the site have rules of their own"),
]  # fmt: skip


@pytest.mark.parametrize(("lines", "formats", "said", "why"), LEFT_OUT)
def test_what_a_format_cannot_say_is_left_out_with_the_reason(
    lines: list[str], formats: str, said: str, why: str
) -> None:
    for to in formats.split():
        fate = export_rules(map(read_line, lines), to).fates[0]
        assert (fate.said, why in fate.why) == (said, True), (to, fate.why)


def test_arguments_separated_by_semicolons_are_left_out_where_a_format_knows_only_ampersands() -> None:
    rule = replace(SID, statistics=Statistics(examples=(("http://example.com/?a=1;sid=2", "http://example.com/?a=1"),)))
    assert export_rules([rule], "dud").fates[0].said == "left out"
    assert export_rules([rule], "regex").fates[0].said == "exported"


def test_an_argument_that_an_earlier_rule_keeps_is_not_dropped() -> None:
    rules = [
        read_line("h.com  //….h.com/keep?b={?}  →  //….h.com/keep"),
        read_line("h.com  //….h.com/…?a={?}&b={?}  →  //….h.com/…"),
    ]
    (first, second) = json.loads(export_rules(rules, "clearurls").text)["providers"].values()
    assert (first["rules"], second["rules"]) == (["b"], ["b"])  # a stays everywhere, as it does below /keep


def test_dud_says_again_what_it_drops_everywhere_because_a_rule_for_a_site_switches_that_off() -> None:
    (rule,) = json.loads(export_rules([SID], "dud").text)
    assert {"sid", "utm_source", "utm_campaign"} <= set(rule["args"])
    asks = read_line("example.com  //….example.com/…?utm_source=1  →  //….example.com/…")
    (rule,) = json.loads(export_rules([SID, asks], "dud").text)
    assert "utm_source" not in rule["args"]


def test_the_share_of_the_savings_is_named() -> None:
    rules = [
        replace(SID, statistics=Statistics(merged=30, clusters=3)),
        replace(
            read_line("i.com  //….i.com/{a}  →  //….i.com/{a|lower}"), statistics=Statistics(merged=10, clusters=2)
        ),
    ]
    made = export_rules(rules, "nutch").to_dict()
    assert made["savings"] == {"exported": 0.75, "in_part": 0.0, "left_out": 0.25}
    assert [(each["rule"], each["merged"], each["clusters"]) for each in made["not_exported"]] == [(2, 10, 2)]


def test_many_arguments_go_in_several_turns() -> None:
    names = [f"n{number}" for number in range(40)]
    rule = read_line(f"h.com  //….h.com/…?{'&'.join(f'{name}={{?}}' for name in names)}  →  //….h.com/…")
    url = "http://h.com/a?" + "&".join(f"{name}=1" for name in [*names[:20], "id", *names[20:]])
    for to, target in (("regex", by_python), ("sql", by_duckdb)):
        assert target(export_rules([rule], to).text, [url]) == ["http://h.com/a?id=1"]


@given(plain_rules(), st.lists(plain_urls(), min_size=1, max_size=12))
@settings(max_examples=150)
def test_regular_expressions_give_our_answer_or_leave_a_url_alone(rules: list[Rule], urls: list[str]) -> None:
    text = export_rules(rules, "regex").text
    ours = RuleSet(rules)
    for url, made in zip(urls, by_python(text, urls), strict=True):
        assert made in (url, ours.normalize(url))


@given(plain_rules(), st.lists(plain_urls(), min_size=1, max_size=12))
@settings(max_examples=25)
def test_sql_gives_our_answer_or_leaves_a_url_alone(rules: list[Rule], urls: list[str]) -> None:
    ours = RuleSet(rules)
    for url, made in zip(urls, by_duckdb(export_rules(rules, "sql").text, urls), strict=True):
        assert made in (url, ours.normalize(url))


@given(wild.RULE_SETS, st.lists(wild.standard_urls(), max_size=5))
@settings(max_examples=40)
def test_any_rules_can_be_exported_to_any_format_and_nothing_but_our_answers_comes_out(
    rules: list[Rule], urls: list[str]
) -> None:
    for to in FORMATS:
        made = export_rules(rules, to)
        assert [fate.rule for fate in made.fates] == rules
    unordered = RuleSet(replace(rule, sort_query=False) for rule in rules)
    for url, made_of_it in zip(urls, by_python(export_rules(rules, "regex").text, urls), strict=True):
        assert made_of_it in (url, unordered.normalize(url))


def test_patterns_do_not_backtrack_without_end() -> None:
    names = ["a", "b", "c", "d"]
    rule = read_line(f"h.com  //….h.com/…?{'&'.join(f'{name}={{?}}' for name in names)}  →  //….h.com/…")
    steps = [re.compile(row[0]) for row in list(csv.reader(io.StringIO(export_rules([rule], "regex").text)))[1:]]
    hostile = ["a=1&" * 5_000 + "#", "z=1&" * 5_000 + "a", "abcd" * 5_000, "a&" * 10_000, "&;" * 10_000]
    for query in hostile:  # quadratic time would be minutes
        for step in steps:
            step.fullmatch(f"http://h.com/?{query}")


def test_unknown_formats_name_the_known_ones() -> None:
    with pytest.raises(UsageError, match="unknown format 'nuch'; one of dud, nutch, "):
        export_rules([SID], "nuch")


def test_the_command_writes_the_file_and_says_what_is_missing(tmp_path, capsys) -> None:  # type: ignore[no-untyped-def] # fixtures
    rules, output = str(tmp_path / "rules.json"), tmp_path / "out.txt"
    RuleSet([VIEW, read_line("i.com  //….i.com/{a}  →  //….i.com/{a|lower}")]).save(rules)
    assert main(["export", rules, "--to", "adguard", "-o", str(output)]) == 0
    said = capsys.readouterr().err
    assert "1 of 2 rules exported in full (50.0% of the rules)" in said
    assert "left out: it is not about dropping arguments (1 rules)" in said
    assert "removeparam=sid" in output.read_text()
    assert main(["export", rules, "--to", "adguard", "-o", str(output), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["left_out"] == 1
    assert main(["export", rules, "--to", "adguard", "-o", "-", "--quiet"]) == 0
    assert capsys.readouterr() == (output.read_text(), "")
    assert main(["export", rules, "--to", "nuch", "-o", str(output)]) == 2
    assert main(["export", str(tmp_path / "none.json"), "--to", "dud", "-o", str(output)]) == 1
