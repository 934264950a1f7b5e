"""Where rules are wrong: keys that several pages share, the worst first."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from undust.evaluate.coded import Coded


@dataclass(frozen=True, slots=True)
class Confusion:
    """A key that URLs of several clusters share."""

    key: str
    rule: int
    """Place of the rule that made it; -1 where the standard form alone did."""
    urls: int
    pages: int
    examples: tuple[str, ...]
    """A URL of each of its largest clusters."""

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "key": self.key,
            "rule": self.rule,
            "urls": self.urls,
            "pages": self.pages,
            "examples": list(self.examples),
        }


@dataclass(frozen=True, slots=True)
class Confusions:
    """All of them, counted, and the worst."""

    keys: int
    pages: int
    """Clusters too many under one key each."""
    worst: tuple[Confusion, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {"keys": self.keys, "pages": self.pages, "worst": [each.to_dict() for each in self.worst]}


def find_confusions(coded: Coded, *, most: int, examples: int = 3) -> Confusions:
    """Find the keys that several clusters share; list those with the most clusters."""
    count = int(coded.clusters.max(initial=-1)) + 1
    cells = np.unique(coded.keys * max(count, 1) + coded.clusters)
    keys, clusters = np.unique(cells // max(count, 1), return_counts=True)
    mixed = keys[clusters > 1]
    order = np.lexsort((mixed, -clusters[clusters > 1]))[:most]
    worst = mixed[order]
    rows = np.flatnonzero(np.isin(coded.keys, worst))
    found = [_describe(coded, rows[coded.keys[rows] == key], int(key), examples) for key in worst]
    return Confusions(len(mixed), int((clusters[clusters > 1] - 1).sum()), tuple(found))


def _describe(coded: Coded, rows: Any, key: int, examples: int) -> Confusion:
    clusters, first, sizes = np.unique(coded.clusters[rows], return_index=True, return_counts=True)
    largest = np.lexsort((first, -sizes))[:examples]
    shown = tuple(coded.urls[int(rows[place])].as_py() for place in first[largest])
    rule = int(coded.rules[rows].max(initial=-1))
    return Confusion(coded.key_names[key].as_py(), rule, len(rows), len(clusters), shown)
