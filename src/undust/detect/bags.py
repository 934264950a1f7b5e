"""Bags of words (paper 002): counted, weighted by tf-idf, scaled to a fixed sum, and sketched.

A bag's words carry weights. The similarity of two bags is the weighted Jaccard similarity: the sum of the lesser
weights over the sum of the greater ones; it is what two signatures agree in, on average.
"""

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from undust.errors import UsageError
from undust.kernels.hashing import GOLDEN
from undust.kernels.minhash import sketch_counts, sketch_weights
from undust.kernels.vocabulary import KEY, count_words, top_words

BAG_SUM = 1000.0
"""What the weights of a scaled bag add up to. It does not change similarities; about the number of words of a page,
so that one round of darts fills a signature."""

MAX_SUM = 1e6
"""The time to sketch a weighted bag grows with its sum."""

_WORDS_KEY, _WEIGHTS_KEY = 3, 4  # keep flattened and weighted bags apart from shingles and simhash, whatever the seed


@dataclass(frozen=True, slots=True)
class Bags:
    """Bags of a batch of texts. Bag i has the terms (hashes of words) `rows[i]` to `rows[i + 1]`, each once."""

    rows: npt.NDArray[np.int64]
    terms: npt.NDArray[np.uint64]
    weights: npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class DocumentFrequencies:
    """In how many of the documents each term occurs. Terms in rising order."""

    documents: int
    terms: npt.NDArray[np.uint64]
    counts: npt.NDArray[np.int64]

    def of(self, terms: npt.NDArray[np.uint64]) -> npt.NDArray[np.int64]:
        """Look up terms; 0 for one that no document has."""
        if not len(self.terms):
            return np.zeros(len(terms), dtype=np.int64)
        at = np.minimum(np.searchsorted(self.terms, terms), len(self.terms) - 1)
        return np.where(self.terms[at] == terms, self.counts[at], 0)

    def __add__(self, other: "DocumentFrequencies") -> "DocumentFrequencies":
        """Join the frequencies of two sets of documents that have none in common."""
        terms, at = np.unique(np.concatenate([self.terms, other.terms]), return_inverse=True)
        counts = np.zeros(len(terms), dtype=np.int64)
        np.add.at(counts, at, np.concatenate([self.counts, other.counts]))
        return DocumentFrequencies(self.documents + other.documents, terms, counts)


def signature_key(seed: int, purpose: int) -> np.uint64:
    """Derive the key of a family of hashes from the user's seed."""
    return np.uint64((seed * 8 + purpose) * int(GOLDEN) & 0xFFFFFFFFFFFFFFFF)


def count(hashes: npt.NDArray[np.uint64], rows: npt.NDArray[np.int64]) -> Bags:
    """Count the words or keywords of each text.

    >>> count(np.array([7, 9, 7], dtype=np.uint64), np.array([0, 3])).weights.tolist()
    [2.0, 1.0]
    """
    longest = int(np.diff(rows).max(initial=0))
    slots = np.full(max(16, 2 << max(longest - 1, 0).bit_length()), -1, dtype=np.int32)
    terms, counts = np.empty(len(hashes), dtype=np.uint64), np.empty(len(hashes), dtype=np.int64)
    bags = np.empty(len(rows), dtype=np.int64)
    n = count_words(hashes, rows, slots, terms, counts, bags, KEY)
    return Bags(bags, terms[:n], counts[:n].astype(np.float64))


def top_terms(bags: Bags, size: int) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.int64]]:
    """Return the most frequent terms of each bag and their counts, a row a bag, filled up with zeros.

    Most frequent first; equally frequent ones by hash, so that the order of the words on the page does not matter.
    """
    shape = len(bags.rows) - 1, size
    top, counts = np.empty(shape, dtype=np.uint64), np.empty(shape, dtype=np.int64)
    top_words(bags.rows, bags.terms, bags.weights.astype(np.int64), top, counts)
    return top, counts


