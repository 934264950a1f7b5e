"""Pairs of fingerprints that differ in few bits: rows are packed by the bits of some blocks, and buckets compared.

A fingerprint has up to 128 bits in two halves; `high` is empty for up to 64. A page also has a group and a level:
only pages of one group whose levels are near are compared (the cascade of paper 001: K-modes cluster, sentences).
"""

from typing import Any

import numpy as np
from numba import types
from numba.extending import intrinsic

from undust.kernels.compiling import kernel, part
from undust.kernels.hashing import GOLDEN, splitmix64

KEY_BITS = 32
_ROW = np.uint64(0xFFFFFFFF)
_SHIFT = np.uint64(32)
_STEP = 64  # values compared before anybody looks at the outcome: the loop becomes vector instructions


@intrinsic
def popcount(typing: Any, value: Any) -> Any:
    """Count the ones among 64 bits."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), generate


@kernel(
    "int64(Array(uint64, 1, 'C', readonly=True), Array(uint64, 1, 'C', readonly=True),"
    "Array(uint32, 1, 'C', readonly=True), uint64, uint64, uint64, uint64, uint64[::1])"
)
def pack_masked(
    low: Any, high: Any, groups: Any, mask_low: Any, mask_high: Any, parts: Any, wanted: Any, packed: Any
) -> int:
    """Pack a hash of each fingerprint's masked bits and group, and its row; only those of one part of the hashes.

    Returns how many there are; with an empty `packed` it only counts.
    """
    count = 0
    wide, grouped = len(high) > 0, len(groups) > 0
    for i in range(len(low)):
        key = splitmix64((low[i] & mask_low) + GOLDEN)
        if wide:
            key = splitmix64(key ^ (high[i] & mask_high))
        if grouped:
            key = splitmix64(key + np.uint64(groups[i]) * GOLDEN)
        if parts > np.uint64(1) and ((key & _ROW) * parts) >> _SHIFT != wanted:
            continue
        if len(packed):
            packed[count] = (key & ~_ROW) | np.uint64(i)
        count += 1
    return count


@kernel(
    "void(uint64[::1], Array(uint64, 1, 'C', readonly=True), Array(uint64, 1, 'C', readonly=True),"
    "Array(uint32, 1, 'C', readonly=True), Array(int32, 1, 'C', readonly=True), uint32[::1])"
)
def find_same(packed: Any, low: Any, high: Any, groups: Any, levels: Any, first: Any) -> None:
    """Give each packed row the first row that is the same in all. Overwrites `packed`, which is sorted by key."""
    wide, grouped, levelled = len(high) > 0, len(groups) > 0, len(levels) > 0
    start = 0
    while start < len(packed):
        key = packed[start] >> _SHIFT
        end = start
        known = start  # packed[start:known] are the different ones so far; a hash rarely has more than one
        while end < len(packed) and packed[end] >> _SHIFT == key:
            row = np.int64(packed[end] & _ROW)
            found = np.int64(-1)
            for k in range(start, known):
                other = np.int64(packed[k] & _ROW)
                if (
                    low[row] == low[other]
                    and (not wide or high[row] == high[other])
                    and (not grouped or groups[row] == groups[other])
                    and (not levelled or levels[row] == levels[other])
                ):
                    found = other
                    break
            if found < 0:
                first[row] = row
                packed[known] = packed[end]
                known += 1
            else:
                first[row] = found
            end += 1
        start = end


@kernel("void(Array(uint64, 1, 'C', readonly=True), Array(uint64, 1, 'C', readonly=True), uint64[::1])")
def gather(values: Any, packed: Any, gathered: Any) -> None:
    """Bring values into the order of packed rows, so that a bucket lies in one place."""
    for i in range(len(packed)):
        gathered[i] = values[np.int64(packed[i] & _ROW)]


@part
def _is_first(x: Any, y: Any, masks_low: Any, masks_high: Any) -> bool:
    """Tell whether a difference is nothing under the last of the masks, and something under each one before.

    Each pair is thus reported by one table only, the first of all that see it.
    """
    last = len(masks_low) - 1
    if x & masks_low[last] or y & masks_high[last]:
        return False
    for t in range(last):
        if not (x & masks_low[t] or y & masks_high[t]):
            return False
    return True


@kernel(
    "void(Array(uint64, 1, 'C', readonly=True), Array(uint64, 1, 'C', readonly=True),"
    "Array(uint64, 1, 'C', readonly=True), Array(uint32, 1, 'C', readonly=True),"
    "Array(int32, 1, 'C', readonly=True), Array(uint64, 1, 'C', readonly=True),"
    "Array(uint64, 1, 'C', readonly=True), int64, int64, int64, int64[::1], uint64[::1], uint8[::1], int64[:, ::1])"
)
def compare_buckets(
    packed: Any,
    low: Any,
    high: Any,
    groups: Any,
    levels: Any,
    masks_low: Any,
    masks_high: Any,
    distance: int,
    gap: int,
    large: int,
    state: Any,
    pairs: Any,
    distances: Any,
    set_aside: Any,
) -> None:
    """Find the pairs within `distance` bits in each bucket of equal keys; set buckets of more than `large` rows aside.

    `low` and `high` are in the order of `packed`, `groups` and `levels` in that of the rows. Stops when an output is
    full and goes on from `state` when called again: place, pairs found, buckets set aside. An output of pairs holds
    at least the largest bucket.
    """
    wide, grouped, levelled = len(high) > 0, len(groups) > 0, len(levels) > 0
    limit = np.uint64(distance)
    at, found, aside = state[0], 0, 0
    size = len(packed)
    while at < size:
        key = packed[at] >> _SHIFT
        end = at + 1
        while end < size and packed[end] >> _SHIFT == key:
            end += 1
        if end - at > large and (at == 0 or packed[at - 1] >> _SHIFT != key):
            if aside == len(set_aside):
                break
            set_aside[aside, 0] = at
            set_aside[aside, 1] = end
            aside += 1
            at = end
            continue
        full = False
        while at < end - 1:
            if found + end - at > len(pairs):
                full = True
                break
            value = low[at]
            j = at + 1
            while j < end:
                stop = min(j + _STEP, end)
                hits = 0
                for t in range(j, stop):
                    hits += popcount(value ^ low[t]) <= limit
                if hits:
                    for t in range(j, stop):
                        x = value ^ low[t]
                        bits = popcount(x)
                        y = np.uint64(0)
                        if wide:
                            y = high[at] ^ high[t]
                            bits += popcount(y)
                        if bits > limit:
                            continue
                        a, b = np.int64(packed[at] & _ROW), np.int64(packed[t] & _ROW)
                        if grouped and groups[a] != groups[b]:
                            continue
                        if levelled and abs(np.int64(levels[a]) - np.int64(levels[b])) > gap:
                            continue
                        if _is_first(x, y, masks_low, masks_high):
                            pairs[found] = np.uint64(a) << _SHIFT | np.uint64(b)
                            distances[found] = bits
                            found += 1
                j = stop
            at += 1
        if full:
            break
        at = end
    state[0], state[1], state[2] = at, found, aside
