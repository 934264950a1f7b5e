"""The cascade of paper 001: K-modes, sentences and simhashes, in batch and online, against plain lines of Python."""

import itertools
from collections import Counter
from random import Random

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from undust.detect import kmodes
from undust.detect.cascade import Cascade, CascadeState, cascade_pairs
from undust.detect.kmodes import assign_modes, choose_modes, fit_modes
from undust.errors import UsageError

U64 = npt.NDArray[np.uint64]
WIDTH = 3


def matrix(sets: list[set[int]], width: int = WIDTH) -> U64:
    """Keywords as they are given: a row a page, filled up with zeros."""
    rows = [[*sorted(words), *[0] * (width - len(words))] for words in sets]
    return np.array(rows, dtype=np.uint64).reshape(len(sets), width)


def plain_assign(pages: list[set[int]], modes: list[set[int]]) -> list[int]:
    shared = [[len(page & mode) for mode in modes] for page in pages]
    return [row.index(max(row)) if any(row) else -1 for row in shared]


def plain_modes(pages: list[set[int]], modes: list[set[int]], rounds: int) -> list[set[int]]:
    """Huang's K-modes from given seeds: assign each page to the nearest mode, take the top keywords of each cluster."""
    best = -1
    for _ in range(rounds):
        labels = plain_assign(pages, modes)
        total = sum(len(page & modes[label]) for page, label in zip(pages, labels, strict=True) if label >= 0)
        if total <= best:
            break
        best = total
        for number in set(labels) - {-1}:
            counts = Counter(w for page, label in zip(pages, labels, strict=True) if label == number for w in page)
            modes[number] = set(sorted(counts, key=lambda word: (-counts[word], word))[:WIDTH])
    return modes


PAGES = st.lists(st.sets(st.integers(1, 12), max_size=WIDTH), max_size=30)


def sets_of(modes: U64) -> list[set[int]]:
    return [set(row) - {0} for row in modes.tolist()]


@given(PAGES, st.integers(1, 5), st.integers(0, 6))
def test_modes_are_those_of_a_plain_implementation(pages: list[set[int]], wanted: int, rounds: int) -> None:
    seeds = sets_of(fit_modes(matrix(pages), wanted, rounds=0))
    assert len(seeds) <= wanted
    assert all(seed in pages for seed in seeds)
    for at, seed in enumerate(seeds):  # more than half of each is new
        assert len(seed) > 2 * len(seed & set().union(*seeds[:at]))
    found = sets_of(fit_modes(matrix(pages), wanted, rounds=rounds))
    assert found == plain_modes([page for page in pages if page], list(seeds), rounds)


@given(PAGES, st.lists(st.sets(st.integers(1, 12), max_size=WIDTH), max_size=5))
def test_a_page_goes_to_the_first_mode_it_shares_the_most_keywords_with(
    pages: list[set[int]], modes: list[set[int]]
) -> None:
    assert assign_modes(matrix(pages), matrix(modes)).tolist() == plain_assign(pages, modes)


@given(PAGES, st.randoms(use_true_random=False))
def test_the_order_of_the_pages_does_not_change_the_modes(pages: list[set[int]], chance: Random) -> None:
    shuffled = list(pages)
    chance.shuffle(shuffled)
    assert fit_modes(matrix(shuffled), 4).tolist() == fit_modes(matrix(pages), 4).tolist()


def test_pages_whose_keywords_add_up_to_the_same_are_told_apart() -> None:
    pages = [{1, 5, 6}, {2, 3, 7}]  # 12 both; which of them becomes the one mode must not depend on their order
    assert fit_modes(matrix(pages), 1).tolist() == fit_modes(matrix(pages[::-1]), 1).tolist()


def topics(count: int, seed: int = 0) -> tuple[U64, npt.NDArray[np.int64]]:
    """Pages of ten topics: six keywords of the topic's eight, and two of their own."""
    chance = np.random.default_rng(seed)
    topic = chance.integers(0, 10, count)
    own = chance.integers(1000, 2**60, (count, 2))
    words = np.argsort(chance.random((count, 8)), axis=1)[:, :6] + 1 + 8 * topic[:, None]
    return np.concatenate([words, own], axis=1).astype(np.uint64), topic


