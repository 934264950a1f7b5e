"""Bags of words: paper 002 by hand on three tiny documents, and kernels against oracles of a few lines."""

import math
from collections import Counter
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.test_signatures import GOLDEN, MASK, mix, rows_of, sketch
from undust.detect.bags import (
    Bags,
    DocumentFrequencies,
    count,
    document_frequencies,
    drop_rare_and_common,
    flat_signatures,
    scale,
    signature_key,
    tfidf,
    top_terms,
    weighted_signatures,
)
from undust.detect.words import split
from undust.errors import UsageError

FEW = st.integers(0, 6).map(lambda n: mix(n + 1))  # words that repeat
WORD = st.one_of(FEW, st.integers(1, MASK))
TEXT = st.one_of(st.lists(WORD, max_size=5), st.lists(WORD, min_size=20, max_size=60))
TEXTS = st.lists(TEXT, max_size=5)

DOCUMENTS = ["dust dust dust page", "dust page page web", "web rule"]
DUST, PAGE, WEB, RULE = split(pa.array(["dust page web rule"])).hashes.tolist()


def as_dicts(bags: Bags) -> list[dict[int, float]]:
    ends = bags.rows.tolist()
    pairs = list(zip(bags.terms.tolist(), bags.weights.tolist(), strict=True))
    return [dict(pairs[a:b]) for a, b in pairwise(ends)]


def documents() -> Bags:
    words = split(pa.array(DOCUMENTS))
    return count(words.hashes, words.rows)


def bags_of(weights: list[dict[int, float]]) -> Bags:
    rows = np.cumsum([0, *map(len, weights)]).astype(np.int64)
    terms = np.array([term for bag in weights for term in bag], dtype=np.uint64)
    return Bags(rows, terms, np.array([w for bag in weights for w in bag.values()], dtype=np.float64))


def test_three_documents_are_counted_by_hand() -> None:
    assert as_dicts(documents()) == [{DUST: 3, PAGE: 1}, {DUST: 1, PAGE: 2, WEB: 1}, {WEB: 1, RULE: 1}]


def test_tf_idf_and_scaling_of_three_documents_by_hand() -> None:
    bags = documents()
    frequencies = document_frequencies(bags)
    assert frequencies.documents == 3
    assert frequencies.of(np.array([DUST, PAGE, WEB, RULE, 1], dtype=np.uint64)).tolist() == [2, 2, 2, 1, 0]
    # tf-idf: the count times log(documents / documents with the word). dust, page and web are in 2 of 3, rule in 1.
    common, rare = math.log(3 / 2), math.log(3)
    weighted = as_dicts(tfidf(bags, frequencies))
    for found, expected in zip(
        weighted,
        [{DUST: 3 * common, PAGE: common}, {DUST: common, PAGE: 2 * common, WEB: common}, {WEB: common, RULE: rare}],
        strict=True,
    ):
        assert found == pytest.approx(expected)
    # Scaled to a sum of 1000: shares of 3 : 1, of 1 : 2 : 1, and of 0.4055 : 1.0986.
    scaled = as_dicts(scale(tfidf(bags, frequencies), 1000))
    assert scaled[0] == pytest.approx({DUST: 750, PAGE: 250})
    assert scaled[1] == pytest.approx({DUST: 250, PAGE: 500, WEB: 250})
    assert scaled[2] == pytest.approx({WEB: 269.577, RULE: 730.423}, abs=1e-3)


def test_flattening_makes_a_word_of_n_occurrences_n_elements() -> None:
    # {dust 3, page 1} becomes dust1 dust2 dust3 page1; {dust 1, page 2, web 1} becomes dust1 page1 page2 web1.
    # In common: dust1 and page1; together: dust1 dust2 dust3 page1 page2 web1. Similarity 2/6.
    bags = documents()
    key, cell = int(signature_key(0, 3)), 0xDA942042E4DD58B5

    def element(word: int, number: int) -> int:
        return mix((word ^ key) + number * cell & MASK)

    first = [element(DUST, 0), element(DUST, 1), element(DUST, 2), element(PAGE, 0)]
    second = [element(DUST, 0), element(PAGE, 0), element(PAGE, 1), element(WEB, 0)]
    found = flat_signatures(bags, values=4096)
    assert found[0].tolist() == sketch(first, 4096)
    agreed = (found[0] == found[1]).mean()
    assert agreed == pytest.approx(2 / 6, abs=4 * math.sqrt(2 / 6 * 4 / 6 / 4096))
    assert (found[0] == found[2]).mean() == 0  # nothing in common
    assert np.array_equal(sketch(second, 64), flat_signatures(bags, values=64)[1])


def test_rare_and_common_words_are_dropped() -> None:
    bags = documents()
    frequencies = document_frequencies(bags)
    assert as_dicts(drop_rare_and_common(bags, frequencies, min_documents=2, max_share=1)) == [
        {DUST: 3, PAGE: 1},
        {DUST: 1, PAGE: 2, WEB: 1},
        {WEB: 1},
    ]
    assert as_dicts(drop_rare_and_common(bags, frequencies, min_documents=1, max_share=0.5)) == [{}, {}, {RULE: 1}]


def test_a_word_of_all_documents_weighs_nothing() -> None:
    bags = bags_of([{1: 2.0, 2: 1.0}, {1: 5.0}])
    assert as_dicts(tfidf(bags, document_frequencies(bags))) == [{2: pytest.approx(math.log(2))}, {}]
    assert as_dicts(scale(bags_of([{}, {7: 3.0}]), 10)) == [{}, {7: 10.0}]


