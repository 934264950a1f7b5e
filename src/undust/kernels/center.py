"""CENTER (paper 002, section on clustering): one scan over the sorted pairs."""

from typing import Any

import numpy as np

from undust.kernels.compiling import kernel


@kernel(
    "void(Array(uint32, 1, 'C', readonly=True), Array(uint32, 1, 'C', readonly=True),"
    "Array(float32, 1, 'C', readonly=True), uint8[::1], uint32[::1], float32[::1])"
)
def scan(a: Any, b: Any, weights: Any, seen: Any, centers: Any, similarities: Any) -> None:
    """Let the first page of a pair of unseen pages be a centre; a page that is paired with a centre joins it.

    A page that has joined is not considered again, nor what it is paired with. `seen`: 0 not yet, 1 centre, 2 joined.
    """
    for i in range(len(a)):
        first, second = np.int64(a[i]), np.int64(b[i])
        if seen[first] == 0 and seen[second] == 0:
            seen[first] = 1
        if seen[first] == 1 and seen[second] == 0:
            joined, center = second, first
        elif seen[first] == 0 and seen[second] == 1:
            joined, center = first, second
        else:
            continue
        seen[joined] = 2
        centers[joined] = np.uint32(center)
        similarities[joined] = weights[i]
