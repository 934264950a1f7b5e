"""Builds record batches of pages from values gathered row by row."""

from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from undust import settings, tables
from undust.corpus.tally import Tally
from undust.corpus.times import times
from undust.urls.batch import decode_urls

Bytes = bytes | bytearray | memoryview

_FIRST_ROOM_BYTES = 2**20


class Page(NamedTuple):
    """What a source knows of one page."""

    url: bytes
    html: Bytes | None = None
    text: Bytes | None = None
    digest: bytes | None = None
    status: int | None = None
    content_type: bytes | None = None
    time: bytes | None = None


class PageRows:
    """Gathers pages and hands them on as one record batch when there are enough.

    >>> rows = PageRows("example", Tally())
    >>> rows.add(Page(b"http://a.test/", html=b"<p>hello", status=200))
    >>> rows.take().to_pylist()[0]["html"]
    b'<p>hello'
    """

    def __init__(self, source: str, tally: Tally) -> None:
        self.full = False
        """Whether it is time to `take` a batch."""
        self._source = source
        self._tally = tally
        self._rest: list[tuple[bytes, bytes | None, int | None, bytes | None, bytes | None]] = []
        self._bytes = 0
        self._html = BytesColumn()
        self._text = BytesColumn()

    def add(self, page: Page) -> None:
        """One more page; a URL that is missing or too long is counted instead."""
        url, html, text, digest, status, content_type, time = page
        if not url or len(url) > settings.MAX_URL_BYTES:
            self._tally.skip(too_long("URL", settings.MAX_URL_BYTES) if url else "no URL")
            return
        # Bodies are copied at once: while they are warm, and so that the memory of each is used again for the next.
        row = len(self._rest)
        size = len(url)
        if html is not None:
            size += self._html.add(row, html)
        if text is not None:
            size += self._text.add(row, text)
        # Labels are short, unless they were made to fill memory.
        size += len(digest or b"") + len(content_type or b"") + len(time or b"")
        self._rest.append((url, digest, status, content_type, time))
        self._bytes += size
        self.full = self._bytes >= settings.BATCH_BYTES or row + 1 >= settings.BATCH_ROWS

    def __len__(self) -> int:
        return len(self._rest)

    def take(self) -> pa.RecordBatch:
        """The pages gathered, which are then forgotten here."""
        url, digest, status, content_type, time = zip(*self._rest, strict=True)
        count = len(url)
        self._rest, self._bytes, self.full = [], 0, False
        columns = {
            "url": decode_urls(pa.array(url, pa.binary())),
            "html": self._html.take(count),
            "text": strings(self._text.take(count)),
            "digest": strings(pa.array(digest, pa.binary())),
            "status": pa.array(status, pa.int16()),
            "content_type": strings(pa.array(content_type, pa.binary())),
            "time": times(time),
        }
        return page_batch(columns, count, self._source)


class BytesColumn:
    """A binary column that grows by one copy of each value; rows that are left out are null.

    >>> column = BytesColumn()
    >>> column.add(0, b"one"), column.add(2, b"three")
    (3, 5)
    >>> column.take(4).to_pylist()
    [b'one', None, b'three', None]
    """

    def __init__(self) -> None:
        self._lengths: list[int] = []  # -1 where there is no value
        self._size = 0
        self._room = _FIRST_ROOM_BYTES
        self._buffer: Any = None
        self._data = memoryview(b"")

    def add(self, row: int, value: Bytes) -> int:
        """Put a value at a row behind those before; say how long it is."""
        lengths = self._lengths
        if len(lengths) < row:
            lengths += [-1] * (row - len(lengths))
        length = len(value)
        end = self._size + length
        if end > len(self._data):
            self._grow(end)
        if length:  # there may be no room at all yet
            self._data[self._size : end] = value
            self._size = end
        lengths.append(length)
        return length

    def take(self, count: int) -> pa.Array:
        """So many rows, which are then forgotten here."""
        if not self._lengths:
            return pa.nulls(count, pa.binary())
        lengths = np.full(count, -1, np.int64)
        lengths[: len(self._lengths)] = self._lengths
        absent = lengths < 0
        offsets = np.zeros(count + 1, np.int32)
        np.cumsum(np.where(absent, 0, lengths), out=offsets[1:])
        valid = pa.py_buffer(np.packbits(~absent, bitorder="little")) if absent.any() else None
        data = pa.py_buffer(b"") if self._buffer is None else self._buffer.slice(0, self._size)
        self._lengths, self._size, self._buffer, self._data = [], 0, None, memoryview(b"")
        return pa.Array.from_buffers(pa.binary(), count, [valid, pa.py_buffer(offsets), data])

    def _grow(self, needed: int) -> None:
        # The next batch begins with the room that this one needed.
        while self._room < needed:
            self._room *= 2
        grown = pa.allocate_buffer(self._room)
        data = memoryview(grown).cast("B")  # which Arrow takes for signed
        data[: self._size] = self._data[: self._size]
        self._buffer, self._data = grown, data


def page_batch(columns: dict[str, pa.Array], count: int, source: str) -> pa.RecordBatch:
    """A batch of the schema of pages; columns that are not given are null."""
    arrays = [columns.get(field.name) for field in tables.PAGES if field.name != "source"]
    fields = list(tables.PAGES)[:-1]
    filled = [
        pa.nulls(count, field.type) if array is None else array for field, array in zip(fields, arrays, strict=True)
    ]
    filled.append(pa.repeat(pa.scalar(source, pa.string()), count))
    return pa.RecordBatch.from_arrays(filled, schema=tables.PAGES)


def too_long(what: str, limit: int) -> str:
    """The reason to count something by, such as `body over 32 MiB`."""
    for unit, size in (("MiB", 2**20), ("KiB", 2**10)):
        if limit >= size:
            return f"{what} over {limit // size} {unit}"
    return f"{what} over {limit} bytes"


def strings(column: pa.Array) -> pa.Array:
    """Text out of bytes; what is not UTF-8 becomes the replacement character."""
    try:
        return column.cast(pa.string())
    except pa.ArrowInvalid:
        return pa.array([None if v is None else v.decode("utf-8", "replace") for v in column.to_pylist()], pa.string())
