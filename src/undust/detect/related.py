"""The index of related pages: for each page those that are alike, the most similar first, as one block of bytes.

It is made once from the pairs of a corpus (paper 002, section 5: each pair appears twice, sorted), and answers without
being read: of a file mapped into memory a question touches some hundred bytes. Nothing here needs Arrow or Numba when
it answers, so that a command does not wait for them.
"""

import bisect
import json
import struct
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import xxhash

from undust.errors import InputError, UndustError
from undust.urls.normalize import normalize

if TYPE_CHECKING:
    import pyarrow as pa

    from undust.detect.topical import RelatedPages

MAGIC = b"undust related 1"
_LENGTH = struct.Struct("<Q")
_FORMATS = {"keys": "Q", "key_rows": "I", "first": "I", "starts": "Q", "neighbors": "I", "similarities": "f"}
_SECTIONS = (*_FORMATS, "url_starts", "urls")
_MAX_HEADER = 1 << 20


class RelatedPage(NamedTuple):
    """A page that is related to the one asked for, and how similar it is."""

    url: str
    similarity: float


def pack_index(pages: "RelatedPages", about: Mapping[str, Any]) -> Iterator[bytes | memoryview]:
    """Give the bytes of the index of pages, in parts; `about` is kept with it."""
    import numpy as np

    parts = dict(zip(_SECTIONS, _arrays(pages), strict=True))
    header = {"about": dict(about), "pages": len(pages.urls), "counts": {n: len(part) for n, part in parts.items()}}
    text = json.dumps(header, sort_keys=True).encode()
    yield MAGIC
    yield _LENGTH.pack(len(text))
    yield text
    at = len(MAGIC) + _LENGTH.size + len(text)
    for part in parts.values():
        yield bytes(-at % 8)
        data = np.ascontiguousarray(part)
        yield data.data.cast("B") if data.nbytes else b""
        at += -at % 8 + data.nbytes


def _arrays(pages: "RelatedPages") -> "list[Any]":
    """Make the sections: where each URL is, which rows have equal bags, the pairs from both ends, the URLs."""
    import numpy as np

    from undust.detect.words import buffers

    count = len(pages.urls)
    hashes = np.array([xxhash.xxh3_64_intdigest(url.encode()) for url in _normal(pages.urls)], dtype=np.uint64)
    by_hash = np.argsort(hashes, kind="stable").astype(np.uint32)
    chunks = list(pages.pairs.chunks())
    a, b, similar = (
        np.concatenate([chunk[i] for chunk in chunks] or [np.empty(0, kind)])
        for i, kind in enumerate((np.uint32, np.uint32, np.float32))
    )
    # Pairs come by falling similarity: with their number as the lesser key they stay so for each page.
    number = np.arange(len(a), dtype=np.uint64)
    ends = np.concatenate([a, b]).astype(np.uint64) << np.uint64(32) | np.tile(number, 2)
    order = np.argsort(ends, kind="stable")
    starts = np.searchsorted(ends[order], np.arange(count + 1, dtype=np.uint64) << np.uint64(32)).astype(np.uint64)
    data, offsets = buffers(pages.urls)
    return [
        hashes[by_hash],
        by_hash,
        pages.sketches.first_of_equal(),
        starts,
        np.concatenate([b, a])[order],
        np.tile(similar, 2)[order],
        (offsets - offsets[0]).astype(np.uint64),
        data[offsets[0] : offsets[-1]],
    ]


def _normal(urls: "pa.LargeStringArray") -> Iterator[str]:
    from undust.urls.batch import normalize_many

    for normal in normalize_many(urls.cast("string")).urls.iterchunks():
        yield from (url or "" for url in normal.to_pylist())


