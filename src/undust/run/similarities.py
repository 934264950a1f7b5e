"""How similar pages are: to the centre of their cluster, and to the page most like them, around the threshold."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from undust.asides import scratch_folder
from undust.clustering import THRESHOLDS
from undust.detect.captures import Fingerprints, TableFingerprints, find_captures
from undust.detect.evidence import Search
from undust.detect.fingerprints_parameters import SignatureParameters
from undust.detect.near import METHODS
from undust.run.tradeoff import site_column

MAX_PAGES = 20_000
"""Pages that are compared beyond the threshold: of larger inputs some hosts, chosen by their names."""
LOWEST = 0.3
"""Least similarity that is looked for beyond the threshold, for minhash and bag."""
FURTHER = 8
"""Bits beyond the distance, for simhash and cascade."""
BINS = 40
_MEMORY_BYTES = 2**28


def members(clusters: pa.Table, threshold: float | None) -> dict[str, Any] | None:
    """Count the similarities of pages to the centre of their cluster; None where nobody told them."""
    if "similarity" not in clusters.schema.names:
        return None
    others = pc.not_equal(clusters["url"], clusters["cluster"].cast(pa.string()))
    values = np.asarray(clusters["similarity"].filter(others).drop_null(), np.float64)
    if not len(values):
        return None
    lowest = min(float(values.min()), threshold if threshold is not None else 1.0)
    return _histogram(values, np.floor(lowest * BINS) / BINS)


def around_threshold(source: Fingerprints, method: str, *, threshold: float, distance: int) -> dict[str, Any]:
    """Look at the pages of a source, or at some of them, for what `neighbours` tells; plain values for JSON."""
    pages, of = sample_fingerprints(source, method)
    return neighbours(pages, of, method, threshold, distance) or {}


def neighbours(fingerprints: pa.Table, of: int, method: str, threshold: float, distance: int) -> dict[str, Any] | None:
    """Count how similar each page is to the page most like it, below the threshold too.

    A threshold is well chosen where few pages are: between those that are nearly the same and those that are not.
    """
    if method not in METHODS or not fingerprints.num_rows:
        return None
    source = TableFingerprints(fingerprints)
    captures = find_captures(source)
    parameters = SignatureParameters.from_metadata(fingerprints.schema.metadata, "fingerprints")
    if method in THRESHOLDS:
        lowest, line = min(LOWEST, threshold), threshold
    else:
        bits = parameters.simhash_bits
        line = 1.0 - distance / bits
        lowest = 1.0 - min(distance + FURTHER, bits) / bits
    with scratch_folder() as folder:
        search = Search(lowest, min(distance + FURTHER, 16), _MEMORY_BYTES, folder)
        found = METHODS[method][1](source, captures, parameters, search)
        best = np.zeros(len(captures), np.float32)
        for a, b, similarity in found.pairs.chunks():
            np.maximum.at(best, a, similarity)
            np.maximum.at(best, b, similarity)
    near = best[best > 0].astype(np.float64)
    return {
        **_histogram(near, lowest),
        "threshold": line,
        "pages": len(captures),
        "of": of,
        "alone": int((best[found.present] == 0).sum()),
        "just_below": int(((near >= line - 0.05) & (near < line - 1e-6)).sum()),
        "just_above": int(((near >= line - 1e-6) & (near < line + 0.05)).sum()),
    }


def sample_fingerprints(source: Fingerprints, method: str) -> tuple[pa.Table, int]:
    """Give what a method needs of some pages: of all, or of hosts with `MAX_PAGES` in all; and how many there are."""
    columns = list(METHODS[method][0])
    urls = pa.chunked_array([batch["url"] for batch in source.batches(["url"])], pa.string())
    wanted = ["url", "time", "body_xxh3", "digest", "cluster", *columns]
    if len(urls) <= MAX_PAGES:
        batches = list(source.batches(wanted))
        return pa.Table.from_batches(batches).replace_schema_metadata(source.schema.metadata), len(urls)
    sites = site_column(urls)
    names = pc.value_counts(sites).to_pylist()
    chosen, left = [], MAX_PAGES
    for each in sorted((each for each in names if each["values"]), key=lambda each: (each["counts"], each["values"])):
        if each["counts"] <= left:
            chosen.append(each["values"])
            left -= each["counts"]
    if left > MAX_PAGES // 2:  # sites too large: pages that are next to each other in the input
        keep = np.arange(len(urls)) < MAX_PAGES
    else:
        keep = np.asarray(pc.is_in(sites, value_set=pa.array(chosen)))
    batches, at = [], 0
    for batch in source.batches(wanted):
        batches.append(batch.filter(pa.array(keep[at : at + len(batch)])))
        at += len(batch)
    return pa.Table.from_batches(batches).replace_schema_metadata(source.schema.metadata), len(urls)


def _histogram(values: npt.NDArray[np.float64], lowest: float) -> dict[str, Any]:
    counts, edges = np.histogram(np.clip(values, lowest, 1.0), bins=BINS, range=(lowest, 1.0))
    return {"edges": [round(float(edge), 6) for edge in edges], "counts": counts.tolist()}
