"""The measures: what keys save, and which pages they would lose."""

from collections.abc import Callable
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
    return measures_of(count(keys, clusters))


def count(keys: npt.NDArray[Any], clusters: npt.NDArray[Any]) -> "Counts":
    """Count what measures of URLs are made of."""
    total = len(keys)
    _, key = np.unique(keys, return_inverse=True)
    _, cluster, cluster_sizes = np.unique(clusters, return_inverse=True, return_counts=True)
    key_sizes = np.bincount(key) if total else np.zeros(0, np.int64)
    several, groups = len(cluster_sizes), len(key_sizes)
    cells, cell_sizes = np.unique(key.astype(np.int64) * max(several, 1) + cluster, return_counts=True)
    pairs, right = count_pairs(key_sizes), count_pairs(cell_sizes)
    kept = len(np.unique(_majority(cells // max(several, 1), cells % max(several, 1), cell_sizes)))
    small = cluster_sizes[cluster] <= most_of_small(total)
    return Counts(
        urls=total,
        clusters=several,
        keys=groups,
        pairs=pairs,
        right=right,
        kept=kept,
        small_urls=int(small.sum()),
        small_keys=len(np.unique(key[small])),
        small_clusters=len(np.unique(cluster[small])),
        cluster_squares=sum_of(cluster_sizes, lambda size: size * size),
        pair_squares=sum_of(key_sizes, lambda size: (size * (size - 1) // 2) ** 2),
    )


@dataclass(frozen=True, slots=True)
class Counts:
    """What measures are made of; whole numbers, which add up wherever they are counted."""

    urls: int
    clusters: int
    keys: int
    pairs: int
    """Pairs of URLs with one key, …"""
    right: int
    """… and those of them that are of one cluster."""
    kept: int
    """Clusters that have most URLs of some key: of which a URL would be fetched."""
    small_urls: int
    """The same without large clusters."""
    small_keys: int
    small_clusters: int
    cluster_squares: int
    """Squares of the sizes of clusters, …"""
    pair_squares: int
    """… and of the pairs of keys: by how few of them all is decided."""


def most_of_small(urls: int) -> float:
    """Give the most URLs that a cluster can have to be no large one."""
    return max(LARGE_SHARE * urls, 1)


def measures_of(counts: Counts) -> Measures:
    """Make the measures of counts."""
    total, count, groups = counts.urls, counts.clusters, counts.keys
    duplicate_rate = (total - count) / total if total else 0.0
    compression = (total - groups) / total if total else 0.0
    possible = counts.small_urls - counts.small_clusters
    return Measures(
        urls=total,
        clusters=count,
        duplicate_rate=duplicate_rate,
        keys=groups,
        compression=compression,
        dup_reduction=1 - (1 - counts.kept / groups) / duplicate_rate if duplicate_rate and groups else 0.0,
        fpr=(counts.pairs - counts.right) / counts.pairs if counts.pairs else 0.0,
        pages_lost=(count - counts.kept) / count if count else 0.0,
        recall_of_possible=compression / duplicate_rate if duplicate_rate else 0.0,
        recall_without_large=(counts.small_urls - counts.small_keys) / possible if possible else 0.0,
    )


def sum_of(sizes: npt.NDArray[Any], term: Callable[[int], int]) -> int:
    """Sum up a term of sizes, exactly however large it becomes."""
    distinct, times = np.unique(sizes, return_counts=True)
    return sum(term(size) * often for size, often in zip(distinct.tolist(), times.tolist(), strict=True))


def lost_clusters(keys: npt.NDArray[Any], clusters: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Tell which clusters, numbered from 0, no URL would be fetched of, as each key is given to its majority cluster.

    >>> lost_clusters(np.array([0, 0, 1, 2, 2]), np.array([0, 0, 0, 1, 2])).tolist()
    [False, False, True]
    """
    _, key = np.unique(keys, return_inverse=True)
    width = int(clusters.max(initial=-1)) + 1
    cells, sizes = np.unique(key.astype(np.int64) * max(width, 1) + clusters, return_counts=True)
    lost = np.ones(width, np.bool_)
    lost[_majority(cells // max(width, 1), cells % max(width, 1), sizes)] = False
    return lost


def count_pairs(sizes: npt.NDArray[Any]) -> int:
    """Count pairs by the sizes of groups; never one by one."""
    wide = sizes.astype(object) if len(sizes) and int(sizes.max()) > 2**31 else sizes.astype(np.int64)
    return int((wide * (wide - 1) // 2).sum()) if len(sizes) else 0


def _majority(key: npt.NDArray[Any], cluster: npt.NDArray[Any], sizes: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Give the cluster that has most URLs of each key; of equals, the first."""
    order = np.lexsort((cluster, -sizes, key))
    first = np.concatenate([[True], np.diff(key[order]) > 0]) if len(key) else np.zeros(0, bool)
    return np.asarray(cluster[order][first])
