"""Fingerprints to clusters in bounded memory: what memory has no room for goes to files."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from undust.asides import scratch_folder
from undust.detect.captures import Captures, Fingerprints, find_captures
from undust.detect.evidence import Compare, Rows, Search
from undust.detect.exact import first_of_equal
from undust.detect.near import near_rows
from undust.detect.sketches import BAG_THRESHOLD, THRESHOLD
from undust.detect.words import buffers
from undust.kernels.topics import hash_strings
from undust.memory import working_bytes

SIGNATURES = {
    "exact": (),
    "simhash": ("simhash",),
    "minhash": ("minhash", "shingles"),
    "bag": ("bags", "terms"),
    "cascade": ("simhash", "sentences", "keywords"),
}
"""The methods, and the signatures of the text that each needs."""

THRESHOLDS = {"minhash": THRESHOLD, "bag": BAG_THRESHOLD}
"""Least similarity if nobody says. Pages have more of their words in common than of their runs of words."""

_PAGE_BYTES = 100
"""Numbers that are in memory for each page, beside its URL, whatever the limit."""


@dataclass(frozen=True, slots=True)
class Clustered:
    """Rows of pages (`Captures`), and for each the row that names its cluster."""

    captures: Captures
    rows: Rows
    similarities: npt.NDArray[np.float32]
    """To the row that names the cluster."""
    compare: Compare
    """Tells how similar rows are to others."""

    def table(self) -> pa.Table:
        """Give `url`, `cluster` and `similarity`; a cluster is named by the URL of its centre."""
        return pa.table(
            {
                "url": self.captures.url_column(),
                "cluster": self.captures.url_column(self.rows),
                "similarity": pa.array(self.similarities),
            }
        )


@contextmanager
def clustered(
    fingerprints: Fingerprints,
    *,
    method: str,
    by: str = "center",
    threshold: float | None = None,
    distance: int = 3,
    memory: str | int | None = None,
    folder: Path | None = None,
) -> Iterator[Clustered]:
    """Group pages by a method. Files for what memory has no room for are in `folder` while the result is used.

    `memory` is what the whole process may hold, such as `2GB`; half of the machine's if nobody says. `UsageError` if
    that is too little for the URLs and a few numbers of each page, which are always in memory.
    """
    captures = find_captures(fingerprints)
    reserved = _PAGE_BYTES * len(captures.rows) + int(captures.urls.nbytes)
    left = working_bytes(memory, reserved, f"{len(captures.rows):,} pages")
    if method == "exact":
        first = first_of_equal(fingerprints, captures)
        yield Clustered(captures, first, np.ones(len(first), np.float32), _all_alike)
        return
    with scratch_folder(folder) as spilled:
        least = THRESHOLDS.get(method, THRESHOLD) if threshold is None else threshold
        search = Search(least, distance, left, spilled)
        found = near_rows(fingerprints, captures, method, search, by=by)
        yield Clustered(captures, found.rows, found.similarities, found.compare)


def _all_alike(a: Rows, b: Rows) -> npt.NDArray[np.float32]:
    return np.ones(len(a), np.float32)


def count_clusters(clusters: pa.Table) -> dict[str, int | float]:
    """Count URLs, clusters and duplicates: the URLs that a crawler could have spared itself."""
    sizes = _cluster_sizes(clusters["cluster"])
    urls = clusters.num_rows
    return {
        "urls": urls,
        "clusters": len(sizes),
        "duplicates": urls - len(sizes),
        "duplicate_rate": (urls - len(sizes)) / urls if urls else 0.0,
        "largest": int(sizes.max(initial=0)),
    }


def _cluster_sizes(names: pa.ChunkedArray) -> npt.NDArray[np.int64]:
    """Count the URLs of each cluster, by hashes of the names: a table of all names would take more than they do."""
    hashes = np.empty(len(names), np.uint64)
    at = 0
    for chunk in names.cast(pa.string()).chunks:
        hash_strings(*buffers(chunk), hashes[at : at + len(chunk)])
        at += len(chunk)
    return np.unique(hashes, return_counts=True)[1]
