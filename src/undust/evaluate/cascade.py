"""The figures of paper 001: how the cascade fares by its sentence threshold, its time by the number of documents."""

from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np
import numpy.typing as npt

from undust.detect.cascade import Cascade, CascadeState
from undust.detect.kmodes import ModeIndex, fit_modes

SENTENCES = (0, 1, 2, 3, 4, 6, 8)
"""T_S of figures 5 and 7."""

STEPS = 5
"""Numbers of documents in figures 6 and 8."""

TIMED = 100
"""New pages that are timed against each number of documents."""

_Clock = Callable[[], float]


@dataclass(frozen=True, slots=True)
class Documents:
    """What the cascade knows of pages, in the order they come in; all of them have words."""

    keywords: npt.NDArray[np.uint64]
    sentences: npt.NDArray[np.int32]
    simhashes: npt.NDArray[np.uint64]
    clusters: npt.NDArray[np.int64]
    """The true ones."""
    bits: int = 64

    def __len__(self) -> int:
        return len(self.sentences)


@dataclass(frozen=True, slots=True)
class Accuracy:
    """Documents detected as duplicates, as section 5 of the paper counts them."""

    max_sentences: int
    detected: int
    right: int
    duplicates: int

    @property
    def precision(self) -> float:
        """True duplicates among those detected."""
        return self.right / self.detected if self.detected else 1.0

    @property
    def recall(self) -> float:
        """Duplicates that were detected."""
        return self.right / self.duplicates if self.duplicates else 1.0

    @property
    def f1(self) -> float:
        """The paper's F-measure."""
        both = self.precision + self.recall
        return 2 * self.precision * self.recall / both if both else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        names = ("max_sentences", "detected", "right", "duplicates", "precision", "recall", "f1")
        return {name: getattr(self, name) for name in names}


def modes_of(documents: Documents, *, clustering: bool) -> npt.NDArray[np.uint64]:
    """Learn the modes of documents; none without clustering, so that all are in one cluster."""
    return fit_modes(documents.keywords) if clustering else np.zeros((0, 1), np.uint64)


def accuracy(documents: Documents, *, max_sentences: int, max_distance: int, clustering: bool) -> Accuracy:
    """Let documents come in one by one, and count which are called duplicates (figures 5 and 7).

    A duplicate is detected rightly if the earlier page that is named belongs to its true cluster.
    """
    cascade = _cascade(modes_of(documents, clustering=clustering), documents, max_sentences, max_distance)
    detected = right = 0
    for number in range(len(documents)):
        earlier = _add(cascade, documents, number)
        if earlier is not None:
            detected += 1
            right += int(documents.clusters[earlier] == documents.clusters[number])
    return Accuracy(max_sentences, detected, right, len(documents) - len(np.unique(documents.clusters)))


@dataclass(frozen=True, slots=True)
class Effort:
    """What a new page costs against so many documents (figures 6 and 8)."""

    scan_seconds: float
    """As the paper scans; the median of the pages, so that a pause of the machine does not make a figure."""
    index_seconds: float
    compared: float
    """Documents that it is compared with by the scan, on average: all that are kept, or those of its cluster."""


def effort_per_page(
    documents: Documents, count: int, *, max_sentences: int, max_distance: int, clustering: bool, clock: _Clock
) -> Effort:
    """Time new pages against the first `count` documents, and count what they are compared with."""
    modes = modes_of(documents, clustering=clustering)
    new = np.linspace(count, len(documents) - 1, min(TIMED, len(documents) - count)).astype(int).tolist()
    cascade = _cascade(modes, documents, max_sentences, max_distance)
    for number in range(count):
        _add(cascade, documents, number)
    kept = np.array(cascade.state.numbers, dtype=np.int64)
    sentences, simhashes = documents.sentences[kept], documents.simhashes[kept]
    labels = np.array(cascade.state.labels)
    index = ModeIndex(modes)

    def scan(number: int) -> None:
        near = np.abs(sentences - documents.sentences[number]) <= max_sentences
        if clustering:
            near &= labels == index.assign(documents.keywords[number : number + 1])[0]
        different = np.bitwise_count(simhashes[near] ^ documents.simhashes[number]).sum(axis=1)
        bool((different <= max_distance).any())

    def add(number: int) -> None:
        _add(cascade, documents, number)

    in_cluster = labels[:, None] == index.assign(documents.keywords[new])
    compared = float(in_cluster.sum(axis=0).mean()) if clustering else float(len(kept))
    return Effort(_median_seconds(scan, new, clock), _median_seconds(add, new, clock), compared)


def _median_seconds(work: Callable[[int], None], numbers: list[int], clock: _Clock) -> float:
    seconds = []
    for number in numbers:
        start = clock()
        work(number)
        seconds.append(clock() - start)
    return median(seconds) if seconds else 0.0


def document_counts(total: int) -> list[int]:
    """Numbers of documents to time against: equal steps, with some left to be new.

    >>> document_counts(1000)
    [180, 360, 540, 720, 900]
    """
    most = max(total - max(total // 10, 1), 0)
    return sorted({most * step // STEPS for step in range(1, STEPS + 1)} - {0})


def _cascade(modes: npt.NDArray[np.uint64], documents: Documents, max_sentences: int, max_distance: int) -> Cascade:
    return Cascade(CascadeState(modes), bits=documents.bits, max_sentences=max_sentences, max_distance=max_distance)


def _add(cascade: Cascade, documents: Documents, number: int) -> int | None:
    halves = documents.simhashes[number].tolist()
    simhash = sum(half << 64 * place for place, half in enumerate(halves))
    return cascade.add(number, documents.keywords[number].tolist(), int(documents.sentences[number]), simhash)
