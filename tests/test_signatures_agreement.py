"""Agreement of signatures is the similarity on average, and varies no more than that of 128 classic permutations.

All randomness is seeded, so a test gives the same figures each time. Margins are four standard errors or more.
"""

import gzip
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest

from tests.test_signatures import made_up_texts
from undust.detect.bags import (
    BAG_SUM,
    Bags,
    DocumentFrequencies,
    count,
    flat_signatures,
    scale,
    tfidf,
    weighted_signatures,
)
from undust.detect.fingerprints import agreement, from_column, shingle_signatures, to_column
from undust.detect.words import Words, split
from undust.detect.words_lexicon import Keywords

Floats = npt.NDArray[np.float64]
Hashes = npt.NDArray[np.uint64]
Exact = Callable[[Words], list[Counter[int]]]

VALUES = 128
SEEDS = range(12)
PAIRS = 250


@pytest.fixture(scope="module")
def articles(shared_data: Path) -> list[str]:
    with gzip.open(shared_data / "articles" / "articles_1000.train.gz", "rt", encoding="utf-8") as lines:
        return [line.split(" ", 1)[1].strip() for line in lines]


def near_duplicates(texts: list[str], seed: int = 1) -> list[tuple[str, str]]:
    """Pair each of some texts with itself after a share of its sentences came from another; each text is used once."""
    random = np.random.default_rng(seed)
    pairs = []
    for ours, other in zip(texts[:PAIRS], texts[PAIRS : 2 * PAIRS], strict=True):
        share = random.random()
        sentences = re.split(r"(?<=\.) ", ours)
        foreign = re.split(r"(?<=\.) ", other)
        mixed = [s if random.random() < share else foreign[i % len(foreign)] for i, s in enumerate(sentences)]
        pairs.append((ours, " ".join(mixed)))
    return pairs


def similarity(a: Counter[int], b: Counter[int]) -> float:
    """Exact weighted Jaccard similarity: sum of the lesser over sum of the greater weights."""
    return sum((a & b).values()) / max(sum((a | b).values()), 1e-300)


def counters(bags: Bags) -> list[Counter[int]]:
    pairs = list(zip(bags.terms.tolist(), bags.weights.tolist(), strict=True))
    rows = bags.rows.tolist()
    return [Counter(dict(pairs[a:b])) for a, b in pairwise(rows)]


def shingles(words: Words, width: int) -> list[Counter[int]]:
    hashes, rows = words.hashes.tolist(), words.rows.tolist()
    texts = [hashes[a:b] for a, b in pairwise(rows)]
    return [Counter({hash(tuple(t[i : i + width])): 1 for i in range(max(len(t) - width, 0) + 1)}) for t in texts]


def check(estimates: Floats, exact: Floats, *, most: float = 1.0) -> None:
    """Errors must add up to nothing, and their squares to no more than `most` times what classic min-hash has.

    The variance of classic min-hash is that of a coin: J (1 - J) / values.
    """
    classic = exact * (1 - exact) / VALUES
    errors = estimates - exact
    assert 0.1 < exact.mean() < 0.9, "pairs of all similarities are needed"
    assert len(estimates) == len(SEEDS)
    standard_errors = errors.sum() / np.sqrt(len(SEEDS) * classic.sum())
    assert abs(standard_errors) < 4
    margin = 4 * np.sqrt(2 / errors.size)  # of a mean of squares, were the errors normal
    assert (errors**2).sum() / (len(SEEDS) * classic.sum()) < most + margin


def exact_of(bags: list[Counter[int]]) -> Floats:
    return np.array([similarity(a, b) for a, b in zip(bags[::2], bags[1::2], strict=True)])


def estimate(sketch: Callable[[int], Hashes]) -> Floats:
    """Agreement of each pair, a row for each seed."""
    return np.array([agreement(rows[::2], rows[1::2]) for rows in map(sketch, SEEDS)])


def words_of(pairs: list[tuple[str, str]]) -> Words:
    """Split the texts of pairs into words, and give each pair hashes of its own.

    Two pairs with a word in common would have errors in common, and then the sum of all errors would tell little.
    """
    words = split(pa.array([text for pair in pairs for text in pair]))
    salts = np.random.default_rng(0).integers(0, 2**64, size=len(pairs), dtype=np.uint64)
    return replace(words, hashes=words.hashes ^ np.repeat(np.repeat(salts, 2), np.diff(words.rows)))


@pytest.mark.parametrize("width", [1, 3, 5])
def test_agreement_of_shingles_is_the_jaccard_similarity_of_articles(articles: list[str], width: int) -> None:
    words = words_of(near_duplicates(articles))
    estimates = estimate(lambda seed: shingle_signatures(words, shingle_words=width, values=VALUES, seed=seed))
    check(estimates, exact_of(shingles(words, width)), most=0.75)


