"""Sets of rules merged and compared: what both say holds together, and evidence decides what does not go together."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.rules_strategies import RULE_SETS, standard_urls
from tests.test_rules_care import decider
from undust.rules.apply import apply
from undust.rules.care import dated, withdraw
from undust.rules.diff import changed_keys, diff
from undust.rules.line_reader import read_line
from undust.rules.merge import Conflict, evidence, merge
from undust.rules.rule import Rule, Statistics
from undust.rules.ruleset import RuleSet
from undust.urls.keys import keys
from undust.urls.parse import split


def a_set(*lines: str, **known: int) -> RuleSet:
    statistics = Statistics(**known)  # type: ignore[arg-type] # counts
    return RuleSet([replace(read_line(line), statistics=statistics) for line in lines])


def of_site(rules: list[Rule]) -> RuleSet:
    return RuleSet(
        [Rule(rule.site, rule.context, rule.operations, rule.sort_query) for rule in rules if rule.site == "h.com"]
    )


@given(RULE_SETS, RULE_SETS, st.lists(standard_urls(), min_size=1, max_size=8))
def test_a_merged_set_does_what_one_of_the_two_or_both_do(one: list[Rule], other: list[Rule], urls: list[str]) -> None:
    first, second = of_site(one), of_site(other)
    done = merge(first, second)
    for url in urls:
        parts, values = split(url), keys(url)
        deciding = [decider(rules, url) for rules in (first, second, done.rules)]
        acting = [rule if rule is not None and rule.acts else None for rule in deciding]
        made = [None if rule is None else apply(rule, parts, values) for rule in acting]
        if acting[0] is None and acting[1] is None:
            assert acting[2] is None
        elif acting[0] is None or acting[1] is None:
            assert made[2] == (made[0] or made[1])
        elif not done.together:
            assert made[2] in made[:2]


@given(RULE_SETS, RULE_SETS, st.lists(standard_urls(), min_size=1, max_size=4))
def test_a_merged_set_normalizes_once_for_all(one: list[Rule], other: list[Rule], urls: list[str]) -> None:
    rules = merge(of_site(one), of_site(other)).rules
    for url in urls:
        applied, _ = rules._decide(url)
        assert rules._decide(applied.url)[0] == applied


@given(RULE_SETS)
def test_merging_a_set_with_itself_changes_nothing_that_it_does(made: list[Rule]) -> None:
    rules = of_site(made)
    done = merge(rules, rules)
    assert set(done.rules) <= set(rules)
    assert not done.together


SID = "h.com  //….h.com/…?sid={?}  →  //….h.com/…"
NEWS = "h.com  //….h.com/news/{a}/…?ref={?}  →  //….h.com/news/{a}/…"
WWW = "h.com  //{?}.h.com/…  →  //{*=www}.h.com/…"
NO_WWW = "h.com  //www.h.com/…  →  //⊥.h.com/…"


def test_rules_that_go_together_are_carried_out_together() -> None:
    done = merge(a_set(NEWS), a_set(SID))
    assert done.rules.normalize("http://h.com/news/a?ref=1&sid=2&x=3") == "http://h.com/news/a?x=3"
    assert done.rules.normalize("http://h.com/a?ref=1&sid=2") == "http://h.com/a?ref=1"
    assert done.together == ((a_set(NEWS)[0], a_set(SID)[0]),)
    assert not done.conflicts


@pytest.mark.parametrize("turned", [False, True])
def test_evidence_decides_between_rules_that_do_not_go_together(turned: bool) -> None:
    learned, by_hand = a_set(WWW, coverage=100, support=90, clusters=40), a_set(NO_WWW)
    done = merge(by_hand, learned) if turned else merge(learned, by_hand)
    assert done.rules.normalize("http://www.h.com/a") == "http://www.h.com/a"
    assert done.rules.key("http://www.h.com/a") == "http://*.h.com/a"
    assert done.conflicts == (
        Conflict("h.com", learned[0], by_hand[0], "right in 91.2% of its pairs at least, the other in 0.0%"),
    )


def test_more_clusters_and_fewer_wrong_pairs_weigh_more() -> None:
    def weighed(**known: int) -> float:
        return evidence(a_set(SID, **known)[0])[0]

    assert weighed() == 0
    assert (
        0.2
        < weighed(clusters=1, support=1_000_000)
        < 0.3
        < weighed(clusters=4, support=4)
        < weighed(clusters=40, support=40)
    )
    assert weighed(clusters=100, support=90, false_positives=10) < weighed(clusters=100, support=99, false_positives=1)


def test_rules_that_are_in_both_keep_what_was_learned_last() -> None:
    old, new = dated(a_set(SID, coverage=9), "2026-01-01"), dated(a_set(SID, coverage=5), "2026-02-01")
    for done in (merge(old, new), merge(new, old)):
        assert [rule.statistics.coverage for rule in done.rules] == [5]


def test_sites_of_one_set_only_stay_as_they_are() -> None:
    other = "i.com  //….i.com/…?a={?}  →  //….i.com/…"
    assert list(merge(a_set(SID), a_set(other)).rules) == list(a_set(SID, other))


@pytest.mark.parametrize("turned", [False, True])
def test_what_was_withdrawn_is_not_brought_back(turned: bool) -> None:
    old = a_set(NEWS, SID)
    cared = withdraw(old, ["2"], "wrong")
    learned_again = a_set(SID)
    done = merge(learned_again, cared) if turned else merge(cared, learned_again)
    assert [str(rule) for rule in done.rules] == [NEWS]
    assert [rule for rule, _ in done.barred] == [learned_again[0]]
    assert done.rules.withdrawn == cared.withdrawn


def test_two_harmless_rules_do_not_bring_back_together_what_was_withdrawn() -> None:
    both_gone = "h.com  //….h.com/…?ref={?}&sid={?}  →  //….h.com/…"
    cared = withdraw(a_set(both_gone), ["1"], "wrong")
    first = merge(cared, a_set(NEWS)).rules
    done = merge(first, a_set(SID))
    assert done.rules.normalize("http://h.com/news/a?ref=1&sid=2") != "http://h.com/news/a"
    assert done.conflicts


def test_examples_that_are_no_longer_one_are_told() -> None:
    pair = (("http://www.h.com/a", "http://h.com/a"),)
    losing = RuleSet([replace(read_line("h.com  //www.h.com/…  →  //⊥.h.com/…"), statistics=Statistics(examples=pair))])
    winning = a_set("h.com  //{a}.h.com/…  →  //{a|upper}.h.com/…", coverage=9, clusters=9, support=9)
    assert merge(losing, winning).lost_examples == pair


def test_sites_with_too_many_rules_keep_the_list_with_more_evidence() -> None:
    many = [f"h.com  //….h.com/p{i}/…?a={{?}}  →  //….h.com/p{i}/…" for i in range(210)]
    good, other = a_set(*many, coverage=10, clusters=10, support=10), a_set(*many[::-1][:200], SID)
    done = merge(other, good)
    assert (list(done.rules), done.whole) == (list(good), ("h.com",))


def test_a_difference_names_rules_figures_and_keys() -> None:
    before, after = a_set(NEWS, SID, coverage=3), a_set(SID, WWW, coverage=4)
    found = diff(before, after)
    assert [list(map(str, rules)) for rules in (found.added, found.removed)] == [[WWW], [NEWS]]
    assert found.to_dict()["changed"][0]["statistics"] == {"coverage": [3, 4]}
    assert diff(a_set(SID, NEWS), a_set(NEWS, SID)).moved == ("h.com",)
    keys = changed_keys(before, after, ["http://h.com/?sid=1", "http://h.com/news/a?ref=1", "nothing", "http://i.com/"])
    assert keys.table.to_pylist() == [
        {"url": "http://h.com/news/a?ref=1", "before": "http://h.com/news/a", "after": "http://h.com/news/a?ref=1"}
    ]
    assert (keys.urls, keys.keys_before, keys.keys_after) == (4, 3, 3)
