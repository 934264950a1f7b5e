"""Care of rules: what is dropped changes nothing else, and what is withdrawn stays so."""

import json
import pickle
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.rules_strategies import RULE_SETS, standard_urls
from undust.errors import InputError, UsageError
from undust.rule_files import load_rules
from undust.rules.apply import fit
from undust.rules.care import GUARD, Choice, dated, drop, find_rules, restore, withdraw
from undust.rules.line_reader import read_line
from undust.rules.overlap import both, holds_wherever, may_meet
from undust.rules.rule import Rule, Statistics
from undust.rules.ruleset import RuleSet
from undust.rules.withdrawn import Withdrawn, barred, united
from undust.urls.keys import keys
from undust.urls.parse import split
from undust.urls.site import site_of

MEDIA = "h.com  //….h.com/…?do=media&id={?}  →  //….h.com/…?do=media"
SESSION = "h.com  //….h.com/…?sid={?}  →  //….h.com/…"
INDEX = "i.com  //….i.com/…/index.html  →  //….i.com/…/"


def a_set(*lines: str) -> RuleSet:
    return RuleSet(read_line(line) for line in lines or (MEDIA, SESSION, INDEX))


def decider(rules: RuleSet, url: str) -> Rule | None:
    """The first rule whose context holds, tried one after the other."""
    parts = split(url)
    sites = {rule.site for rule in rules}
    site = parts.host if parts.host in sites else site_of(parts.host, parts.port)
    return next((rule for rule in rules if rule.site == site and fit(rule.context, keys(parts)) is not None), None)


@given(RULE_SETS, st.lists(standard_urls(), min_size=1, max_size=8), st.data())
def test_dropping_a_rule_changes_nothing_but_its_own_urls(
    made: list[Rule], urls: list[str], data: st.DataObject
) -> None:
    before = RuleSet([Rule(rule.site, rule.context, rule.operations) for rule in made if rule.site == "h.com"])
    gone = set(data.draw(st.lists(st.sampled_from(list(before)), max_size=2))) if len(before) else set()
    after = drop(before, gone).rules
    for url in urls:
        first, then = decider(before, url), decider(after, url)
        if first is not None and first in gone and first.acts:
            assert then is None or not then.acts
        elif first is not None and first not in gone:
            assert then == first


@given(RULE_SETS, standard_urls())
def test_rules_that_both_hold_may_meet(made: list[Rule], url: str) -> None:
    values = keys(url)
    holding = [rule for rule in made if fit(rule.context, values) is not None]
    for a in holding:
        for b in made:
            b_holds = b in holding
            one = both(a.context, b.context)
            if b_holds:
                assert may_meet(Rule("h.com", a.context), Rule("h.com", b.context))
            if one is not None:
                assert (fit(one, values) is not None) == b_holds
            if holds_wherever(b, a):
                assert b_holds


def test_a_guard_stands_where_a_rule_after_would_take_urls_over() -> None:
    rules = a_set()
    done = drop(rules, [rules[0]])
    assert (done.dropped, [rule.statistics.learner for rule in done.guards]) == ((rules[0],), [GUARD])
    url = "http://h.com/?do=media&id=1&sid=2"
    assert rules.normalize(url) == "http://h.com/?do=media&sid=2"
    assert done.rules.normalize(url) == url
    again = drop(done.rules, [rules[1]])
    assert [str(rule) for rule in again.rules] == [INDEX]  # there is nothing left to guard against


@pytest.mark.parametrize("ending", ["json", "bin"])
def test_a_withdrawn_rule_is_written_and_read(tmp_path: Path, ending: str) -> None:
    rules = a_set()
    pair = ("http://h.com/?do=media&id=1", "http://h.com/?do=media&id=2")
    after = withdraw(rules, [rules[0].id[:6]], "two pictures", withdrawn_at="2026-03-01", counterexamples=[pair])
    after.save(str(tmp_path / f"rules.{ending}"))
    read = load_rules(tmp_path / f"rules.{ending}")
    assert (read, read.withdrawn) == (after, after.withdrawn)
    assert read.withdrawn == (Withdrawn(rules[0], "two pictures", "2026-03-01", (pair,)),)
    assert pickle.loads(pickle.dumps(read)).withdrawn == read.withdrawn  # noqa: S301 - our own
    assert restore(read, [rules[0].id]).withdrawn == ()
    assert restore(read, [rules[0].id]) == after


