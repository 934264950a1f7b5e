"""Tries sets of keys: what would become one if they were ignored."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from undust.kernels.evidence import thin
from undust.learn.columns import Codes
from undust.learn.state import numbered
from undust.learn.tree.evidence import Evidence, merges
from undust.learn.tree.forms import LAST, Hashes, Rows
from undust.learn.tree.transforms import Sheet
from undust.urls.keys import Key

MAX_ROWS = 16_384
"""Forms on which sets of keys are tried."""
MIN_TRIED = 5
"""Forms with the same value, in clusters of several, from which on it is to be expected that the value shows itself."""
MAX_UNSHOWN = 0.1
"""Share of the forms whose value may not do so."""
MAX_ALIKE = 64
"""Of them, those that would all be alike."""


@dataclass(frozen=True, slots=True)
class Trial:
    """Forms in the order of their clusters, their hashes, and what of these comes from each key that may be ignored.

    Of many forms those are taken that would be alike if all of the keys were ignored, so that what goes right and what
    goes wrong are in the same proportion as in all; but of thousands that would be alike only some.
    """

    sheets: tuple[Sheet, ...]
    order: Rows
    """Which of the forms of the sheets, one after the other, these are."""
    clusters: Codes
    hashes: Hashes
    parts: dict[Key, Hashes]
    twice: dict[Key, Hashes]
    """What comes from a segment where it is the last one: it must not be taken away twice."""

    @classmethod
    def of(cls, sheets: Sequence[Sheet], keys: Sequence[Key]) -> "Trial":
        """Prepare the trial of some keys."""
        rows = np.concatenate([sheet.rows for sheet in sheets])
        hashes = np.concatenate([sheet.hashes() for sheet in sheets])
        parts = {key: np.concatenate([sheet.part_of_hash(key) for sheet in sheets]) for key in keys}
        twice = {}
        if LAST in parts:
            last = np.concatenate([sheet.depth for sheet in sheets]) - 1
            places = [key for key in keys if key.part == "path" and key != LAST]
            twice = {key: np.where(last == key.name, parts[key], np.uint64(0)) for key in places}
        clusters = sheets[0].forms.clusters[rows]
        order = np.arange(len(rows))
        whole = cls(tuple(sheets), order, clusters, hashes, parts, twice)
        if len(rows) > MAX_ROWS:
            order = some_alike(whole.without(keys))
        if len(sheets) > 1:
            order = order[np.argsort(rows[order], kind="stable")]
        elif len(order) == len(rows):
            return whole
        return cls(
            tuple(sheets),
            order,
            clusters[order],
            hashes[order],
            {key: part[order] for key, part in parts.items()},
            {key: part[order] for key, part in twice.items()},
        )

    def without(self, keys: Collection[Key]) -> Hashes:
        """Give the hashes that forms have if keys are ignored."""
        found = self.hashes.copy()
        for key in keys:
            found -= self.parts[key]
            if key in self.twice and LAST in keys:
                found += self.twice[key]
        return found

    def shows(self, key: Key, keys: Collection[Key]) -> bool:
        """Tell whether forms that become one if keys are ignored show so for all common values of one of them.

        A value that many forms have, and never in the company of another value, may matter after all.
        """
        codes = np.concatenate([sheet.codes(key) for sheet in self.sheets])[self.order]
        cells, sizes = numbered(self.without(keys) + self.clusters.astype(np.uint64) * np.uint64(0xD6E8FEB86659FD93))
        least, most = np.full(len(sizes), np.iinfo(np.int32).max), np.zeros(len(sizes), np.int64)
        np.minimum.at(least, cells, codes)
        np.maximum.at(most, cells, codes)
        several = np.bincount(self.clusters)[self.clusters] > 1
        if key.part in ("query", "param", "path"):
            several &= codes != 0  # what is not there is not changed
        _, values = np.unique(codes, return_inverse=True)
        tried = np.bincount(values[several], minlength=int(values.max(initial=-1)) + 1)
        shown = np.bincount(values[(least < most)[cells]], minlength=len(tried)) > 0
        return bool(tried[~shown & (tried >= MIN_TRIED)].sum() <= MAX_UNSHOWN * tried.sum())

    def merges(self, keys: Collection[Key]) -> Evidence:
        """Count what becomes one if keys are ignored."""
        return merges(self.without(keys), self.clusters)


def some_alike(hashes: Hashes) -> Rows:
    """Choose rows by groups of equal hashes: all of some groups, but of a large one only the first rows."""
    groups, sizes = numbered(hashes)
    kept = np.empty(len(hashes), np.int64)
    kept = kept[: thin(groups, MAX_ALIKE, np.zeros(len(sizes), np.int32), kept)]
    if len(kept) <= MAX_ROWS:
        return kept
    here = hashes[kept]
    mixed = (here ^ (here >> np.uint64(32))) * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(40)
    return np.asarray(kept[mixed < np.uint64((1 << 24) * MAX_ROWS // len(kept))])
