"""The pattern tree of a site (Lei et al., 2010, section 5.1): its forms, split top-down by what they have in common."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import numpy.typing as npt

from undust.kernels import pattern_tree as kernel
from undust.learn.columns import REST, Codes
from undust.learn.state import IGNORED
from undust.learn.tree.forms import LAST, Forms, Rows
from undust.urls.keys import Key

MIN_URLS = 3
"""A value has a node of its own if this many URLs have it, …"""
MIN_SHARE = 0.002
"""… and this share of the site's."""
MAX_NODES = 1024
"""Nodes of a tree. The largest trees of the paper's 200 sites had 634."""

Test = Literal["is", "present", "absent", "other"]
_TESTS: dict[int, Test] = {
    kernel.IS: "is",
    kernel.PRESENT: "present",
    kernel.ABSENT: "absent",
    kernel.OTHER: "other",
}


@dataclass(frozen=True, slots=True)
class Constraint:
    """What a node asks of one key: one value, to be there or not, or none of some values."""

    key: Key
    test: Test
    values: tuple[int, ...] = ()
    """The code of the value (`is`), or of those that it must not have (`other`)."""

    def holds(self, codes: Codes) -> npt.NDArray[np.bool_]:
        """Tell for which codes of the key it holds."""
        if self.test == "is":
            return np.asarray(codes == self.values[0])
        if self.test == "other":
            return ~np.isin(codes, self.values)
        return np.asarray((codes != 0) == (self.test == "present"))


@dataclass(frozen=True)
class PatternTree:
    """Nodes as a table (see `kernels.pattern_tree`); the forms of node n are `order[start[n]:end[n]]`.

    Node 0 is the root.
    """

    forms: Forms
    keys: tuple[Key, ...]
    nodes: npt.NDArray[np.int64]
    order: Codes
    values: tuple[Codes, ...]
    """For each key, the code of each number that stands for it in the table of nodes."""

    def __len__(self) -> int:
        return len(self.nodes)

    @property
    def parent(self) -> npt.NDArray[np.int64]:
        """The parent of each node, -1 for the root."""
        return self.nodes[:, kernel.PARENT]

    @property
    def height(self) -> int:
        """The most levels below the root."""
        depth = np.zeros(len(self), np.int64)
        for node in range(1, len(self)):  # a parent stands before its children
            depth[node] = depth[self.parent[node]] + 1
        return int(depth.max(initial=0))

    @property
    def start(self) -> npt.NDArray[np.int64]:
        """Where the forms of each node begin."""
        return self.nodes[:, kernel.START]

    @property
    def end(self) -> npt.NDArray[np.int64]:
        """Where the forms of each node end."""
        return self.nodes[:, kernel.END]

    @cached_property
    def depth(self) -> npt.NDArray[np.int64]:
        """How far each node is from the root."""
        depths = np.zeros(len(self), np.int64)
        for node in range(1, len(self)):  # a parent comes before its children
            depths[node] = depths[self.parent[node]] + 1
        return depths

    @cached_property
    def leaf_of(self) -> Codes:
        """The leaf that each form is in."""
        found = np.empty(len(self.order), np.int32)
        for node in np.flatnonzero(self.nodes[:, kernel.SPLIT] < 0).tolist():
            found[self.order[self.start[node] : self.end[node]]] = node
        return found

    def members(self, node: int) -> Rows:
        """Give the forms of a node, in the order of their clusters."""
        here = np.zeros(len(self.order), np.bool_)
        here[self.order[self.start[node] : self.end[node]]] = True
        return np.flatnonzero(here)

    def children(self, node: int) -> list[int]:
        """Give the children of a node."""
        return [int(child) for child in np.flatnonzero(self.parent == node)]

    def is_ancestor(self, one: int, other: int) -> bool:
        """Tell whether the forms of a node are among those of another: whether it is `other` or below it."""
        return bool(self.start[other] <= self.start[one] and self.end[one] <= self.end[other])

    def constraint(self, node: int) -> Constraint:
        """Give what tells a node from its siblings."""
        kind, place, value = (int(self.nodes[node, at]) for at in (kernel.KIND, kernel.KEY, kernel.VALUE))
        spelled = self.values[place]
        if kind == kernel.IS:
            return Constraint(self.keys[place], "is", (int(spelled[value]),))
        if kind == kernel.OTHER:
            siblings = np.flatnonzero((self.parent == self.parent[node]) & (self.nodes[:, kernel.KIND] == kernel.IS))
            denied = tuple(sorted(int(spelled[self.nodes[each, kernel.VALUE]]) for each in siblings))
            return Constraint(self.keys[place], "other", denied)
        return Constraint(self.keys[place], _TESTS[kind])

    def constraints(self, node: int) -> tuple[Constraint, ...]:
        """Give all that a node asks of a URL, from the root down. One value says more than being there."""
        found: list[Constraint] = []
        while node:
            constraint = self.constraint(node)
            known = [each for each in found if each.key == constraint.key and each.test == "is"]
            if not (constraint.test == "present" and known):
                found.append(constraint)
            node = int(self.parent[node])
        return tuple(reversed(found))

    def clusters(self, node: int) -> tuple[Codes, npt.NDArray[np.int64]]:
        """Give the cluster histogram of a node: its clusters, and how many URLs of it each has."""
        rows = self.members(node)
        found, at = np.unique(self.forms.clusters[rows], return_inverse=True)
        return found, np.bincount(at, weights=self.forms.weights[rows]).astype(np.int64)


