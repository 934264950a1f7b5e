"""Rules by the column in NumPy, Arrow, pandas, Polars and DuckDB: what single URLs give, null where there is no URL."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import undust.duckdb
import undust.polars
from undust.errors import UsageError
from undust.rules.line_reader import read_line
from undust.rules.ruleset import RuleSet

RULES = RuleSet([read_line("h.com  //{?}.h.com/…?sid={?}  →  //{*=www}.h.com/…")])
URLS = ["http://h.com/a?sid=1", None, "no URL", "http://i.com/?sid=1", "HTTP://de.h.com:80/a"]
FETCH = ["http://www.h.com/a", None, None, "http://i.com/?sid=1", "http://www.h.com/a"]
KEYS = ["http://*.h.com/a", None, None, "http://i.com/?sid=1", "http://*.h.com/a"]
SAME = [True, None, None, False, True]
OTHER = ["http://h.com/a"] * len(URLS)

KINDS: list[tuple[Callable[[Any], Any], Callable[[Any], list[Any]]]] = [
    (list, list),
    (tuple, list),
    (lambda urls: np.array(urls, object), lambda made: made.tolist()),
    (pa.array, lambda made: made.to_pylist()),
    (lambda urls: pa.array(urls, pa.large_string()), lambda made: made.to_pylist()),
    (lambda urls: pa.array(urls, pa.string_view()), lambda made: made.to_pylist()),
    (lambda urls: pa.array(urls).dictionary_encode(), lambda made: made.to_pylist()),
    (lambda urls: pa.chunked_array([urls[:2], urls[2:]]), lambda made: made.to_pylist()),
    (lambda urls: pl.Series("url", urls), lambda made: made.to_list()),
    (lambda urls: pl.Series("url", urls, pl.Categorical), lambda made: made.to_list()),
    (lambda urls: pd.Series(urls, range(5, 10)), lambda made: made.astype(object).where(made.notna(), None).tolist()),
    (lambda urls: pd.Series(urls, dtype="string[pyarrow]"), lambda made: [x if x is not pd.NA else None for x in made]),
]


@pytest.mark.parametrize(("give", "take"), KINDS)
def test_columns_of_every_kind_give_the_same(give: Callable[[Any], Any], take: Callable[[Any], list[Any]]) -> None:
    given = give(URLS)
    assert take(RULES.normalize_many(given)) == FETCH
    assert take(RULES.key_many(given)) == KEYS
    assert take(RULES.same_many(given, give(OTHER))) == SAME
    assert len(RULES.normalize_many(give([None] * 5))) == 5


def test_what_goes_out_is_of_the_kind_that_came_in() -> None:
    series = pd.Series(URLS, range(5, 10), name="url")
    made = RULES.normalize_many(series)
    assert (made.name, list(made.index)) == ("url", list(range(5, 10)))
    assert RULES.key_many(pl.Series("url", URLS)).name == "url"
    assert isinstance(RULES.key_many(np.array(URLS, object)), np.ndarray)


def test_columns_of_different_lengths_are_refused() -> None:
    with pytest.raises(UsageError, match="different lengths"):
        RULES.same_many(URLS, OTHER[:2])


@pytest.fixture
def connection() -> duckdb.DuckDBPyConnection:
    made = duckdb.connect()
    undust.duckdb.register(made, RULES)
    return made


def test_duckdb_has_the_rules_as_functions(connection: duckdb.DuckDBPyConnection) -> None:
    given = pa.table({"url": pa.array(URLS, pa.string()), "other": OTHER})  # noqa: F841 - DuckDB finds it by its name
    found = connection.sql(
        "SELECT undust_normalize(url), undust_key(url), undust_same(url, other) FROM given"
    ).fetchall()
    assert found == list(zip(FETCH, KEYS, SAME, strict=True))
    assert connection.sql("SELECT undust_normalize(NULL), undust_same(NULL, 'http://h.com/')").fetchall() == [
        (None, None)
    ]


def test_duckdb_groups_a_large_table_by_page(connection: duckdb.DuckDBPyConnection) -> None:
    urls = "SELECT 'http://h.com/' || i % 7 || '?sid=' || i AS url FROM range(50000) numbers(i)"
    found = connection.sql(f"SELECT undust_key(url), count(*) FROM ({urls}) GROUP BY ALL ORDER BY ALL").fetchall()  # noqa: S608 - ours
    assert [key for key, _ in found] == [f"http://*.h.com/{i}" for i in range(7)]
    assert sum(count for _, count in found) == 50_000


def test_duckdb_takes_new_rules_and_several_sets_beside_each_other(
    connection: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    RuleSet().save(str(tmp_path / "none.json"))
    undust.duckdb.register(connection, tmp_path / "none.json")
    undust.duckdb.register(connection, RULES, prefix="mine")
    found = connection.sql("SELECT undust_normalize('http://h.com/?sid=1'), mine_normalize('http://h.com/?sid=1')")
    assert found.fetchall() == [("http://h.com/?sid=1", "http://www.h.com/")]
    with pytest.raises(UsageError, match="prefix"):
        undust.duckdb.register(connection, RULES, prefix="a; DROP TABLE b")


@pytest.mark.parametrize("lazy", [False, True])
def test_polars_has_the_rules_as_expressions(lazy: bool, tmp_path: Path) -> None:
    RULES.save(str(tmp_path / "rules.json"))
    frame = pl.DataFrame({"url": URLS, "other": OTHER})
    url: Any = pl.col("url")
    wanted = [
        url.undust.normalize(RULES).alias("fetch"),
        url.undust.key(tmp_path / "rules.json").alias("key"),
        url.undust.same("other", RULES).alias("same"),
    ]
    found = frame.lazy().select(wanted).collect() if lazy else frame.select(wanted)
    assert found.to_dict(as_series=False) == {"fetch": FETCH, "key": KEYS, "same": SAME}
    assert found.schema == {"fetch": pl.String, "key": pl.String, "same": pl.Boolean}


def test_polars_series_have_them_too() -> None:
    series: Any = pl.Series("url", URLS)
    assert series.undust.normalize(RULES).to_list() == FETCH
    assert series.undust.key(RULES).name == "url"
    assert series.undust.same(pl.Series(OTHER), RULES).to_list() == SAME
    assert pl.Series("url", [None, None]).undust.key(RULES).to_list() == [None, None]  # type: ignore[attr-defined] # registered
