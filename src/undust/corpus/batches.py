"""Builds record batches of pages from values gathered row by row."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from undust import settings, tables
from undust.corpus.tally import Tally
from undust.corpus.times import times
from undust.urls.batch import decode_urls

Bytes = bytes | memoryview


class PageRows:
    """Gathers pages and hands them on as one record batch when there are enough.

    >>> rows = PageRows("example", Tally())
    >>> rows.add(b"http://a.test/", html=b"<p>hello", status=200)
    >>> rows.take().to_pylist()[0]["html"]
    b'<p>hello'
    """

    def __init__(self, source: str, tally: Tally) -> None:
        self._source = source
        self._tally = tally
        self._clear()

    def add(
        self,
        url: bytes,
        *,
        html: Bytes | None = None,
        text: Bytes | None = None,
        digest: bytes | None = None,
        status: int | None = None,
        content_type: bytes | None = None,
        time: bytes | None = None,
    ) -> None:
        """One more page; a URL that is missing or too long is counted instead."""
        if not url or len(url) > settings.MAX_URL_BYTES:
            self._tally.skip(too_long("URL", settings.MAX_URL_BYTES) if url else "no URL")
            return
        self._url.append(url)
        self._html.append(html)
        self._text.append(text)
        self._digest.append(digest)
        self._status.append(status)
        self._content_type.append(content_type)
        self._time.append(time)
        self._bytes += len(url) + (len(html) if html else 0) + (len(text) if text else 0)

    def drop_last(self) -> None:
        """Take back the page added last."""
        self._url.pop()
        for column in (self._html, self._text, self._digest, self._status, self._content_type, self._time):
            column.pop()  # type: ignore[attr-defined]

    def __len__(self) -> int:
        return len(self._url)

    @property
    def full(self) -> bool:
        """Whether it is time to `take` a batch."""
        return self._bytes >= settings.BATCH_BYTES or len(self._url) >= settings.BATCH_ROWS

    def take(self) -> pa.RecordBatch:
        """The pages gathered, which are then forgotten here."""
        count = len(self._url)
        columns = {
            "url": decode_urls(pa.array(self._url, pa.binary())),
            "html": binary(self._html),
            "text": strings(binary(self._text)),
            "digest": strings(pa.array(self._digest, pa.binary())),
            "status": pa.array(self._status, pa.int16()),
            "content_type": strings(pa.array(self._content_type, pa.binary())),
            "time": times(self._time),
        }
        self._clear()
        return page_batch(columns, count, self._source)

    def _clear(self) -> None:
        self._url: list[bytes] = []
        self._html: list[Bytes | None] = []
        self._text: list[Bytes | None] = []
        self._digest: list[bytes | None] = []
        self._status: list[int | None] = []
        self._content_type: list[bytes | None] = []
        self._time: list[bytes | None] = []
        self._bytes = 0


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


def binary(values: Sequence[Bytes | None]) -> pa.Array:
    """A binary column by one copy; a list of memory views would cost Arrow several."""
    count = len(values)
    lengths = np.fromiter((0 if value is None else len(value) for value in values), np.int64, count)
    if not lengths.any():
        return pa.array(values, pa.binary())
    offsets = np.zeros(count + 1, np.int32)
    np.cumsum(lengths, out=offsets[1:])
    data = pa.py_buffer(b"".join([value for value in values if value is not None]))
    valid = None
    if None in values:
        bits = np.fromiter((value is not None for value in values), np.bool_, count)
        valid = pa.py_buffer(np.packbits(bits, bitorder="little").tobytes())
    return pa.Array.from_buffers(pa.binary(), count, [valid, pa.py_buffer(offsets), data])


def strings(column: pa.Array) -> pa.Array:
    """Text out of bytes; what is not UTF-8 becomes the replacement character."""
    try:
        return column.cast(pa.string())
    except pa.ArrowInvalid:
        return pa.array([None if v is None else v.decode("utf-8", "replace") for v in column.to_pylist()], pa.string())
