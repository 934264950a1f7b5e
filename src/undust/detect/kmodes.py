"""K-modes (Huang, 1998) over the top keywords of pages, as paper 001 clusters pages before it compares them.

Each keyword is an attribute that a page has or has not. A page has its top f keywords, and so has a mode; the matching
dissimilarity of the two is then f less the keywords they share. The mode of a cluster is what shares most with its
pages: their f most frequent keywords. Assigning and updating both raise the number of shared keywords, so it ends.
"""

import math
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from undust.errors import UsageError
from undust.kernels.kmodes import assign, spread
from undust.kernels.simhash import mix_hashes

MAX_ROUNDS = 20
"""Rounds of assigning and updating; the last ones move few pages."""

FIT_PAGES = 100_000
"""Modes are learned from so many pages, chosen by a hash of their keywords, and all pages are assigned to them."""

MAX_MODES = 4096

_U64 = npt.NDArray[np.uint64]
_Labels = npt.NDArray[np.int32]


def choose_modes(count: int) -> int:
    """Give the number of modes for so many pages: the root of half of them, the usual rule where nothing is known.

    >>> choose_modes(100), choose_modes(2_000_000)
    (7, 1000)
    """
    return max(1, min(MAX_MODES, math.isqrt(count // 2)))


def fit_modes(keywords: _U64, modes: int | None = None, *, rounds: int = MAX_ROUNDS) -> _U64:
    """Learn modes from the top keywords of pages, a row of hashes a page, filled up with zeros.

    Returns a row of keywords for each mode, sorted, filled up with zeros in front. There can be fewer than asked for:
    more than half of a seed must be new. The order of the pages does not matter.
    """
    if modes is not None and modes < 1:
        raise UsageError(f"{modes} modes; use at least 1")
    pages = np.sort(np.ascontiguousarray(keywords, dtype=np.uint64), axis=1)
    wanted = choose_modes(len(pages)) if modes is None else modes
    pages = _sample(pages[pages.any(axis=1)])
    fitted = _seeds(pages, wanted)
    best = -1
    for _ in range(rounds):
        labels, shared = ModeIndex(fitted).assign_and_count(pages)
        if shared <= best:
            break
        best = shared
        fitted = _updated(pages, labels, fitted)
    return fitted


def sample_keywords(batches: Iterable[_U64]) -> _U64:
    """Take so many pages of batches as `fit_modes` would learn from, whatever their order, without keeping the rest."""
    kept: _U64 | None = None
    for keywords in batches:
        pages = np.sort(np.ascontiguousarray(keywords, dtype=np.uint64), axis=1)
        pages = pages[pages.any(axis=1)]
        kept = _sample(pages if kept is None else np.concatenate([kept, pages]))
    return np.zeros((0, 0), np.uint64) if kept is None else kept


def assign_modes(keywords: _U64, modes: _U64) -> _Labels:
    """Give each page the mode that it shares the most keywords with, of equals the first; -1 if it shares none.

    >>> assign_modes(np.array([[7, 8], [9, 0], [5, 5]], np.uint64), np.array([[7, 8], [0, 9]], np.uint64)).tolist()
    [0, 1, -1]
    """
    return ModeIndex(modes).assign(np.ascontiguousarray(keywords, dtype=np.uint64))


class ModeIndex:
    """Which modes have a keyword: what it takes to assign pages, for those who do it page by page."""

    def __init__(self, modes: _U64) -> None:
        of_word = np.argsort(modes, axis=None, kind="stable")
        words = modes.reshape(-1)[of_word]
        there = words != 0
        self._terms, starts = np.unique(words[there], return_index=True)
        self._numbers = (of_word[there] // max(modes.shape[1], 1)).astype(np.int32)
        self._places = np.append(starts, len(self._numbers)).astype(np.int64)
        self._shared, self._touched = np.zeros(len(modes), dtype=np.int32), np.empty(len(modes), dtype=np.int32)

    def assign(self, keywords: _U64) -> _Labels:
        """Give each page its mode, as `assign_modes` does. For one thread at a time."""
        return self.assign_and_count(keywords)[0]

    def assign_and_count(self, keywords: _U64) -> tuple[_Labels, int]:
        """Give the number of shared keywords in all, too."""
        labels = np.empty(len(keywords), dtype=np.int32)
        work = self._shared, self._touched, labels
        return labels, int(assign(keywords, self._terms, self._places, self._numbers, *work))


def _sample(pages: _U64) -> _U64:
    """At most FIT_PAGES pages, in an order that depends on their keywords only."""
    mixed = np.empty(pages.size, dtype=np.uint64)
    # Mixed before they are added: sums of the keywords themselves would be equal for sets that are not.
    mix_hashes(pages.reshape(-1), np.uint64(0), mixed)
    order = np.argsort(mixed.reshape(pages.shape).sum(axis=1, dtype=np.uint64), kind="stable")
    return np.ascontiguousarray(pages[order[:FIT_PAGES]])


def _seeds(pages: _U64, wanted: int) -> _U64:
    """Pages of frequent keywords that have little in common, the most frequent first."""
    terms, at, counts = np.unique(pages, return_inverse=True, return_counts=True)
    frequencies = np.where(terms == 0, 0, counts)[at.reshape(pages.shape)].sum(axis=1)
    order = np.argsort(-frequencies, kind="stable")  # equals in the order of the sample
    chosen = np.empty(min(wanted, len(pages)), dtype=np.int64)
    count = spread(pages, terms, order, np.zeros(len(terms), dtype=np.bool_), chosen)
    return np.ascontiguousarray(pages[chosen[:count]])


def _updated(pages: _U64, labels: _Labels, modes: _U64) -> _U64:
    """The most frequent keywords of each cluster, of equals the smaller hash; an empty cluster keeps its mode."""
    width = modes.shape[1]
    label = np.repeat(labels, width)
    words = pages.reshape(-1)
    used = (words != 0) & (label >= 0)
    terms, codes = np.unique(words[used], return_inverse=True)
    found, counts = np.unique(label[used].astype(np.int64) * len(terms) + codes, return_counts=True)
    owner, code = np.divmod(found, max(len(terms), 1))
    order = np.lexsort([code, -counts, owner])
    owner, code = owner[order], code[order]
    starts = np.searchsorted(owner, owner)  # where the words of the same cluster begin
    rank = np.arange(len(owner)) - starts
    top = rank < width
    updated = modes.copy()
    updated[np.unique(owner)] = 0
    updated[owner[top], rank[top]] = terms[code[top]]
    return np.sort(updated, axis=1)
