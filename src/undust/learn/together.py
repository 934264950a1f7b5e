"""Edits that show only together: on a small site duplicates may differ in several keys more often than in one.

Two URLs of a page with a session each, on two mirrors, by http and https: no edit of one key makes them equal. Which
keys differ at once is read off the pairs of URLs in clusters.
"""

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import replace
from itertools import combinations

import numpy as np

from undust.learn.edits import MIN_ROWS, Edit
from undust.learn.exchanges import neighbours
from undust.learn.state import Merges, State, first_rows, numbered

MAX_TOGETHER = 6
"""Keys that may change together."""
MAX_SETS = 16
"""Sets of keys that most clusters show, which are tried, …"""
MAX_UNITED = 6
"""… and those of them that are tried by twos: if a session does not matter, nor a mirror, both may differ."""


def possible_sets(state: State, edits: Sequence[Edit]) -> Iterator[tuple[Edit, ...]]:
    """List sets of edits, one for each key that differs between URLs of several clusters."""
    by_key = {edit.key: edit for edit in edits if edit.loses}
    keys = sorted(by_key, key=str)
    a, b = neighbours(state.clusters[state.rows].astype(np.uint64))
    if not keys or not len(a):
        return
    differ = np.stack([state.column(key)[a] != state.column(key)[b] for key in keys], axis=1)
    # What no edit changes must not differ. Segments are counted from the end by edits, from the start by columns.
    segments = np.array([key.part == "path" for key in keys])
    left = -differ[:, segments].sum(axis=1)
    same = state.depth[a] == state.depth[b]
    for key, codes in state.columns.items():
        if key.part == "path":
            left += codes[a] != codes[b]
        elif key not in by_key:
            same &= codes[a] == codes[b]
    same &= left == 0
    a, differ = a[same], differ[same]
    few = (differ.sum(axis=1) > 1) & (differ.sum(axis=1) <= MAX_TOGETHER)
    shown = _shown(differ[few], state.clusters[state.rows[a[few]]])
    united = [one | other for one, other in combinations(shown[:MAX_UNITED], 2)]
    for chosen in dict.fromkeys([*shown, *united]):
        if len(chosen) <= MAX_TOGETHER:
            yield tuple(by_key[keys[place]] for place in sorted(chosen))


def _shown(differ: np.ndarray, clusters: np.ndarray) -> list[frozenset[int]]:
    """Give the sets of places that differ in several clusters, the most shown first."""
    if not len(differ):
        return []
    sets, kinds = np.unique(differ, axis=0, return_inverse=True)
    cells, _ = numbered(kinds.astype(np.uint64) * np.uint64(int(clusters.max()) + 1) + clusters.astype(np.uint64))
    counts = np.bincount(kinds[first_rows(cells)], minlength=len(sets))
    order = [each for each in np.argsort(-counts, kind="stable").tolist() if counts[each] >= MIN_ROWS]
    return [frozenset(np.flatnonzero(sets[each]).tolist()) for each in order[:MAX_SETS]]


def jointly(state: State, edits: Sequence[Edit]) -> Merges | None:
    """Count what edits make one when they are made one after the other; nothing if anything of it is wrong."""
    after, gained, found = copy(state), 0, None
    for edit in edits:
        rows = np.flatnonzero(edit.rows(after))
        changes, depth = edit.changes(after, rows)
        found = after.merges(after.changed_hashes(changes, rows), rows)
        if found.wrong:
            return None
        gained += found.gained
        after.accept(changes, rows, depth)
    return None if found is None else replace(found, gained=gained)
