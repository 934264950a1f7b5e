"""Star clusters (Aslam, Pelekhov and Rus, 2004): pages of most pairs become centres, no two of which are paired.

Pairs may be too many for memory, so they come in chunks, several times over: in each round the pages that have no
undecided neighbour of more pairs become centres, and their neighbours are out.
"""

from typing import Any

import numpy as np

from undust.kernels.compiling import kernel, part

UNDECIDED, BLOCKED, CENTRE, OUT, TWIN = np.uint8(0), np.uint8(1), np.uint8(2), np.uint8(3), np.uint8(4)
_ONE = np.float32(1.0)

_PAIRS = "Array(uint32, 1, 'C', readonly=True), Array(uint32, 1, 'C', readonly=True)"


@part
def _before(degrees: Any, names: Any, a: int, b: int) -> bool:
    """Tell whether a has more pairs than b; of equals by a mixed row: by rows themselves, a chain takes rounds.

    `names` are the numbers that rows have among all, where these are some of them.
    """
    if degrees[a] != degrees[b]:
        return bool(degrees[a] > degrees[b])
    some = len(names) > 0
    x = np.uint64(names[a] if some else a) * np.uint64(0x9E3779B97F4A7C15)
    y = np.uint64(names[b] if some else b) * np.uint64(0x9E3779B97F4A7C15)
    x ^= x >> np.uint64(29)
    y ^= y >> np.uint64(29)
    x *= np.uint64(0xBF58476D1CE4E5B9)
    y *= np.uint64(0xBF58476D1CE4E5B9)
    return bool(x > y)


@kernel(f"void({_PAIRS}, uint32[::1])")
def count_degrees(a: Any, b: Any, degrees: Any) -> None:
    """Count the pairs of each row."""
    for i in range(len(a)):
        degrees[a[i]] += np.uint32(1)
        degrees[b[i]] += np.uint32(1)


@kernel(f"void({_PAIRS}, Array(float32, 1, 'C', readonly=True), uint32[::1], uint8[::1], uint32[::1])")
def find_twins(a: Any, b: Any, weights: Any, degrees: Any, state: Any, centers: Any) -> None:
    """Let rows whose one pair is with an equal page before them go with that page: it stands for them."""
    for i in range(len(a)):
        if weights[i] == _ONE and degrees[b[i]] == np.uint32(1):
            state[b[i]] = TWIN
            centers[b[i]] = a[i]


@kernel(f"void({_PAIRS}, uint32[::1], uint32[::1], uint8[::1])")
def block(a: Any, b: Any, degrees: Any, names: Any, state: Any) -> None:
    """Mark undecided rows that have an undecided neighbour of more pairs."""
    for i in range(len(a)):
        one, other = np.int64(a[i]), np.int64(b[i])
        if state[one] > BLOCKED or state[other] > BLOCKED:
            continue
        state[other if _before(degrees, names, one, other) else one] = BLOCKED


@kernel("void(uint8[::1])")
def choose(state: Any) -> None:
    """Make centres of rows that are not blocked, and unblock the others."""
    for row in range(len(state)):
        if state[row] == UNDECIDED:
            state[row] = CENTRE
        elif state[row] == BLOCKED:
            state[row] = UNDECIDED


@kernel(f"void({_PAIRS}, uint8[::1])")
def drop_neighbours(a: Any, b: Any, state: Any) -> None:
    """Take the neighbours of centres out."""
    for i in range(len(a)):
        if state[a[i]] == CENTRE and state[b[i]] <= BLOCKED:
            state[b[i]] = OUT
        elif state[b[i]] == CENTRE and state[a[i]] <= BLOCKED:
            state[a[i]] = OUT


@kernel(f"void({_PAIRS}, Array(float32, 1, 'C', readonly=True), uint8[::1], uint32[::1], float32[::1])")
def join_centres(a: Any, b: Any, weights: Any, state: Any, centers: Any, similarities: Any) -> None:
    """Let each row join the first centre it is paired with: the most similar one, as pairs come sorted."""
    for i in range(len(a)):
        one, other = np.int64(a[i]), np.int64(b[i])
        if state[one] == CENTRE and state[other] == OUT and centers[other] == np.uint32(other):
            centers[other] = np.uint32(one)
            similarities[other] = weights[i]
        elif state[other] == CENTRE and state[one] == OUT and centers[one] == np.uint32(one):
            centers[one] = np.uint32(other)
            similarities[one] = weights[i]
