"""Pairs of pages by min-hash: candidates agree in a band of their signatures, and each is verified.

What is guaranteed. Of pages with equal sets the first stands for all: they are paired with it only, at similarity 1,
and it alone with others. Every other pair reported is verified, so none is below the threshold. Every pair at or
above it that shares a bucket of at most MAX_BUCKET different pages is reported. A larger bucket comes from a template
that many pages share. There each page is compared with at most MAX_HUBS hubs, the first pages in it that are not
similar to an earlier hub, and reported with the first one that it is similar to; after MAX_TRIES in vain, in all
such buckets together, with no more. Time and pairs stay linear in the size of the bucket. Two similar pages may then
be missed in this bucket if neither is a hub; they have other bands, in which what is their own decides, not the
template. Pages which are little but template are similar to the hub.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from undust.detect.pairs import MEMORY_BYTES, in_threads, thread_count, to_table
from undust.detect.shingles import ShingleSets
from undust.detect.sketches import THRESHOLD, Sketches
from undust.errors import UsageError
from undust.kernels.banding import EMPTY, find_equal, pack_keys, remember, union_buckets, verify_buckets
from undust.kernels.radix import COUNTERS, sort_by_bits
from undust.kernels.union_find import flatten

MAX_BUCKET = 128
"""Up to so many pages with an equal band are all compared with each other."""

MAX_HUBS = 8
"""With so many pages each page of a larger bucket is compared."""

MAX_TRIES = 64
"""In vain a page is compared with so many hubs, over all large buckets."""

_ROOM = 1 << 16
_MANY = 1 << 15  # below, starting threads takes longer than the work
_U64 = npt.NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class _Evidence:
    """Arrays that pairs are verified by: sets, or signatures, the other empty."""

    sets: ShingleSets
    signatures: _U64

    def arrays(self) -> tuple[Any, Any, Any, Any, Any, Any]:
        """Arguments of the kernels, with room for sorting of their own."""
        sets = self.sets
        return sets.hashes, sets.offsets, sets.counts, sets.ordered, sets.scratch(), self.signatures


def minhash_pairs(
    sketches: Sketches,
    *,
    threshold: float = THRESHOLD,
    max_bucket: int = MAX_BUCKET,
    connected: bool = False,
    memory_bytes: int = MEMORY_BYTES,
    threads: int | None = None,
) -> pa.Table:
    """Find the pairs of pages of at least `threshold` among those that agree in a band (`undust.detect.pairs.PAIRS`).

    With `connected`, only as many pairs as it takes to connect what is similar: pairs of pages that others connect
    already are neither compared nor reported. The components are the same, in less time for large clusters.
    """
    if not 0.0 < threshold <= 1.0:
        raise UsageError(f"threshold {threshold:g}; choose above 0 and at most 1")
    threads = thread_count(threads) if len(sketches) >= _MANY else 1
    parts = _parts(len(sketches), memory_bytes, threads)
    evidence = _evidence(sketches)
    first = _first_of_equal(sketches, evidence, parts, threads)
    rows = np.arange(len(first), dtype=np.uint32)
    doubles = np.flatnonzero(first != rows)
    found = [first[doubles].astype(np.uint64) << np.uint64(32) | doubles.astype(np.uint64)]
    similarities = [np.ones(len(doubles), dtype=np.float32)]
    wanted = (first == rows) & (sketches.whole != 0)
    parent = rows.copy() if connected else rows[:0]
    tries = np.full(len(first), MAX_TRIES, dtype=np.uint8)
    known = _Known()
    for band in range(sketches.bands.count):

        def verify(part: int, band: int = band) -> tuple[_U64, npt.NDArray[np.float32]]:
            packed = _packed(sketches, band, wanted, parts, part)
            return _verified(packed, evidence, threshold, known.table, parent, max_bucket, tries)

        # Components depend on what was joined before, so they are one thread's work, in the order of the keys.
        for pairs, weights in in_threads(verify, range(parts), 1 if connected else threads):
            found.append(pairs)
            similarities.append(weights)
        if not connected:
            known.add(found[-parts:])
    return to_table(np.concatenate(found), np.concatenate(similarities))


def candidate_components(sketches: Sketches, *, memory_bytes: int = MEMORY_BYTES) -> npt.NDArray[np.uint32]:
    """Join all pages that agree in a band, unverified: for each row the smallest row it is connected with.

    Dissimilar pages get joined by chains; it bounds what verified pairs could ever join.
    """
    parent = np.arange(len(sketches), dtype=np.uint32)
    parts = _parts(len(sketches), memory_bytes, 1)
    everywhere = np.ones(len(sketches), dtype=np.bool_)
    for band in range(sketches.bands.count):
        keys = np.concatenate([chunk for _, chunk in sketches.band(band)] or [sketches.whole])
        for part in range(parts):
            union_buckets(_packed(sketches, band, everywhere, parts, part), keys, parent)
    flatten(parent)
    return parent


def _parts(count: int, memory_bytes: int, threads: int) -> int:
    """Into how many ranges of keys a band goes: one for each thread, more where memory is short."""
    return max(threads, -(-16 * count * threads // max(memory_bytes // 4, 1 << 12)))


def _evidence(sketches: Sketches) -> _Evidence:
    if sketches.sets is None and sketches.signatures is None:
        raise UsageError("sketches without shingles or signatures; gather them with verify=exact or verify=signature")
    empty = np.empty(0, np.uint32)
    sets = sketches.sets or ShingleSets(empty, empty.astype(np.int64), empty, empty.astype(np.bool_))
    return _Evidence(sets, np.empty((0, 0), np.uint64) if sketches.signatures is None else sketches.signatures)


def _packed(sketches: Sketches, band: int | None, wanted: npt.NDArray[np.bool_], parts: int, part: int) -> _U64:
    """Rows of one range of the keys of a band (of the whole signatures, for none), sorted by key."""
    chunks = [(0, sketches.whole)] if band is None else sketches.band(band)
    room = len(wanted) if parts == 1 else 0
    packed, count = np.empty(room, np.uint64), 0
    if parts > 1:
        chunks = list(chunks)
        for start, keys in chunks:
            count = pack_keys(keys, start, wanted, parts, part, count, packed)
        packed, count = np.empty(count, np.uint64), 0
    for start, keys in chunks:
        count = pack_keys(keys, start, wanted, parts, part, count, packed) if len(packed) else 0
    packed = packed[:count]
    scratch = np.empty_like(packed)
    moved = sort_by_bits(packed, scratch, np.empty(COUNTERS, np.int64), 32, 64)
    return scratch if moved else packed


def _first_of_equal(sketches: Sketches, evidence: _Evidence, parts: int, threads: int) -> npt.NDArray[np.uint32]:
    """For each row the first row with an equal set of shingles; itself for a page without words."""
    first = np.arange(len(sketches), dtype=np.uint32)
    everywhere = np.ones(len(first), dtype=np.bool_)

    def find(part: int) -> None:
        find_equal(_packed(sketches, None, everywhere, parts, part), *evidence.arrays(), first)

    for _ in in_threads(find, range(parts), threads):
        pass
    return first


def _verified(
    packed: _U64,
    evidence: _Evidence,
    threshold: float,
    known: _U64,
    parent: npt.NDArray[np.uint32],
    max_bucket: int,
    tries: npt.NDArray[np.uint8],
) -> tuple[_U64, npt.NDArray[np.float32]]:
    """Find the pairs in the buckets of packed rows."""
    hubs, state = np.empty(MAX_HUBS, np.uint32), np.zeros(3, np.int64)
    pairs, weights = np.empty(_ROOM, np.uint64), np.empty(_ROOM, np.float32)
    arrays = evidence.arrays()
    found, similarities = [], []
    while state[0] < len(packed):
        verify_buckets(packed, *arrays, threshold, known, parent, max_bucket, hubs, tries, state, pairs, weights)
        found.append(pairs[: state[1]].copy())
        similarities.append(weights[: state[1]].copy())
        if state[2] > len(pairs):
            pairs, weights = np.empty(state[2], np.uint64), np.empty(state[2], np.float32)
    return np.concatenate([pairs[:0], *found]), np.concatenate([weights[:0], *similarities])


class _Known:
    """Pairs that earlier bands have found: a pair agrees in most of its bands, and is verified once."""

    def __init__(self) -> None:
        self.table = np.full(1 << 10, EMPTY, dtype=np.uint64)
        self._count = 0

    def add(self, batches: list[_U64]) -> None:
        self._count += sum(map(len, batches))
        if 2 * self._count > len(self.table):
            before = self.table
            self.table = np.full(1 << (4 * self._count - 1).bit_length(), EMPTY, dtype=np.uint64)
            remember(self.table, before)
        for pairs in batches:
            remember(self.table, pairs)
