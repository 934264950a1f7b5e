"""Learning in several ways: what is taken of what each finds."""

import pytest

from tests.test_learn import FAMILIES, Pairs, table
from undust.learn import both
from undust.learn.both import Both, Worth
from undust.learn.columns import SiteUrls, by_site
from undust.learn.learner import Learner
from undust.learn.pairwise import Pairwise
from undust.learn.tree_learner import TreeLearner
from undust.rules.ruleset import RuleSet


def only(*pairs: tuple[str, object]) -> SiteUrls:
    (site,) = by_site(table(*pairs))
    return site


WORTH = [  # (gained, wrong) of one and of another, and whether the one is taken
    ((10, 0), (9, 0), True),
    ((9, 0), (9, 0), False),
    ((19, 1), (9, 0), False),  # ten more for one page that is lost are not enough …
    ((20, 1), (9, 0), True),  # … eleven are
    ((10, 5), (9, 5), True),  # what is wrong in both speaks against the labels
    ((9, 0), (10, 3), False),  # being more careful is no reason
]


@pytest.mark.parametrize(("one", "other", "expected"), WORTH)
def test_what_saves_more_is_taken_if_it_pays_for_its_risk(
    one: tuple[int, int], other: tuple[int, int], expected: bool
) -> None:
    assert Worth(*one).beats(Worth(*other)) is expected


@pytest.mark.parametrize("family", ["a session id", "index files", "a value that moves from the query into the path"])
def test_worth_is_what_counting_by_hand_gives(family: str) -> None:
    pairs = [*FAMILIES[family][0], *((f"http://h.com/p{i}?sid={i}x", f"wrong {i}") for i in range(2))]
    site = only(*pairs)
    for rules in ([], Learner().learn_site(only(*FAMILIES[family][0]))):
        keys = [RuleSet(rules).key(url) for url in site.urls.to_pylist()]
        cells = set(zip(keys, site.clusters.tolist(), strict=True))
        assert Worth.of(rules, site) == Worth(len(site) - len(cells), len(cells) - len(set(keys)))


def gallery() -> Pairs:
    """Pages with the album that they were found in, of which there are many; albums themselves are told apart by it."""
    pages = [
        (f"http://h.com/show?{s}pid={100 + i}", i)
        for i in range(30)
        for s in (f"album={i % 6}&", f"album={(i + 1) % 6}&", "")
    ]
    return pages + [(f"http://h.com/list?album={i}", f"album {i}") for i in range(6)]


@pytest.mark.parametrize("pairs", [gallery(), *(pairs for pairs, _ in FAMILIES.values())])
def test_no_single_way_is_worth_more_than_all(pairs: Pairs) -> None:
    site = only(*pairs)
    worth = Worth.of(Both().learn_site(site), site)
    for learner in (Learner(), TreeLearner(), Pairwise()):
        found = Worth.of(learner.learn_site(site), site)
        assert worth.gained - 10 * worth.wrong >= both.ENOUGH * (found.gained - 10 * found.wrong)


def test_wrong_labels_are_no_reason_to_learn_nothing() -> None:
    pairs = [
        (f"http://h.com/p{i}?sid={i * 7 + j}", i if (i + 3 * j) % 10 else i + 1) for i in range(150) for j in range(3)
    ]
    assert RuleSet(Both().learn_site(only(*pairs))).same("http://h.com/new?sid=1", "http://h.com/new?sid=2")


def test_a_large_site_is_learned_in_one_way(monkeypatch: pytest.MonkeyPatch) -> None:
    site = only(*FAMILIES["a session id"][0])
    few = list(Both()._ways(site))
    monkeypatch.setattr(both, "FEW", len(site) - 1)
    assert [type(each) for each in few] == [Learner, TreeLearner, Pairwise]
    assert [type(each) for each in Both()._ways(site)] == [Learner]