def grow(forms: Forms, *, min_urls: int = MIN_URLS, min_share: float = MIN_SHARE) -> PatternTree:
    """Build the tree of the forms of a site, without a look at their clusters."""
    size = len(forms)
    least = max(min_urls, int(np.ceil(min_share * size)))
    keys = [key for key in sorted(forms.columns, key=str) if key != REST]
    if size and forms.depth.min() != forms.depth.max():
        keys.append(LAST)
    keys = [key for key in keys if _splits(forms.codes(key), least)]
    codes, values = _localized(forms, keys)
    offsets = np.cumsum([0, *(len(each) for each in values)]).astype(np.int64)
    order = np.arange(size, dtype=np.int32)
    nodes = np.zeros((MAX_NODES, kernel.COLUMNS), np.int64)
    count = kernel.grow(
        codes,
        offsets[:-1],
        order,
        np.empty_like(order),
        least,
        MAX_NODES,
        nodes,
        np.zeros((MAX_NODES, len(keys)), np.uint8),
        np.zeros(int(offsets[-1]), np.int32),
        np.zeros(int(offsets[-1]), np.int32),
        np.zeros(len(keys)),
        np.zeros(size // least + 1, np.int64),
        np.zeros(size // least + 1, np.int64),
        np.zeros((MAX_NODES, 2), np.int64),
    )
    return PatternTree(forms, tuple(keys), nodes[:count].copy(), order, tuple(values))


def fitting(forms: Forms, constraints: Iterable[Constraint], among: Rows | None = None) -> Rows:
    """Give the forms, maybe only of some, that fit all constraints."""
    rows = np.arange(len(forms)) if among is None else among
    for constraint in constraints:
        rows = rows[constraint.holds(forms.codes(constraint.key, rows))]
    return rows


def _splits(codes: Codes, least: int) -> bool:
    """Tell whether a key can split forms anywhere: whether enough of them have it, and not all the same value."""
    there = int(np.count_nonzero(codes))
    return there >= least and not (there == len(codes) and bool(codes.min() == codes.max()))


def _localized(forms: Forms, keys: list[Key]) -> tuple[npt.NDArray[np.int32], list[Codes]]:
    """Number the values of each key for itself."""
    beyond = len(forms.site.values) + 1  # stands for IGNORED
    known = np.zeros(beyond + 1, np.int32)
    codes = np.empty((len(keys), len(forms)), np.int32)
    numbers = np.empty(beyond + 2, np.int32)
    values = []
    for place, key in enumerate(keys):
        column = forms.codes(key)
        count = kernel.localize(np.where(column == IGNORED, np.int32(beyond), column), known, codes[place], numbers)
        numbers[0] = 0
        here = numbers[: count + 1].copy()
        values.append(np.where(here == beyond, IGNORED, here))
    return codes, values
