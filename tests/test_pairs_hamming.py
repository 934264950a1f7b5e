"""Pairs within some bits: against brute force, whatever the width, distance, threads and memory."""

import itertools
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from undust.detect import pairs_hamming
from undust.detect.clusters import cluster_pairs
from undust.detect.pairs_hamming import choose_blocks, near_rows, simhash_pairs
from undust.errors import UsageError
from undust.kernels.hamming import compare_buckets

_WORD = 2**64 - 1


def column(values: list[int], bits: int) -> npt.NDArray[np.uint64]:
    if bits <= 64:
        return np.array(values, dtype=np.uint64)
    return np.array([[value & _WORD, value >> 64] for value in values], dtype=np.uint64).reshape(-1, 2)


def brute(pages: list[tuple[Any, ...]], distance: int, gap: int = 0) -> set[tuple[int, int, int]]:
    """All pairs, of pages as simhash, group and level; pages the same in all three are paired with their first."""
    first = {page: row for row, page in reversed(list(enumerate(pages)))}
    found = {(first[page], row, 0) for row, page in enumerate(pages) if first[page] != row}
    for a, b in itertools.combinations(sorted(first.values()), 2):
        (x, group, level), (y, other_group, other_level) = pages[a], pages[b]
        if (x ^ y).bit_count() <= distance and group == other_group and abs(level - other_level) <= gap:
            found.add((a, b, (x ^ y).bit_count()))
    return found


def triples(packed: npt.NDArray[np.uint64], distances: npt.NDArray[np.uint8]) -> list[tuple[int, int, int]]:
    return [(pair >> 32, pair & 0xFFFFFFFF, d) for pair, d in zip(packed.tolist(), distances.tolist(), strict=True)]


@st.composite
def crowds(draw: st.DrawFn) -> tuple[int, list[int]]:
    """Simhashes of some width that stand close together: a few centres and bits flipped around them."""
    bits = draw(st.sampled_from([1, 2, 7, 12, 24, 32, 63, 64, 65, 96, 127, 128]))
    centres = draw(st.lists(st.integers(0, 2**bits - 1), min_size=1, max_size=3))
    flips = st.lists(st.integers(0, bits - 1), max_size=9)
    near = st.builds(lambda c, f: c ^ sum(1 << bit for bit in set(f)), st.sampled_from(centres), flips)
    return bits, draw(st.lists(st.one_of(near, st.integers(0, 2**bits - 1)), max_size=40))


@given(crowds(), st.integers(0, 8), st.sampled_from([1, 2]), st.sampled_from([1 << 12, 1 << 30]))
def test_pairs_are_those_of_brute_force(crowd: tuple[int, list[int]], distance: int, threads: int, memory: int) -> None:
    bits, values = crowd
    found = triples(
        *near_rows(column(values, bits), bits=bits, distance=distance, threads=threads, memory_bytes=memory)
    )
    assert len(found) == len(set(found))
    assert set(found) == brute([(value, 0, 0) for value in values], distance)


@given(crowds(), st.integers(0, 4), st.integers(0, 3), st.data())
def test_groups_must_be_equal_and_levels_near(
    crowd: tuple[int, list[int]], distance: int, gap: int, data: st.DataObject
) -> None:
    bits, values = crowd
    kinds = data.draw(
        st.lists(st.tuples(st.integers(0, 2), st.integers(0, 5)), min_size=len(values), max_size=len(values))
    )
    groups, levels = (np.array([kind[i] for kind in kinds], dtype=np.int64) for i in (0, 1))
    found = triples(
        *near_rows(
            column(values, bits),
            bits=bits,
            distance=distance,
            groups=groups.astype(np.uint32),
            levels=levels.astype(np.int32),
            gap=gap,
        )
    )
    assert len(found) == len(set(found))
    assert set(found) == brute([(v, *kind) for v, kind in zip(values, kinds, strict=True)], distance, gap)


@settings(max_examples=25)
@given(st.integers(0, 2**32), st.integers(1, 4), st.sampled_from([40, 64, 100]))
def test_large_buckets_are_cut_again_without_losing_or_repeating_a_pair(seed: int, distance: int, bits: int) -> None:
    # Skewed as real pages are: many bits are the same for most of them.
    chance = np.random.default_rng(seed)
    flips = chance.random((300, bits)) < np.where(np.arange(bits) % 3 == 0, 0.3, 0.02)
    values = [sum(1 << int(bit) for bit in np.flatnonzero(row)) for row in flips]
    before = pairs_hamming.LARGE_BUCKET
    pairs_hamming.LARGE_BUCKET = 5
    try:
        found = triples(*near_rows(column(values, bits), bits=bits, distance=distance, threads=1))
    finally:
        pairs_hamming.LARGE_BUCKET = before
    assert len(found) == len(set(found))
    assert set(found) == brute([(value, 0, 0) for value in values], distance)