def test_a_word_that_the_frequencies_do_not_know_counts_as_one_of_one_document() -> None:
    frequencies = DocumentFrequencies(10, np.array([5], dtype=np.uint64), np.array([2]))
    [found] = as_dicts(tfidf(bags_of([{5: 1.0, 9: 1.0}]), frequencies))
    assert found == pytest.approx({5: math.log(5), 9: math.log(10)})
    nothing = DocumentFrequencies(0, np.zeros(0, dtype=np.uint64), np.zeros(0, dtype=np.int64))
    assert nothing.of(np.array([5], dtype=np.uint64)).tolist() == [0]


@given(TEXTS)
def test_counts_are_those_of_a_counter(texts: list[list[int]]) -> None:
    keywords = rows_of(texts)
    assert as_dicts(count(keywords.hashes, keywords.rows)) == [Counter(text) for text in texts]


@given(TEXTS, st.integers(0, 8))
def test_top_terms_are_the_most_frequent_ones_and_equal_ones_go_by_hash(texts: list[list[int]], size: int) -> None:
    keywords = rows_of(texts)
    top, counts = top_terms(count(keywords.hashes, keywords.rows), size)
    for text, terms, numbers in zip(texts, top.tolist(), counts.tolist(), strict=True):
        expected = sorted(Counter(text).items(), key=lambda item: (-item[1], item[0]))[:size]
        expected += [(0, 0)] * (size - len(expected))
        assert list(zip(terms, numbers, strict=True)) == expected


@given(TEXTS, TEXTS)
def test_document_frequencies_can_be_added(a: list[list[int]], b: list[list[int]]) -> None:
    parts = [rows_of(texts) for texts in (a, b, [*a, *b])]
    one, two, both = (document_frequencies(count(part.hashes, part.rows)) for part in parts)
    total = one + two
    expected = Counter(term for text in [*a, *b] for term in set(text))
    for found in (total, both):
        assert found.documents == len(a) + len(b)
        assert dict(zip(found.terms.tolist(), found.counts.tolist(), strict=True)) == expected


@given(TEXTS, st.integers(1, 30), st.integers(0, 2**60))
def test_signatures_of_flat_bags_are_those_of_the_oracle(texts: list[list[int]], size: int, seed: int) -> None:
    keywords = rows_of(texts)
    found = flat_signatures(count(keywords.hashes, keywords.rows), values=size, seed=seed).tolist()
    key, cell = int(signature_key(seed, 3)), 0xDA942042E4DD58B5
    for text, row in zip(texts, found, strict=True):
        elements = [mix((w ^ key) + k * cell & MASK) for w, n in Counter(text).items() for k in range(n)]
        assert row == (sketch(elements, size) if text else [0] * size)


def dart_sketch(weights: dict[int, float], size: int, seed: int) -> list[int]:
    """The oracle for weights: rounds of a Poisson number of darts at each cell of length 1 of each term's strip."""
    steps = [sum(math.exp(-1) / math.factorial(j) for j in range(k + 1)) for k in range(20)]
    key, cell_step = int(signature_key(seed, 4)), 0xDA942042E4DD58B5
    signature: dict[int, int] = {}
    turn = 0
    while len(signature) < size:
        thrown: dict[int, int] = {}
        for term, weight in weights.items():
            for k in range(math.ceil(weight)):
                state = mix(mix((term ^ key) + k * cell_step & MASK) + turn * GOLDEN & MASK)
                for dart in range(1, sum(state >= min(int(step * 2.0**64), MASK) for step in steps) + 1):
                    value = mix(state + dart * GOLDEN & MASK)
                    if k + (mix(value + cell_step & MASK) >> 11) / 2**53 < weight:
                        bucket = (value >> 32) * size >> 32
                        thrown[bucket] = min(thrown.get(bucket, MASK), value)
        signature = thrown | signature
        turn += 1
    return [signature[bucket] for bucket in range(size)]


@given(
    st.lists(st.dictionaries(st.integers(1, MASK), st.floats(0, 5), max_size=5), max_size=3),
    st.integers(1, 12),
    st.integers(0, 2**60),
)
def test_signatures_of_weighted_bags_are_those_of_the_oracle(
    weights: list[dict[int, float]], size: int, seed: int
) -> None:
    weights = [bag | {mix(9): 1.0} if bag else bag for bag in weights]  # the least sum that is allowed
    found = weighted_signatures(bags_of(weights), values=size, seed=seed).tolist()
    for bag, row in zip(weights, found, strict=True):
        assert row == (dart_sketch(bag, size, seed) if bag else [0] * size)


def test_wrong_weights_are_refused() -> None:
    with pytest.raises(UsageError, match="whole counts"):
        flat_signatures(bags_of([{1: 0.5}]))
    with pytest.raises(UsageError, match="whole counts"):
        flat_signatures(bags_of([{1: -1.0}]))
    with pytest.raises(UsageError, match="finite and not negative"):
        weighted_signatures(bags_of([{1: math.nan}]))
    with pytest.raises(UsageError, match="finite and not negative"):
        weighted_signatures(bags_of([{1: -1.0, 2: 9.0}]))
    for weight in (0.2, 2e6):
        with pytest.raises(UsageError, match=r"use scale\(\)"):
            weighted_signatures(bags_of([{}, {1: weight}]))
    assert not weighted_signatures(bags_of([{}, {3: 0.0}])).any()  # no weight is an empty bag
