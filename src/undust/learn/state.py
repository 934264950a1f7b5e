"""Where learning stands: the keys of URLs after the edits accepted so far, and what one more would change."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc

from undust.kernels.merges import add_hashes, number
from undust.learn.columns import Codes, SiteUrls
from undust.urls.keys import Key

Mask = npt.NDArray[np.bool_]
Hashes = npt.NDArray[np.uint64]

IGNORED = np.int32(2**31 - 1)
"""The code of a value that does not matter, present or absent."""

_GOLDEN = 0x9E3779B97F4A7C15


@dataclass(frozen=True, slots=True)
class Merges:
    """What becomes one by an edit. Counted linearly: a cluster of a thousand URLs is not a million pairs."""

    gained: int
    """Keys fewer, within clusters."""
    wrong: int
    """Clusters that were apart and are no longer."""
    joined: int
    """Keys, counted in each cluster that has them, that come together with another."""
    clusters: int
    """Clusters in which keys become fewer."""
    right_rows: Mask
    """URLs that meet another key of their own cluster."""
    wrong_rows: Mask
    """URLs that meet another cluster."""

    def without_rows(self) -> "Merges":
        """Keep the counts only, for many of them at once."""
        none = np.zeros(0, np.bool_)
        return replace(self, right_rows=none, wrong_rows=none)


class State:
    """The columns as the accepted edits have left them, and a hash of each URL's whole key.

    A key's hash is a sum over its columns, so that an edit of one column costs one addition. The order of arguments is
    no part of it.
    """

    def __init__(self, site: SiteUrls) -> None:
        self.site = site
        self.columns = dict(site.columns)
        self.depth = site.depth
        self.seeds = {key: np.uint64((place + 1) * _GOLDEN % 2**64) for place, key in enumerate(self.columns)}
        self._heads: dict[str, Codes] = {}
        self.hashes = np.zeros(len(site), np.uint64)
        for key, codes in self.columns.items():
            add_hashes(codes, self.seeds[key], self.hashes)

    def column(self, key: Key) -> Codes:
        """Give the codes of a key as they are now; segments may be counted from the end."""
        if key.part == "path" and isinstance(key.name, int) and key.name < 0:
            return from_end(self.columns, self.depth, -key.name)
        found = self.columns.get(key)
        return np.zeros(len(self.site), np.int32) if found is None else found

    def heads(self, mark: str) -> Codes:
        """Give for each code a code of its value's head, before a delimiter; 0 for values without it.

        Codes of heads are apart from codes of values: `a:*` is another key than `a`.
        """
        if mark not in self._heads:
            values = self.site.values
            divided = pc.match_substring(values, mark)
            heads = pc.list_element(pc.split_pattern(values.filter(divided), mark, max_splits=1), 0).dictionary_encode()
            codes = np.zeros(len(values) + 1, np.int32)
            beyond = len(values) + 1 + sum(int(known.max(initial=0)) + 1 for known in self._heads.values())
            at = 1 + np.flatnonzero(divided.to_numpy(zero_copy_only=False))
            codes[at] = heads.indices.to_numpy() + beyond
            self._heads[mark] = codes
        known = self._heads[mark]
        top = int(max((column[column != IGNORED].max(initial=0) for column in self.columns.values()), default=0))
        return known if top < len(known) else np.concatenate([known, np.zeros(top + 1 - len(known), np.int32)])

    def changed_hashes(self, changes: dict[Key, Codes], rows: Mask) -> Hashes:
        """Give the hashes that URLs would have if columns were changed in some rows."""
        hashes = self.hashes.copy()
        for key, codes in changes.items():
            add_hashes(np.where(rows, codes, np.int32(0)), self._seed(key), hashes)
            taken = np.zeros(len(hashes), np.uint64)
            add_hashes(np.where(rows, self.column(key), np.int32(0)), self._seed(key), taken)
            hashes -= taken
        return hashes

    def accept(self, changes: dict[Key, Codes], rows: Mask, depth: Codes | None = None) -> None:
        """Change columns in some rows for good."""
        self.hashes = self.changed_hashes(changes, rows)
        for key, codes in changes.items():
            self.columns[key] = np.where(rows, codes, self.column(key))
        if depth is not None:
            self.depth = np.where(rows, depth, self.depth)

    def merges(self, hashes: Hashes) -> Merges:
        """Count what becomes one when URLs get new hashes."""
        clusters = self.site.clusters
        old, old_sizes = numbered(self.hashes)
        new, new_sizes = numbered(hashes)
        width = np.uint64(int(clusters.max(initial=0)) + 1)
        # An item is a key that a cluster has now. What counts is how many of its items come together.
        items, _ = numbered(old.astype(np.uint64) * width + clusters.astype(np.uint64))
        first = _first_rows(items)
        pairs, pair_sizes = numbered(new[first].astype(np.uint64) * width + clusters[first].astype(np.uint64))
        gained = len(first) - len(pair_sizes)
        clusters_of_new = np.bincount(new[first][_first_rows(pairs)], minlength=len(new_sizes))
        mixed_before = np.bincount(old[first], minlength=len(old_sizes)) - 1
        before = np.zeros(len(new_sizes), np.int64)
        np.add.at(before, new[_first_rows(old)], mixed_before)
        wrong = clusters_of_new - 1 - before
        right_items = pair_sizes[pairs] > 1
        return Merges(
            gained,
            int(np.maximum(wrong, 0).sum()),
            int((np.bincount(new[_first_rows(old)], minlength=len(new_sizes)) > 1)[new[first]].sum()),
            len(np.unique(clusters[first][right_items])),
            right_items[items],
            (wrong > 0)[new],
        )

    def _seed(self, key: Key) -> np.uint64:
        if key not in self.seeds:
            self.seeds[key] = np.uint64((len(self.seeds) + 1) * _GOLDEN % 2**64)
        return self.seeds[key]


def numbered(hashes: npt.NDArray[Any]) -> tuple[Codes, Codes]:
    """Number equal hashes alike; give the numbers and the size of each group."""
    room = 1 << max(4, int(2 * len(hashes)).bit_length())
    numbers = np.empty(len(hashes), np.int32)
    sizes = np.zeros(len(hashes) + 1, np.int32)
    number(np.ascontiguousarray(hashes, np.uint64), np.full(room, -1, np.int64), numbers, sizes)
    return numbers, sizes[: int(numbers.max(initial=-1)) + 1]


def from_end(columns: dict[Key, Codes], depth: Codes, place: int) -> Codes:
    """Give the segments that are `place` from the end; 0 where a path is shorter."""
    found = np.zeros(len(depth), np.int32)
    for key, codes in columns.items():
        if key.part == "path" and isinstance(key.name, int):
            found = np.where(depth - place == key.name, codes, found)
    return found


def _first_rows(numbers: Codes) -> npt.NDArray[np.int64]:
    """Give the first row of each group; groups are numbered in the order in which they come."""
    first = np.empty(int(numbers.max(initial=-1)) + 1, np.int64)
    first[numbers[::-1]] = np.arange(len(numbers) - 1, -1, -1)
    return first
