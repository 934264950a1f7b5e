"""Topical clusters (paper 002): pages about the same things, by the words on them or by what others say of them.

bags ──> documents of each word ──> weights ──> sketches ──> pairs ──> clusters ──> topics
         dropped: rare, common      tf-idf,     min-hash     LSH,      CENTER       the same once more,
                                    one sum                  verified               with clusters as pages
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from undust.detect.bags import Bags, scale
from undust.detect.captures import Captures, Fingerprints, TableFingerprints, find_captures
from undust.detect.clusters import Clusters, cluster_chunks
from undust.detect.fingerprints_parameters import SignatureParameters
from undust.detect.pairs import MEMORY_BYTES
from undust.detect.pairs_store import Chunk, PairStore
from undust.detect.topical_anchors import find_targets, gather_anchor_bags
from undust.detect.topical_bags import (
    MAX_SHARE,
    MIN_DOCUMENTS,
    StoredBags,
    TermDocuments,
    content_bags,
    count_documents,
)
from undust.detect.topical_draws import RECALL, THRESHOLD
from undust.detect.topical_pairs import BagSketches, bag_pairs, sketch_bags
from undust.errors import UsageError

BAGS = ("content", "anchors")

TOPIC_FACTOR = 0.5
"""Similarity of clusters of one topic, to that of pages of one cluster. Bags of clusters are more alike by chance."""

MAX_MEMBERS = 256
"""So many pages make the bag of a cluster, those most similar to its centre."""

_PIECE_TERMS = 1 << 20

_U32 = npt.NDArray[np.uint32]
_Batches = Iterable[tuple[_U32, StoredBags]]


@dataclass(frozen=True, slots=True)
class Topical:
    """What makes pages alike: which bags, how similar, and which words count."""

    bags: str = "content"
    """`content`: the words of a page. `anchors`: its title, and the words on and around links that lead to it."""
    threshold: float = THRESHOLD
    uncrawled: bool = False
    """With `anchors`: also URLs that only links name."""
    min_documents: int = MIN_DOCUMENTS
    max_share: float = MAX_SHARE
    recall: float = RECALL

    def __post_init__(self) -> None:
        if self.bags not in BAGS:
            raise UsageError(f"unknown bags {self.bags!r}; one of {', '.join(BAGS)}")
        if self.uncrawled and self.bags != "anchors":
            raise UsageError("uncrawled pages are known by links only; use anchors as bags")
        if not 0.0 < self.threshold <= 1.0 or not 0.0 < self.recall < 1.0:
            raise UsageError(
                f"threshold {self.threshold:g}, recall {self.recall:g}; choose above 0 and at most 1, recall below 1"
            )
        if self.min_documents < 1 or not 0.0 < self.max_share <= 1.0:
            raise UsageError(
                f"words of {self.min_documents} documents to a share of {self.max_share:g}; choose 1 or more, to 1"
            )


@dataclass(frozen=True, slots=True)
class RelatedPages:
    """URLs in order of rows, their weighted bags, and the pairs of rows that are alike."""

    urls: pa.LargeStringArray
    sketches: BagSketches
    pairs: PairStore


def topical_pairs(
    fingerprints: pa.Table | Fingerprints,
    topical: Topical | None = None,
    *,
    captures: Captures | None = None,
    memory_bytes: int = MEMORY_BYTES,
    folder: Path | None = None,
    threads: int | None = None,
) -> RelatedPages:
    """Find all pairs of pages that are alike, each verified.

    Beyond `memory_bytes`, bags and pairs go to files in `folder`, if there is one. `captures` are those of the
    fingerprints, where they are known already.
    """
    topical = topical or Topical()
    source = TableFingerprints(fingerprints) if isinstance(fingerprints, pa.Table) else fingerprints
    parameters = SignatureParameters.from_metadata(source.schema.metadata, "fingerprints")
    captures = captures or find_captures(source)
    if topical.bags == "anchors":
        targets = find_targets(source, captures, uncrawled=topical.uncrawled)
        urls, gathered = targets.urls, gather_anchor_bags(source, captures, targets)
        counted, terms = count_documents([gathered]), len(gathered.terms)
        batches: _Batches = _sliced(gathered)
    else:
        urls, terms = captures.urls, 0
        counted = TermDocuments()
        for _, bags in content_bags(source, captures):
            counted.add(bags)
            terms += len(bags.terms)
        batches = content_bags(source, captures)
    sketches = sketch_bags(
        _weighed(batches, counted, topical, parameters.bag_sum), len(urls), terms,
        total=parameters.bag_sum, seed=parameters.seed, memory_bytes=memory_bytes // 2, folder=folder,
    )  # fmt: skip
    store = PairStore(memory_bytes // 4, folder)
    pairs = bag_pairs(
        sketches, store, threshold=topical.threshold, recall=topical.recall, seed=parameters.seed, threads=threads
    )
    return RelatedPages(urls, sketches, pairs)


def _weighed(batches: _Batches, counted: TermDocuments, topical: Topical, total: float) -> Iterator[tuple[_U32, Bags]]:
    for rows, bags in batches:
        yield rows, counted.weigh(bags, min_documents=topical.min_documents, max_share=topical.max_share, total=total)


def _sliced(bags: StoredBags) -> Iterator[tuple[_U32, StoredBags]]:
    """Give the bags of consecutive rows in pieces, so that what is made of them stays small."""
    start = 0
    while start < len(bags):
        stop = max(int(np.searchsorted(bags.rows, bags.rows[start] + _PIECE_TERMS, side="right")) - 1, start + 1)
        first, last = bags.rows[start], bags.rows[stop]
        piece = StoredBags(bags.rows[start : stop + 1] - first, bags.terms[first:last], bags.counts[first:last])
        yield np.arange(start, stop, dtype=np.uint32), piece
        start = stop


def topical_clusters(
    fingerprints: pa.Table | Fingerprints,
    topical: Topical | None = None,
    *,
    by: str = "center",
    captures: Captures | None = None,
    memory_bytes: int = MEMORY_BYTES,
    folder: Path | None = None,
    threads: int | None = None,
) -> pa.Table:
    """Group pages about the same things: `url`, `cluster`, `similarity` to its centre, and the `topic` it belongs to.

    Two levels: a topic is one or several clusters whose bags are alike. Both are named after the URL of their centre.
    """
    topical = topical or Topical()
    found = topical_pairs(
        fingerprints, topical, captures=captures, memory_bytes=memory_bytes, folder=folder, threads=threads
    )
    clusters = cluster_bags(found, by=by)
    topics = find_topics(found.sketches, clusters, topical, memory_bytes=memory_bytes, folder=folder, threads=threads)
    return pa.table(
        {
            "url": found.urls,
            "cluster": found.urls.take(pa.array(clusters.rows)),
            "similarity": pa.array(clusters.similarities),
            "topic": found.urls.take(pa.array(topics)),
        }
    ).cast(TOPICS)


def cluster_bags(found: RelatedPages, *, by: str = "center") -> Clusters:
    """Group rows by their pairs. Rows of equal bags count as one, and go where the first of them goes.

    Otherwise each page and its copies, the most similar of all, would be a cluster, and nothing else would be.
    """
    first = found.sketches.first_of_equal()

    def chunks() -> Iterator[Chunk]:
        for a, b, similar in found.pairs.chunks():
            own = first[b] == b
            yield a[own], b[own], similar[own]

    clusters = cluster_chunks(chunks, len(first), by=by)
    rows, similarities = clusters.rows[first], clusters.similarities[first]
    if by == "components":
        lead = rows == np.arange(len(rows))
        similarities = np.where(lead, 1.0, found.sketches.similarities(np.arange(len(rows)), rows))
    return Clusters(rows, similarities.astype(np.float32))


TOPICS = pa.schema(
    [
        pa.field("url", pa.string(), nullable=False),
        pa.field("cluster", pa.string(), nullable=False),
        pa.field("similarity", pa.float32(), nullable=False),
        pa.field("topic", pa.string(), nullable=False),
    ]
)


def find_topics(
    sketches: BagSketches,
    clusters: Clusters,
    topical: Topical,
    *,
    memory_bytes: int = MEMORY_BYTES,
    folder: Path | None = None,
    threads: int | None = None,
) -> _U32:
    """Group clusters by their bags, sums of those of their pages; give for each row the row that names its topic."""
    centers, numbers = np.unique(clusters.rows, return_inverse=True)
    aside = None if folder is None else folder / "topics"
    if aside is not None:
        aside.mkdir(exist_ok=True)
    above = sketch_bags(
        _cluster_bags(sketches, clusters, numbers, len(centers)), len(centers), len(sketches.terms),
        total=sketches.total, memory_bytes=memory_bytes // 2, folder=aside,
    )  # fmt: skip
    pairs = bag_pairs(
        above, PairStore(memory_bytes // 4, aside), threshold=topical.threshold * TOPIC_FACTOR,
        recall=topical.recall, threads=threads,
    )  # fmt: skip
    grouped = cluster_chunks(pairs.chunks, len(centers))
    found: _U32 = centers[grouped.rows][numbers].astype(np.uint32)
    return found


def _cluster_bags(
    sketches: BagSketches, clusters: Clusters, numbers: npt.NDArray[np.int64], count: int
) -> Iterator[tuple[_U32, Bags]]:
    """Add up the bags of each cluster and scale them, some clusters at a time."""
    order = np.lexsort((np.arange(len(numbers)), -clusters.similarities, numbers))
    starts = np.searchsorted(numbers[order], np.arange(count + 1))
    place = np.arange(len(order)) - starts[numbers[order]]
    members = order[place < MAX_MEMBERS]
    sizes = sketches.ends[members] - sketches.starts[members]
    ends = np.searchsorted(numbers[members], np.arange(count + 1))
    before = np.concatenate([[0], np.cumsum(sizes)])[ends]
    first = 0
    while first < count:
        last = max(int(np.searchsorted(before, before[first] + _PIECE_TERMS, side="right")) - 1, first + 1)
        rows = members[ends[first] : ends[last]]
        yield np.arange(first, last, dtype=np.uint32), _summed(sketches, rows, numbers[rows] - first, last - first)
        first = last


def _summed(sketches: BagSketches, rows: npt.NDArray[np.int64], clusters: npt.NDArray[np.int64], count: int) -> Bags:
    sizes = sketches.ends[rows] - sketches.starts[rows]
    places = np.repeat(sketches.starts[rows] - (np.cumsum(sizes) - sizes), sizes) + np.arange(int(sizes.sum()))
    keys = np.repeat(clusters, sizes).astype(np.uint64) << np.uint64(32) | sketches.terms[places]
    distinct, at = np.unique(keys, return_inverse=True)
    weights = np.bincount(at, sketches.weights[places], len(distinct)).astype(np.float64)
    bounds = np.searchsorted(distinct, np.arange(count + 1, dtype=np.uint64) << np.uint64(32)).astype(np.int64)
    return scale(Bags(bounds, distinct & np.uint64(0xFFFFFFFF), weights), sketches.total)
