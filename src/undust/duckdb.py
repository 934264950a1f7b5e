"""Rules as functions of DuckDB: `undust_normalize(url)`, `undust_key(url)`, `undust_same(a, b)`, by the column."""

import contextlib
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from undust.errors import MissingExtraError, UsageError
from undust.rule_files import load_rules
from undust.rules.ruleset import RuleSet

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

Rules = RuleSet | str | os.PathLike[str]


def register(connection: "DuckDBPyConnection", rules: Rules, *, prefix: str = "undust") -> None:
    """Give a connection the functions PREFIX_normalize, PREFIX_key and PREFIX_same for some rules, or a rule file.

    DuckDB hands them whole columns, so nothing is done in Python for each row. NULL and what is no URL give NULL.
    Registering again replaces the rules; another prefix keeps several sets of rules side by side.

    >>> import duckdb
    >>> from undust.rules.line_reader import read_line
    >>> connection = duckdb.connect()
    >>> register(connection, RuleSet([read_line("h.com  //….h.com/…?sid={?}  →  //….h.com/…")]))
    >>> connection.sql("SELECT undust_normalize('http://h.com/?sid=1'), undust_key('no URL')").fetchall()
    [('http://h.com/', None)]
    """
    try:
        import duckdb
    except ImportError:
        raise MissingExtraError("undust.duckdb needs DuckDB: install undust[duckdb]") from None
    if not (prefix.isidentifier() and prefix.isascii()):
        raise UsageError(f"prefix {prefix[:40]!r}: give letters, digits and underscores, such as undust")
    rule_set = rules if isinstance(rules, RuleSet) else load_rules(rules)

    def one(function: Callable[[Any], Any]) -> Callable[[Any], pa.Array]:
        return lambda urls: _whole(function(urls))

    def same(a: Any, b: Any) -> pa.Array:
        return _whole(rule_set.same_many(a, b))

    functions: dict[str, tuple[Callable[..., pa.Array], int, str]] = {
        "normalize": (one(rule_set.normalize_many), 1, "VARCHAR"),
        "key": (one(rule_set.key_many), 1, "VARCHAR"),
        "same": (same, 2, "BOOLEAN"),
    }
    for name, (function, parameters, result) in functions.items():
        full = f"{prefix}_{name}"
        with contextlib.suppress(duckdb.InvalidInputException):  # there may be none yet
            connection.remove_function(full)
        connection.create_function(  # type: ignore[call-overload] # older versions have the enumerations elsewhere
            full, function, ["VARCHAR"] * parameters, result, type="arrow", null_handling="special"
        )


def _whole(column: Any) -> pa.Array:
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
