"""How many clusters there are of each size, and the power law that this follows (paper 000, figure 1)."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

MIN_CLUSTERS = 100
"""With fewer clusters of several URLs no exponent is told."""
_FLATTEST, _STEEPEST = 1.01, 12.0
_SUMMED = 5_000


@dataclass(frozen=True, slots=True)
class Sizes:
    """Clusters by their number of URLs."""

    counts: tuple[tuple[int, int], ...]
    """Sizes in order, and how many clusters have each."""
    exponent: float | None
    """Of the power law that the sizes of clusters with several URLs follow: there are about size^-exponent of each."""

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {"counts": [list(pair) for pair in self.counts], "exponent": self.exponent}


def count_sizes(clusters: npt.NDArray[Any]) -> Sizes:
    """Count clusters by size, given the code of the cluster of each URL.

    >>> count_sizes(np.array([1, 1, 1, 2, 3, 3, 3])).counts
    ((1, 1), (3, 2))
    """
    sizes = np.unique(clusters, return_counts=True)[1]
    distinct, counts = np.unique(sizes, return_counts=True)
    several = sizes[sizes > 1].astype(np.float64)
    return Sizes(tuple(zip(distinct.tolist(), counts.tolist(), strict=True)), _exponent(several))


def _exponent(sizes: npt.NDArray[np.float64]) -> float | None:
    """Give the most likely exponent, from 2 on (Clauset et al., 2009, equation 3.5, which has one solution at most)."""
    if len(sizes) < MIN_CLUSTERS:
        return None
    wanted = float(np.log(sizes).mean())
    low, high = _FLATTEST, _STEEPEST
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if _mean_logarithm(middle) > wanted else (low, middle)
    return (low + high) / 2


def _mean_logarithm(exponent: float) -> float:
    """Give the mean logarithm of sizes that follow a power law; sums as far as they matter, integrals after that."""
    sizes = np.arange(2, _SUMMED, dtype=np.float64)
    each = sizes**-exponent
    rest: float = float(_SUMMED) ** (1 - exponent) / (exponent - 1)
    whole = float(each.sum()) + rest
    beyond = rest * (math.log(_SUMMED) + 1 / (exponent - 1))
    return (float((np.log(sizes) * each).sum()) + beyond) / whole