@pytest.mark.parametrize(
    ("line", "is_barred"),
    [
        (MEDIA, True),
        ("h.com  //….h.com/…?id={?}  →  //….h.com/…", True),  # more URLs, among them the same
        ("h.com  //….h.com/x/…?do=media&id={?}  →  //….h.com/x/…?do=media", True),  # fewer, but of the same
        ("h.com  //….h.com/…?do=media&id={?}&x={?}  →  //….h.com/…?do=media", True),  # the same and more
        ("h.com  //….h.com/…?do=list&id={?}  →  //….h.com/…?do=list", False),  # other URLs
        (SESSION, False),  # something else
        ("j.com  //….j.com/…?do=media&id={?}  →  //….j.com/…?do=media", False),  # another site
    ],
)
def test_what_does_again_what_was_withdrawn_is_barred(line: str, is_barred: bool) -> None:
    withdrawn = [Withdrawn(read_line(MEDIA))]
    assert (barred(read_line(line), withdrawn) is not None) == is_barred


def test_a_rule_that_makes_a_counterexample_one_is_barred_whatever_it_does() -> None:
    withdrawn = Withdrawn(read_line(MEDIA), counterexamples=(("http://h.com/a?v=1", "http://h.com/a?v=2"),))
    assert withdrawn.bars(read_line("h.com  //….h.com/…?v={?}  →  //….h.com/…"))
    assert not withdrawn.bars(read_line("h.com  //….h.com/…?w={?}  →  //….h.com/…"))


def test_the_lists_of_two_files_are_united() -> None:
    first = Withdrawn(read_line(MEDIA), "", "2026-01-01", (("a", "b"),))
    second = Withdrawn(read_line(MEDIA), "wrong", "2026-02-01", (("a", "b"), ("c", "d")))
    assert united([first], [second, Withdrawn(read_line(SESSION))]) == (
        Withdrawn(read_line(MEDIA), "wrong", "2026-01-01", (("a", "b"), ("c", "d"))),
        Withdrawn(read_line(SESSION)),
    )


def test_an_id_stays_the_same_whatever_else_is_known() -> None:
    rule = read_line(MEDIA)
    other = Rule(
        rule.site,
        dict(reversed([*rule.context.items()])),
        dict(reversed([*rule.operations.items()])),
        False,
        Statistics(3),
    )
    assert rule.id == other.id != read_line(SESSION).id
    assert len(rule.id) == 10


def test_rules_are_found_by_number_and_by_the_beginning_of_their_id() -> None:
    rules = a_set()
    assert find_rules(rules, ["2", rules[0].id[:4].upper(), rules[2].id]) == (rules[1], rules[0], rules[2])


@pytest.mark.parametrize("name", ["0", "4", "99999999999999", "abc", "zzzzzzzzzz", ""])
def test_a_rule_that_is_not_there_is_named(name: str) -> None:
    with pytest.raises(UsageError, match="give a number from 1 to 3"):
        find_rules(a_set(), [name])


def test_rules_are_chosen_by_what_is_known_of_them() -> None:
    known = [
        Statistics(100, 50, 20, learned_at="2026-01-01"),
        Statistics(5, learned_at="2026-06-01", expires="2026-07-01"),
    ]
    rules = RuleSet(
        [Rule(rule.site, rule.context, rule.operations, False, of) for rule, of in zip(a_set(), known, strict=False)]
    )
    assert Choice(below_precision=0.9).of(rules) == (rules[0],)
    assert Choice(below_coverage=10).of(rules) == (rules[1],)
    assert Choice(older_than="2026-06-01").of(rules) == (rules[0],)
    assert Choice(expired_on="2026-07-01").of(rules) == (rules[1],)
    assert Choice(expired_on="2026-06-30").of(rules) == ()
    assert Choice(site="i.com").of(rules) == ()
    assert Choice(ids=("1",), below_coverage=10).of(rules) == ()
    assert [rule.statistics.learned_at for rule in dated(a_set(), "2026-01-01")] == ["2026-01-01"] * 3


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ({}, "withdrawn must be a list"),
        ([3], "withdrawn rule 1: a rule must be an object"),
        ([{"site": ""}], "withdrawn rule 1: no site"),
        ([{"site": "h.com", "reason": 3}], "must be texts"),
        ([{"site": "h.com", "counterexamples": [["a"]]}], "pairs of URLs"),
    ],
)
def test_a_damaged_list_of_withdrawn_rules_is_refused(tmp_path: Path, value: object, why: str) -> None:
    (tmp_path / "rules.json").write_text(json.dumps({"version": 1, "rules": [], "withdrawn": value}))
    with pytest.raises(InputError, match=why):
        load_rules(tmp_path / "rules.json")
