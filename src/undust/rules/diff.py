"""What differs between two sets of rules, and which URLs have another key by the one than by the other."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from undust.rules.rule import Rule
from undust.rules.ruleset import RuleSet


@dataclass(frozen=True, slots=True)
class Difference:
    """Rules that only one of two sets has, and those of which other things are known."""

    added: tuple[Rule, ...]
    removed: tuple[Rule, ...]
    changed: tuple[tuple[Rule, Rule], ...]
    """The same rules before and after, with other statistics."""
    moved: tuple[str, ...]
    """Sites whose rules are the same and are tried in another order."""

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "added": [_told(rule) for rule in self.added],
            "removed": [_told(rule) for rule in self.removed],
            "changed": [{**_told(rule), "statistics": changes(rule, after)} for rule, after in self.changed],
            "moved": list(self.moved),
        }


class ChangedKeys(NamedTuple):
    """URLs whose key is another one."""

    table: pa.Table
    """`url`, `before`, `after`; only those that changed."""
    urls: int
    """All URLs that were looked at."""
    keys_before: int
    keys_after: int


def diff(before: RuleSet, after: RuleSet) -> Difference:
    """Say what became of a set of rules."""
    first, second = {rule: rule for rule in before}, {rule: rule for rule in after}
    shared = [rule for rule in first if rule in second]
    orders: list[dict[str, list[Rule]]] = [{}, {}]
    for order, rules in zip(orders, (first, second), strict=True):
        for rule in rules:
            order.setdefault(rule.site, []).append(rule)
    return Difference(
        tuple(rule for rule in second if rule not in first),
        tuple(rule for rule in first if rule not in second),
        tuple((first[rule], second[rule]) for rule in shared if first[rule].statistics != second[rule].statistics),
        tuple(site for site, rules in orders[0].items() if _is_moved(rules, orders[1].get(site, []))),
    )


def _is_moved(before: list[Rule], after: list[Rule]) -> bool:
    return before != after and set(before) == set(after)


def changes(before: Rule, after: Rule) -> Mapping[str, list[Any]]:
    """Give the statistics that differ, before and after."""
    first, second = asdict(before.statistics), asdict(after.statistics)
    return {name: [first[name], second[name]] for name in first if first[name] != second[name]}


def changed_keys(before: RuleSet, after: RuleSet, urls: Any) -> ChangedKeys:
    """Give the URLs of a column whose key differs; those that cannot be parsed are none."""
    column = urls if isinstance(urls, pa.ChunkedArray | pa.Array) else pa.array(urls, pa.string())
    first, second = (_chunked(rules.key_many(column)) for rules in (before, after))
    table = pa.table({"url": column, "before": first, "after": second})
    differs = pc.fill_null(pc.not_equal(first, second), False)
    counts = [int(pc.count_distinct(keys, mode="only_valid").as_py()) for keys in (first, second)]
    return ChangedKeys(table.filter(differs), len(table), *counts)


def _told(rule: Rule) -> dict[str, Any]:
    return {"id": rule.id, "site": rule.site, "rule": str(rule)}


def _chunked(column: pa.Array | pa.ChunkedArray) -> pa.ChunkedArray:
    return column if isinstance(column, pa.ChunkedArray) else pa.chunked_array([column])
