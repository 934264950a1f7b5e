"""Rules one by one: what each of a set saves and loses on URLs whose clusters are known."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class RuleMeasures:
    """What one rule does to the URLs that it decides, together with those that get the same keys."""

    rule: str
    site: str
    coverage: int
    """URLs that it decides."""
    saved: int
    """Fetches saved: URLs fewer by the keys that it gives."""
    support: int
    """Pairs of URLs with one key, rightly."""
    false_positives: int
    """Pairs of URLs with one key that are not duplicates."""
    fpr: float
    precision: float
    """(coverage - false_positives) / coverage; 0 where there are more false pairs than URLs."""
    clusters_lost: int
    """Clusters with a URL that it decides, of which no URL would be fetched any more."""

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return asdict(self)


def measure_rules(
    rules: Sequence[tuple[str, str]], decided: Ints, keys: Ints, clusters: Ints, lost: npt.NDArray[np.bool_]
) -> list[RuleMeasures]:
    """Measure rules, given as texts and sites; URLs are the rule that decides each (-1: none), its key and its cluster.

    `lost` tells which clusters are lost, by their code. Pairs are counted by the sizes of groups, never one by one.
    """
    _, key = np.unique(keys, return_inverse=True)
    sizes = np.bincount(key)
    width = int(clusters.max(initial=0)) + 1
    cells, counts = np.unique(key.astype(np.int64) * width + clusters, return_counts=True)
    right = np.bincount(cells // width, weights=counts * (counts - 1.0) / 2, minlength=len(sizes))
    pairs = sizes * (sizes - 1.0) / 2
    rows = np.flatnonzero(decided >= 0)
    covers = np.bincount(decided[rows], minlength=len(rules))
    mine = np.unique(decided[rows].astype(np.int64) * max(len(sizes), 1) + key[rows])
    whose, which = mine // max(len(sizes), 1), mine % max(len(sizes), 1)
    saved, all_pairs, support = (
        np.bincount(whose, weights=values[which], minlength=len(rules)).astype(np.int64)
        for values in (sizes - 1, pairs, right)
    )
    astray = rows[lost[clusters[rows]]]
    ends = np.unique(decided[astray].astype(np.int64) * width + clusters[astray])
    losses = np.bincount(ends // width, minlength=len(rules))
    found = []
    for place, (text, site) in enumerate(rules):
        coverage, total, good = int(covers[place]), int(all_pairs[place]), int(support[place])
        wrong = total - good
        precision = (coverage - min(wrong, coverage)) / coverage if coverage else 1.0
        fpr = wrong / total if total else 0.0
        numbers = (coverage, int(saved[place]), good, wrong, fpr, precision, int(losses[place]))
        found.append(RuleMeasures(text, site, *numbers))
    return found
