"""All pairs of simhashes within some bits of each other: exact, by block-permutation tables (Manku et al., 2007).

The bits are cut into more blocks than may differ. Two fingerprints within k bits agree in all but k of the b blocks,
so for each choice of b - k blocks there is a table, in which fingerprints that agree in them stand together. How many
blocks: few mean large buckets, many mean many tables; the cheaper is chosen by the number of pages. A bucket that is
large all the same is cut again by its other bits.
"""

import itertools
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from undust.detect.pairs import MEMORY_BYTES, in_threads, require_rows, thread_count, to_table
from undust.errors import UsageError
from undust.kernels.hamming import KEY_BITS, compare_buckets, find_same, gather, pack_masked
from undust.kernels.radix import COUNTERS, sort_by_bits

DISTANCE = 3
"""Bits that near duplicates differ in, at most: Manku et al. found 3 of 64 right for the web."""

LARGE_BUCKET = 4096
"""A bucket with more rows is cut again: comparing all with all would take longer."""

_MAX_DEPTH = 4
_MIN_BLOCK_BITS = 3  # narrower blocks divide a bucket into too few parts to pay
_SORT_SECONDS, _COMPARE_SECONDS = 4e-8, 3e-10  # for one row of a table, for one comparison: their ratio matters
_MAX_TABLES = 3000
_OUTPUT = 1 << 16
_WORD = 2**64 - 1

_U64 = npt.NDArray[np.uint64]
_Batch = tuple[_U64, npt.NDArray[np.uint8]]  # packed pairs, distances


@dataclass(frozen=True, slots=True)
class _Pages:
    """Fingerprints, and what must be equal (groups) or near (levels) besides; empty arrays where nothing must."""

    low: _U64
    high: _U64
    groups: npt.NDArray[np.uint32]
    levels: npt.NDArray[np.int32]

    def take(self, rows: npt.NDArray[np.int64]) -> "_Pages":
        low, high, groups, levels = self.columns()
        return _Pages(
            low[rows],
            high[rows] if len(high) else high,
            groups[rows] if len(groups) else groups,
            levels[rows] if len(levels) else levels,
        )

    def columns(self) -> tuple[_U64, _U64, npt.NDArray[np.uint32], npt.NDArray[np.int32]]:
        return self.low, self.high, self.groups, self.levels


@dataclass(frozen=True, slots=True)
class _Search:
    """What to find and with how much."""

    distance: int
    gap: int
    memory_bytes: int
    threads: int
    bits: tuple[int, ...]  # places of the bits that are not known to be equal
    equal: int = 0  # mask of those that are
    earlier: tuple[int, ...] = ()  # masks of the tables before, which have reported what is equal under them
    depth: int = 0


def simhash_pairs(
    simhashes: _U64,
    *,
    bits: int = 64,
    distance: int = DISTANCE,
    present: npt.NDArray[np.bool_] | None = None,
    memory_bytes: int = MEMORY_BYTES,
    threads: int | None = None,
) -> pa.Table:
    """Find all pairs of pages whose simhashes differ in at most `distance` bits (`undust.tables.PAIRS`).

    `simhashes` has one number a page, or a row of two (low half first) for more than 64 bits. Pages that are not
    `present` (without words) have no pairs. Of pages with equal simhashes the first stands for all: they are paired
    with it only, and it alone with others. The similarity is 1 - distance / bits.

    >>> simhash_pairs(np.array([0b0000, 0b0111, 0b1111, 0b0000], np.uint64), bits=4, distance=1).to_pylist()
    [{'a': 0, 'b': 3, 'similarity': 1.0}, {'a': 1, 'b': 2, 'similarity': 0.75}]
    """
    packed, distances = near_rows(
        simhashes, bits=bits, distance=distance, present=present, memory_bytes=memory_bytes, threads=threads
    )
    return to_table(packed, (1.0 - distances / bits).astype(np.float32))


def near_rows(
    simhashes: _U64,
    *,
    bits: int,
    distance: int,
    present: npt.NDArray[np.bool_] | None = None,
    groups: npt.NDArray[np.uint32] | None = None,
    levels: npt.NDArray[np.int32] | None = None,
    gap: int = 0,
    memory_bytes: int = MEMORY_BYTES,
    threads: int | None = None,
) -> tuple[_U64, npt.NDArray[np.uint8]]:
    """Find the same as rows packed `a << 32 | b` and distances, in no order; only pairs of one group and near levels.

    Pages that are the same in all (simhash, group, level) are represented by the first of them.
    """
    return _together(
        near_batches(
            simhashes, bits=bits, distance=distance, present=present, groups=groups, levels=levels, gap=gap,
            memory_bytes=memory_bytes, threads=threads,
        )
    )  # fmt: skip


