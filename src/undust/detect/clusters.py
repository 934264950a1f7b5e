"""Clusters from pairs of similar pages: CENTER (paper 002) or connected components."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from undust.detect.pairs import from_table
from undust.detect.pairs_store import Chunk
from undust.errors import UsageError
from undust.kernels import star
from undust.kernels.center import scan
from undust.kernels.union_find import flatten, join_pairs, weakest_links

BY = ("center", "star", "components")


@dataclass(frozen=True, slots=True)
class Clusters:
    """For each row the row that its cluster is named by, and how similar it is to that one (1 for itself)."""

    rows: npt.NDArray[np.uint32]
    similarities: npt.NDArray[np.float32]


def cluster_pairs(pairs: pa.Table, count: int, *, by: str = "center") -> Clusters:
    """Group `count` rows by their pairs (`undust.tables.PAIRS`, as sorted there); a row without is alone.

    Rows in the order of URLs give the same clusters whatever order the pages came in.

    >>> from undust.detect.pairs import to_table
    >>> chain = to_table(np.array([0 << 32 | 1, 1 << 32 | 2], np.uint64), np.array([0.9, 0.8], np.float32))
    >>> cluster_pairs(chain, 3).rows.tolist(), cluster_pairs(chain, 3, by="components").rows.tolist()
    ([0, 0, 2], [0, 0, 0])
    """
    if by not in BY:
        raise UsageError(f"unknown clusters {by!r}; one of {', '.join(BY)}")
    if by == "star":
        columns = _columns(pairs, count)
        return cluster_chunks(lambda: [columns], count, by=by)
    return center(pairs, count) if by == "center" else components(pairs, count)


def cluster_chunks(
    chunks: Callable[[], Iterable[Chunk]],
    count: int,
    *,
    by: str = "center",
    names: npt.NDArray[np.uint32] | None = None,
) -> Clusters:
    """Group rows by pairs that come sorted, some at a time, as often as asked for (`PairStore.chunks`).

    Of components the similarities are not told (0, and 1 for the row that names one): they need all pairs at once.
    Rows that are whole components of more have `names`, their numbers among all, in rising order.
    """
    if by not in BY:
        raise UsageError(f"unknown clusters {by!r}; one of {', '.join(BY)}")
    if by == "star":
        return _stars(chunks, count, np.empty(0, np.uint32) if names is None else names)
    rows, similarities = np.arange(count, dtype=np.uint32), np.ones(count, dtype=np.float32)
    seen = np.zeros(count, dtype=np.uint8)
    for a, b, weights in chunks():
        if by == "center":
            scan(a, b, weights, seen, rows, similarities)
        else:
            join_pairs(a, b, rows, np.empty(len(a), dtype=np.int64))
    if by == "components":
        flatten(rows)
        similarities[rows != np.arange(count, dtype=np.uint32)] = 0.0
    return Clusters(rows, similarities)


def _stars(chunks: Callable[[], Iterable[Chunk]], count: int, names: npt.NDArray[np.uint32]) -> Clusters:
    rows, similarities = np.arange(count, dtype=np.uint32), np.ones(count, dtype=np.float32)
    degrees, state = np.zeros(count, dtype=np.uint32), np.zeros(count, dtype=np.uint8)
    for a, b, _ in chunks():
        star.count_degrees(a, b, degrees)
    for a, b, weights in chunks():
        star.find_twins(a, b, weights, degrees, state, rows)
    left = count
    while left:
        for a, b, _ in chunks():
            star.block(a, b, degrees, names, state)
        star.choose(state)
        for a, b, _ in chunks():
            star.drop_neighbours(a, b, state)
        left = int((state == star.UNDECIDED).sum())
    for a, b, weights in chunks():
        star.join_centres(a, b, weights, state, rows, similarities)
    twins = np.flatnonzero(state == star.TWIN)
    similarities[twins] = similarities[rows[twins]]
    rows[twins] = rows[rows[twins]]
    return Clusters(rows, similarities)


def center(pairs: pa.Table, count: int) -> Clusters:
    """Scan the pairs once, the most similar first (paper 002): clusters around centres, named by them.

    Of two pages not seen before, the first becomes a centre and the other joins it. A page joins the first centre it
    is paired with, and is then not considered again: what it is paired with stays free. So each member is paired with
    its centre, and chains are cut.
    """
    columns = _columns(pairs, count)
    centers, similarities = np.arange(count, dtype=np.uint32), np.ones(count, dtype=np.float32)
    scan(*columns, np.zeros(count, dtype=np.uint8), centers, similarities)
    return Clusters(centers, similarities)


def components(pairs: pa.Table, count: int) -> Clusters:
    """Join whatever pairs connect; a cluster is named by its smallest row. Similarities as of `similarities_to`."""
    a, b, _ = _columns(pairs, count)
    roots = np.arange(count, dtype=np.uint32)
    join_pairs(a, b, roots, np.empty(len(a), dtype=np.int64))
    flatten(roots)
    return Clusters(roots, similarities_to(pairs, roots, roots))


def similarities_to(
    pairs: pa.Table, clusters: npt.NDArray[np.uint32], chosen: npt.NDArray[np.uint32]
) -> npt.NDArray[np.float32]:
    """How similar each row is to the row `chosen` for it, such as the keeper of its cluster.

    That of their pair, where they are one. Else by the strongest way of pairs within the cluster that leads from one
    to the other: the least similarity on it. 1 for the chosen itself, 0 if nothing connects the two.
    """
    a, b, weights = _columns(pairs, len(clusters))
    inside = clusters[a] == clusters[b]
    a, b, weights = a[inside], b[inside], weights[inside]
    parent, tree = np.arange(len(clusters), dtype=np.uint32), np.empty(len(a), dtype=np.int64)
    tree = tree[: join_pairs(a, b, parent, tree)]
    # The forest, each branch from both its ends, as neighbours in the order of rows.
    ends = np.concatenate([a[tree], b[tree]])
    order = np.argsort(ends, kind="stable")
    others = np.concatenate([b[tree], a[tree]])[order]
    starts = np.searchsorted(ends[order], np.arange(len(clusters) + 1)).astype(np.int64)
    similarities = np.zeros(len(clusters), dtype=np.float32)
    roots = np.unique(chosen)
    similarities[roots] = 1.0
    weakest_links(
        starts, others, np.tile(weights[tree], 2)[order], roots, np.empty(len(clusters), dtype=np.uint32), similarities
    )
    for one, other in ((a, b), (b, a)):
        direct = chosen[one] == other
        similarities[one[direct]] = weights[direct]
    similarities[chosen == np.arange(len(chosen))] = 1.0
    return similarities


def _columns(
    pairs: pa.Table, count: int
) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint32], npt.NDArray[np.float32]]:
    a, b, weights = from_table(pairs)
    if len(b) and b.max() >= count:
        raise UsageError(f"a pair with row {b.max():,}, of {count:,} rows; pairs and pages do not belong together")
    return a, b, weights
