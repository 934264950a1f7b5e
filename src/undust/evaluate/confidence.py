"""How sure a share is: Wilson's interval, on as many independent observations as there are in truth.

URLs of one cluster stand or fall together, and so do the pairs of one key: a thousand URLs of one page are one
observation, not a thousand. Their number is therefore Kish's effective one, (sum w)^2 / sum w^2, of groups with w
members each, as if all members of a group were sure to be alike. That is careful: it errs towards wide intervals.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from undust.evaluate.measures import Counts, measures_of

Z = 1.959963984540054
"""Of the normal distribution, for 95 %."""

Interval = tuple[float, float]


def wilson(share: float, observations: float, z: float = Z) -> Interval:
    """Give Wilson's interval (1927) for a share of so many observations; all is possible where there are none.

    Unlike the usual one it is right for shares of 0, too.

    >>> low, high = wilson(0.0, 100)
    >>> low, round(high, 3)
    (0.0, 0.037)
    """
    if observations <= 0:
        return 0.0, 1.0
    share = min(max(share, 0.0), 1.0)
    middle = share + z * z / (2 * observations)
    half = z * math.sqrt(share * (1 - share) / observations + z * z / (4 * observations * observations))
    whole = 1 + z * z / observations
    low = 0.0 if share == 0.0 else max((middle - half) / whole, 0.0)
    high = 1.0 if share == 1.0 else min((middle + half) / whole, 1.0)
    return low, high


def independent(sizes: npt.NDArray[Any]) -> float:
    """Give how many independent observations groups of some sizes are worth (Kish, 1965).

    >>> independent(np.array([1, 1, 1])), independent(np.array([1000])), round(independent(np.array([10, 1, 1])), 2)
    (3.0, 1.0, 1.41)
    """
    weights = sizes.astype(np.float64)
    squares = float((weights * weights).sum())
    return float(weights.sum()) ** 2 / squares if squares else 0.0


@dataclass(frozen=True, slots=True)
class Intervals:
    """Intervals of 95 % for three measures."""

    compression: Interval
    """Of the share of fetches that are saved; observations are clusters, by their URLs."""
    pages_lost: Interval
    """Of the share of pages lost; observations are clusters."""
    fpr: Interval
    """Of the share of false pairs; observations are keys, by their pairs."""

    def to_dict(self) -> dict[str, list[float]]:
        """Plain values for JSON."""
        return {name: list(getattr(self, name)) for name in ("compression", "pages_lost", "fpr")}


def intervals(counts: Counts) -> Intervals:
    """Give the intervals of the measures that are made of counts.

    >>> from undust.evaluate.measures import count
    >>> codes = np.arange(400) // 2
    >>> low, high = intervals(count(codes, codes)).fpr
    >>> low, round(high, 3)
    (0.0, 0.019)
    """
    found = measures_of(counts)
    return Intervals(
        wilson(found.compression, effective(counts.urls, counts.cluster_squares)),
        wilson(found.pages_lost, counts.clusters),
        wilson(found.fpr, effective(counts.pairs, counts.pair_squares)),
    )


def effective(total: int, squares: int) -> float:
    """Give how many independent observations groups are worth, by the sum of their sizes and that of the squares."""
    return float(total) ** 2 / float(squares) if squares else 0.0
