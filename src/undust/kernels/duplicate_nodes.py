"""Counts which nodes of a pattern tree hold duplicates of each other (Lei et al., 2010, algorithm 2)."""

from typing import Any

from undust.kernels.compiling import kernel


@kernel(
    "void(Array(int32, 1, 'C', readonly=True), Array(int32, 1, 'C', readonly=True), int64[::1], int64, int32[::1],"
    " int64[::1], int64[::1], int64[::1], int64[:, ::1])"
)
def count_shared(
    clusters: Any, leaf_of: Any, parent: Any, most: int, here: Any, listed: Any, volume: Any, distinct: Any, shared: Any
) -> None:
    """Count, for each two nodes, the rows of the first that have a duplicate in the second.

    Rows are in the order of their clusters. The nodes that hold part of a cluster are listed (its entry of the inverted
    index), and each two of them looked at. Of a cluster at most `most` rows count for a node. Clusters of one row are
    left out. `volume` counts the rows of a node, `distinct` its clusters. `here` is 0 before and after.
    """
    start = 0
    while start < len(clusters):
        end = start + 1
        while end < len(clusters) and clusters[end] == clusters[start]:
            end += 1
        count = 0
        if end - start > 1:
            for i in range(start, end):
                node = leaf_of[i]
                while node >= 0:
                    if here[node] == 0:
                        listed[count] = node
                        count += 1
                    here[node] += 1
                    node = parent[node]
        for a in range(count):
            rows = min(here[listed[a]], most)
            volume[listed[a]] += rows
            distinct[listed[a]] += 1
            for b in range(count):
                shared[listed[a], listed[b]] += rows
        for a in range(count):
            here[listed[a]] = 0
        start = end