def document_frequencies(bags: Bags) -> DocumentFrequencies:
    """Count the bags that each term is in."""
    terms, counts = np.unique(bags.terms, return_counts=True)
    return DocumentFrequencies(len(bags.rows) - 1, terms, counts.astype(np.int64))


def select(bags: Bags, chosen: npt.NDArray[np.bool_]) -> Bags:
    """Keep only some of the terms."""
    before = np.concatenate([[0], np.cumsum(chosen)])
    return Bags(before[bags.rows], bags.terms[chosen], bags.weights[chosen])


def drop_rare_and_common(
    bags: Bags, frequencies: DocumentFrequencies, *, min_documents: int = 2, max_share: float = 0.5
) -> Bags:
    """Drop terms of too few documents, which cannot make two alike, and of too many, which tell nothing apart."""
    found = frequencies.of(bags.terms)
    return select(bags, (found >= min_documents) & (found <= max_share * frequencies.documents))


def tfidf(bags: Bags, frequencies: DocumentFrequencies) -> Bags:
    """Multiply each count by log(documents / documents with the term), and drop terms that every document has.

    A term that the frequencies do not know counts as being in one document.
    """
    found = np.maximum(frequencies.of(bags.terms), 1)
    idf = np.log(max(frequencies.documents, 1) / found)
    return select(replace(bags, weights=bags.weights * idf), idf > 0)


def scale(bags: Bags, total: float = BAG_SUM) -> Bags:
    """Scale the weights of each bag to a fixed sum, so that long and short texts compare."""
    sizes = np.diff(bags.rows)
    of_term = np.repeat(np.arange(len(sizes)), sizes)
    sums = np.bincount(of_term, weights=bags.weights, minlength=len(sizes))
    return replace(bags, weights=bags.weights * (total / sums[of_term]) if len(of_term) else bags.weights)


def flat_signatures(bags: Bags, *, values: int = 128, seed: int = 0) -> npt.NDArray[np.uint64]:
    """Sketch bags of whole counts: a term that occurs n times is n elements. Zeros for an empty bag."""
    counts = bags.weights.astype(np.int64)
    if not np.array_equal(counts, bags.weights) or (len(counts) and counts.min() < 0):
        raise UsageError("bags: flattening needs whole counts; use weighted_signatures for real weights")
    sums = np.concatenate([[0], np.cumsum(counts)])[bags.rows]
    elements = np.empty(int(np.diff(sums).max(initial=0)), dtype=np.uint64)
    signatures = np.empty((len(bags.rows) - 1, values), dtype=np.uint64)
    key = signature_key(seed, _WORDS_KEY)
    sketch_counts(bags.terms, counts, bags.rows, key, elements, np.empty(values, dtype=np.uint64), signatures)
    return signatures


def weighted_signatures(bags: Bags, *, values: int = 128, seed: int = 0) -> npt.NDArray[np.uint64]:
    """Sketch bags of real weights, as `tfidf` and `scale` give them. Zeros for an empty bag."""
    if len(bags.weights) and not (np.isfinite(bags.weights).all() and bags.weights.min() >= 0):
        raise UsageError("bags: weights must be finite and not negative")
    sums = np.add.reduceat(np.append(bags.weights, 0.0), bags.rows[:-1]) if len(bags.rows) > 1 else np.zeros(0)
    sums[np.diff(bags.rows) == 0] = 0
    if ((sums > 0) & (sums < 0.999)).any() or (sums > 1.001 * MAX_SUM).any():  # sums are rounded
        raise UsageError(f"bags: weights of a bag must add up to 1 to {MAX_SUM:g}; use scale() (to {BAG_SUM:g})")
    signatures = np.empty((len(bags.rows) - 1, values), dtype=np.uint64)
    key = signature_key(seed, _WEIGHTS_KEY)
    sketch_weights(bags.terms, bags.weights, bags.rows, key, np.empty(values, dtype=np.uint64), signatures)
    return signatures