def test_modes_find_topics() -> None:
    keywords, topic = topics(2000)
    labels = assign_modes(keywords, fit_modes(keywords, 10))
    for number in range(10):
        assert len(set(labels[topic == number].tolist())) == 1
    assert len(set(labels.tolist())) == 10


def test_modes_are_learned_from_a_sample_of_many_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    keywords, topic = topics(5000)
    monkeypatch.setattr(kmodes, "FIT_PAGES", 500)
    labels = assign_modes(keywords, fit_modes(keywords, 10))
    assert len({(int(a), int(b)) for a, b in zip(labels, topic, strict=True)}) == 10
    assert fit_modes(keywords[::-1], 10).tolist() == fit_modes(keywords, 10).tolist()  # the same sample in any order


@given(st.lists(PAGES, max_size=5), st.integers(1, 6))
def test_modes_can_be_learned_batch_by_batch(batches: list[list[set[int]]], wanted: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kmodes, "FIT_PAGES", 7)
        rows = [matrix(pages) for pages in batches]
        whole = matrix([page for pages in batches for page in pages])
        sampled = kmodes.sample_keywords(rows)
        assert len(sampled) <= 7
        if len(sampled):
            assert fit_modes(sampled, wanted).tolist() == fit_modes(whole, wanted).tolist()


def test_the_number_of_modes_grows_with_the_root_of_the_pages() -> None:
    assert [choose_modes(count) for count in (0, 1, 200, 20_000, 10**12)] == [1, 1, 10, 100, 4096]
    with pytest.raises(UsageError, match="at least 1"):
        fit_modes(matrix([{1}]), 0)


Page = tuple[set[int], int, int]
CASCADES = st.lists(
    st.tuples(st.sets(st.integers(1, 6), max_size=WIDTH), st.integers(0, 6), st.integers(0, 2**10 - 1)), max_size=30
)
MODES = matrix([{1, 2, 3}, {4, 5, 6}])


def passes(a: Page, b: Page, modes: U64 | None, max_sentences: int, max_distance: int) -> bool:
    labels = [0, 0] if modes is None else plain_assign([a[0], b[0]], sets_of(modes))
    near = (a[2] ^ b[2]).bit_count() <= max_distance
    return labels[0] == labels[1] and abs(a[1] - b[1]) <= max_sentences and near


@given(CASCADES, st.sampled_from([None, MODES]), st.integers(0, 2), st.integers(0, 3))
def test_the_batch_finds_all_pairs_that_pass(
    pages: list[Page], modes: U64 | None, max_sentences: int, max_distance: int
) -> None:
    table = cascade_pairs(
        matrix([page[0] for page in pages]),
        np.array([page[1] for page in pages], dtype=np.int32),
        np.array([page[2] for page in pages], dtype=np.uint64),
        modes=modes,
        bits=10,
        max_sentences=max_sentences,
        max_distance=max_distance,
    )
    labels = [0] * len(pages) if modes is None else plain_assign([page[0] for page in pages], sets_of(modes))
    same = [(label, page[1], page[2]) for label, page in zip(labels, pages, strict=True)]
    first = [same.index(one) for one in same]
    expected = {(first[row], row, 1.0) for row in range(len(pages)) if first[row] != row}
    for a, b in itertools.combinations(sorted(set(first)), 2):
        if passes(pages[a], pages[b], modes, max_sentences, max_distance):
            expected.add((a, b, float(np.float32(1 - (pages[a][2] ^ pages[b][2]).bit_count() / 10))))
    assert {(row["a"], row["b"], row["similarity"]) for row in table.to_pylist()} == expected


