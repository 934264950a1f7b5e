"""Clusters found beside clusters known: pairwise precision, recall and F1. Pairs are counted, never enumerated."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from undust.evaluate.measures import count_pairs
from undust.tables import one_row_each


@dataclass(frozen=True, slots=True)
class PairMeasures:
    """Pairs of URLs that two tables put into one cluster each."""

    found: int
    true: int
    common: int

    @property
    def precision(self) -> float:
        """Share of the pairs found that are true; 1 where none was found."""
        return self.common / self.found if self.found else 1.0

    @property
    def recall(self) -> float:
        """Share of the true pairs that were found; 1 where there are none."""
        return self.common / self.true if self.true else 1.0

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall.

        >>> PairMeasures(found=2, true=4, common=2).f1 == 2 / 3
        True
        """
        both = self.precision + self.recall
        return 2 * self.precision * self.recall / both if both else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        named = {f"pairs_{name}": count for name, count in asdict(self).items()}
        return {**named, "precision": self.precision, "recall": self.recall, "f1": self.f1}


def compare_codes(found: npt.NDArray[Any], true: npt.NDArray[Any]) -> PairMeasures:
    """Compare two ways to part the same things, each given as a code for each thing.

    >>> compare_codes(np.array([0, 0, 1, 1]), np.array([5, 5, 5, 7]))
    PairMeasures(found=2, true=3, common=1)
    """
    _, one, sizes = np.unique(found, return_inverse=True, return_counts=True)
    _, other, true_sizes = np.unique(true, return_inverse=True, return_counts=True)
    cells = np.unique(one.astype(np.int64) * max(len(true_sizes), 1) + other, return_counts=True)[1]
    return PairMeasures(count_pairs(sizes), count_pairs(true_sizes), count_pairs(cells))


@dataclass(frozen=True, slots=True)
class Known:
    """The true cluster of each page that is known, as a code, and where it is among the pages."""

    places: npt.NDArray[np.int64]
    clusters: npt.NDArray[np.int64]
    unknown: int
    """Pages whose cluster is not known; they are left out."""
    missing: int
    """URLs with a cluster that no page has; they are left out, too."""

    def measure(self, codes: npt.NDArray[Any]) -> PairMeasures:
        """Compare what was found for all pages, a code for each, with what is known."""
        return compare_codes(codes[self.places], self.clusters)


def match_truth(urls: pa.Array | pa.ChunkedArray, truth: pa.Table) -> Known:
    """Look up the true clusters (`url`, `cluster`) of pages, each of whose URLs is given once."""
    known = one_row_each(truth)
    at = pc.index_in(urls, value_set=known["url"].cast(urls.type))
    if isinstance(at, pa.ChunkedArray):
        at = at.combine_chunks()
    clusters = known["cluster"].combine_chunks().dictionary_encode().indices.to_numpy().astype(np.int64)
    there = np.asarray(at.is_valid())
    rows = np.asarray(at.fill_null(0), dtype=np.int64)[there]
    places = np.flatnonzero(there)
    return Known(places, clusters[rows], len(there) - len(places), len(known) - len(places))
