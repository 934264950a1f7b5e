"""Union-find over row numbers: the smallest row of a component is its root."""

from typing import Any

import numpy as np

from undust.kernels.compiling import kernel, part


@part
def find(parent: Any, row: int) -> int:
    """Return the root of a row, and shorten the way to it."""
    while parent[row] != row:
        parent[row] = parent[np.int64(parent[row])]
        row = np.int64(parent[row])
    return row


@part
def union(parent: Any, a: int, b: int) -> bool:
    """Join two components; False if they were one."""
    a, b = find(parent, a), find(parent, b)
    if a == b:
        return False
    parent[max(a, b)] = min(a, b)
    return True


@kernel("int64(Array(uint32, 1, 'C', readonly=True), Array(uint32, 1, 'C', readonly=True), uint32[::1], int64[::1])")
def join_pairs(a: Any, b: Any, parent: Any, tree: Any) -> int:
    """Join the rows of each pair, in order; list the pairs that joined two components. Returns how many did.

    From pairs by falling similarity this is Kruskal's algorithm: the listed ones are a strongest spanning forest.
    """
    count = 0
    for i in range(len(a)):
        if union(parent, np.int64(a[i]), np.int64(b[i])):
            tree[count] = i
            count += 1
    return count


@kernel("void(uint32[::1])")
def flatten(parent: Any) -> None:
    """Let each row point to its root directly."""
    for row in range(len(parent)):
        parent[row] = parent[np.int64(parent[row])]  # a parent is smaller, so it points to its root already


@kernel(
    "void(Array(int64, 1, 'C', readonly=True), Array(uint32, 1, 'C', readonly=True),"
    "Array(float32, 1, 'C', readonly=True), Array(uint32, 1, 'C', readonly=True), uint32[::1], float32[::1])"
)
def weakest_links(starts: Any, neighbours: Any, weights: Any, roots: Any, queue: Any, similarities: Any) -> None:
    """Walk a forest from its roots; each row gets the least weight on its way. Rows that are not reached keep theirs.

    The neighbours of row i are `neighbours[starts[i]:starts[i + 1]]`. `similarities` of roots are set, of others 0.
    """
    end = 0
    for i in range(len(roots)):
        queue[end] = roots[i]
        end += 1
    at = 0
    while at < end:
        row = np.int64(queue[at])
        at += 1
        for k in range(starts[row], starts[row + 1]):
            other = np.int64(neighbours[k])
            if similarities[other] == np.float32(0.0):
                similarities[other] = min(similarities[row], weights[k])
                queue[end] = other
                end += 1
