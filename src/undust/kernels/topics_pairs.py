"""Pairs of similar bags: equal bags, weighted Jaccard similarity, and the verified pairs in buckets of equal keys."""

from typing import Any

import numpy as np

from undust.kernels.compiling import kernel, part
from undust.kernels.hashing import GOLDEN, splitmix64

NO_PAIR = np.uint64(0xFFFFFFFFFFFFFFFF)
_ROW = np.uint64(0xFFFFFFFF)
_SHIFT = np.uint64(32)


@part
def similarity(
    starts: Any, ends: Any, terms: Any, weights: Any, total: float, a: int, b: int, threshold: float
) -> float:
    """Similarity of two sorted bags whose weights add up to `total` each, or -1 as soon as it is below the threshold.

    The sum of the lesser weights over the sum of the greater ones (paper 002, section 3), which is 2 `total` less it.
    """
    i, j = starts[a], starts[b]
    end_a, end_b = ends[a], ends[b]
    if i == end_a or j == end_b:
        return -1.0
    # A little less: weights are rounded, and the division below has the last word.
    needed = threshold / (1.0 + threshold) * 2.0 * total * (1.0 - 1e-5)
    common, left_a, left_b = 0.0, total, total
    while i < end_a and j < end_b:
        x, y = terms[i], terms[j]
        if x == y:
            common += min(weights[i], weights[j])
            left_a -= weights[i]
            left_b -= weights[j]
            i += 1
            j += 1
        elif x < y:
            left_a -= weights[i]
            i += 1
        else:
            left_b -= weights[j]
            j += 1
        if common + min(left_a, left_b) < needed:
            return -1.0
    found = min(common / (2.0 * total - common), 1.0)
    return found if found >= threshold else -1.0


@kernel(
    "void(Array(int64, 1, 'C', readonly=True), Array(int64, 1, 'C', readonly=True), uint32[::1], float32[::1], float64,"
    "Array(int64, 1, 'C', readonly=True), Array(int64, 1, 'C', readonly=True), float64[::1])"
)
def similarities(starts: Any, ends: Any, terms: Any, weights: Any, total: float, a: Any, b: Any, found: Any) -> None:
    """Similarity of given pairs; 0 where a bag is empty."""
    for k in range(len(a)):
        found[k] = max(similarity(starts, ends, terms, weights, total, a[k], b[k], 0.0), 0.0)


@kernel(
    "void(Array(int64, 1, 'C', readonly=True), Array(int64, 1, 'C', readonly=True), uint32[::1], float32[::1],"
    "uint64[::1])"
)
def hash_bags(starts: Any, ends: Any, terms: Any, weights: Any, hashes: Any) -> None:
    """Hash each bag, terms and weights; 0 for an empty one."""
    for i in range(len(hashes)):
        state = GOLDEN
        for t in range(starts[i], ends[i]):
            state = splitmix64(state ^ np.uint64(terms[t]))
            state = splitmix64(state ^ np.uint64(np.float64(weights[t]) * 2.0**20))
        hashes[i] = max(state, np.uint64(1)) if starts[i] < ends[i] else np.uint64(0)


@kernel(
    "void(Array(int64, 1, 'C', readonly=True), Array(int64, 1, 'C', readonly=True), uint32[::1], float32[::1],"
    "Array(uint64, 1, 'C', readonly=True), Array(int64, 1, 'C', readonly=True), uint32[::1])"
)
def find_equal_bags(starts: Any, ends: Any, terms: Any, weights: Any, hashes: Any, order: Any, first: Any) -> None:
    """Give each bag the first one that is equal to it. `order` sorts them by hash, then row."""
    lead = order[0] if len(order) else 0
    for k in range(len(order)):
        row = order[k]
        first[row] = np.uint32(row)
        if hashes[row] == np.uint64(0):
            continue
        if hashes[row] != hashes[lead]:
            lead = row
            continue
        size = ends[row] - starts[row]
        equal = ends[lead] - starts[lead] == size
        t = 0
        while equal and t < size:
            i, j = starts[row] + t, starts[lead] + t
            equal = terms[i] == terms[j] and weights[i] == weights[j]
            t += 1
        if equal:
            first[row] = np.uint32(lead)


@part
def _slot(table: Any, pair: Any) -> int:
    """Place of a pair in a table of known ones, or the free place where it would go."""
    mask = len(table) - 1
    at = np.int64(splitmix64(pair)) & mask
    while table[at] != NO_PAIR and table[at] != pair:
        at = (at + 1) & mask
    return at


@kernel("void(uint64[::1], Array(uint64, 1, 'C', readonly=True))")
def remember_pairs(table: Any, pairs: Any) -> None:
    """Put pairs into a table of known ones; its size is a power of two, well above their number."""
    for i in range(len(pairs)):
        if pairs[i] != NO_PAIR:
            table[_slot(table, pairs[i])] = pairs[i]


@kernel(
    "void(Array(uint64, 1, 'C', readonly=True), Array(int64, 1, 'C', readonly=True),"
    "Array(int64, 1, 'C', readonly=True), uint32[::1], float32[::1], float64, float64, uint64[::1],"
    "uint32[::1], int64, int64, int64, int64[::1], uint64[::1], float32[::1])"
)
def verify_bags(
    packed: Any, starts: Any, ends: Any, terms: Any, weights: Any, total: float, threshold: float, known: Any,
    degrees: Any, max_degree: int, max_bucket: int, window: int, state: Any, pairs: Any, found: Any,
) -> None:  # fmt: skip
    """Find the pairs of at least `threshold` in each bucket of equal keys, which are in the high halves of `packed`.

    In a bucket of more than `max_bucket` rows each is compared with the `window` rows after it only. Two rows that
    have `max_degree` pairs each are not compared, nor are known pairs. Stops when the output may not have room for a
    row, and goes on from `state` when called again: place, pairs found, end of the bucket, whether it is a large one.
    `pairs` has room for `max_bucket` and `window` at least.
    """
    at, count, end, large = state[0], 0, state[2], state[3]
    size = len(packed)
    while at < size:
        if at >= end:
            half = packed[at] >> _SHIFT
            end = at + 1
            while end < size and packed[end] >> _SHIFT == half:
                end += 1
            large = np.int64(end - at > max_bucket)
        stop = min(at + 1 + window, end) if large else end
        if count + stop - at > len(pairs):
            break
        row = np.int64(packed[at] & _ROW)
        for t in range(at + 1, stop):
            other = np.int64(packed[t] & _ROW)
            if degrees[row] >= max_degree and degrees[other] >= max_degree:
                continue
            a, b = min(row, other), max(row, other)
            pair = np.uint64(a) << _SHIFT | np.uint64(b)
            if known[_slot(known, pair)] == pair:
                continue
            similar = similarity(starts, ends, terms, weights, total, a, b, threshold)
            if similar >= 0.0:
                pairs[count] = pair
                found[count] = similar
                count += 1
                degrees[row] += np.uint32(1)
                degrees[other] += np.uint32(1)
        at += 1
    state[0], state[1], state[2], state[3] = at, count, end, large
