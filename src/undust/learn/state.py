"""Where learning stands: the keys of URLs after the edits accepted so far, and what one more would change."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from undust.kernels.merges import add_hashes, count_merges, number
from undust.learn.columns import Codes, SiteUrls
from undust.learn.maps import Change, Maps
from undust.urls.keys import Key

Mask = npt.NDArray[np.bool_]
Hashes = npt.NDArray[np.uint64]
Rows = npt.NDArray[np.int64]

IGNORED = np.int32(2**31 - 1)
"""The code of a value that does not matter, present or absent."""

_SEED = 0xD6E8FEB86659FD93
"""Not the constant that codes are multiplied with, or neighbouring columns would share hashes."""


@dataclass(frozen=True, slots=True)
class Merges:
    """What becomes one by an edit. Counted linearly: a cluster of a thousand URLs is not a million pairs."""

    gained: int
    """Keys fewer, within clusters."""
    wrong: int
    """Clusters that were apart and are no longer."""
    excused: int
    """Those of them that one wrong label explains: of a URL that shares nothing of its own with its cluster."""
    joined: int
    """Keys, counted in each cluster that has them, that come together with another."""
    doubtful: int
    """Those of them that are one URL, whose cluster nothing else confirms."""
    clusters: int
    """Clusters in which keys become fewer."""
    groups: int
    """Keys that take the place of several."""
    mixed: int
    """Those of them that clusters have in common which were apart."""


class State:
    """The distinct keys that the accepted edits have left, their columns, and the clusters that have URLs of each.

    A key's hash is a sum over its columns, so that an edit of one column costs one addition. The order of arguments is
    no part of it. An edit costs no more than the keys that it changes and those that they meet.
    """

    def __init__(self, site: SiteUrls) -> None:
        self.site = site
        self.clusters = site.clusters
        """The cluster of each URL, which votes may change."""
        self.seeds = {key: np.uint64((place + 1) * _SEED % 2**64) for place, key in enumerate(site.columns)}
        self._maps = Maps(site.values)
        self._rarest = rarest(site)
        hashes = np.zeros(len(site), np.uint64)
        for key, codes in site.columns.items():
            add_hashes(codes, self.seeds[key], hashes)
        self._set(hashes, np.arange(len(site)), dict(site.columns), site.depth)

    def _set(self, hashes: Hashes, numbers: npt.NDArray[Any], columns: dict[Key, Codes], depth: Codes) -> None:
        """Take over keys, of which equal ones become one; `numbers` tells the key of each URL."""
        table = _table(len(hashes))
        same = np.empty(len(hashes), np.int32)
        number(hashes, table, same, np.zeros(len(hashes) + 1, np.int32))
        first = first_rows(same)
        self.numbers = same[numbers]
        """The key of each URL."""
        self.hashes = hashes[first]
        self.columns = {key: codes[first] for key, codes in columns.items()}
        self._top = max((int(codes[codes != IGNORED].max(initial=0)) for codes in self.columns.values()), default=0)
        self.depth = depth[first]
        self.rows = first_rows(self.numbers)
        """A URL of each key, which stands for the others."""
        self.weights = np.bincount(self.numbers, minlength=len(first))
        """How many URLs have each key."""
        self._table = _table(len(first))
        number(self.hashes, self._table, np.empty(len(first), np.int32), np.zeros(len(first) + 1, np.int32))
        self._count()

    def _count(self) -> None:
        """List for each key the clusters that have URLs of it."""
        clusters = self.clusters.astype(np.uint64)
        width = np.uint64(int(self.clusters.max(initial=0)) + 1)
        company = np.bincount(self.clusters)[self.clusters]
        alike, sizes = numbered(self._rarest * width + clusters)
        strange = (company > 1) & (sizes[alike] == 1)  # shares its rarest value with none of its cluster
        cells, weights = numbered(self.numbers.astype(np.uint64) * width + clusters)
        first = first_rows(cells)
        order = np.argsort(self.numbers[first], kind="stable")
        self._item_clusters = self.clusters[first][order]
        self._item_weights = weights[order]
        self._item_strangers = (strange[first] & (weights == 1))[order]
        self._offsets = np.zeros(len(self.hashes) + 1, np.int64)
        np.cumsum(np.bincount(self.numbers[first], minlength=len(self.hashes)), out=self._offsets[1:])
        self._flags = np.zeros(len(self.hashes), np.uint8)
        self._seen = np.zeros((int(width), 4), np.int32)
        self._lists = np.empty((2, int(width)), np.int64)

    def __len__(self) -> int:
        return len(self.hashes)

    def column(self, key: Key) -> Codes:
        """Give the codes of a key as they are now; segments may be counted from the end."""
        if key.part == "path" and isinstance(key.name, int) and key.name < 0:
            return from_end(self.columns, self.depth, -key.name)
        found = self.columns.get(key)
        return np.zeros(len(self), np.int32) if found is None else found

    def mapped(self, change: Change) -> Codes:
        """Give for each code what its value becomes by a change; 0 for values that stay."""
        return self._maps.get(change, self._top + 1)

    def changed_hashes(self, changes: dict[Key, Codes], rows: Rows) -> Hashes:
        """Give the hashes that some keys would have if columns were changed in them."""
        hashes = self.hashes[rows]
        for key, codes in changes.items():
            taken = np.zeros(len(rows), np.uint64)
            add_hashes(np.ascontiguousarray(self.column(key)[rows]), self._seed(key), taken)
            hashes -= taken
            add_hashes(np.ascontiguousarray(codes), self._seed(key), hashes)
        return hashes

    def merges(self, hashes: Hashes, rows: Rows, right: Mask | None = None, wrong: Mask | None = None) -> Merges:
        """Count what becomes one when some keys get new hashes.

        `right` and `wrong`, if given, are told which keys meet another of their own cluster, or one of another.
        """
        none = np.zeros(0, np.bool_)
        counts = np.zeros(8, np.int64)
        count_merges(
            self.hashes,
            hashes,
            rows,
            self._table,
            _table(len(rows)),
            np.empty(len(rows), np.int64),
            self._flags,
            self._offsets,
            self._item_clusters,
            self._item_weights,
            self._item_strangers,
            self._seen,
            self._lists,
            counts,
            none if right is None else right,
            none if wrong is None else wrong,
        )
        return Merges(*counts.tolist())

    def accept(self, changes: dict[Key, Codes], rows: Rows, depth: Codes | None = None) -> None:
        """Change columns in some keys for good."""
        hashes = self.hashes.copy()
        hashes[rows] = self.changed_hashes(changes, rows)
        columns = dict(self.columns)
        for key, codes in changes.items():
            columns[key] = self.column(key).copy()
            columns[key][rows] = codes
        depths = self.depth.copy()
        if depth is not None:
            depths[rows] = depth
        self._set(hashes, self.numbers, columns, depths)

    def vote(self) -> None:
        """Let URLs that have become one decide by majority which cluster they are in; the others were wrong labels."""
        groups = np.repeat(np.arange(len(self)), np.diff(self._offsets))
        order = np.lexsort((self._item_clusters, -self._item_weights, groups))
        best = order[np.diff(groups[order], prepend=-1) != 0]
        clear = 2 * self._item_weights[best] > np.bincount(groups, weights=self._item_weights)
        chosen = np.where(clear, self._item_clusters[best], -1)[self.numbers]
        self.clusters = np.where(chosen >= 0, chosen, self.clusters).astype(np.int32)
        self._count()

    def _seed(self, key: Key) -> np.uint64:
        if key not in self.seeds:
            self.seeds[key] = np.uint64((len(self.seeds) + 1) * _SEED % 2**64)
        return self.seeds[key]


def _table(size: int) -> npt.NDArray[np.int64]:
    return np.full(1 << max(4, int(2 * size).bit_length()), -1, np.int64)


def numbered(hashes: npt.NDArray[Any]) -> tuple[Codes, Codes]:
    """Number equal hashes alike; give the numbers and the size of each group."""
    numbers = np.empty(len(hashes), np.int32)
    sizes = np.zeros(len(hashes) + 1, np.int32)
    number(np.ascontiguousarray(hashes, np.uint64), _table(len(hashes)), numbers, sizes)
    return numbers, sizes[: int(numbers.max(initial=-1)) + 1]


def rarest(site: SiteUrls) -> Hashes:
    """Give a number for each URL's rarest value that is not unique: what it is most likely to be about."""
    best = np.full(len(site), len(site) + 1, np.int64)
    found = np.zeros(len(site), np.uint64)
    for place, codes in enumerate(site.columns.values()):
        counts = np.bincount(codes)[codes]
        better = (codes > 0) & (counts > 1) & (counts < best)
        best = np.where(better, counts, best)
        found = np.where(better, codes.astype(np.uint64) * np.uint64(len(site.columns)) + np.uint64(place), found)
    return found


def from_end(columns: dict[Key, Codes], depth: Codes, place: int) -> Codes:
    """Give the segments that are `place` from the end; 0 where a path is shorter."""
    found = np.zeros(len(depth), np.int32)
    for key, codes in columns.items():
        if key.part == "path" and isinstance(key.name, int):
            found = np.where(depth - place == key.name, codes, found)
    return found


def first_rows(numbers: npt.NDArray[Any]) -> Rows:
    """Give the first row of each group; groups are numbered in the order in which they come."""
    first = np.empty(int(numbers.max(initial=-1)) + 1, np.int64)
    first[numbers[::-1]] = np.arange(len(numbers) - 1, -1, -1)
    return first
