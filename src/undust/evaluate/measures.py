"""The measures: what keys save, and which pages they would lose."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

LARGE_SHARE = 0.02
"""Clusters with a larger share of the URLs decide recall by the luck of the split; it is given without them too."""


@dataclass(frozen=True, slots=True)
class Measures:
    """How URLs in clusters fare under keys. N URLs in C clusters become N' keys."""

    urls: int
    clusters: int
    duplicate_rate: float
    """1 - C / N: the share of URLs that bring nothing new."""
    keys: int
    compression: float
    """1 - N' / N: the share of fetches that are saved."""
    dup_reduction: float
    """1 - (1 - C' / N') / (1 - C / N), each key given to the cluster that has most of its URLs."""
    fpr: float
    """Pairs of URLs with one key from different clusters, of all pairs with one key."""
    pages_lost: float
    """Share of the clusters of which no URL would be fetched any more."""
    recall_of_possible: float
    """Compression, of the compression that perfect rules would reach."""
    recall_without_large: float
    """The same without clusters of more than 2 % of the URLs."""

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return asdict(self)


def measure(keys: npt.NDArray[Any], clusters: npt.NDArray[Any]) -> Measures:
    """Measure URLs, given as the codes of their keys and of their clusters.

    >>> found = measure(np.array([0, 0, 1, 2, 2]), np.array([0, 0, 0, 1, 2]))
    >>> found.compression, found.fpr, found.pages_lost == 1 / 3
    (0.4, 0.5, True)
    """
    total = len(keys)
    _, key = np.unique(keys, return_inverse=True)
    _, cluster, cluster_sizes = np.unique(clusters, return_inverse=True, return_counts=True)
    key_sizes = np.bincount(key) if total else np.zeros(0, np.int64)
    count, groups = len(cluster_sizes), len(key_sizes)
    cells, cell_sizes = np.unique(key.astype(np.int64) * max(count, 1) + cluster, return_counts=True)
    pairs, right = count_pairs(key_sizes), count_pairs(cell_sizes)
    kept = len(np.unique(_majority(cells // max(count, 1), cells % max(count, 1), cell_sizes)))
    duplicate_rate = (total - count) / total if total else 0.0
    compression = (total - groups) / total if total else 0.0
    small = cluster_sizes[cluster] <= max(LARGE_SHARE * total, 1)
    return Measures(
        urls=total,
        clusters=count,
        duplicate_rate=duplicate_rate,
        keys=groups,
        compression=compression,
        dup_reduction=1 - (1 - kept / groups) / duplicate_rate if duplicate_rate and groups else 0.0,
        fpr=(pairs - right) / pairs if pairs else 0.0,
        pages_lost=(count - kept) / count if count else 0.0,
        recall_of_possible=compression / duplicate_rate if duplicate_rate else 0.0,
        recall_without_large=_recall(key[small], cluster[small]),
    )


def _recall(key: npt.NDArray[Any], cluster: npt.NDArray[Any]) -> float:
    possible = len(key) - len(np.unique(cluster))
    return (len(key) - len(np.unique(key))) / possible if possible else 0.0


def count_pairs(sizes: npt.NDArray[Any]) -> int:
    """Count pairs by the sizes of groups; never one by one."""
    wide = sizes.astype(object) if len(sizes) and int(sizes.max()) > 2**31 else sizes.astype(np.int64)
    return int((wide * (wide - 1) // 2).sum()) if len(sizes) else 0


def _majority(key: npt.NDArray[Any], cluster: npt.NDArray[Any], sizes: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Give the cluster that has most URLs of each key; of equals, the first."""
    order = np.lexsort((cluster, -sizes, key))
    first = np.concatenate([[True], np.diff(key[order]) > 0]) if len(key) else np.zeros(0, bool)
    return np.asarray(cluster[order][first])
