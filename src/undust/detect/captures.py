"""Which capture of each URL counts, and the order of URLs: the rows that pairs and clusters are made of."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import xxhash

from undust.detect.pairs import require_rows
from undust.kernels.banding import NO_ROW

BATCH_ROWS = 16_384

_U32 = npt.NDArray[np.uint32]


class Fingerprints(Protocol):
    """Fingerprints that can be read again and again, some columns at a time, in the same order: a table, or files."""

    @property
    def schema(self) -> pa.Schema:
        """All columns, and in the metadata how signatures were made."""

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Give some columns, some rows at a time."""


@dataclass(frozen=True, slots=True)
class TableFingerprints:
    """Fingerprints that are in memory."""

    table: pa.Table

    @property
    def schema(self) -> pa.Schema:
        """As of the table."""
        return self.table.schema

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Give slices of the table."""
        yield from self.table.select(list(columns)).to_batches(max_chunksize=BATCH_ROWS)


@dataclass(frozen=True, slots=True)
class Captures:
    """Each URL once, in order. Row i is the page at `urls[i]`, by its latest capture, `places[i]` in the input.

    Of equally late ones the first by content: the order of the input must not matter.
    """

    urls: pa.LargeStringArray
    places: _U32
    rows: _U32  # of each place in the input, the row of its URL

    def __len__(self) -> int:
        return len(self.places)

    def counting(self) -> _U32:
        """Give the row of each place in the input, NO_ROW where a later capture counts instead."""
        here = np.arange(len(self.rows), dtype=np.uint32)
        return np.where(self.places[self.rows] == here, self.rows, NO_ROW) if len(here) else self.rows

    def batches(self, fingerprints: Fingerprints, columns: Sequence[str]) -> Iterator[tuple[_U32, pa.RecordBatch]]:
        """Give some columns of the captures that count, and their rows."""
        counting, at = self.counting(), 0
        for batch in fingerprints.batches(columns):
            rows = counting[at : at + len(batch)]
            at += len(batch)
            some = rows != NO_ROW
            yield (rows, batch) if some.all() else (rows[some], batch.filter(pa.array(some)))

    def url_column(self, rows: npt.NDArray[np.integer] | None = None) -> pa.ChunkedArray:
        """Give the URLs of rows, or of all, as text in chunks that Arrow's usual strings can hold."""
        if rows is None:
            return _as_strings(self.urls)
        # Piece by piece: Arrow gathers text into twice the room it needs.
        cuts = range(0, len(rows), BATCH_ROWS)
        pieces = [self.urls.take(pa.array(rows[start : start + BATCH_ROWS])).cast(pa.string()) for start in cuts]
        return pa.chunked_array(pieces, pa.string())


def _as_strings(column: pa.LargeStringArray) -> pa.ChunkedArray:
    """Give long text as chunks of usual strings that share its bytes: copies would need as much memory again."""
    _, offsets, data = column.buffers()
    places = np.frombuffer(offsets, np.int64)[column.offset :][: len(column) + 1] if len(column) else np.zeros(1, int)
    pieces = []
    for start in range(0, len(column), BATCH_ROWS):
        mine = places[start : start + BATCH_ROWS + 1]
        shared = data.slice(int(mine[0]), int(mine[-1] - mine[0])) if data is not None else pa.py_buffer(b"")
        local = pa.py_buffer((mine - mine[0]).astype(np.int32))
        pieces.append(pa.StringArray.from_buffers(len(mine) - 1, local, shared))
    return pa.chunked_array(pieces, pa.string())


def content_order(batch: pa.RecordBatch) -> pa.Array:
    """Tell contents apart by a number: of the body, else of the digest, else of the cluster; the largest for none."""
    numbers = np.full(len(batch), 2**64 - 1, np.uint64)
    for name in ("cluster", "digest", "body_xxh3"):  # the last one found counts
        if name not in batch.schema.names or batch[name].null_count == len(batch):
            continue
        column = batch[name]
        there = np.asarray(column.is_valid())
        if pa.types.is_fixed_size_binary(column.type):
            halves = np.frombuffer(column.buffers()[1], ">u8")[2 * column.offset :: 2][: len(column)]
            numbers[there] = halves[there]
        else:
            texts = column.filter(pa.array(there)).cast(pa.binary()).to_pylist()
            numbers[there] = [xxhash.xxh3_64_intdigest(text) for text in texts]
    return pa.array(numbers)


def find_captures(fingerprints: Fingerprints) -> Captures:
    """Put the URLs of fingerprints in order.

    >>> table = pa.table({"url": ["b", "a", "b"], "time": [1, None, 2], "body_xxh3": [b"x", b"y", b"z"]})
    >>> found = find_captures(TableFingerprints(table))
    >>> found.urls.to_pylist(), found.places.tolist(), found.rows.tolist(), found.counting()[0] == NO_ROW
    (['a', 'b'], [1, 2], [1, 0, 1], np.True_)
    """
    columns: dict[str, list[pa.Array]] = {"url": [], "time": [], "tie": []}
    ties = [name for name in ("body_xxh3", "digest", "cluster") if name in fingerprints.schema.names]
    for batch in fingerprints.batches(["url", "time", *ties]):
        columns["url"].append(batch["url"].cast(pa.large_string()))
        columns["time"].append(batch["time"].cast(pa.int64()).fill_null(-(2**62)))
        columns["tie"].append(content_order(batch))
    if not columns["url"]:
        return Captures(pa.array([], pa.large_string()), np.empty(0, np.uint32), np.empty(0, np.uint32))
    table = pa.table({name: pa.chunked_array(chunks) for name, chunks in columns.items()})
    columns.clear()
    require_rows(len(table))
    order = pc.sort_indices(table, [("url", "ascending"), ("time", "descending"), ("tie", "ascending")])
    urls = table["url"].combine_chunks()
    del table
    urls = urls.take(order)
    first = np.ones(len(urls), dtype=np.bool_)
    first[1:] = np.asarray(pc.not_equal(urls[1:], urls[:-1]))
    places = order.to_numpy().astype(np.uint32)
    rows = np.empty(len(places), dtype=np.uint32)
    rows[places] = np.cumsum(first, dtype=np.uint32) - np.uint32(1)
    if first.all():
        return Captures(urls, places, rows)
    return Captures(urls.filter(pa.array(first)), places[first], rows)
