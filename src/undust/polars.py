"""Rules in Polars: after `import undust.polars`, `pl.col("url").undust.normalize(rules)`; the same of series."""

import os
from typing import Any

from undust.errors import MissingExtraError
from undust.rule_files import load_rules
from undust.rules.ruleset import RuleSet

try:
    import polars as pl
except ImportError:
    raise MissingExtraError("undust.polars needs Polars: install undust[polars]") from None

Rules = RuleSet | str | os.PathLike[str]


@pl.api.register_series_namespace("undust")
class UndustSeries:
    """What rules make of a series of URLs; null where there is no URL, or none that can be parsed."""

    def __init__(self, urls: pl.Series) -> None:
        self._urls = urls

    def normalize(self, rules: Rules) -> pl.Series:
        """Give the URL to fetch for each."""
        return _column(self._urls, _rules(rules).normalize_many(_texts(self._urls)))

    def key(self, rules: Rules) -> pl.Series:
        """Give what all URLs of a page share, for each."""
        return _column(self._urls, _rules(rules).key_many(_texts(self._urls)))

    def same(self, other: pl.Series, rules: Rules) -> pl.Series:
        """Tell of each whether it leads to the same page as the one beside it in another series."""
        return _column(self._urls, _rules(rules).same_many(_texts(self._urls), _texts(other)))


@pl.api.register_expr_namespace("undust")
class UndustExpression:
    """The same for expressions. Polars hands over whole columns, so nothing is done in Python for each row."""

    def __init__(self, urls: pl.Expr) -> None:
        self._urls = urls

    def normalize(self, rules: Rules) -> pl.Expr:
        """Give the URL to fetch for each."""
        known = _rules(rules)
        return self._mapped(lambda urls: UndustSeries(urls).normalize(known))

    def key(self, rules: Rules) -> pl.Expr:
        """Give what all URLs of a page share, for each."""
        known = _rules(rules)
        return self._mapped(lambda urls: UndustSeries(urls).key(known))

    def same(self, other: pl.Expr | str, rules: Rules) -> pl.Expr:
        """Tell of each whether it leads to the same page as another column says."""
        known = _rules(rules)
        columns = [self._urls, pl.col(other) if isinstance(other, str) else other]
        return pl.map_batches(columns, lambda both: UndustSeries(both[0]).same(both[1], known), return_dtype=pl.Boolean)

    def _mapped(self, function: Any) -> pl.Expr:
        return self._urls.map_batches(function, return_dtype=pl.String, is_elementwise=True)


def _rules(rules: Rules) -> RuleSet:
    return rules if isinstance(rules, RuleSet) else load_rules(rules)


def _texts(urls: pl.Series) -> Any:
    """Give a series as an Arrow column; what is no text is written as one."""
    return urls.cast(pl.String).to_arrow()


def _column(urls: pl.Series, made: Any) -> pl.Series:
    return pl.Series(urls.name, made)
