"""Columns of URLs: normalize them, and split them into keys, without a Python object for each."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from undust.errors import UrlError
from undust.kernels import spans
from undust.kernels.urls import PUNT, normalize_column
from undust.settings import MAX_LISTED
from undust.urls.keys import Key
from undust.urls.normalize import STANDARD, Step, normalize
from undust.urls.site import labels, places_of

_SLICE_BYTES = 2**22  # small enough for the scratch memory to stay warm


@dataclass(frozen=True, slots=True)
class NormalizedUrls:
    """URLs in standard form, null where a URL was null or cannot be parsed."""

    urls: pa.ChunkedArray
    unusable: int  # how many cannot be parsed
    problems: list[tuple[int, str]]  # row and reason of the first of them


@dataclass(frozen=True, slots=True)
class SplitUrls:
    """The spans of every part and key of a column of URLs, as places in `data`.

    `parts[row]` has start and end of scheme, userinfo, host, port, path, query, fragment; -1 is absent.
    `tokens[token_offsets[row] : token_offsets[row + 1]]` are its segments, parameters and arguments in order:
    kind, nth of its name, start and end of the name, start and end of the value.
    """

    data: npt.NDArray[np.uint8]
    parts: npt.NDArray[np.int32]
    tokens: npt.NDArray[np.int32]
    token_offsets: npt.NDArray[np.int32]

    def __len__(self) -> int:
        """Count the URLs."""
        return len(self.parts)

    @property
    def parsed(self) -> npt.NDArray[np.bool_]:
        """Tell which rows are absolute URLs."""
        return self.parts[:, 0] >= 0

    def part(self, which: int) -> pa.StringArray:
        """Give a part of each URL (`spans.HOST`, …), null where it is absent."""
        return self.gather(self.parts[:, 2 * which].copy(), self.parts[:, 2 * which + 1].copy())

    def values(self, key: Key) -> pa.StringArray:
        """Give the value of a key for each URL, null where it is absent (⊥)."""
        starts = np.empty(len(self), np.int32)
        ends = np.empty(len(self), np.int32)
        match key:
            case Key("host", int(place)):
                return _by_host(self.part(spans.HOST), lambda host: _label(host, place))
            case Key("path", int(position)):
                spans.find_segment(self.token_offsets, self.tokens, position, starts, ends)
            case Key("param" | "query" as part, str(name), nth):
                kind = spans.PARAM if part == "param" else spans.ARGUMENT
                wanted = np.frombuffer(name.encode(), np.uint8)
                spans.find_named(self.data, self.token_offsets, self.tokens, kind, wanted, nth, starts, ends)
            case Key("scheme" | "userinfo" | "port" | "fragment" as part):
                return self.part(getattr(spans, part.upper()))
            case _:
                raise UrlError(f"no such key: {key!r}")
        return self.gather(starts, ends)

    def sites(self, *, hosts: bool = False) -> pa.StringArray:
        """Give the site of each URL, or with `hosts` its narrowest: the host. The URLs must be in standard form."""
        address = self.part(spans.HOST)
        port = self.part(spans.PORT)
        if port.null_count < len(port):
            address = pc.if_else(port.is_valid(), pc.binary_join_element_wise(address, port, ":"), address)
        return _by_host(address, lambda each: _places_of_address(each)[0 if hosts else -1])

    def gather(self, starts: npt.NDArray[np.int32], ends: npt.NDArray[np.int32]) -> pa.StringArray:
        """Copy spans out as a column, null where a span is absent."""
        present = starts != spans.ABSENT
        out = np.empty(int((ends - starts)[present].sum(dtype=np.int64)), np.uint8)
        offsets = np.empty(len(starts) + 1, np.int32)
        spans.gather(self.data, starts, ends, out, offsets)
        valid = None if present.all() else pa.py_buffer(np.packbits(present, bitorder="little"))
        return pa.StringArray.from_buffers(len(starts), pa.py_buffer(offsets), pa.py_buffer(out), valid)


def decode_urls(column: pa.Array) -> pa.StringArray:
    """Make URLs out of bytes; bytes that are not UTF-8 become percent escapes, as browsers send them.

    >>> decode_urls(pa.array([b"http://a.test/caf\\xe9"])).to_pylist()
    ['http://a.test/caf%E9']
    """
    try:
        return column.cast(pa.string())
    except pa.ArrowInvalid:
        return pa.array([None if url is None else _escape_stray(url) for url in column.to_pylist()], pa.string())


def _escape_stray(url: bytes) -> str:
    text = url.decode("utf-8", "surrogateescape")
    return "".join(f"%{ord(c) - 0xDC00:02X}" if "\udc80" <= c <= "\udcff" else c for c in text)


def normalize_many(urls: Any, steps: tuple[Step, ...] = STANDARD) -> NormalizedUrls:
    """Write a column of URLs (Arrow, NumPy, Polars, pandas or a list) in standard form, or take other `steps`.

    >>> found = normalize_many(["HTTP://h", "nothing", None])
    >>> found.urls.to_pylist(), found.unusable
    (['http://h/', None, None], 1)
    """
    chunks: list[pa.StringArray] = []
    problems: list[tuple[int, str]] = []
    row = unusable = 0
    scratch = np.empty(0, np.uint8)
    for piece in slices(urls):
        if len(scratch) < (room := 3 * piece.nbytes + 16 * len(piece)):
            scratch = np.empty(room, np.uint8)
        normal, bad = _normalize_slice(piece, scratch) if steps is STANDARD else _normalize_each(piece, steps)
        unusable += len(bad)
        problems += [(row + place, why) for place, why in bad[: MAX_LISTED - len(problems)]]
        chunks.append(normal)
        row += len(piece)
    return NormalizedUrls(pa.chunked_array(chunks, pa.string()), unusable, problems)


def split_many(urls: pa.StringArray) -> SplitUrls:
    """Find the spans of every part and key of a column; as it is spelled, so normalize it first.

    >>> split = split_many(pa.array(["http://www.h.com/a?x=1", "http://h.com/b/"]))
    >>> split.values(Key("query", "x")).to_pylist(), split.values(Key("path", -1)).to_pylist()
    (['1', None], ['a', ''])
    """
    data, offsets = buffers(urls)
    parts = np.empty((len(urls), 14), np.int32)
    token_offsets = np.zeros(len(urls) + 1, np.int32)
    longest = int(np.diff(offsets).max(initial=0))
    tokens = np.empty((8 * len(urls) + longest + 1, 6), np.int32)
    row = 0
    while (row := spans.split_column(data, offsets, row, parts, tokens, token_offsets)) < len(urls):
        tokens = np.concatenate([tokens, np.empty_like(tokens)])
    return SplitUrls(data, parts, tokens[: token_offsets[-1]], token_offsets)


def _normalize_slice(urls: pa.StringArray, out: npt.NDArray[np.uint8]) -> tuple[pa.StringArray, list[tuple[int, str]]]:
    data, offsets = buffers(urls)
    out_offsets = np.empty(len(urls) + 1, np.int32)
    status = np.empty(len(urls), np.uint8)
    normalize_column(data, offsets, out, out_offsets, status)
    normal = pa.StringArray.from_buffers(
        len(urls), pa.py_buffer(out_offsets), pa.py_buffer(out[: out_offsets[-1]].copy())
    )
    punted = status == PUNT
    if not punted.any():
        return normal, []
    places = np.flatnonzero(punted)
    mended, bad = _normalize_each(urls.take(pa.array(places)), STANDARD)
    problems = [(int(places[place]), why) for place, why in bad]
    return pc.replace_with_mask(normal, pa.array(punted), mended), problems


def _normalize_each(urls: pa.StringArray, steps: tuple[Step, ...]) -> tuple[pa.StringArray, list[tuple[int, str]]]:
    normal: list[str | None] = []
    bad: list[tuple[int, str]] = []
    for place, url in enumerate(urls.to_pylist()):
        try:
            normal.append(None if url is None else normalize(url, steps))
        except UrlError as error:
            normal.append(None)
            bad.append((place, str(error)))
    return pa.array(normal, pa.string()), bad


def slices(urls: Any) -> Iterator[pa.StringArray]:
    """Cut a column into string arrays small enough for the kernel."""
    if not isinstance(urls, pa.Array | pa.ChunkedArray):
        urls = pa.chunked_array(urls) if hasattr(urls, "__arrow_c_stream__") else pa.array(urls, from_pandas=True)
    for chunk in urls.chunks if isinstance(urls, pa.ChunkedArray) else [urls]:
        start = 0
        if pa.types.is_dictionary(chunk.type):
            chunk = chunk.dictionary.cast(pa.string()).take(chunk.indices)  # also where it holds views, as Polars does
        elif pa.types.is_null(chunk.type):
            chunk = chunk.cast(pa.string())
        while start < len(chunk):
            size = len(chunk) - start
            while (piece := chunk.slice(start, size)).nbytes > _SLICE_BYTES and size > 1:
                size = -(-size // 2)
            yield piece.cast(pa.string())
            start += size


def buffers(urls: pa.StringArray) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int32]]:
    """Give the bytes of a column and where each row begins in them, the first at 0."""
    _, offsets, data = urls.buffers()
    if data is None:
        return np.zeros(0, np.uint8), np.zeros(len(urls) + 1, np.int32)
    places = np.frombuffer(offsets, np.int32)[urls.offset : urls.offset + len(urls) + 1]
    start, end = int(places[0]), int(places[-1])
    return np.frombuffer(data, np.uint8)[start:end], places - np.int32(start)


def _by_host(hosts: pa.StringArray, give: Any) -> pa.StringArray:
    """Map each distinct host once: a column has far fewer of them than rows."""
    coded = hosts.dictionary_encode()
    answers = pa.array([give(host) for host in coded.dictionary.to_pylist()], pa.string())
    return answers.take(coded.indices)


def _label(host: str, place: int) -> str | None:
    found = labels(host)
    return found[place - 1] if 0 < place <= len(found) else None


def _places_of_address(address: str) -> tuple[str, ...]:
    colon = address.rfind(":", address.rfind("]") + 1)
    return places_of(address, None) if colon < 0 else places_of(address[:colon], address[colon + 1 :])
