"""Duplicate nodes (Lei et al., 2010, section 5.2.1): which patterns of a tree hold duplicates of each other."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from undust.kernels.duplicate_nodes import count_shared
from undust.learn.tree.pattern_tree import PatternTree

MIN_OVERLAP = 0.5
MAX_OF_CLUSTER = 16
"""URLs of one cluster that count for a node: a cluster of thousands is one page all the same."""
MAX_PAIRS = 256
"""Pairs of nodes that are looked at further, and single nodes: those with the most URLs in common clusters."""


@dataclass(frozen=True, slots=True)
class Overlaps:
    """What the nodes of a tree share. URLs whose cluster has no other are left out.

    Whether a page's other URLs have been fetched says nothing about patterns. What pages without duplicates have to
    say is heard when rules are proofed.
    """

    volume: npt.NDArray[np.int64]
    """URLs of each node."""
    distinct: npt.NDArray[np.int64]
    """Clusters of each node."""
    shared: npt.NDArray[np.int64]
    """URLs of one node in clusters that another has too."""

    def overlap(self, s: int, t: int) -> float:
        """Share of the URLs of two nodes that are in common clusters (equation 6)."""
        both = int(self.volume[s] + self.volume[t])
        return float(self.shared[s, t] + self.shared[t, s]) / both if both else 0.0

    def covered(self, s: int, t: int) -> float:
        """Share of the URLs of `s` that have a duplicate in `t`.

        A default value (`page=1`) is a small node, all of whose URLs have duplicates in a large one (no `page`), few of
        whose URLs have duplicates in turn; equation 6 would not see it.
        """
        return float(self.shared[s, t]) / int(self.volume[s]) if self.volume[s] else 0.0

    def duplicate_rate(self, node: int) -> float:
        """Share of a node's URLs that bring nothing new: what counts where s = t."""
        size = int(self.volume[node])
        return (size - int(self.distinct[node])) / size if size else 0.0


def overlaps(tree: PatternTree) -> Overlaps:
    """Count what nodes share, cluster by cluster."""
    size = len(tree)
    found = Overlaps(np.zeros(size, np.int64), np.zeros(size, np.int64), np.zeros((size, size), np.int64))
    count_shared(
        tree.forms.clusters,
        tree.leaf_of,
        tree.parent.copy(),
        MAX_OF_CLUSTER,
        np.zeros(size, np.int32),
        np.zeros(size, np.int64),
        found.volume,
        found.distinct,
        found.shared,
    )
    return found


def duplicate_nodes(
    tree: PatternTree, found: Overlaps, *, min_overlap: float = MIN_OVERLAP, min_urls: int = 1
) -> list[tuple[int, int]]:
    """List the pairs (s, t) between which there may be a rule from s to t, those nearest to the root first.

    A node is paired with itself where it has duplicates, and never with a node above or below it. A rule that could not
    save `min_urls` URLs is not looked for.
    """
    spared = found.volume - found.distinct
    most = np.argsort(-spared, kind="stable")[:MAX_PAIRS]
    alone = [(int(node), int(node)) for node in np.sort(most) if spared[node] >= min_urls]
    volume = np.maximum(found.volume, 1)
    mutual = (found.shared + found.shared.T) / (volume[:, None] + volume[None, :])
    covered = found.shared / volume[:, None]
    inside = (tree.start[:, None] >= tree.start[None, :]) & (tree.end[:, None] <= tree.end[None, :])
    possible = (np.maximum(mutual, covered) >= min_overlap) & (found.shared >= min_urls) & ~inside & ~inside.T
    pairs = np.argwhere(possible)
    common = found.shared[pairs[:, 0], pairs[:, 1]]
    depths = tree.depth[pairs].sum(axis=1)
    chosen = np.lexsort((pairs[:, 1], pairs[:, 0], depths, -common))[:MAX_PAIRS]
    nearest = chosen[np.lexsort((pairs[chosen, 1], pairs[chosen, 0], -common[chosen], depths[chosen]))]
    return alone + [(int(s), int(t)) for s, t in pairs[nearest]]
