"""What edits of one key do not say: exchanges of arguments, and edits that only show together."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.test_learn import Pairs, table
from undust.learn.columns import SiteUrls, by_site
from undust.learn.edits import Edit
from undust.learn.exchanges import Exchange, neighbours, possible_exchanges
from undust.learn.learner import Learner
from undust.learn.state import State
from undust.learn.together import possible_sets
from undust.rules.ruleset import RuleSet
from undust.urls.keys import Key

PAGES = range(40)


def only(*pairs: tuple[str, object]) -> SiteUrls:
    (site,) = by_site(table(*pairs))
    return site


# What several arguments say at once: pairs to learn from, two URLs of a page that was not among them, two of two pages.
TOGETHER: dict[str, tuple[Pairs, tuple[str, str], tuple[str, str]]] = {
    "defaults that are written out together, and mean something one by one": (
        [(f"http://h.com/t?id={i}&start=0&order=asc", i) for i in PAGES]
        + [(f"http://h.com/t?id={i}", i) for i in PAGES]
        + [(f"http://h.com/t?id={i}&start={15 * j}&order=asc", f"{i} {j}") for i in PAGES for j in (1, 2)]
        + [(f"http://h.com/t?id={i}&start=0&order=desc", f"{i} down") for i in PAGES],
        ("http://h.com/t?id=99&start=0&order=asc", "http://h.com/t?id=99"),
        ("http://h.com/t?id=99&start=0&order=desc", "http://h.com/t?id=99&start=0&order=asc"),
    ),
    "two arguments in the place of one": (
        [(f"http://h.com/f?d={i}&{s}", i) for i in range(120) for s in ("sort=posted", "sort=files&way=up")]
        + [(f"http://h.com/f?d={i}&sort=files", f"{i} files") for i in range(120)]
        + [(f"http://h.com/f?d={i}&sort=posted&way=up", f"{i} up") for i in range(120)],
        ("http://h.com/f?d=999&sort=files&way=up", "http://h.com/f?d=999&sort=posted"),
        ("http://h.com/f?d=999&sort=files", "http://h.com/f?d=999&sort=posted"),
    ),
}


@pytest.mark.parametrize("name", TOGETHER)
def test_what_arguments_say_together_is_learned(name: str) -> None:
    pairs, (a, b), (one, other) = TOGETHER[name]
    rules = RuleSet(Learner().learn(table(*pairs)))
    assert rules.same(a, b), list(map(str, rules))
    assert not rules.same(one, other)


def test_an_exchange_takes_the_place_of_values_that_a_url_has_all_of() -> None:
    state = State(only(*TOGETHER["two arguments in the place of one"][0]))
    found = {
        frozenset(
            (str(part.key.name), state.site.value(part.value or 0), state.site.value(part.to)) for part in each.parts
        )
        for each in possible_exchanges(state)
    }
    assert frozenset({("sort", "files", "posted"), ("way", "up", None)}) in found
    for each in possible_exchanges(state):
        rows = np.flatnonzero(each.rows(state))
        by_hand = [
            row for row in range(len(state)) if all(state.column(part.key)[row] == part.value for part in each.parts)
        ]
        assert rows.tolist() == by_hand
        changes, depth = each.changes(state, rows)
        assert depth is None
        assert {key: set(codes.tolist()) for key, codes in changes.items()} == {
            part.key: {part.to} for part in each.parts
        }


@given(st.lists(st.integers(0, 4), max_size=40))
def test_neighbours_are_pairs_of_a_group_each_once(groups: list[int]) -> None:
    ours, theirs = neighbours(np.array(groups, np.uint64))
    pairs = list(zip(ours.tolist(), theirs.tolist(), strict=True))
    assert len(set(pairs)) == len(pairs)
    assert all(groups[a] == groups[b] and a < b for a, b in pairs)
    few = [(a, b) for a, b in combinations(range(len(groups)), 2) if groups[a] == groups[b]]
    if max(map(groups.count, groups), default=0) <= 12:
        assert sorted(pairs) == few


def test_keys_that_differ_at_once_are_edited_at_once() -> None:
    hosts, schemes = ("www.", "m."), ("http", "https")
    pairs = [(f"{schemes[i % 2]}://{hosts[i // 2 % 2]}h.com/p{i}?sid={i}a", i) for i in range(16)] + [
        (f"{schemes[1 - i % 2]}://{hosts[1 - i // 2 % 2]}h.com/p{i}?sid={i}b", i) for i in range(16)
    ]
    state = State(only(*pairs))
    loses = [
        Edit(Key("scheme", ""), None, 2**31 - 1),
        Edit(Key("host", 1), None, 2**31 - 1),
        Edit(Key("query", "sid"), None, 0),
    ]
    loses = [edit for edit in loses if edit.key in state.columns]
    assert len(loses) == 3
    assert set(loses) in [set(found) for found in possible_sets(state, loses)]
    rules = RuleSet(Learner().learn(table(*pairs)))
    assert rules.same("http://www.h.com/new?sid=1", "https://m.h.com/new?sid=2")
    assert not rules.same("http://www.h.com/new", "http://www.h.com/other")


def test_what_does_not_matter_in_a_segment_says_nothing_of_shorter_paths() -> None:
    pairs = [(f"http://h.com/a{i}{j}/b/{i}", i) for i in range(12) for j in range(3)] + [("http://h.com/", "home")]
    rules = RuleSet(Learner().learn(table(*pairs)))
    assert rules.same("http://h.com/x/b/99", "http://h.com/y/b/99")
    assert rules.normalize("http://h.com/") == "http://h.com/"


def test_exchanges_have_one_part_for_each_key() -> None:
    exchange = Exchange((Edit(Key("query", "a"), 1, 2), Edit(Key("query", "b"), 3, 0)))
    assert exchange.keys == {Key("query", "a"), Key("query", "b")}
    assert not exchange.loses