def near_batches(
    simhashes: _U64,
    *,
    bits: int,
    distance: int,
    present: npt.NDArray[np.bool_] | None = None,
    groups: npt.NDArray[np.uint32] | None = None,
    levels: npt.NDArray[np.int32] | None = None,
    gap: int = 0,
    memory_bytes: int = MEMORY_BYTES,
    threads: int | None = None,
) -> Iterator[_Batch]:
    """Find the same in batches, each pair once."""
    pages = _pages(simhashes, bits, groups, levels)
    require_rows(len(pages.low))
    if distance < 0 or gap < 0:
        raise UsageError(f"a distance of {min(distance, gap)}; choose 0 or more")
    rows = np.arange(len(pages.low)) if present is None else np.flatnonzero(present)
    if len(rows) < len(pages.low):
        pages = pages.take(rows)
    search = _Search(distance, gap, memory_bytes, thread_count(threads), tuple(range(bits)))
    first = _first_of_same(pages, search)
    alone = first == np.arange(len(first), dtype=np.uint32)
    doubles = np.flatnonzero(~alone)
    stars = rows[first[doubles]].astype(np.uint64) << np.uint64(32) | rows[doubles].astype(np.uint64)
    if len(doubles):
        pages, rows = pages.take(np.flatnonzero(alone)), rows[alone]
    yield stars, np.zeros(len(stars), np.uint8)
    for packed, distances in _near(pages, search):
        yield _named(packed, rows), distances


def _named(packed: _U64, rows: npt.NDArray[np.int64]) -> _U64:
    """Give pairs of places in `rows` as pairs of rows."""
    named = rows[(packed >> np.uint64(32)).astype(np.int64)].astype(np.uint64) << np.uint64(32)
    named |= rows[(packed & np.uint64(2**32 - 1)).astype(np.int64)].astype(np.uint64)
    return named


def _together(batches: Iterable[_Batch]) -> _Batch:
    found = list(batches)
    return (
        np.concatenate([pairs for pairs, _ in found] or [np.empty(0, np.uint64)]),
        np.concatenate([distances for _, distances in found] or [np.empty(0, np.uint8)]),
    )


def _pages(
    simhashes: _U64, bits: int, groups: npt.NDArray[np.uint32] | None, levels: npt.NDArray[np.int32] | None
) -> _Pages:
    if not 1 <= bits <= 128:
        raise UsageError(f"simhashes of {bits} bits; choose from 1 to 128")
    halves = simhashes.reshape(len(simhashes), -1) if len(simhashes) else np.zeros((0, 2), np.uint64)
    if len(simhashes) and halves.shape[1] != (1 if bits <= 64 else 2):
        raise UsageError(f"simhashes of {bits} bits in {halves.shape[1]} numbers of 64")
    masks = [np.uint64((1 << min(bits, 64)) - 1), np.uint64((1 << max(bits - 64, 0)) - 1)]
    kept = [np.ascontiguousarray(halves[:, i], dtype=np.uint64) & masks[i] for i in range(1 if bits <= 64 else 2)]
    return _Pages(
        kept[0],
        kept[1] if bits > 64 else np.zeros(0, np.uint64),
        np.zeros(0, np.uint32) if groups is None else np.ascontiguousarray(groups, dtype=np.uint32),
        np.zeros(0, np.int32) if levels is None else np.ascontiguousarray(levels, dtype=np.int32),
    )


def _parts(count: int, row_bytes: int, search: _Search) -> int:
    """Into how many parts a table of `count` rows must go, for those worked on at once to keep within the memory."""
    return max(1, math.ceil(count * row_bytes * search.threads / max(search.memory_bytes, 1 << 12)))


def _packed(pages: _Pages, mask: int, parts: int, part: int) -> tuple[_U64, _U64]:
    """Rows of one part of a table, sorted by key, and as much room for other use."""
    arguments = (pages.low, pages.high, pages.groups, mask & _WORD, mask >> 64, parts, part)
    count = len(pages.low) if parts == 1 else pack_masked(*arguments, np.empty(0, np.uint64))
    values, scratch = np.empty(count, np.uint64), np.empty(count, np.uint64)
    if count:
        pack_masked(*arguments, values)
    moved = sort_by_bits(values, scratch, np.empty(COUNTERS, np.int64), 32, 32 + KEY_BITS)
    return (scratch, values) if moved else (values, scratch)