def test_agreement_of_bags_is_the_weighted_similarity_of_articles(articles: list[str]) -> None:
    words = words_of(near_duplicates(articles, seed=2))
    bags = count(words.hashes, words.rows)
    check(estimate(lambda seed: flat_signatures(bags, values=VALUES, seed=seed)), exact_of(counters(bags)), most=0.75)


def test_agreement_of_weighted_bags_is_the_weighted_similarity_of_articles(articles: list[str]) -> None:
    words = words_of(near_duplicates(articles, seed=3))
    counted = count(words.hashes, words.rows)
    random = np.random.default_rng(0)
    terms = np.unique(counted.terms)  # how many documents have a term does not matter here, only that weights are real
    frequencies = DocumentFrequencies(2 * PAIRS, terms, random.integers(1, 2 * PAIRS, size=len(terms)))
    bags = scale(tfidf(counted, frequencies), BAG_SUM)
    check(estimate(lambda seed: weighted_signatures(bags, values=VALUES, seed=seed)), exact_of(counters(bags)))


def test_agreement_of_made_up_texts_is_their_similarity() -> None:
    texts = [text.replace(" w7.", " w7. ") for text in made_up_texts(600) if len(text) > 50]
    words = words_of(near_duplicates(texts))
    bags = count(words.hashes, words.rows)
    check(
        estimate(lambda seed: shingle_signatures(words, shingle_words=2, values=VALUES, seed=seed)),
        exact_of(shingles(words, 2)),
    )
    scaled = scale(bags, 40.0)  # few darts a round, many rounds
    check(estimate(lambda seed: weighted_signatures(scaled, values=VALUES, seed=seed)), exact_of(counters(scaled)))


def test_three_bytes_are_without_bias_too(articles: list[str]) -> None:
    words = words_of(near_duplicates(articles, seed=4))
    present = np.ones(2 * PAIRS, dtype=np.bool_)

    def stored(seed: int) -> Hashes:
        return from_column(to_column(shingle_signatures(words, shingle_words=2, seed=seed), 3, present), 3)

    check(estimate(stored), exact_of(shingles(words, 2)))


def test_short_texts_have_much_less_variance_than_classic_permutations(articles: list[str]) -> None:
    short = [text.split()[:30] for text in articles]
    pairs = [(" ".join(a), " ".join(a[: 5 + i % 25] + b[:6])) for i, (a, b) in enumerate(pairwise(short))]
    words = words_of(pairs[:PAIRS])
    estimates = estimate(lambda seed: shingle_signatures(words, shingle_words=1, values=VALUES, seed=seed))
    check(estimates, exact_of(shingles(words, 1)), most=0.55)


@pytest.mark.parametrize(("own", "common"), [(1, 1), (3, 3), (10, 10), (5, 30), (60, 120), (0, 2), (4, 0)])
def test_small_sets_are_without_bias_and_sharper_than_classic_ones(own: int, common: int) -> None:
    trials = 4000
    elements = np.random.default_rng(own).integers(0, 2**64, size=(trials, 2 * own + common), dtype=np.uint64)
    rows = np.arange(trials + 1) * (own + common)
    a, b = (Keywords(elements[:, cut].ravel(), rows) for cut in (slice(0, own + common), slice(own, None)))
    found = agreement(shingle_signatures(a, shingle_words=1), shingle_signatures(b, shingle_words=1))
    exact = common / (2 * own + common)
    assert abs(found.mean() - exact) <= 4 * np.sqrt(exact * (1 - exact) / VALUES / trials)
    assert found.var() <= 0.75 * exact * (1 - exact) / VALUES


def mixed(x: Hashes) -> Hashes:
    x = (x ^ x >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ x >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    return x ^ x >> np.uint64(31)


def test_variance_is_not_above_that_of_128_classic_permutations(articles: list[str]) -> None:
    words = words_of(near_duplicates(articles, seed=5))
    bags = shingles(words, 5)
    exact = exact_of(bags)
    keys = np.random.default_rng(0).integers(0, 2**64, size=(VALUES, 1), dtype=np.uint64)
    elements = [np.array(list(bag), dtype=np.int64).view(np.uint64) for bag in bags]
    classic = np.array([mixed(mixed(each)[None, :] ^ keys).min(axis=1) for each in elements])
    theirs = ((agreement(classic[::2], classic[1::2]) - exact) ** 2).mean()
    ours = ((estimate(lambda seed: shingle_signatures(words, values=VALUES, seed=seed)) - exact) ** 2).mean()
    assert ours < theirs * (1 + 4 * np.sqrt(2 / PAIRS))
    assert theirs < 1.5 * (exact * (1 - exact) / VALUES).mean()  # classic min-hash as the theory has it
