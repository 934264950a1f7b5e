"""Words that are made to go to one place of a hash table cost what other words cost, and give the same answers."""

import time

import numpy as np
import numpy.typing as npt
import pytest

from undust.kernels.vocabulary import KEY, count_words, move_words, number_words

N = 150_000
"""So many that going through all of them for each of them would take most of a minute."""

PLAIN = np.random.default_rng(1).integers(1, 2**63, N, dtype=np.int64).view(np.uint64)
FLOODS = {
    "equal low bits": (np.arange(1, N + 1, dtype=np.uint64)) << np.uint64(32),
    "equal high bits": np.arange(1, N + 1, dtype=np.uint64),
    "multiples of the golden ratio": np.arange(1, N + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15),
}
Words = npt.NDArray[np.uint64]


def counted(hashes: Words, key: np.uint64) -> tuple[int, list[int], float]:
    twice = np.concatenate([hashes, hashes])
    room = 1 << (2 * len(twice) - 1).bit_length()
    slots = np.full(room, -1, dtype=np.int32)
    terms, counts = np.empty(len(twice), np.uint64), np.empty(len(twice), np.int64)
    begun = time.process_time()
    n = count_words(twice, np.array([0, len(twice)]), slots, terms, counts, np.empty(2, np.int64), key)
    took = time.process_time() - begun
    assert (counts[:n] == 2).all()
    return n, terms[:n].tolist(), took


def numbered(hashes: Words, key: np.uint64) -> tuple[list[int], float]:
    """As `Lexicon` does: a table that grows fourfold whenever it is half full."""
    keys, numbers = np.zeros(1024, np.uint64), np.full(1024, -1, np.int32)
    ids, salts, rows = np.empty(len(hashes), np.int32), np.zeros(1, np.uint64), np.array([0, len(hashes)])
    at = known = 0
    begun = time.process_time()
    while at < len(hashes):
        first = np.empty(len(keys), np.int64)
        at, known = number_words(hashes, rows, salts, keys, numbers, known, 0, at, ids, first, key)
        if at < len(hashes):
            larger, places = np.zeros(4 * len(keys), np.uint64), np.full(4 * len(keys), -1, np.int32)
            move_words(keys, numbers, larger, places, key)
            keys, numbers = larger, places
    return ids.tolist(), time.process_time() - begun


@pytest.mark.parametrize("flood", FLOODS)
def test_a_flood_of_words_costs_what_other_words_cost(flood: str) -> None:
    hashes = FLOODS[flood]
    found, terms, took = counted(hashes, KEY)
    assert found == N
    assert terms == hashes.tolist()
    ids, more = numbered(hashes, KEY)
    assert ids == list(range(N))
    # Not how fast, but that it is no square: that would be a thousand times as long.
    assert took + more < 3


@pytest.mark.parametrize("key", [1, 3, 0x9E3779B97F4A7C15, 2**64 - 1])
def test_answers_do_not_depend_on_the_key(key: int) -> None:
    assert counted(PLAIN[:5000], np.uint64(key))[:2] == counted(PLAIN[:5000], KEY)[:2]
    assert numbered(PLAIN[:5000], np.uint64(key))[0] == numbered(PLAIN[:5000], KEY)[0]


def test_without_a_key_the_flood_would_have_been_one() -> None:
    """The key 1 takes the highest bits as they are, which are those that this flood has in common."""
    _, _, plain = counted(PLAIN[:6000], np.uint64(1))
    _, _, flooded = counted(FLOODS["equal high bits"][:6000], np.uint64(1))
    assert flooded > 5 * plain
