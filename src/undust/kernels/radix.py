"""Radix sorts of packed numbers: a key in the high bits, a row in the low 32.

Least digit first, so equal keys stay in the order they came in: rows that came in rising order stay in rising order.
"""

from typing import Any

import numpy as np

from undust.kernels.compiling import kernel

DIGIT_BITS = 11  # 2,048 counters and as many open cache lines: what the first-level cache and its tables hold
COUNTERS = 1 << DIGIT_BITS


@kernel("int64(uint64[::1], uint64[::1], int64[::1], int64, int64)")
def sort_by_bits(values: Any, scratch: Any, counts: Any, low: int, high: int) -> int:
    """Sort by the bits `low` to `high` (not included). Returns 1 if the result is in `scratch`, 0 if in `values`.

    `counts` has room for COUNTERS numbers.
    """
    width = max(high - low, 0)
    turns = (width + DIGIT_BITS - 1) // DIGIT_BITS
    size = len(values)
    source, target = values, scratch
    moved = 0
    done = 0
    for turn in range(turns):
        bits = (width - done + turns - turn - 1) // (turns - turn)
        shift = np.uint64(low + done)
        mask = np.uint64((1 << bits) - 1)
        done += bits
        for c in range(1 << bits):
            counts[c] = 0
        for i in range(size):
            counts[np.int64((source[i] >> shift) & mask)] += 1
        total = 0
        fullest = 0
        for c in range(1 << bits):
            here = counts[c]
            fullest = max(fullest, here)
            counts[c] = total
            total += here
        if fullest == size:
            continue  # one value of this digit only: nothing to move
        for i in range(size):
            value = source[i]
            digit = np.int64((value >> shift) & mask)
            target[counts[digit]] = value
            counts[digit] += 1
        source, target = target, source
        moved ^= 1
    return moved


@kernel("void(uint64[::1], uint32[::1], uint64[::1], uint32[::1], int64[::1], int64)")
def sort_pairs(pairs: Any, weights: Any, pairs_too: Any, weights_too: Any, counts: Any, row_bits: int) -> None:
    """Sort pairs, packed as a << 32 | b, by falling weight, then a, then b. The last arrays are for work.

    `weights` are the bits of floats that are not negative, whose order is that of whole numbers. `row_bits` is how
    many bits the rows need.
    """
    size = len(pairs)
    turns_row = (row_bits + 7) // 8
    moved = 0
    for turn in range(2 * turns_row + 4):
        by_weight = turn >= 2 * turns_row
        if by_weight:
            shift = np.uint64(8 * (turn - 2 * turns_row))
        elif turn < turns_row:
            shift = np.uint64(8 * turn)
        else:
            shift = np.uint64(32 + 8 * (turn - turns_row))
        p, w, q, v = (pairs, weights, pairs_too, weights_too) if not moved else (pairs_too, weights_too, pairs, weights)
        for c in range(256):
            counts[c] = 0
        for i in range(size):
            key = ~np.uint64(w[i]) if by_weight else p[i]
            counts[np.int64((key >> shift) & np.uint64(255))] += 1
        total = 0
        fullest = 0
        for c in range(256):
            here = counts[c]
            fullest = max(fullest, here)
            counts[c] = total
            total += here
        if fullest == size:
            continue
        for i in range(size):
            key = ~np.uint64(w[i]) if by_weight else p[i]
            digit = np.int64((key >> shift) & np.uint64(255))
            at = counts[digit]
            q[at] = p[i]
            v[at] = w[i]
            counts[digit] += 1
        moved ^= 1
    if moved:
        for i in range(size):
            pairs[i] = pairs_too[i]
            weights[i] = weights_too[i]
