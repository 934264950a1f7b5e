"""What each rule of a set does to URLs whose clusters are known, and how sure that is."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from undust.evaluate.coded import Coded
from undust.evaluate.confidence import Interval, independent, wilson


@dataclass(frozen=True, slots=True)
class RuleConfidence:
    """The URLs that one rule decides."""

    urls: int
    keys: int
    pages: int
    """Clusters that it finds URLs of."""
    lost: int
    """Clusters that it puts under a key with others, but for one of each key."""
    fpr: float
    fpr_interval: Interval

    @property
    def saved(self) -> int:
        """Fetches that it saves."""
        return self.urls - self.keys

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "urls": self.urls,
            "saved": self.saved,
            "pages": self.pages,
            "lost": self.lost,
            "fpr": self.fpr,
            "fpr_interval": list(self.fpr_interval),
        }


def rule_confidences(coded: Coded, count: int) -> list[RuleConfidence]:
    """Measure each of so many rules on the URLs that it decides, all rules in one pass."""
    order = np.argsort(coded.rules, kind="stable")
    starts = np.searchsorted(coded.rules[order], np.arange(count + 1))
    return [_measure(coded, order[start:end]) for start, end in pairwise(starts.tolist())]


def _measure(coded: Coded, rows: Any) -> RuleConfidence:
    _, key, key_sizes = np.unique(coded.keys[rows], return_inverse=True, return_counts=True)
    _, cluster = np.unique(coded.clusters[rows], return_inverse=True)
    clusters = int(cluster.max(initial=-1)) + 1
    cells, cell_sizes = np.unique(key.astype(np.int64) * max(clusters, 1) + cluster, return_counts=True)
    pairs = key_sizes.astype(np.float64) * (key_sizes - 1) / 2
    right = cell_sizes.astype(np.float64) * (cell_sizes - 1) / 2
    total = float(pairs.sum())
    fpr = (total - float(right.sum())) / total if total else 0.0
    interval = wilson(fpr, independent(pairs)) if total else (0.0, 1.0)
    return RuleConfidence(len(rows), len(key_sizes), clusters, len(cells) - len(key_sizes), fpr, interval)
