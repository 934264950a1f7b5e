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

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from undust.detect.pairs import MEMORY_BYTES, in_threads, thread_count, to_table
from undust.detect.shingles import ShingleSets
from undust.detect.sketches import THRESHOLD, Sketches, forget_mapped, is_mapped
from undust.errors import UsageError
from undust.kernels.banding import EMPTY, NO_ROW, find_equal, pack_keys, remember, union_buckets, verify_buckets
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
_MAPPED_BYTES = 1 << 16  # that the system brings into memory around a byte of a mapped file
_SHIFT, _ROW = np.uint64(32), np.uint64(2**32 - 1)
_U64 = npt.NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class _Evidence:
    """Arrays that pairs are verified by: sets, or signatures, the other empty."""

    sets: ShingleSets
    signatures: _U64
    limit: int | None  # bytes of sets to look at in one go, where they are in a file

    def arrays(self) -> tuple[Any, Any, Any, Any, Any, Any]:
        """Arguments of the kernels, with room for sorting of their own."""
        sets = self.sets
        return sets.hashes, sets.offsets, sets.counts, sets.ordered, sets.scratch(), self.signatures

    def slices(self, packed: _U64) -> Iterator[_U64]:
        """Cut packed rows between buckets, so that the sets of a slice fit into the memory; alone ones are left out.

        What was read of a slice is forgotten after it.
        """
        if self.limit is None:
            yield packed
            return
        keys = packed >> _SHIFT
        same = keys[1:] == keys[:-1]
        shared = np.zeros(len(packed), dtype=np.bool_)
        shared[1:] = same
        shared[:-1] |= same
        packed, keys = packed[shared], keys[shared]
        edges = np.append(np.flatnonzero(np.diff(keys, prepend=~keys[:1])), len(packed))
        sizes = 4 * self.sets.counts[(packed & _ROW).astype(np.int64)].astype(np.int64) + _MAPPED_BYTES
        before = np.concatenate([[0], np.cumsum(sizes)])[edges]
        at = 0
        while at < len(edges) - 1:
            end = max(at + 1, int(np.searchsorted(before, before[at] + self.limit, side="right")) - 1)
            yield packed[edges[at] : edges[end]]
            forget_mapped(self.sets.hashes)
            at = end


def minhash_pairs(
    sketches: Sketches,
    *,
    threshold: float = THRESHOLD,
    max_bucket: int = MAX_BUCKET,
    connected: bool = False,
    memory_bytes: int = MEMORY_BYTES,
    threads: int | None = None,
) -> pa.Table:
    """Find the pairs of pages of at least `threshold` among those that agree in a band (`undust.tables.PAIRS`).

    With `connected`, only as many pairs as it takes to connect what is similar: pairs of pages that others connect
    already are neither compared nor reported. The components are the same, in less time for large clusters.
    """
    batches = list(
        minhash_batches(
            sketches,
            threshold=threshold,
            max_bucket=max_bucket,
            connected=connected,
            memory_bytes=memory_bytes,
            threads=threads,
        )
    )
    return to_table(np.concatenate([pairs for pairs, _ in batches]), np.concatenate([found for _, found in batches]))


