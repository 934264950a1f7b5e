"""Keepers: each policy by hand, ties by URL, and the same one in every run."""

from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from undust.detect.keepers import POLICIES, choose_keepers, parse_policies
from undust.errors import UsageError

DAY = pa.timestamp("s", tz="UTC")


def day(number: int) -> datetime:
    return datetime(2024, 1, number, tzinfo=UTC)


COLUMNS = ("url", "canonical", "inlinks", "length", "time", "center")
ROWS: list[tuple[Any, ...]] = [
    ("http://a.de/very/long/name", None, 3, 10, day(3), False),
    ("http://a.de/p?x=1", "http://A.de/very/long/name", None, 90, None, True),
    ("https://a.de/p?x=22", "http://a.de/very/long/name#top", 9, 5, day(9), False),
    ("http://a.de/p?x=0", "http://elsewhere.de/", 1, None, day(1), False),
]
PAGES: list[dict[str, Any]] = [dict(zip(COLUMNS, row, strict=True)) for row in ROWS]


def table_of(rows: list[dict[str, Any]]) -> pa.Table:
    columns = {
        "url": pa.string(), "cluster": pa.string(), "canonical": pa.string(), "inlinks": pa.int64(),
        "length": pa.int64(), "time": DAY, "center": pa.bool_(),
    }  # fmt: skip
    return pa.table({name: pa.array([row.get(name) for row in rows], kind) for name, kind in columns.items()})


def kept(policies: str, rows: list[dict[str, Any]]) -> list[str]:
    keepers = choose_keepers(table_of(rows), policies)
    return [rows[row]["url"] for row in keepers.tolist()]


@pytest.mark.parametrize(
    ("policies", "keeper"),
    [
        ("canonical", 0),  # two of them name it, in other spellings; what is elsewhere cannot be kept
        ("https", 2),
        ("center", 1),
        ("shortest", 3),  # as short as the second, and first by URL
        ("first", 3),
        ("newest", 2),
        ("inlinks", 2),
        ("longest", 1),
        ("shortest,longest", 1),  # the second policy decides what the first left open
        ("longest,shortest", 1),
        ("", 3),  # the URL alone
        ("first,https", 3),
    ],
)
def test_each_policy_keeps_the_page_it_names(policies: str, keeper: int) -> None:
    rows = [row | {"cluster": "c"} for row in PAGES]
    assert kept(policies, rows) == [PAGES[keeper]["url"]] * 4


def test_each_cluster_has_its_own_keeper() -> None:
    rows = [row | {"cluster": "ab"[at % 2]} for at, row in enumerate(PAGES)]
    assert kept("shortest", rows) == ["https://a.de/p?x=22", "http://a.de/p?x=0"] * 2


def test_a_declaration_counts_in_its_own_cluster_only() -> None:
    rows = [
        {"url": "http://a.de/1", "cluster": "a"},
        {"url": "http://a.de/2", "cluster": "a"},
        {"url": "http://a.de/3", "cluster": "b", "canonical": "http://a.de/2"},
        {"url": "http://a.de/4", "cluster": "b", "canonical": "http://a.de/2"},
    ]
    assert kept("canonical", rows) == ["http://a.de/1"] * 2 + ["http://a.de/3"] * 2


def test_urls_that_cannot_be_parsed_are_kept_like_others() -> None:
    rows = [{"url": "http://[", "cluster": "a", "canonical": "http://["}, {"url": "http://b.de/", "cluster": "a"}]
    assert kept("canonical", rows) == ["http://["] * 2


@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 2), st.booleans()), unique=True, max_size=14
    ),
    st.permutations(list(POLICIES)),
    st.randoms(use_true_random=False),
)
def test_the_order_of_the_rows_does_not_matter(
    drawn: list[tuple[int, int, int, bool]], policies: list[str], chance: Any
) -> None:
    rows: list[dict[str, Any]] = [
        {
            "url": f"http{'s' * secure}://a.de/{'x' * length}{links}",
            "cluster": str(cluster),
            "canonical": f"http://a.de/{links}",
            "inlinks": links,
            "length": length,
            "time": day(1 + links),
            "center": secure,
        }
        for cluster, length, links, secure in drawn
    ]
    names = ",".join(policies)

    def by_page(given: list[dict[str, Any]]) -> dict[tuple[str, str], str]:
        return {(row["url"], row["cluster"]): keeper for row, keeper in zip(given, kept(names, given), strict=True)}

    shuffled = list(rows)
    chance.shuffle(shuffled)
    assert by_page(shuffled) == by_page(rows)
    keepers = choose_keepers(table_of(rows), names).tolist()
    assert all(row["cluster"] == rows[keeper]["cluster"] for row, keeper in zip(rows, keepers, strict=True))
    assert len(set(keepers)) == len({row["cluster"] for row in rows})


def test_unknown_policies_and_missing_columns_are_named() -> None:
    with pytest.raises(UsageError, match=r"unknown policy 'shortes' .*canonical, https, shortest, first, newest"):
        parse_policies("https,shortes")
    with pytest.raises(UsageError, match="'inlinks' needs the column 'inlinks'"):
        choose_keepers(pa.table({"url": ["http://a.de/"], "cluster": ["1"]}), "https,inlinks")


def test_no_rows_have_no_keepers() -> None:
    assert choose_keepers(table_of([]), "shortest").tolist() == []
