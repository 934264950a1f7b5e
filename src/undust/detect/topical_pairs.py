"""Pairs of pages about the same things (paper 002): min-hash values of bags, drawn at random into bands, and verified.

What is guaranteed. Every pair reported is verified: its weighted Jaccard similarity, by all the words of the two bags,
is at least the threshold. A pair at the threshold becomes a candidate with the chance of `RECALL`, one above it with a
better one; among FEW_PAGES all are found. Of equal bags the first stands for all: the others are paired with it only,
at similarity 1. What bounds time and room where many pages are alike: in a bucket of more than MAX_BUCKET pages each is
compared with WINDOW others, those next to it in the bands before; and two pages that both have MAX_DEGREE pairs are
compared no more.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from undust.detect.bags import BAG_SUM, Bags, weighted_signatures
from undust.detect.pairs import MEMORY_BYTES, in_threads, require_rows, thread_count
from undust.detect.pairs_store import PairStore
from undust.detect.topical_draws import RECALL, THRESHOLD, VALUES, choose_draws
from undust.kernels.radix import COUNTERS, sort_by_bits
from undust.kernels.topics import draw_keys
from undust.kernels.topics_pairs import (
    NO_PAIR,
    find_equal_bags,
    hash_bags,
    remember_pairs,
    similarities,
    verify_bags,
)

FEW_PAGES = 1000
"""So few different pages are all compared with each other, without any chance in it."""

MAX_BUCKET = 128
WINDOW = 32
MAX_DEGREE = 512

_ROOM = 1 << 16
_MANY = 1 << 14  # below, starting threads takes longer than the work
_U32 = npt.NDArray[np.uint32]
_U64 = npt.NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class BagSketches:
    """The weighted bags of many pages, and their min-hash values, a column each.

    Row i has the terms `starts[i]` to `ends[i]`, in rising order.
    """

    starts: npt.NDArray[np.int64]
    ends: npt.NDArray[np.int64]
    terms: _U32
    weights: npt.NDArray[np.float32]
    values: _U32
    total: float = BAG_SUM

    def __len__(self) -> int:
        return len(self.starts)

    @property
    def bags(self) -> tuple[Any, Any, Any, Any]:
        """Arguments of the kernels."""
        return self.starts, self.ends, self.terms, self.weights

    @property
    def present(self) -> npt.NDArray[np.bool_]:
        """Rows that have words left."""
        return self.ends > self.starts

    def similarities(self, a: npt.ArrayLike, b: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Weighted Jaccard similarity of pairs of bags; 0 where one is empty."""
        one, other = (np.ascontiguousarray(side, dtype=np.int64) for side in (a, b))
        found = np.empty(len(one), dtype=np.float64)
        similarities(*self.bags, self.total, one, other, found)
        return found

    def first_of_equal(self) -> _U32:
        """Give for each row the first row with an equal bag; itself for an empty one."""
        hashes, first = np.empty(len(self), np.uint64), np.empty(len(self), np.uint32)
        hash_bags(*self.bags, hashes)
        find_equal_bags(*self.bags, hashes, np.argsort(hashes, kind="stable"), first)
        return first


def sketch_bags(
    batches: Iterable[tuple[_U32, Bags]],
    pages: int,
    most_terms: int,
    *,
    total: float = BAG_SUM,
    seed: int = 0,
    memory_bytes: int = MEMORY_BYTES,
    folder: Path | None = None,
) -> BagSketches:
    """Take the weighted bags of batches of pages, each with its row: `pages` rows, `most_terms` terms or fewer.

    Where they would exceed `memory_bytes`, they lie in files in `folder`, if one is given.
    """
    require_rows(pages)
    aside = folder if 8 * most_terms + 4 * VALUES * pages > memory_bytes else None
    terms = _room(most_terms, np.dtype(np.uint32), aside, "terms")
    weights = _room(most_terms, np.dtype(np.float32), aside, "weights")
    values = _room(VALUES * pages, np.dtype(np.uint32), aside, "values").reshape(VALUES, pages)
    starts, ends = np.zeros(pages, np.int64), np.zeros(pages, np.int64)
    used = 0
    for rows, bags in batches:
        end = used + len(bags.terms)
        terms[used:end], weights[used:end] = bags.terms, bags.weights
        starts[rows], ends[rows] = used + bags.rows[:-1], used + bags.rows[1:]
        values[:, rows] = weighted_signatures(bags, values=VALUES, seed=seed).astype(np.uint32).T
        used = end
    return BagSketches(starts, ends, terms[:used], weights[:used], values, total)


