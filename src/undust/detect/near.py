"""Fingerprints to clusters of near duplicates, by the method asked for, in the memory that there is.

Signatures are read from fingerprints that may be larger than memory (`captures.Fingerprints`), as often as needed. Rows
are pages in the order of their URLs, whatever order they come in.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from undust.detect.captures import Captures, Fingerprints
from undust.detect.clusters import cluster_chunks
from undust.detect.evidence import Compare, Evidence, Search
from undust.detect.exact import first_of_equal
from undust.detect.fingerprints_parameters import SignatureParameters
from undust.detect.near_hamming import find_cascade, find_simhash
from undust.detect.near_minhash import find_bag, find_minhash
from undust.errors import InputError, UsageError

Find = Callable[[Fingerprints, Captures, SignatureParameters, Search], Evidence]

METHODS: dict[str, tuple[tuple[str, ...], Find]] = {
    "simhash": (("simhash",), find_simhash),
    "minhash": (("minhash", "shingles"), find_minhash),
    "bag": (("bag_minhash", "bag", "bag_counts"), find_bag),
    "cascade": (("keywords", "sentences", "simhash"), find_cascade),
}
"""Names of the methods, the columns of fingerprints that each needs, and what finds its pairs."""

_EXACT_COLUMNS = {"body_xxh3", "digest", "cluster", "length"}


@dataclass(frozen=True, slots=True)
class NearClusters:
    """For each row the row that its cluster is named by, how similar it is to that one, and to any other."""

    rows: npt.NDArray[np.uint32]
    similarities: npt.NDArray[np.float32]
    compare: Compare


def near_rows(
    fingerprints: Fingerprints, captures: Captures, method: str, search: Search, *, by: str = "center"
) -> NearClusters:
    """Group rows by `simhash` (within `distance` bits), `minhash` or `bag` (of `threshold` similarity) or `cascade`.

    A cluster is named by the row of its centre. Pages without words join pages of equal content.
    """
    if method not in METHODS:
        raise UsageError(f"unknown method {method!r}; one of {', '.join(METHODS)}")
    columns, find = METHODS[method]
    for name in columns:
        if name not in fingerprints.schema.names:
            raise InputError(f"no column {name}, which {method} needs; fingerprint the pages without --exact-only")
    parameters = SignatureParameters.from_metadata(fingerprints.schema.metadata, "fingerprints")
    found = find(fingerprints, captures, parameters, search)
    clusters = cluster_chunks(found.pairs.chunks, len(captures), by=by)
    rows, similarities = clusters.rows, clusters.similarities
    if set(fingerprints.schema.names) >= _EXACT_COLUMNS and not found.present.all():
        first = first_of_equal(fingerprints, captures)
        rows = _with_wordless(rows, found.present, first)
    if by == "components":
        told = np.flatnonzero(similarities == 0.0).astype(np.uint32)
        similarities[told] = found.compare(told, rows[told])
    return NearClusters(rows, similarities, found.compare)


def _with_wordless(
    rows: npt.NDArray[np.uint32], present: npt.NDArray[np.bool_], first: npt.NDArray[np.uint32]
) -> npt.NDArray[np.uint32]:
    """Let pages without words (pictures, pages known by a digest only) join a page of equal content, if there is one.

    One with words, where there is one: then they belong to its cluster.
    """
    wordy = np.full(len(rows), len(rows), dtype=np.int64)
    np.minimum.at(wordy, first[present], np.flatnonzero(present))
    joined = wordy[first] < len(rows)
    lead = np.where(joined, rows[np.minimum(wordy, len(rows) - 1)[first]], first)
    return np.where(present, rows, lead).astype(np.uint32)
