"""The outline of a pattern tree: its largest nodes, what each asks for, and which of them hold the same pages."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from undust.learn.tree.nodes import duplicate_nodes, overlaps
from undust.learn.tree.pattern_tree import PatternTree
from undust.learn.tree.text import describe, pattern

MAX_SHOWN = 80
"""Nodes of an outline."""
MAX_SAME = 2
"""Other nodes that are named for each as holding the same pages."""
DEEPER = 0.6
"""What a URL counts for, one level deeper: else a chain of patterns that most URLs have would be all that is shown."""
_MAX_TEXT = 300


@dataclass(frozen=True, slots=True)
class OutlineNode:
    """A node of a tree."""

    parent: int
    """Place of its parent in the outline, -1 for the root. Parents come first."""
    asks: str
    """What tells it from its siblings, as `?do = 'login'`; empty for the root."""
    pattern: str
    """A regular expression that its URLs match; of leaves only."""
    urls: int
    pages: int
    """Clusters of its URLs."""
    hidden: int
    """Children that are not in the outline."""
    same: tuple[tuple[int, float], ...]
    """Other nodes that hold the same pages, by their places, and the share of common URLs (Lei et al., equation 6)."""

    @property
    def duplicates(self) -> int:
        """Its URLs that bring nothing new."""
        return self.urls - self.pages

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "parent": self.parent,
            "asks": self.asks,
            "pattern": self.pattern,
            "urls": self.urls,
            "pages": self.pages,
            "hidden": self.hidden,
            "same": [[place, share] for place, share in self.same],
        }


def outline(tree: PatternTree, *, max_shown: int = MAX_SHOWN) -> list[OutlineNode]:
    """Give the nodes with the most URLs near the root; parents before their children, larger children first."""
    if not len(tree.forms):
        return []
    urls = _urls(tree)
    # A child has no more URLs than its parent, and is one level deeper: none is chosen without its parent.
    chosen = np.lexsort((np.arange(len(tree)), -urls * DEEPER**tree.depth))[:max_shown]
    place = {int(node): at for at, node in enumerate(chosen)}
    same = _same(tree, place)
    children = np.bincount(tree.parent[1:], minlength=len(tree))
    shown = np.bincount([int(tree.parent[node]) for node in chosen if node], minlength=len(tree))
    found = []
    for node in chosen.tolist():
        found.append(
            OutlineNode(
                parent=place[int(tree.parent[node])] if node else -1,
                asks=_clip(describe(tree, tree.constraint(node))) if node else "",
                pattern="" if children[node] else _clip(pattern(tree, node)),
                urls=int(urls[node]),
                pages=len(tree.clusters(node)[0]),
                hidden=int(children[node] - shown[node]),
                same=tuple(same.get(node, [])[:MAX_SAME]),
            )
        )
    return found


def _urls(tree: PatternTree) -> np.ndarray[Any, np.dtype[np.int64]]:
    sums = np.concatenate([[0], np.cumsum(tree.forms.weights[tree.order])])
    return np.asarray(sums[tree.end] - sums[tree.start], np.int64)


def _same(tree: PatternTree, place: dict[int, int]) -> dict[int, list[tuple[int, float]]]:
    """Give the pairs of duplicate nodes that are shown, for each of the two, the greatest overlap first."""
    found = overlaps(tree)
    pairs: dict[int, dict[int, float]] = {}
    for s, t in duplicate_nodes(tree, found, min_urls=2):
        if s != t and s in place and t in place:
            pairs.setdefault(s, {})[place[t]] = found.overlap(s, t)
            pairs.setdefault(t, {})[place[s]] = found.overlap(s, t)
    return {node: sorted(others.items(), key=lambda each: (-each[1], each[0])) for node, others in pairs.items()}


def _clip(text: str) -> str:
    return text if len(text) <= _MAX_TEXT else text[: _MAX_TEXT - 1] + "…"