def minhash_batches(
    sketches: Sketches,
    *,
    threshold: float = THRESHOLD,
    max_bucket: int = MAX_BUCKET,
    connected: bool = False,
    memory_bytes: int = MEMORY_BYTES,
    threads: int | None = None,
) -> Iterator[tuple[_U64, npt.NDArray[np.float32]]]:
    """Find the same in batches, packed as `a << 32 | b`, in no order; a pair may come several times."""
    if not 0.0 < threshold <= 1.0:
        raise UsageError(f"threshold {threshold:g}; choose above 0 and at most 1")
    threads = thread_count(threads) if len(sketches) >= _MANY else 1
    parts = _parts(len(sketches), memory_bytes, threads)
    evidence = _evidence(sketches, memory_bytes // 4 // threads)
    first = _first_of_equal(sketches, evidence, parts, threads)
    rows = np.arange(len(first), dtype=np.uint32)
    doubles = np.flatnonzero(first != rows)
    yield first[doubles].astype(np.uint64) << _SHIFT | doubles.astype(np.uint64), np.ones(len(doubles), np.float32)
    wanted = (first == rows) & (sketches.whole != 0)
    parent = rows.copy() if connected else rows[:0]
    tries = np.full(len(first), MAX_TRIES, dtype=np.uint8)
    known = _Known(memory_bytes // 8)
    for band in range(sketches.bands.count):

        def verify(part: int, band: int = band) -> tuple[_U64, npt.NDArray[np.float32]]:
            packed = _packed(sketches, band, wanted, parts, part)
            return _verified(packed, evidence, threshold, known.table, parent, max_bucket, tries)

        # Components depend on what was joined before, so they are one thread's work, in the order of the keys.
        found = []
        for pairs, weights in in_threads(verify, range(parts), 1 if connected else threads):
            yield pairs, weights
            found.append(pairs)
        if not connected:
            known.add(found)


def candidate_components(sketches: Sketches, *, memory_bytes: int = MEMORY_BYTES) -> npt.NDArray[np.uint32]:
    """Join all pages that agree in a band, unverified: for each row the smallest row it is connected with.

    Dissimilar pages get joined by chains; it bounds what verified pairs could ever join.
    """
    parent = np.arange(len(sketches), dtype=np.uint32)
    parts = _parts(len(sketches), memory_bytes, 1)
    everywhere = np.ones(len(sketches), dtype=np.bool_)
    for band in range(sketches.bands.count):
        keys = np.zeros(len(sketches), dtype=np.uint64)
        for rows, chunk in sketches.band(band):
            keys[rows[rows != NO_ROW]] = chunk[rows != NO_ROW]
        for part in range(parts):
            union_buckets(_packed(sketches, band, everywhere, parts, part), keys, parent)
    flatten(parent)
    return parent


def _parts(count: int, memory_bytes: int, threads: int) -> int:
    """Into how many ranges of keys a band goes: one for each thread, more where memory is short."""
    return max(threads, -(-16 * count * threads // max(memory_bytes // 4, 1 << 12)))


def _evidence(sketches: Sketches, limit: int) -> _Evidence:
    if sketches.sets is None and sketches.signatures is None:
        raise UsageError("sketches without shingles or signatures; gather them with verify=exact or verify=signature")
    empty = np.empty(0, np.uint32)
    sets = sketches.sets or ShingleSets(empty, empty.astype(np.int64), empty, empty.astype(np.bool_))
    signatures = np.empty((0, 0), np.uint64) if sketches.signatures is None else sketches.signatures
    return _Evidence(sets, signatures, limit if is_mapped(sets.hashes) else None)


def _packed(sketches: Sketches, band: int | None, wanted: npt.NDArray[np.bool_], parts: int, part: int) -> _U64:
    """Rows of one range of the keys of a band (of the whole signatures, for none), sorted by key."""
    everything = [(np.arange(len(sketches), dtype=np.uint32), sketches.whole)]
    room = len(wanted) if parts == 1 else 0
    packed, count = np.empty(room, np.uint64), 0
    if parts > 1:
        for rows, keys in everything if band is None else sketches.band(band):
            count = pack_keys(keys, rows, wanted, parts, part, count, packed)
        packed, count = np.empty(count, np.uint64), 0
    for rows, keys in everything if band is None else sketches.band(band):
        count = pack_keys(keys, rows, wanted, parts, part, count, packed) if len(packed) else 0
    packed = packed[:count]
    scratch, counts = np.empty_like(packed), np.empty(COUNTERS, np.int64)
    if not (band is None or sketches.rising) and sort_by_bits(packed, scratch, counts, 0, len(sketches).bit_length()):
        packed, scratch = scratch, packed  # rows of a bucket in rising order, whatever order they came in
    moved = sort_by_bits(packed, scratch, counts, 32, 64)
    return scratch if moved else packed


def _first_of_equal(sketches: Sketches, evidence: _Evidence, parts: int, threads: int) -> npt.NDArray[np.uint32]:
    """For each row the first row with an equal set of shingles; itself for a page without words."""
    first = np.arange(len(sketches), dtype=np.uint32)
    everywhere = np.ones(len(first), dtype=np.bool_)

    def find(part: int) -> None:
        arrays = evidence.arrays()
        for packed in evidence.slices(_packed(sketches, None, everywhere, parts, part)):
            find_equal(packed, *arrays, first)

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
    for piece in evidence.slices(packed):
        state[:] = 0
        while state[0] < len(piece):
            verify_buckets(piece, *arrays, threshold, known, parent, max_bucket, hubs, tries, state, pairs, weights)
            found.append(pairs[: state[1]].copy())
            similarities.append(weights[: state[1]].copy())
            if state[2] > len(pairs):
                pairs, weights = np.empty(state[2], np.uint64), np.empty(state[2], np.float32)
    return np.concatenate([pairs[:0], *found]), np.concatenate([weights[:0], *similarities])


class _Known:
    """Pairs that earlier bands have found: a pair agrees in most of its bands, and need not be verified in each.

    When they are too many for the memory, all are forgotten: some pairs are then verified and reported again.
    """

    def __init__(self, memory_bytes: int) -> None:
        self.table = np.full(1 << 10, EMPTY, dtype=np.uint64)
        self._limit = memory_bytes // 32
        self._count = 0

    def add(self, batches: list[_U64]) -> None:
        more = sum(map(len, batches))
        if self._count + more > self._limit:
            self.table, self._count = np.full(1 << 10, EMPTY, dtype=np.uint64), 0
            if more > self._limit:
                return
        self._count += more
        if 2 * self._count > len(self.table):
            before = self.table
            self.table = np.full(1 << (4 * self._count - 1).bit_length(), EMPTY, dtype=np.uint64)
            remember(self.table, before)
        for pairs in batches:
            remember(self.table, pairs)
