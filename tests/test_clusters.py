"""Clusters from pairs: CENTER and components against a few plain lines, and what users have been burnt by."""

from collections.abc import Sequence
from random import Random

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from undust.detect.clusters import BY, center, cluster_chunks, cluster_pairs, components, similarities_to
from undust.detect.pairs import to_table
from undust.detect.pairs_hamming import simhash_pairs
from undust.detect.pairs_store import Chunk
from undust.errors import UsageError
from undust.tables import PAIRS

Edge = tuple[int, int, float]


def table_of(edges: Sequence[Edge]) -> pa.Table:
    packed = np.array([a << 32 | b for a, b, _ in edges], dtype=np.uint64)
    return to_table(packed, np.array([s for _, _, s in edges], dtype=np.float32))


@st.composite
def graphs(draw: st.DrawFn) -> tuple[int, list[Edge]]:
    count = draw(st.integers(1, 12))
    rows = st.integers(0, count - 1)
    edges = draw(st.dictionaries(st.tuples(rows, rows), st.integers(1, 8), max_size=30))
    return count, [(a, b, s / 8) for (a, b), s in edges.items() if a < b]


def plain_center(count: int, edges: list[Edge]) -> tuple[list[int], list[float]]:
    """Paper 002: the first page seen is a centre, what is paired with a centre joins it and is out of the game."""
    of: dict[int, int] = {}
    similarities = [1.0] * count
    for a, b, s in sorted(edges, key=lambda edge: (-edge[2], edge[0], edge[1])):
        if a not in of and b not in of:
            of[a] = a
        if of.get(a) == a and b not in of:
            of[b], similarities[b] = a, s
        elif of.get(b) == b and a not in of:
            of[a], similarities[a] = b, s
    return [of.get(row, row) for row in range(count)], similarities


def strongest(count: int, edges: list[Edge]) -> npt.NDArray[np.float64]:
    """Widest path between all rows (Floyd and Warshall); 0 where there is none."""
    best = np.eye(count)
    for a, b, s in edges:
        best[a, b] = best[b, a] = s
    for k in range(count):
        best = np.maximum(best, np.minimum(best[:, k : k + 1], best[k : k + 1, :]))
    return best


@given(graphs())
def test_center_is_one_scan_over_the_sorted_pairs(graph: tuple[int, list[Edge]]) -> None:
    count, edges = graph
    found = center(table_of(edges), count)
    assert (found.rows.tolist(), found.similarities.tolist()) == plain_center(count, edges)


@given(graphs())
def test_components_join_what_is_connected_and_say_how_strongly(graph: tuple[int, list[Edge]]) -> None:
    count, edges = graph
    found = components(table_of(edges), count)
    reach = strongest(count, edges)
    assert found.rows.tolist() == [int(np.flatnonzero(reach[row])[0]) for row in range(count)]
    direct = {(a, b): s for a, b, s in edges}
    for row in range(count):
        root = int(found.rows[row])
        assert found.similarities[row] == direct.get((root, row), reach[root, row])


@given(graphs(), st.data())
def test_similarities_can_be_told_to_any_row_of_the_cluster(graph: tuple[int, list[Edge]], data: st.DataObject) -> None:
    count, edges = graph
    clusters = data.draw(st.sampled_from([center, components]))(table_of(edges), count).rows
    chosen = clusters.copy()
    for name in np.unique(clusters).tolist():
        members = np.flatnonzero(clusters == name)
        chosen[members] = data.draw(st.sampled_from(members.tolist()))
    inside = [edge for edge in edges if clusters[edge[0]] == clusters[edge[1]]]
    reach = strongest(count, inside)
    direct = {pair: s for a, b, s in inside for pair in ((a, b), (b, a))}
    expected = [direct.get((row, int(chosen[row])), reach[row, chosen[row]]) for row in range(count)]
    assert similarities_to(table_of(edges), clusters, chosen).tolist() == expected


def plain_stars(count: int, edges: list[Edge]) -> list[int]:
    """Greedily: of pages that no centre is paired with, the one of most pairs is the next centre."""
    near: list[dict[int, float]] = [{} for _ in range(count)]
    for a, b, s in edges:
        near[a][b] = near[b][a] = s
    twins = {b: a for a, b, s in edges if s == 1 and len(near[b]) == 1}

    def mixed(row: int) -> int:
        value = row * 0x9E3779B97F4A7C15 % 2**64
        return (value ^ value >> 29) * 0xBF58476D1CE4E5B9 % 2**64

    centres: set[int] = set()
    for row in sorted(range(count), key=lambda row: (-len(near[row]), -mixed(row))):
        if row not in twins and not centres & near[row].keys():
            centres.add(row)
    of = [
        row if row in centres or row in twins else min(centres & near[row].keys(), key=lambda c: (-near[row][c], c))
        for row in range(count)
    ]
    return [of[twins[row]] if row in twins else of[row] for row in range(count)]


