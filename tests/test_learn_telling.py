"""Where a key tells pages apart it stays, though nothing that was seen contradicts that it goes."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.test_learn import learned, table
from undust.learn.columns import by_site
from undust.learn.scopes import Features
from undust.learn.telling import Telling
from undust.urls.keys import Key

TOPICS = [(f"http://h.com/topic?t={i}&f={i % 7}", f"t{i}") for i in range(60)]
TOPICS += [(f"http://h.com/topic?t={i}", f"t{i}") for i in range(60)]
# Lists of topics: each page was seen twice, with and without a session, and never two boards at the same start.
LISTS = [(f"http://h.com/list?f={i % 7}&start={i * 10}{s}", f"l{i}") for i in range(30) for s in ("", "&sid=1a")]


def test_an_argument_that_is_nothing_elsewhere_stays_where_it_tells_pages_apart() -> None:
    rules = learned(*TOPICS, *LISTS)
    assert rules.same("http://h.com/topic?t=99&f=3", "http://h.com/topic?t=99")
    assert not rules.same("http://h.com/list?f=3&start=990", "http://h.com/list?f=4&start=990")
    assert rules.same("http://h.com/list?f=3&start=990", "http://h.com/list?f=3&start=990&sid=1a")


def telling(*rows: tuple[str, object]) -> tuple[Telling, Features]:
    (site,) = by_site(table(*rows))
    features = Features(site)
    return Telling(site, features.all, features.least), features


def test_it_is_told_for_the_urls_of_that_section_only() -> None:
    found, features = telling(*TOPICS, *LISTS)
    key = Key("query", "f")
    where = found.where(key, features.codes(key), None)
    assert where is not None
    assert [str(url) for url in found.site.urls.to_pylist() if "/list" in url] == [
        str(url) for url, told in zip(found.site.urls.to_pylist(), where.tolist(), strict=True) if told
    ]


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3), st.integers(0, 9)), max_size=60))
def test_where_a_key_ever_differs_within_a_cluster_it_tells_nothing(rows: list[tuple[int, int, int]]) -> None:
    pairs = [(f"http://h.com/s{section}/{i}?x={value}", cluster) for i, (section, value, cluster) in enumerate(rows)]
    if not pairs:
        return
    found, features = telling(*pairs)
    key = Key("query", "x")
    where = found.where(key, features.codes(key), None)
    if where is not None:
        codes = features.codes(key)
        assert len(np.unique(codes[where])) > 1


def test_a_session_that_changes_with_each_visit_tells_nothing_apart() -> None:
    rows = [(f"http://h.com/{'ab'[i % 2]}/{i}?sid={i}{j}", i) for i in range(40) for j in range(3)]
    found, features = telling(*rows)
    key = Key("query", "sid")
    assert found.where(key, features.codes(key), None) is None
