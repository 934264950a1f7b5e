"""What every learner promises: the same laws for the rules of all five, and the same manners with odd input."""

import random

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.test_learn import FAMILIES, NOTHING, table
from undust.learn.methods import METHODS
from undust.pipeline import learn
from undust.rules.apply import fit
from undust.rules.files import dumps, loads
from undust.rules.line_reader import read_line
from undust.rules.ruleset import RuleSet
from undust.urls.keys import keys

SHOWN = ("a session id", "www", "index files", "a default value", "a value that moves from the query into the path")


def web() -> list[tuple[str, object]]:
    """Give one site for each of some families, so that rules of several kinds are together."""
    return [
        (url.replace("h.com", f"site{place}.com"), f"{place} {cluster}")
        for place, family in enumerate(SHOWN)
        for url, cluster in FAMILIES[family][0]
    ]


RULES = {method: learn(table(*web()), method=method) for method in METHODS}
EVERY = pytest.mark.parametrize("method", METHODS)


def urls() -> st.SearchStrategy[str]:
    """Give URLs like those that were learned from, and such as no learner has seen."""
    known = st.sampled_from([url for url, _ in web()])
    path = st.lists(st.sampled_from(["p1", "index.html", "wiki", "index.php", "", "A", "%41", "x;sid=1"]), max_size=4)
    query = st.lists(st.sampled_from(["sid=1", "page=1", "page=2", "title=T3", "x", "=", "a=b&a=c"]), max_size=3)
    odd = st.builds(
        lambda site, at, arguments: f"http://site{site}.com/{'/'.join(at)}?{'&'.join(arguments)}",
        st.integers(0, len(SHOWN)),
        path,
        query,
    )
    return known | odd


@EVERY
def test_rules_are_learned_at_all(method: str) -> None:
    assert len(RULES[method]) >= 2


@EVERY
@settings(max_examples=60)
@given(url=urls())
def test_normalizing_is_total_idempotent_and_keeps_the_key(method: str, url: str) -> None:
    rules = RULES[method]
    fetched = rules.normalize(url)
    assert rules.normalize(fetched) == fetched
    assert rules.key(fetched) == rules.key(url)


@EVERY
@settings(max_examples=30)
@given(url=urls())
def test_one_rule_at_most_decides(method: str, url: str) -> None:
    rules = RULES[method]
    told = rules.explain(url)
    fitting = [rule for rule in rules if rule.site == told.site and fit(rule.context, keys(told.standard)) is not None]
    assert (told.rule is None) or told.rule == fitting[0]
    if not fitting:
        assert told.url == told.standard


@EVERY
def test_the_number_of_threads_does_not_matter(method: str) -> None:
    given_urls = pa.array([url for url, _ in web()] * 40)
    rules = RULES[method]
    assert rules.normalize_many(given_urls).to_pylist() == [rules.normalize(url) for url in given_urls.to_pylist()]


@EVERY
def test_rules_are_the_same_after_json_and_after_text(method: str) -> None:
    rules = list(RULES[method])
    assert loads(dumps(rules)) == rules
    assert [str(read_line(str(rule))) for rule in rules] == list(map(str, rules))
    again = RuleSet(read_line(str(rule)) for rule in rules)
    for url, _ in web():
        assert again.key(url) == RULES[method].key(url)


@EVERY
@settings(max_examples=2)
@given(chance=st.randoms(use_true_random=False))
def test_neither_the_order_of_rows_nor_names_of_clusters_matter(method: str, chance: random.Random) -> None:
    rows = web()
    shuffled = [(url, f"renamed {cluster}") for url, cluster in chance.sample(rows, len(rows))]
    assert list(learn(table(*shuffled), method=method)) == list(RULES[method])


@EVERY
@pytest.mark.parametrize("name", ["no URLs", "no duplicates", "one cluster that holds everything"])
def test_nothing_is_made_of_nothing(method: str, name: str) -> None:
    found = learn(table(*NOTHING[name]), method=method)
    if method in ("both", "tree", "pairwise"):  # the older methods believe one cluster
        assert len(found) == 0


@EVERY
def test_odd_rows_are_taken_as_they_come(method: str) -> None:
    pairs, (a, b) = FAMILIES["www"]
    odd = [("nothing", 1), *pairs, *pairs, (pairs[0][0], "another cluster"), ("http://h.com/x?" + "a=1&" * 999, "long")]
    assert learn(table(*odd), method=method).same(a.replace("new", "p99"), b.replace("new", "p99"))