class RelatedIndex:
    """Answers which pages are related to a page, from the bytes of an index."""

    def __init__(self, data: bytes | memoryview, name: str = "index") -> None:
        """Look at the header only. `name` is for errors."""
        view = memoryview(data).cast("B")
        self._name = name
        if bytes(view[: len(MAGIC)]) != MAGIC:
            raise InputError(f"{name}: no index of related pages; give another name")
        try:
            self._open(view)
        except (ValueError, KeyError, TypeError, AttributeError, struct.error, RecursionError) as error:
            raise self._damaged() from error

    def _open(self, view: memoryview) -> None:
        (length,) = _LENGTH.unpack(view[len(MAGIC) : len(MAGIC) + _LENGTH.size])
        at = len(MAGIC) + _LENGTH.size + length
        if length > _MAX_HEADER or at > len(view):
            raise ValueError("header")
        header = json.loads(bytes(view[at - length : at]))
        self.about: dict[str, Any] = dict(header["about"])
        self.pages = int(header["pages"])
        self._parts: dict[str, Any] = {}  # views of numbers, whole or real
        for name in _SECTIONS:
            kind = _FORMATS.get(name, "B" if name == "urls" else "Q")
            at += -at % 8
            end = at + int(header["counts"][name]) * struct.calcsize(kind)
            if not at <= end <= len(view):
                raise ValueError(name)
            part: Any = view[at:end]
            self._parts[name] = part.cast(kind)
            at = end
        sizes = {name: len(part) for name, part in self._parts.items()}
        whole = sizes["keys"] == sizes["key_rows"] == sizes["first"] == self.pages
        whole &= sizes["starts"] == sizes["url_starts"] == self.pages + 1
        if not whole or sizes["neighbors"] != sizes["similarities"] or at != len(view):
            raise ValueError("sizes")

    def _damaged(self) -> InputError:
        return InputError(f"{self._name}: damaged; delete it, and it is made again")

    def related(self, url: str, n: int = 10, *, below: float | None = None) -> list[RelatedPage]:
        """Give the `n` pages most similar to a page, of those less similar than `below`, if that is given.

        URLs are compared in their standard form. `InputError` where there is no such page.
        """
        try:
            row = self.row_of(url)
            if row is None:
                raise InputError(f"{self._name}: no page {url[:200]!r} in it; give the URL of one of its pages")
            found: list[RelatedPage] = []
            for other, similarity in self._neighbors(row):
                if len(found) >= n:
                    break
                if below is None or similarity < below:
                    found.append(RelatedPage(self._url(other), round(similarity, 6)))
            return found
        except UndustError:
            raise
        except (IndexError, ValueError) as error:
            raise self._damaged() from error

    def row_of(self, url: str) -> int | None:
        """Find a page; of several whose URLs have one standard form, the one that is spelled so."""
        normal = normalize(url)
        key = xxhash.xxh3_64_intdigest(normal.encode())
        keys, rows = self._parts["keys"], self._parts["key_rows"]
        at = bisect.bisect_left(keys, key)
        same: list[int] = []
        while at < len(keys) and keys[at] == key:
            if normalize(self._url(rows[at])) == normal:
                same.append(rows[at])
            at += 1
        return next((row for row in same if self._url(row) == url), same[0] if same else None)

    def _url(self, row: int) -> str:
        starts = self._parts["url_starts"]
        return bytes(self._parts["urls"][starts[row] : starts[row + 1]]).decode("utf-8")

    def _neighbors(self, row: int) -> Iterator[tuple[int, float]]:
        """Give the rows that are alike, the most similar first. Of equal bags only the first is paired with others."""
        lead = self._parts["first"][row]
        if lead != row:
            yield lead, 1.0
        for other, similarity in self._pairs(lead):
            if other == row:
                continue
            yield other, similarity
            if self._parts["first"][other] == other:
                yield from ((copy, similarity) for copy in self._copies(other))

    def _copies(self, lead: int) -> Iterator[int]:
        """Give the rows whose bag is equal to that of a row; they come first among its pairs."""
        for other, similarity in self._pairs(lead):
            if similarity < 1.0:
                break
            if self._parts["first"][other] == lead:
                yield other

    def _pairs(self, row: int) -> Iterator[tuple[int, float]]:
        starts, neighbors, similarities = (self._parts[name] for name in ("starts", "neighbors", "similarities"))
        for at in range(starts[row], starts[row + 1]):
            yield neighbors[at], similarities[at]