@given(CASCADES, st.sampled_from([None, MODES]), st.integers(0, 2), st.integers(0, 3))
def test_online_names_the_nearest_page_that_was_new_and_keeps_no_duplicates(
    pages: list[Page], modes: U64 | None, max_sentences: int, max_distance: int
) -> None:
    options = {"bits": 10, "max_sentences": max_sentences, "max_distance": max_distance}
    none = np.zeros((0, WIDTH), dtype=np.uint64)
    state = CascadeState(none if modes is None else modes)
    cascade = Cascade(state, **options)
    new: list[int] = []
    for number, page in enumerate(pages):
        if number == len(pages) // 2:
            cascade = Cascade(state, **options)  # goes on from what it knows
        near = [at for at in new if passes(pages[at], page, modes, max_sentences, max_distance)]
        expected = min(near, key=lambda at: ((pages[at][2] ^ page[2]).bit_count(), at), default=None)
        assert cascade.add(number, sorted(page[0]), page[1], page[2]) == expected
        if expected is None:
            new.append(number)
    assert state.numbers == new


def test_online_finds_pages_whose_bits_differ_far_apart() -> None:
    for places in itertools.combinations(range(10), 2):
        cascade = Cascade(CascadeState(MODES), bits=10, max_distance=2)
        cascade.add(0, [], 1, 0)
        assert cascade.add(1, [], 1, sum(1 << place for place in places)) == 0


def test_the_example_of_the_paper_is_a_new_page() -> None:
    # Tables 2 to 5: of three pages, two have a number of sentences near that of the new one; none is near in bits.
    fingerprints = [
        "00011000001011110010100000001110010111000011010001100100011001000010100",
        "0101111000110101011010100010101101010001000011010010010101000011",
        "0100010001011010010011000011110000011101000101000010100101000011",
    ]
    new = int("0101111000110101011010100010101101010001000011010010010101000100", 2)
    cascade = Cascade(CascadeState(np.zeros((0, 1), dtype=np.uint64)), bits=71, max_sentences=1, max_distance=2)
    for number, (fingerprint, sentences) in enumerate(zip(fingerprints, (6, 5, 4), strict=True)):
        assert cascade.add(number, [], sentences, int(fingerprint, 2)) is None
    assert cascade.add(3, [], 4, new) is None
    assert (int(fingerprints[1], 2) ^ new).bit_count() == 3
    # With the threshold of section 3.3, T_B = 3, it is a near duplicate of the second: at most T_B, not more than it.
    loose = Cascade(CascadeState(np.zeros((0, 1), dtype=np.uint64)), bits=71, max_sentences=1, max_distance=3)
    for number, (fingerprint, sentences) in enumerate(zip(fingerprints, (6, 5, 4), strict=True)):
        loose.add(number, [], sentences, int(fingerprint, 2))
    assert loose.add(3, [], 4, new) == 1
    assert loose.add(4, [], 7, new) is None  # two sentences more than the second


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(UsageError, match="3 of 3 bits"):
        Cascade(CascadeState(MODES), bits=3, max_distance=3)
    with pytest.raises(UsageError, match="2 simhashes, 1 sentence counts"):
        cascade_pairs(MODES, np.zeros(1, np.int32), np.zeros(2, np.uint64), modes=None)


def test_a_hundred_thousand_pages_of_one_cluster_are_not_compared_all_with_all() -> None:
    chance = np.random.default_rng(4)
    count = 100_000
    simhashes = chance.integers(0, 2**64, count, dtype=np.uint64)
    simhashes[count // 2 :] = simhashes[: count // 2] ^ np.uint64(5)
    sentences = np.tile(np.arange(count // 2, dtype=np.int32) % 7, 2)
    sentences[count // 2 : count // 2 + 10] += np.int32(3)
    keywords = np.ones((count, 2), dtype=np.uint64)
    table = cascade_pairs(keywords, sentences, simhashes, modes=np.ones((1, 2), dtype=np.uint64))
    found = set(zip(table["a"].to_pylist(), table["b"].to_pylist(), strict=True))
    assert found == {(row, row + count // 2) for row in range(10, count // 2)}
