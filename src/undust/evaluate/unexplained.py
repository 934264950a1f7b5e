"""What no rule explains: clusters that still have several keys, and in which keys of their URLs these differ."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from undust.evaluate.coded import Coded
from undust.urls.keys import Key, keys
from undust.urls.parse import split

LOOKED_AT = 5_000
"""Clusters that are looked at one by one, those with the most keys; all of them are counted."""
COMPARED = 6
"""URLs of a cluster that are compared, each with another key."""
EXAMPLES = 3


@dataclass(frozen=True, slots=True)
class SplitCluster:
    """A cluster whose URLs are still several after the rules."""

    site: str
    urls: int
    left: int
    """Fetches that remain though they bring nothing new: its keys, but for one."""
    differ: tuple[Key, ...]
    """Keys in which its URLs to fetch differ."""
    decided: bool
    """Whether some rule holds for any of its URLs."""
    examples: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "site": self.site,
            "urls": self.urls,
            "left": self.left,
            "differ": [str(key) for key in self.differ],
            "decided": self.decided,
            "examples": list(self.examples),
        }


@dataclass(frozen=True, slots=True)
class Difference:
    """Clusters of a site that are split by the same keys."""

    site: str
    differ: tuple[Key, ...]
    clusters: int
    left: int
    examples: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Unexplained:
    """What is left to save."""

    clusters: int
    """Clusters that are still split."""
    left: int
    """Fetches that remain though they bring nothing new."""
    across_sites: int
    """Fetches that remain because sites have pages in common, which rules of a site cannot know; not among `left`."""
    looked_at: int
    """Clusters that were looked at for the differences."""
    largest: tuple[SplitCluster, ...]
    differences: tuple[Difference, ...]
    """By what remains, the most first."""


def find_unexplained(coded: Coded, *, most: int) -> Unexplained:
    """Find the clusters that rules have left split."""
    firsts = _first_of_each_key(coded)
    clusters, start, counts = np.unique(coded.clusters[firsts], return_index=True, return_counts=True)
    split_up = np.flatnonzero(counts > 1)
    order = split_up[np.lexsort((clusters[split_up], -counts[split_up]))]
    sizes = np.bincount(np.searchsorted(clusters, coded.clusters), minlength=len(clusters))
    found = [
        _describe(coded, firsts[start[at] : start[at] + counts[at]], int(sizes[at]))
        for at in order[:LOOKED_AT].tolist()
    ]
    sites_each = np.unique(np.stack([coded.spanning, coded.sites]), axis=1)[0] if len(coded.sites) else coded.sites
    return Unexplained(
        len(split_up),
        int((counts[split_up] - 1).sum()),
        len(sites_each) - len(np.unique(sites_each)),
        len(found),
        tuple(found[:most]),
        _differences(found)[:most],
    )


def left_by_site(coded: Coded) -> npt.NDArray[np.int64]:
    """Count, for each site, the fetches that remain though they bring nothing new."""
    firsts = _first_of_each_key(coded)
    sites = len(coded.site_names)
    kept = np.bincount(coded.sites[firsts], minlength=sites)
    _, one = np.unique(coded.clusters, return_index=True)
    return np.asarray(kept - np.bincount(coded.sites[one], minlength=sites), np.int64)


def _first_of_each_key(coded: Coded) -> npt.NDArray[np.int64]:
    """Give a row for each key of each cluster, in the order of the clusters."""
    keys_count = int(coded.keys.max(initial=-1)) + 1
    _, first = np.unique(coded.clusters * max(keys_count, 1) + coded.keys, return_index=True)
    return np.asarray(first, np.int64)


def _describe(coded: Coded, rows: npt.NDArray[np.int64], urls: int) -> SplitCluster:
    some = rows[np.linspace(0, len(rows) - 1, min(len(rows), COMPARED)).astype(np.int64)]
    names = coded.fetched.take(coded.keys[some]).to_pylist()
    shown = coded.urls.take(some[:EXAMPLES]).to_pylist()
    decided = bool((coded.rules[rows] >= 0).any())
    site = coded.site_names[int(coded.sites[rows[0]])]
    return SplitCluster(site, urls, len(rows) - 1, differing(names), decided, tuple(shown))


def differing(urls: Sequence[str]) -> tuple[Key, ...]:
    """Give the keys in which URLs differ, in order; of paths that differ in depth also the last segment.

    >>> [str(key) for key in differing(["http://h.com/a?b=1", "http://h.com/a?b=2&c=3"])]
    ['?b', '?c']
    """
    found: dict[Key, set[str | None]] = defaultdict(set)
    values = [dict(keys(split(url))) for url in urls]
    for key in {key for each in values for key in each}:
        found[key] = {each.get(key) for each in values}
    both = [key for key, each in found.items() if len(each) > 1]
    # A segment is named from both ends of the path; from the start is enough, if there is such a name.
    named = [key for key in both if not (key.part == "path" and isinstance(key.name, int) and key.name < 0)]
    return tuple(sorted(named or both, key=str))


def _differences(found: Sequence[SplitCluster]) -> tuple[Difference, ...]:
    groups: dict[tuple[str, tuple[Key, ...]], list[SplitCluster]] = defaultdict(list)
    for each in found:
        groups[each.site, each.differ].append(each)
    made = [
        Difference(site, differ, len(group), sum(each.left for each in group), group[0].examples)
        for (site, differ), group in groups.items()
    ]
    return tuple(sorted(made, key=lambda each: (-each.left, each.site, tuple(map(str, each.differ)))))
