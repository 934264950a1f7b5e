"""Topical clusters and pairs in bounded memory: what memory has no room for goes to files."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from undust.asides import scratch_folder
from undust.detect.captures import Captures, Fingerprints, find_captures
from undust.detect.topical import RelatedPages, Topical, topical_clusters, topical_pairs
from undust.detect.topical_draws import THRESHOLD
from undust.errors import UsageError
from undust.memory import working_bytes

_PAGE_BYTES = 200
"""Numbers that are in memory for each page, beside its URL, whatever the limit."""


def choose_topical(bags: str, threshold: float | None, uncrawled: bool, keep: object) -> Topical:
    """Take the options of a caller who may ask for duplicates as well."""
    if keep is not None:
        raise UsageError("pages of a topic are no duplicates, and none is kept for the others; leave out keep")
    return Topical(bags, THRESHOLD if threshold is None else threshold, uncrawled)


def cluster_topical(
    fingerprints: Fingerprints,
    topical: Topical,
    *,
    by: str = "center",
    memory: str | int | None = None,
    folder: Path | None = None,
) -> pa.Table:
    """Group pages about the same things (`undust.detect.topical.TOPICS`). `memory` is the limit of the process."""
    with _room(fingerprints, memory, folder) as (captures, working, spilled):
        return topical_clusters(fingerprints, topical, by=by, captures=captures, memory_bytes=working, folder=spilled)


def count_topics(clusters: pa.Table) -> dict[str, int]:
    """Count URLs, clusters and topics."""
    sizes = pc.value_counts(clusters["cluster"]).field("counts")
    return {
        "urls": clusters.num_rows,
        "clusters": len(sizes),
        "topics": len(pc.unique(clusters["topic"])),
        "largest": pc.max(sizes).as_py() or 0,
    }


@contextmanager
def find_related(
    fingerprints: Fingerprints, topical: Topical, *, memory: str | int | None = None, folder: Path | None = None
) -> Iterator[RelatedPages]:
    """Find the pairs of pages that are alike; files that hold a part of them are there while the result is used."""
    with _room(fingerprints, memory, folder) as (captures, working, spilled):
        yield topical_pairs(fingerprints, topical, captures=captures, memory_bytes=working, folder=spilled)


@contextmanager
def _room(
    fingerprints: Fingerprints, memory: str | int | None, folder: Path | None
) -> Iterator[tuple[Captures, int, Path]]:
    captures = find_captures(fingerprints)
    reserved = _PAGE_BYTES * len(captures.rows) + int(captures.urls.nbytes)
    working = working_bytes(memory, reserved, f"{len(captures.rows):,} pages")
    with scratch_folder(folder) as spilled:
        yield captures, working, spilled
