"""Min-hash signatures of sets and weighted bags, whose expected agreement is the (weighted) Jaccard similarity.

Sets: Fast Similarity Sketching (Dahlgaard, Knudsen, Thorup, FOCS 2017). In each round every element is thrown into
one bucket with a random value; a bucket keeps the least value of the first round that reached it. A text with more
shingles than buckets is done after a round or two, where classic min-hash needs one pass for each value. Elements
that share a bucket's first round are drawn without replacement, so the variance is below that of classic min-hash:
half of it for short texts. Unlike one-permutation hashing with densification, short texts stay unbiased and sharp.

Weights: the same rounds with darts (DartMinHash: Christiani 2020). A term of weight w is a strip of length w, cut
into cells of length 1; each round throws a Poisson number of darts at each cell, and those beyond w miss. The darts
of a term depend on nothing but the term, so two bags see the same ones up to the lesser of their weights.
"""

import math
from typing import Any

import numpy as np

from undust.kernels.compiling import kernel, part
from undust.kernels.hashing import GOLDEN, multiply_fold, splitmix64

_EMPTY = np.uint64(0xFFFFFFFFFFFFFFFF)
_BASE = np.uint64(0xD1342543DE82EF95)  # of the rolling polynomial; odd, and 5 modulo 8 so that its powers differ
_CELL = np.uint64(0xDA942042E4DD58B5)
_HALF = np.uint64(32)
# Darts in a cell: Poisson with mean 1, by inversion; above the last step the chance is 2**-63.
_STEPS = np.array(
    [min(int(sum(math.exp(-1) / math.factorial(j) for j in range(k + 1)) * 2.0**64), 2**64 - 1) for k in range(20)],
    dtype=np.uint64,
)


@part
def _bucket(value: np.uint64, size: int) -> int:
    return np.int64(((value >> _HALF) * np.uint64(size)) >> _HALF)


@part
def _close(signature: Any, closed: Any, size: int) -> int:
    """Close the buckets that this round has reached, with all ones; return how many are still open."""
    is_open = 0
    for b in range(size):
        closed[b] = np.uint64(0) if signature[b] == _EMPTY else _EMPTY
        is_open += signature[b] == _EMPTY
    return is_open


@part
def _round_key(turn: int) -> np.uint64:
    """Give the multiplier of a round, odd. An element's value in a round is the folded product of the two."""
    return splitmix64(np.uint64(turn) * GOLDEN) | np.uint64(1)


@part
def _sketch(elements: Any, count: int, signature: Any, closed: Any, size: int) -> None:
    for b in range(size):
        signature[b] = _EMPTY
    for i in range(count):
        b = _bucket(elements[i], size)
        signature[b] = min(signature[b], elements[i])
    is_open = _close(signature, closed, size)
    turn = 1
    while is_open and turn < size:
        key = _round_key(turn)
        for i in range(count):
            value = multiply_fold(elements[i], key)
            b = _bucket(value, size)
            signature[b] = min(signature[b], value | closed[b])  # a branch would be guessed wrongly
        is_open = _close(signature, closed, size)
        turn += 1
    for b in range(size):  # last resort, for one or two elements: each remaining bucket gets its own classic min-hash
        if not closed[b]:
            key = _round_key(size + b)
            for i in range(count):
                signature[b] = min(signature[b], multiply_fold(elements[i], key))


@kernel(
    "void(Array(uint64, 1, 'C', readonly=True), Array(int64, 1, 'C', readonly=True), int64, uint64, uint64[::1],"
    "uint64[::1], uint64[:, ::1])"
)
def sketch_shingles(
    hashes: Any, rows: Any, width: int, key: np.uint64, elements: Any, closed: Any, signatures: Any
) -> None:
    """Sketch the set of runs of `width` words of each text; a shorter text is one run.

    `elements` has room for the words of the longest text.
    """
    size = signatures.shape[1]
    power = np.uint64(1)
    for _ in range(width):
        power *= _BASE
    for i in range(len(rows) - 1):
        first, end = rows[i], rows[i + 1]
        if first == end:
            signatures[i, :] = 0
            continue
        run = np.uint64(0)
        lead = min(first + width, end)
        for t in range(first, lead):
            run = run * _BASE + hashes[t]
        elements[0] = splitmix64(run ^ key)
        for t in range(lead, end):
            run = run * _BASE + hashes[t] - hashes[t - width] * power
            elements[t - lead + 1] = splitmix64(run ^ key)
        _sketch(elements, end - lead + 1, signatures[i], closed, size)


@kernel(
    "void(Array(uint64, 1, 'C', readonly=True), Array(int64, 1, 'C', readonly=True),"
    "Array(int64, 1, 'C', readonly=True), uint64, uint64[::1], uint64[::1], uint64[:, ::1])"
)
def sketch_counts(
    terms: Any, counts: Any, rows: Any, key: np.uint64, elements: Any, closed: Any, signatures: Any
) -> None:
    """Sketch bags by flattening them (paper 002): a term that occurs n times is n elements, term and number."""
    size = signatures.shape[1]
    for i in range(len(rows) - 1):
        count = 0
        for t in range(rows[i], rows[i + 1]):
            for k in range(counts[t]):
                elements[count] = splitmix64((terms[t] ^ key) + np.uint64(k) * _CELL)
                count += 1
        if count:
            _sketch(elements, count, signatures[i], closed, size)
        else:
            signatures[i, :] = 0


@part
def _throw(cell: np.uint64, turn: int, room: float, signature: Any, closed: Any, size: int) -> None:
    """Throw this round's darts at one cell, of which the part below `room` counts."""
    state = splitmix64(cell + np.uint64(turn) * GOLDEN)
    darts = 0
    while darts < len(_STEPS) and state >= _STEPS[darts]:
        darts += 1
        value = splitmix64(state + np.uint64(darts) * GOLDEN)
        b = _bucket(value, size)
        if closed[b] or value >= signature[b]:
            continue
        if room >= 1.0 or np.float64(splitmix64(value + _CELL) >> np.uint64(11)) * 2.0**-53 < room:
            signature[b] = value


@kernel(
    "void(Array(uint64, 1, 'C', readonly=True), Array(float64, 1, 'C', readonly=True),"
    "Array(int64, 1, 'C', readonly=True), uint64, uint64[::1], uint64[:, ::1])"
)
def sketch_weights(terms: Any, weights: Any, rows: Any, key: np.uint64, closed: Any, signatures: Any) -> None:
    """Sketch bags with real weights. A bag without weight gives zeros; its sum should be well above 1 for speed."""
    size = signatures.shape[1]
    for i in range(len(rows) - 1):
        signature = signatures[i]
        signature[:] = _EMPTY
        closed[:] = 0
        is_open = size
        total = 0.0
        for t in range(rows[i], rows[i + 1]):
            total += max(weights[t], 0.0)
        if total == 0.0:
            signature[:] = 0
            is_open = 0
        turn = 0
        while is_open:
            for t in range(rows[i], rows[i + 1]):
                k = 0
                while k < weights[t]:
                    cell = splitmix64((terms[t] ^ key) + np.uint64(k) * _CELL)
                    _throw(cell, turn, weights[t] - k, signature, closed, size)
                    k += 1
            is_open = _close(signature, closed, size)
            turn += 1