def _room(count: int, dtype: np.dtype[Any], folder: Path | None, name: str) -> npt.NDArray[Any]:
    """Make room that is taken as it is filled; in a file, the system keeps in memory what it has room for."""
    if folder is None or not count:
        return np.empty(count, dtype)
    return np.asarray(np.memmap(folder / name, dtype, "w+", shape=(count,)))


def bag_pairs(
    sketches: BagSketches,
    store: PairStore | None = None,
    *,
    threshold: float = THRESHOLD,
    recall: float = RECALL,
    seed: int = 0,
    threads: int | None = None,
) -> PairStore:
    """Find the pairs of rows of at least `threshold`; they go to `store`, which gives them in order."""
    store = PairStore() if store is None else store
    first, present = sketches.first_of_equal(), sketches.present
    rows = np.arange(len(first), dtype=np.uint32)
    doubles = np.flatnonzero(first != rows)
    store.add(_packed(first[doubles], doubles), np.ones(len(doubles), np.float32))
    order = rows[(first == rows) & present].astype(np.uint64)
    threads = thread_count(threads) if len(order) >= _MANY else 1
    if len(order) <= FEW_PAGES:
        store.add(
            *_verified(order, sketches, threshold, _Known().table, np.zeros(len(first), np.uint32), (len(order),) * 2)
        )
        return store
    degrees, known, keys = np.zeros(len(first), np.uint32), _Known(), np.empty(len(first), np.uint64)
    for drawn in choose_draws(len(order), threshold, recall).bands(seed):
        draw_keys(sketches.values, drawn, present, keys)
        packed = _sorted(keys, order)
        order = packed & np.uint64(0xFFFFFFFF)

        def verify(part: _U64) -> tuple[_U64, npt.NDArray[np.float32]]:
            return _verified(part, sketches, threshold, known.table, degrees, (MAX_DEGREE, MAX_BUCKET))

        for pairs, similar in list(in_threads(verify, _parts(packed, threads), threads)):
            store.add(pairs, similar)
            known.add(pairs)
    return store


def _packed(a: npt.NDArray[np.integer], b: npt.NDArray[np.integer]) -> _U64:
    return a.astype(np.uint64) << np.uint64(32) | b.astype(np.uint64)


def _sorted(keys: _U64, order: _U64) -> _U64:
    """Pack keys and rows, and sort them by key. Equal keys stay in the order given, which is that of the band before:
    pages that agree in both bands are neighbours."""
    packed = keys[order] >> np.uint64(32) << np.uint64(32) | order
    scratch = np.empty_like(packed)
    moved = sort_by_bits(packed, scratch, np.empty(COUNTERS, np.int64), 32, 64)
    return scratch if moved else packed


def _parts(packed: _U64, threads: int) -> list[_U64]:
    """Cut sorted keys into a part for each thread, between two buckets."""
    cuts = [0]
    for part in range(1, threads):
        # Keys are sorted, the rows of a key are not: where it begins is found by the key and the row 0.
        key = packed[part * len(packed) // threads] >> np.uint64(32) << np.uint64(32)
        cuts.append(int(np.searchsorted(packed, key)))
    return [packed[a:b] for a, b in zip(cuts, [*cuts[1:], len(packed)], strict=True)]


def _verified(
    packed: _U64, sketches: BagSketches, threshold: float, known: _U64, degrees: _U32, limits: tuple[int, int]
) -> tuple[_U64, npt.NDArray[np.float32]]:
    """Find the pairs in the buckets of packed rows."""
    pairs, weights = np.empty(_ROOM, np.uint64), np.empty(_ROOM, np.float32)
    state, found, similar = np.zeros(4, np.int64), [pairs[:0]], [weights[:0]]
    while state[0] < len(packed):
        verify_bags(
            packed, *sketches.bags, sketches.total, threshold, known, degrees, *limits, WINDOW, state,
            pairs, weights,
        )  # fmt: skip
        found.append(pairs[: state[1]].copy())
        similar.append(weights[: state[1]].copy())
    return np.concatenate(found), np.concatenate(similar)


class _Known:
    """Pairs that earlier bands have found: a pair may agree in many bands, and is verified once.

    Takes 11 to 32 bytes a pair, whatever the limit of memory: what is compared must not depend on that.
    """

    def __init__(self) -> None:
        self.table = np.full(1 << 10, NO_PAIR, dtype=np.uint64)
        self._count = 0

    def add(self, pairs: _U64) -> None:
        self._count += len(pairs)
        if 4 * self._count > 3 * len(self.table):
            before = self.table
            self.table = np.full(1 << (2 * self._count - 1).bit_length(), NO_PAIR, dtype=np.uint64)
            remember_pairs(self.table, before)
        remember_pairs(self.table, pairs)
