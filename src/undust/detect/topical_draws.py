"""How min-hash values of bags are drawn into bands (paper 002, section 4), and which draws find what in least time."""

import functools
import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import xxhash

from undust.errors import UsageError

THRESHOLD = 0.2
"""Similarity from which on two pages are about the same things (paper 002, section 4)."""

RECALL = 0.9
"""Chance to find a pair that is exactly at the threshold; 0.99 and more at one and a half times it."""

VALUES = 128
"""Min-hash values of a page. Paper 002 takes 80; more make the draws less alike."""

_MAX_BANDS = 1 << 11
_SORTING, _VERIFYING = 50e-9, 300e-9  # seconds for a page in a band, and for a candidate pair
_UNRELATED = 0.02  # similarity of two pages taken at random


@dataclass(frozen=True, slots=True)
class Draws:
    """How pages become candidates: those that agree in all `rows` values drawn for one of `count` bands are compared.

    Paper 002 draws 3 of 80 values 125 times.
    """

    rows: int
    count: int
    values: int = VALUES

    def chance(self, similarity: float) -> float:
        """Chance that two pages of a similarity become a candidate pair.

        Values are drawn from the same few for all bands, so it depends on how many of them agree.

        >>> round(Draws(3, 125, 80).chance(0.2), 3)
        0.559
        """
        missed = 0.0
        for agreeing in range(self.values + 1):
            ways = (
                math.comb(self.values, agreeing) * similarity**agreeing * (1 - similarity) ** (self.values - agreeing)
            )
            missed += ways * (1 - math.comb(agreeing, self.rows) / math.comb(self.values, self.rows)) ** self.count
        return 1.0 - missed

    def bands(self, seed: int = 0) -> npt.NDArray[np.int64]:
        """Draw the values of each band, a row each: distinct ones, by hashes of the seed."""
        drawn: list[list[int]] = []
        for band in range(self.count):
            chosen: list[int] = []
            turn = 0
            while len(chosen) < self.rows:
                value = xxhash.xxh3_64_intdigest(f"{seed} {band} {turn}".encode()) % self.values
                turn += 1
                if value not in chosen:
                    chosen.append(value)
            drawn.append(chosen)
        return np.array(drawn, dtype=np.int64).reshape(self.count, self.rows)


@functools.cache
def choose_draws(pages: int, threshold: float = THRESHOLD, recall: float = RECALL) -> Draws:
    """Give the draws that find a pair at the threshold with the chance of `recall`, in the least time for the pages.

    More values in a band, fewer candidates in vain, but more bands: pays off with the number of pages.

    >>> choose_draws(1000), choose_draws(1_000_000)
    (Draws(rows=2, count=66, values=128), Draws(rows=3, count=406, values=128))
    """
    if not 0.0 < threshold <= 1.0 or not 0.0 < recall < 1.0:
        raise UsageError(f"threshold {threshold:g} and recall {recall:g}; both are above 0 and at most 1, recall below")
    best, least = None, math.inf
    for rows in range(1, 17):
        count = _fewest_bands(rows, threshold, recall)
        if count is None:
            break
        compared = pages * pages / 2 * min(count * _UNRELATED**rows, 1.0)
        seconds = pages * count * _SORTING + compared * _VERIFYING
        if seconds < least:
            best, least = Draws(rows, count), seconds
    if best is None:
        raise UsageError(f"pairs of similarity {threshold:g} cannot be found with a chance of {recall:g}; ask for less")
    return best


def _fewest_bands(rows: int, threshold: float, recall: float) -> int | None:
    low, high = 1, _MAX_BANDS
    if Draws(rows, high).chance(threshold) < recall:
        return None
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if Draws(rows, middle).chance(threshold) >= recall else (middle + 1, high)
    return low