def _first_of_same(pages: _Pages, search: _Search) -> npt.NDArray[np.uint32]:
    """For each row the first row with the same simhash, group and level."""
    first = np.empty(len(pages.low), dtype=np.uint32)
    parts = _parts(len(first), 16, search)

    def find(part: int) -> None:
        packed, _ = _packed(pages, (1 << 128) - 1, parts, part)
        find_same(packed, *pages.columns(), first)

    for _ in in_threads(find, range(parts), search.threads):
        pass
    return first


def choose_blocks(count: int, bits: int, distance: int) -> int:
    """Give the number of blocks that takes the least time, for so many different simhashes of so many bits.

    >>> [choose_blocks(count, 64, 3) for count in (10_000, 10_000_000, 100_000_000)]
    [4, 4, 5]
    """

    def seconds(blocks: int) -> float:
        key_bits = min(bits * (blocks - distance) // blocks, KEY_BITS)
        compared = count / float(2 << key_bits)
        return math.comb(blocks, distance) * count * (_SORT_SECONDS + compared * _COMPARE_SECONDS)

    choices = [b for b in range(distance + 1, min(bits, distance + 8) + 1) if math.comb(b, distance) <= _MAX_TABLES]
    return min(choices, key=seconds, default=0)


def block_masks(bits: int, distance: int, count: int) -> list[int]:
    """Give the bits that must be equal in each table of `count` different simhashes: each pair is in one at least."""
    return _masks(_Search(distance, 0, 0, 1, tuple(range(bits))), count)


def _masks(search: _Search, count: int) -> list[int]:
    """Which bits must be equal, for each table. None, if all bits may differ or too few are left to divide by."""
    bits = search.bits
    blocks = choose_blocks(count, len(bits), search.distance)
    if blocks == 0:
        return [search.equal]
    edges = [len(bits) * i // blocks for i in range(blocks + 1)]
    masks = [sum(1 << bit for bit in bits[start:stop]) for start, stop in itertools.pairwise(edges)]
    chosen = itertools.combinations(masks, blocks - search.distance)
    return [search.equal | sum(choice) for choice in chosen]


def _near(pages: _Pages, search: _Search) -> Iterator[_Batch]:
    """All pairs among different pages."""
    masks = _masks(search, len(pages.low))
    parts = _parts(len(pages.low), 24 if len(pages.high) else 16, search)

    def find(task: tuple[int, int]) -> _Batch:
        table, part = task
        return _compare(pages, replace(search, earlier=(*search.earlier, *masks[: table + 1])), parts, part)

    tasks = itertools.product(range(len(masks)), range(parts))
    if len(pages.low) > 1:
        yield from in_threads(find, tasks, search.threads)


def _compare(pages: _Pages, search: _Search, parts: int, part: int) -> _Batch:
    """Find the pairs of one part of one table, whose mask is the last of `search.earlier`."""
    mask = search.earlier[-1]
    packed, low = _packed(pages, mask, parts, part)
    gather(pages.low, packed, low)
    high = np.empty(len(packed) if len(pages.high) else 0, np.uint64)
    if len(high):
        gather(pages.high, packed, high)
    masks_low = np.array([earlier & _WORD for earlier in search.earlier], dtype=np.uint64)
    masks_high = np.array([earlier >> 64 for earlier in search.earlier], dtype=np.uint64)
    rest = tuple(bit for bit in search.bits if not mask >> bit & 1)
    divisible = search.depth < _MAX_DEPTH and len(rest) >= _MIN_BLOCK_BITS * (search.distance + 1)
    large = LARGE_BUCKET if divisible else len(packed)
    room = _OUTPUT + min(len(packed), large)
    pairs, distances = np.empty(room, np.uint64), np.empty(room, np.uint8)
    state, aside = np.zeros(3, np.int64), np.empty((256, 2), np.int64)
    found = []
    while state[0] < len(packed):
        compare_buckets(
            packed, low, high, pages.groups, pages.levels, masks_low, masks_high, search.distance, search.gap, large,
            state, pairs, distances, aside,
        )  # fmt: skip
        found.append((pairs[: state[1]].copy(), distances[: state[1]].copy()))
        deeper = replace(search, bits=rest, equal=mask, earlier=search.earlier[:-1], depth=search.depth + 1, threads=1)
        for start, stop in aside[: state[2]].tolist():
            rows = (packed[start:stop] & np.uint64(2**32 - 1)).astype(np.int64)
            found += [(_named(inner, rows), distant) for inner, distant in _near(pages.take(rows), deeper)]
    return _together(found)