def test_pairs_are_sorted_by_falling_similarity_then_rows() -> None:
    chance = np.random.default_rng(3)
    values = chance.integers(0, 2**12, 2000, dtype=np.uint64)
    table = simhash_pairs(values, bits=12, distance=2)
    rows = [(-row["similarity"], row["a"], row["b"]) for row in table.to_pylist()]
    assert rows == sorted(rows)
    assert {row[0] for row in rows} == {-1.0, -float(np.float32(11 / 12)), -float(np.float32(10 / 12))}
    assert all(a < b for _, a, b in rows)


def planted(count: int, seed: int) -> tuple[npt.NDArray[np.uint64], set[tuple[int, int]]]:
    """Random simhashes; every tenth is three flips away from the one before."""
    chance = np.random.default_rng(seed)
    values = chance.integers(0, 2**64, count, dtype=np.uint64)
    copies = np.arange(9, count, 10)
    values[copies] = values[copies - 1]
    for _ in range(3):
        values[copies] ^= np.uint64(1) << chance.integers(0, 64, len(copies), dtype=np.uint64)
    return values, {(int(row) - 1, int(row)) for row in copies}


def test_all_planted_pairs_among_200_000_are_found_with_any_memory_and_threads() -> None:
    values, pairs = planted(200_000, 1)
    table = simhash_pairs(values, threads=1)
    assert pairs <= set(zip(table["a"].to_pylist(), table["b"].to_pylist(), strict=True))
    assert table.equals(simhash_pairs(values, threads=2, memory_bytes=1 << 20))


def test_the_order_of_the_pages_does_not_matter() -> None:
    values, _ = planted(5_000, 2)
    order = np.random.default_rng(0).permutation(len(values))
    shuffled = simhash_pairs(values[order])
    named = {(*sorted((int(order[row["a"]]), int(order[row["b"]]))), row["similarity"]) for row in shuffled.to_pylist()}
    assert named == {(row["a"], row["b"], row["similarity"]) for row in simhash_pairs(values).to_pylist()}
    assert named


def test_a_hundred_thousand_equal_simhashes_are_one_star_and_one_cluster() -> None:
    values = np.full(100_003, 0xDEADBEEF, dtype=np.uint64)
    values[100_000:] = [0xDEADBEEE, 0, 0xDEADBEE0]  # 1 bit away, far, 4 bits from most and 3 from the first of these
    table = simhash_pairs(values)
    assert table.num_rows == 99_999 + 1 + 1  # not five billion
    clusters = cluster_pairs(table, len(values), by="components")
    assert (clusters.rows[:100_001] == 0).all()
    assert clusters.rows[100_001:].tolist() == [100_001, 0]
    assert cluster_pairs(table, len(values)).rows[100_000:].tolist() == [0, 100_001, 100_002]


def test_keys_that_are_equal_by_chance_make_no_pair() -> None:
    # Rows 0 to 3 in one bucket: 1 is of another group than 0, 2 differs from 0 in the bits that this table is for.
    low = np.array([0b000, 0b001, 0b100, 0b010], dtype=np.uint64)
    none, masks = np.zeros(0, np.uint64), np.array([0b100], dtype=np.uint64)
    groups, levels = np.array([0, 1, 0, 0], dtype=np.uint32), np.zeros(0, np.int32)
    state, pairs, distances = np.zeros(3, np.int64), np.zeros(9, np.uint64), np.zeros(9, np.uint8)
    aside, packed = np.zeros((1, 2), np.int64), np.arange(4, dtype=np.uint64)
    compare_buckets(
        packed, low, none, groups, levels, masks, np.zeros_like(masks), 1, 0, 9, state, pairs, distances, aside
    )
    assert triples(pairs[: state[1]], distances[: state[1]]) == [(0, 3, 1)]
    assert state.tolist() == [4, 1, 0]


def test_pages_that_are_not_present_have_no_pairs() -> None:
    values = np.array([0, 0, 1, 0], dtype=np.uint64)
    table = simhash_pairs(values, present=np.array([True, False, True, True]))
    assert [(row["a"], row["b"]) for row in table.to_pylist()] == [(0, 3), (0, 2)]


@pytest.mark.parametrize("values", [[], [5]])
def test_none_and_one_have_no_pairs(values: list[int]) -> None:
    assert simhash_pairs(np.array(values, dtype=np.uint64)).num_rows == 0


@pytest.mark.parametrize(
    ("bits", "distance", "shape", "words"),
    [
        (129, 3, (2, 2), "from 1 to 128"),
        (0, 3, (2,), "from 1 to 128"),
        (64, -1, (2,), "0 or more"),
        (100, 3, (2,), "in 1 numbers"),
    ],
)
def test_what_cannot_be_is_refused(bits: int, distance: int, shape: tuple[int, ...], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        simhash_pairs(np.zeros(shape, dtype=np.uint64), bits=bits, distance=distance)


def test_more_pages_get_more_blocks_and_every_choice_has_a_block_to_spare() -> None:
    chosen = [choose_blocks(count, 64, 3) for count in (10**4, 10**6, 10**8, 10**9)]
    assert chosen == sorted(chosen)
    assert chosen[0] == 4 < chosen[-1]
    assert choose_blocks(1000, 3, 3) == 0  # all bits may differ: nothing to divide by