@given(graphs())
def test_stars_are_those_of_a_greedy_choice(graph: tuple[int, list[Edge]]) -> None:
    count, edges = graph
    found = cluster_pairs(table_of(edges), count, by="star")
    assert found.rows.tolist() == plain_stars(count, edges)
    direct = {pair: s for a, b, s in edges for pair in ((a, b), (b, a))}
    centres = set(found.rows.tolist())
    assert not any((a, b) in direct for a in centres for b in centres)  # no two pages that stay are alike
    for row, centre in enumerate(found.rows.tolist()):
        equal = 1 in [direct.get((row, other)) for other in range(row)]
        assert row == centre or equal or found.similarities[row] == pytest.approx(direct[row, centre])


@given(graphs(), st.sampled_from(BY))
def test_chunks_of_pairs_give_what_all_at_once_give(graph: tuple[int, list[Edge]], by: str) -> None:
    count, edges = graph
    pairs = table_of(edges)
    a, b, weights = (pairs[name].to_numpy() for name in PAIRS.names)
    cuts = [slice(start, start + 3) for start in range(0, len(a), 3)]
    found = cluster_chunks(lambda: [(a[cut], b[cut], weights[cut]) for cut in cuts], count, by=by)
    expected = cluster_pairs(pairs, count, by=by)
    assert found.rows.tolist() == expected.rows.tolist()
    if by != "components":
        assert found.similarities.tolist() == expected.similarities.tolist()


def test_a_long_chain_becomes_stars_in_few_rounds() -> None:
    count = 20_000
    rows = np.arange(count - 1, dtype=np.uint32)
    rounds = 0

    def chunks() -> list[Chunk]:
        nonlocal rounds
        rounds += 1
        return [(rows, rows + np.uint32(1), np.full(count - 1, 0.9, np.float32))]

    found = cluster_chunks(chunks, count, by="star").rows
    assert np.bincount(found, minlength=count).max() <= 3
    assert rounds < 100


@given(graphs(), st.randoms(use_true_random=False))
def test_the_order_in_which_pairs_were_found_does_not_matter(graph: tuple[int, list[Edge]], chance: Random) -> None:
    edges = graph[1]
    shuffled = list(edges)
    chance.shuffle(shuffled)
    assert table_of(shuffled + edges[:3]).equals(table_of(edges))
    assert table_of(edges).schema == PAIRS


def test_a_chain_is_cut_by_center_and_kept_by_components() -> None:
    chain = table_of([(0, 1, 0.9), (1, 2, 0.9), (2, 3, 0.9), (3, 4, 0.8)])
    assert center(chain, 5).rows.tolist() == [0, 0, 2, 2, 4]
    joined = components(chain, 5)
    assert joined.rows.tolist() == [0] * 5
    assert joined.similarities.tolist() == pytest.approx([1, 0.9, 0.9, 0.9, 0.8])


def test_what_a_member_is_paired_with_stays_free_for_a_centre() -> None:
    # 1 joins 0 first; its pair with 2 then says nothing, and 2 joins 0 as well.
    assert center(table_of([(0, 1, 0.9), (1, 2, 0.8), (0, 2, 0.7)]), 3).rows.tolist() == [0, 0, 0]


def test_a_direct_pair_tells_more_than_a_way_around() -> None:
    found = components(table_of([(0, 1, 0.9), (1, 2, 0.9), (0, 2, 0.8)]), 3)
    assert found.similarities.tolist() == pytest.approx([1, 0.9, 0.8])


def test_ways_through_other_clusters_do_not_count() -> None:
    edges = [(0, 1, 0.875), (0, 2, 0.875), (2, 3, 0.75)]  # 1 and 2 around 0; 3 alone, though it is like 2
    clusters = np.array([0, 0, 0, 3], dtype=np.uint32)
    found = similarities_to(table_of(edges), clusters, np.array([1, 1, 1, 3], dtype=np.uint32))
    assert found.tolist() == [0.875, 1, 0.875, 1]


@pytest.mark.parametrize("by", BY)
def test_rows_without_pairs_are_alone(by: str) -> None:
    found = cluster_pairs(table_of([]), 3, by=by)
    assert (found.rows.tolist(), found.similarities.tolist()) == ([0, 1, 2], [1, 1, 1])
    assert cluster_pairs(table_of([]), 0, by=by).rows.tolist() == []


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(UsageError, match="one of center, star, components"):
        cluster_pairs(table_of([]), 3, by="centre")
    with pytest.raises(UsageError, match="row 7, of 7 rows"):
        components(table_of([(0, 7, 0.5)]), 7)


@given(st.lists(st.integers(0, 2**6 - 1), max_size=25), st.integers(0, 3), st.sampled_from(["center", "components"]))
def test_the_first_of_equal_pages_can_stand_for_all(values: list[int], distance: int, by: str) -> None:
    count = len(values)
    stars = simhash_pairs(np.array(values, dtype=np.uint64), bits=6, distance=distance)
    bits = {(a, b): (values[a] ^ values[b]).bit_count() for b in range(count) for a in range(b)}
    every = table_of([(a, b, 1 - d / 6) for (a, b), d in bits.items() if d <= distance])
    assert cluster_pairs(stars, count, by=by).rows.tolist() == cluster_pairs(every, count, by=by).rows.tolist()
