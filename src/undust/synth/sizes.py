"""How large sites and clusters are: the distributions that were found on the real web.

Lei et al. (2010), table 1: 200 sites of 24,147 to 3,000,000 URLs, 352,106 on average, which is a log-normal
distribution with a spread of 0.88; clusters of up to 314,465 URLs, 3.8 on average; 63 % duplicates, as the mean of the
sites. Koppula et al. (2010), figure 1: the sizes of clusters follow a power law.
"""

import functools
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

SPREAD = 0.88
"""Standard deviation of the logarithm of a site's size, of table 1."""
LEAST_URLS = 20
LARGEST_CLUSTER = 314_465


def site_sizes(sites: int, urls: int, spread: float, chance: np.random.Generator) -> npt.NDArray[np.int64]:
    """Draw how many URLs each site has; together about `urls`."""
    # Evenly spaced quantiles in random order: few sites have the shape of many.
    quantiles = (chance.permutation(sites) + chance.random(sites)) / sites
    drawn = np.exp(spread * _normal(quantiles))
    return np.asarray(np.maximum(LEAST_URLS, np.round(drawn * urls / drawn.sum())), np.int64)


def duplicate_rates(sizes: npt.NDArray[np.int64], chance: np.random.Generator) -> npt.NDArray[np.float64]:
    """Draw the share of duplicates of each site: 63 % on average, more on larger sites."""
    rates = chance.beta(4.6, 2.4, len(sizes))
    larger = np.log(sizes / np.exp(np.log(sizes).mean())) if len(sizes) > 1 else np.zeros(1)
    return np.asarray(np.clip(rates + 0.12 * larger, 0.05, 0.97))


def cluster_sizes(count: int, mean: float, largest: int, chance: np.random.Generator) -> npt.NDArray[np.int64]:
    """Draw the sizes of clusters from a power law with a mean, cut off at the largest."""
    largest = max(2, min(largest, LARGEST_CLUSTER))
    tail = _tail(min(mean, 0.45 * largest), largest)
    drawn = (1 - chance.random(count)) ** (-1 / tail)  # the share of sizes of at least k is k ** -tail
    return np.asarray(np.minimum(drawn, largest), np.int64)


@functools.lru_cache(maxsize=256)
def _tail(mean: float, largest: int) -> float:
    """Find the exponent that gives a mean, by halving: the mean is the sum of the shares of sizes of at least k."""
    head = np.arange(1, min(largest, 1000) + 1, dtype=np.float64)
    low, high = 0.02, 8.0
    for _ in range(40):
        middle = (low + high) / 2
        found = (head**-middle).sum()
        if largest > 1000:  # the rest of the sum as an integral
            power = 1 - middle
            found += np.log(largest / 1000) if power == 0 else (largest**power - 1000**power) / power
        low, high = (middle, high) if found > mean else (low, middle)
    return (low + high) / 2


def _normal(quantiles: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Give the values of the normal distribution below which so much of it lies."""
    usual = NormalDist()
    return np.array([usual.inv_cdf(min(max(q, 1e-9), 1 - 1e-9)) for q in quantiles.tolist()])
