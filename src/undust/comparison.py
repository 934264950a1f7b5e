"""Methods side by side on data whose answer is known: what each finds, and how long it takes."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from undust.clustering import SIGNATURES, THRESHOLDS, clustered
from undust.detect.captures import Captures, Fingerprints, TableFingerprints, find_captures
from undust.detect.cascade import MAX_SENTENCES
from undust.detect.clusters import BY
from undust.detect.fingerprints_parameters import SignatureParameters
from undust.detect.near_hamming import hash_keywords, read_simhashes
from undust.errors import InputError
from undust.evaluate import cascade
from undust.evaluate.partitions import Known, PairMeasures, match_truth


@dataclass(frozen=True, slots=True)
class Detection:
    """How one method, with one setting, fares against known clusters."""

    method: str
    by: str | None
    setting: str | None
    clusters: int
    measures: PairMeasures
    seconds: float
    """From fingerprints to clusters."""

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        mine = {"method": self.method, "by": self.by, "setting": self.setting, "clusters": self.clusters}
        return {**mine, **self.measures.to_dict(), "seconds": self.seconds}


@dataclass(frozen=True, slots=True)
class DetectionReport:
    """All methods against known clusters, and how many pages the figures are of."""

    pages: int
    clusters: int
    unknown: int
    """Pages that are left out, as their cluster is not known."""
    missing: int
    """URLs with a cluster, but without a page."""
    methods: list[Detection]

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        names = ("pages", "clusters", "unknown", "missing")
        return {**{name: getattr(self, name) for name in names}, "methods": [one.to_dict() for one in self.methods]}


@dataclass(frozen=True, slots=True)
class CascadeReport:
    """The figures of paper 001, with and without clustering."""

    documents: int
    duplicates: int
    max_distance: int
    accuracy: dict[str, list[cascade.Accuracy]]
    """Figures 5 (`without`) and 7 (`with`)."""
    times: list[dict[str, float]]
    """Figures 6 and 8, by the number of documents: what a new page is compared with, milliseconds of the processor."""

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "documents": self.documents,
            "duplicates": self.duplicates,
            "max_distance": self.max_distance,
            "accuracy": {name: [one.to_dict() for one in found] for name, found in self.accuracy.items()},
            "times": self.times,
        }


def compare_detection(
    fingerprints: pa.Table | Fingerprints,
    truth: pa.Table,
    *,
    threshold: float | Sequence[float] | None = None,
    distance: int | Sequence[int] = 3,
    memory: str | int | None = None,
) -> DetectionReport:
    """Find duplicates by every method, and count the pairs of URLs beside those of known clusters (`url`, `cluster`).

    Several thresholds and distances are tried one by one; without any, the default ones. Pages that the truth does not
    name are left out.
    """
    source = TableFingerprints(fingerprints) if isinstance(fingerprints, pa.Table) else fingerprints
    thresholds = [threshold] if isinstance(threshold, int | float) else threshold
    distances = [distance] if isinstance(distance, int) else list(distance)
    tried: list[tuple[str, str | None, dict[str, Any]]] = [("exact", None, {})]
    for method in SIGNATURES:
        near = method in THRESHOLDS
        values: Sequence[float] = (thresholds or [THRESHOLDS[method]]) if near else distances
        name = "threshold" if near else "distance"
        if method != "exact":
            tried += [(method, by, {name: value}) for value in values for by in BY]
    captures = find_captures(source)
    known = _known(captures, truth)
    found = [_detected(source, known, method, by, setting, memory) for method, by, setting in tried]
    return DetectionReport(len(known.places), len(np.unique(known.clusters)), known.unknown, known.missing, found)


def compare_cascade(fingerprints: pa.Table | Fingerprints, truth: pa.Table, *, distance: int = 3) -> CascadeReport:
    """Measure the cascade of paper 001 as its section 5 does, on pages whose clusters are known.

    Pages come in by URL. Those without words are left out: the paper has none.
    """
    source = TableFingerprints(fingerprints) if isinstance(fingerprints, pa.Table) else fingerprints
    documents = _documents(source, truth)
    accuracy = {
        name: [
            cascade.accuracy(documents, max_sentences=limit, max_distance=distance, clustering=name == "with")
            for limit in cascade.SENTENCES
        ]
        for name in ("without", "with")
    }
    times = []
    for count in cascade.document_counts(len(documents)):
        row: dict[str, float] = {"documents": count}
        for name in ("without", "with"):
            effort = cascade.effort_per_page(
                documents,
                count,
                max_sentences=MAX_SENTENCES,
                max_distance=distance,
                clustering=name == "with",
                clock=time.process_time,  # whatever else the machine does
            )
            row |= {
                f"compared_{name}": effort.compared,
                f"scan_{name}": 1000 * effort.scan_seconds,
                f"index_{name}": 1000 * effort.index_seconds,
            }
        times.append(row)
    duplicates = accuracy["without"][0].duplicates
    return CascadeReport(len(documents), duplicates, distance, accuracy, times)


def _detected(
    source: Fingerprints, known: Known, method: str, by: str | None, setting: dict[str, Any], memory: str | int | None
) -> Detection:
    start = time.perf_counter()
    with clustered(source, method=method, by=by or BY[0], memory=memory, **setting) as found:
        seconds = time.perf_counter() - start
        rows = found.rows
    shown = "".join(f"{name} {value:g}" for name, value in setting.items()) or None
    return Detection(method, by, shown, len(np.unique(rows[known.places])), known.measure(rows), seconds)


def _known(captures: Captures, truth: pa.Table) -> Known:
    known = match_truth(captures.urls, truth)
    if not len(known.places):
        raise InputError("no page has a known cluster; give clusters and pages with the same URLs")
    return known


def _documents(source: Fingerprints, truth: pa.Table) -> cascade.Documents:
    captures = find_captures(source)
    parameters = SignatureParameters.from_metadata(source.schema.metadata, "fingerprints")
    known = _known(captures, truth)
    present, simhashes = read_simhashes(source, captures, parameters.simhash_bits)
    keywords = np.zeros((len(captures), parameters.keywords), np.uint64)
    sentences = np.zeros(len(captures), np.int32)
    for here, batch in captures.batches(source, ["keywords", "sentences"]):
        keywords[here] = hash_keywords(batch["keywords"], parameters.keywords)
        sentences[here] = batch["sentences"].fill_null(0).to_numpy()
    worded = present[known.places]
    rows, clusters = known.places[worded], known.clusters[worded]
    return cascade.Documents(keywords[rows], sentences[rows], simhashes[rows], clusters, parameters.simhash_bits)
