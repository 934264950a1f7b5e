"""Bags of pages as they are stored, and as a corpus weighs them: rare and common words dropped, tf-idf, one sum."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from undust.detect.bags import BAG_SUM, Bags, DocumentFrequencies
from undust.detect.captures import Captures, Fingerprints
from undust.errors import InputError, UsageError
from undust.kernels.banding import NO_ROW
from undust.kernels.topics import FREE, count_terms, move_terms, weigh_bags

MIN_DOCUMENTS = 2
"""Words of fewer pages are dropped: they cannot make two pages alike."""

MAX_SHARE = 0.5
"""Words of a greater share of the pages are dropped: they tell nothing apart."""

MAX_COUNT = 2**16 - 1
"""A word counts so often at most; on a page of prose none comes near."""

BAG_FIELDS = (
    pa.field("bag", pa.large_list(pa.uint32())),  # hashes of the keywords, rising
    pa.field("bag_counts", pa.large_list(pa.uint16())),  # how often each occurs
)

_U32 = npt.NDArray[np.uint32]


@dataclass(frozen=True, slots=True)
class StoredBags:
    """Bags of counts. Bag i has the terms `rows[i]` to `rows[i + 1]`, in rising order, each once."""

    rows: npt.NDArray[np.int64]
    terms: _U32
    counts: _U32

    def __len__(self) -> int:
        return len(self.rows) - 1


def short_terms(hashes: npt.NDArray[np.uint64]) -> _U32:
    """Halve the hashes of words: of a million words some hundred share theirs with another, which harms nobody."""
    return (hashes >> np.uint64(32)).astype(np.uint32)


def collapse(rows: npt.NDArray[np.int64], terms: _U32, bags: int) -> StoredBags:
    """Make bags of terms that each come with the row of their bag, in any order.

    >>> made = collapse(np.array([1, 0, 1]), np.array([7, 9, 7], np.uint32), 3)
    >>> made.rows.tolist(), made.terms.tolist(), made.counts.tolist()
    ([0, 1, 2, 2], [9, 7], [1, 2])
    """
    keys, counts = np.unique(rows.astype(np.uint64) << np.uint64(32) | terms, return_counts=True)
    ends = np.searchsorted(keys, np.arange(bags + 1, dtype=np.uint64) << np.uint64(32))
    return StoredBags(ends.astype(np.int64), keys.astype(np.uint32), counts.astype(np.uint32))


def stored(bags: Bags) -> StoredBags:
    """Bring counted bags into the form they are stored in."""
    counts = np.minimum(bags.weights, MAX_COUNT).astype(np.uint64)
    row = np.repeat(np.arange(len(bags.rows) - 1, dtype=np.uint64), np.diff(bags.rows))
    terms = short_terms(bags.terms)
    if len(bags.rows) - 1 > 1 << 16:
        raise UsageError(f"{len(bags.rows) - 1:,} bags at once; give 65,536 at most")
    packed = row << np.uint64(48) | terms.astype(np.uint64) << np.uint64(16) | counts
    packed.sort()  # of one number each: several times as fast as an order of two columns
    terms, counts = (packed >> np.uint64(16)).astype(np.uint32), packed & np.uint64(MAX_COUNT)
    keys = packed >> np.uint64(16)
    rows = bags.rows
    if len(keys) and (again := keys[1:] == keys[:-1]).any():  # two words of a page with one hash
        starts = np.concatenate([[0], np.flatnonzero(~again) + 1])
        rows = np.searchsorted(starts, bags.rows)
        terms, counts = terms[starts], np.minimum(np.add.reduceat(counts, starts), MAX_COUNT)
    return StoredBags(rows.astype(np.int64), terms, counts.astype(np.uint32))


def to_columns(bags: StoredBags, present: npt.NDArray[np.bool_]) -> tuple[pa.Array, pa.Array]:
    """Give bags as two columns of lists (`BAG_FIELDS`), null where not present."""
    valid = None if present.all() else pa.array(~present)
    lists = [pa.array(bags.terms), pa.array(bags.counts.astype(np.uint16))]
    made = [pa.LargeListArray.from_arrays(pa.array(bags.rows), values, mask=valid) for values in lists]
    return made[0], made[1]


def from_columns(terms: pa.Array, counts: pa.Array) -> StoredBags:
    """Read bags back; a null is an empty bag."""
    for column in (terms, counts):
        if not (pa.types.is_list(column.type) or pa.types.is_large_list(column.type)):
            raise InputError(f"bags are columns of lists, not of {column.type}; fingerprint the pages again")
    sizes = pc.list_value_length(terms).fill_null(0).to_numpy().astype(np.int64)
    words, often = terms.flatten().to_numpy(), counts.flatten().to_numpy()
    if len(words) != len(often):
        raise InputError("bags have more words than counts, or fewer; fingerprint the pages again")
    rows = np.concatenate([[0], np.cumsum(sizes)])
    return StoredBags(rows, words.astype(np.uint32), often.astype(np.uint32))


def content_bags(fingerprints: Fingerprints, captures: Captures) -> Iterator[tuple[_U32, StoredBags]]:
    """Give the bags of pages and the rows they belong to, in batches; captures that do not count are left out."""
    for rows, batch in counting_batches(fingerprints, captures, [field.name for field in BAG_FIELDS]):
        yield rows, from_columns(batch["bag"], batch["bag_counts"])


def counting_batches(
    fingerprints: Fingerprints, captures: Captures, columns: list[str]
) -> Iterator[tuple[_U32, pa.RecordBatch]]:
    """Give some columns of the captures that count, and their rows."""
    for name in columns:
        if name not in fingerprints.schema.names:
            how = "with --links" if name in ("links", "title_words") else "again, without --exact-only"
            raise InputError(f"no column {name}, which topical clusters need; fingerprint the pages {how}")
    counting, at = captures.counting(), 0
    for batch in fingerprints.batches(columns):
        rows = counting[at : at + len(batch)]
        at += len(batch)
        some = rows != NO_ROW
        yield (rows, batch) if some.all() else (rows[some], batch.filter(pa.array(some)))


class TermDocuments:
    """In how many documents each term occurs, counted batch by batch; its room grows with the words, not the pages."""

    def __init__(self) -> None:
        self.documents = 0
        self._keys = np.full(1 << 12, FREE, np.int64)
        self._counts = np.zeros(1 << 12, np.int64)
        self._known = 0

    def add(self, bags: StoredBags) -> None:
        """Count some bags, empty ones not: a page without words is no document."""
        self.documents += int((np.diff(bags.rows) > 0).sum())
        at = 0
        while at < len(bags.terms):
            at, self._known = count_terms(bags.terms, at, self._keys, self._counts, self._known)
            if at < len(bags.terms):
                keys, counts = np.full(4 * len(self._keys), FREE, np.int64), np.zeros(4 * len(self._keys), np.int64)
                move_terms(self._keys, self._counts, keys, counts)
                self._keys, self._counts = keys, counts

    def frequencies(self) -> DocumentFrequencies:
        """Give all of them, as the steps of `undust.detect.bags` take them."""
        used = np.flatnonzero(self._keys != FREE)
        used = used[np.argsort(self._keys[used])]
        return DocumentFrequencies(self.documents, self._keys[used].astype(np.uint64), self._counts[used])

    def weigh(
        self,
        bags: StoredBags,
        *,
        min_documents: int = MIN_DOCUMENTS,
        max_share: float = MAX_SHARE,
        total: float = BAG_SUM,
    ) -> Bags:
        """Drop rare and common words, weigh the rest by tf-idf, and scale each bag: three steps of paper 002 in one.

        The same as `drop_rare_and_common`, `tfidf` and `scale` of `undust.detect.bags`, in a pass.
        """
        rows, terms = np.empty(len(bags.rows), np.int64), np.empty(len(bags.terms), np.uint32)
        weights = np.empty(len(bags.terms), np.float64)
        kept = weigh_bags(
            bags.rows, bags.terms, bags.counts, self._keys, self._counts, self.documents, min_documents,
            max_share * self.documents, total, rows, terms, weights,
        )  # fmt: skip
        return Bags(rows, terms[:kept].astype(np.uint64), weights[:kept])


def count_documents(batches: Iterable[StoredBags]) -> TermDocuments:
    """Count the documents of each term of a corpus."""
    counted = TermDocuments()
    for bags in batches:
        counted.add(bags)
    return counted
