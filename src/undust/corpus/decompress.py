"""Undoes gzip, zstd and bzip2 piece by piece: bounded output, and a cut or damaged stream gives what came before."""

import bz2
import zlib
from collections.abc import Callable, Generator, Iterator
from typing import Any

import zstandard

from undust.corpus.streams import CHUNK_BYTES, Source
from undust.corpus.tally import Tally

MAGIC = {
    b"\x1f\x8b": "gzip",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"BZh": "bzip2",
    b"\x04\x22\x4d\x18": "lz4",
}

PIECE_BYTES = 256 * 2**10

FEED_BYTES = 32 * 2**10
"""What is given to gzip and bzip2 at once. Each member's end costs a copy of the rest, and members may be tiny."""

ZSTD_FEED_BYTES = 1024
"""zstd cannot be told to stop; four bytes of it can stand for 128 KiB, so this much gives 32 MiB at most."""

ZSTD_WINDOW_BYTES = 2**27
"""What zstd itself allows a stream to ask for; more needs `--long` on both sides."""


def compression_of(head: bytes) -> str | None:
    """Name of the compression that the first bytes of a file show.

    >>> compression_of(b"\\x1f\\x8b\\x08..."), compression_of(b"url,digest")
    ('gzip', None)
    """
    if head[1:4] == b"\x2a\x4d\x18" and 0x50 <= head[0] <= 0x5F:
        return "zstd"  # a skippable frame: where WARC.zst keeps its dictionary
    return next((name for magic, name in MAGIC.items() if head.startswith(magic)), None)


class Plain:
    """The plain bytes of a source in pieces; what is wrong with the compressed stream goes to the tally.

    >>> import io
    >>> cut = io.BytesIO(zlib.compress(b"hello", wbits=31)[:-1])
    >>> plain = Plain(Source(cut, "example", Tally(), seekable=True), "gzip", Tally())
    >>> list(plain), plain.cut
    ([b'hello'], True)
    """

    def __init__(self, source: Source, compression: str | None, tally: Tally) -> None:
        self.cut = False
        """Whether the stream ended early or at a damaged place; known when all pieces are read."""
        self.name = source.name
        self._source = source
        self._compression = compression
        self._tally = tally
        self._pieces: Iterator[bytes] | None = None
        self._rest = b""

    def read(self, size: int = -1) -> bytes:
        """The next bytes, as a file gives them; none at the end."""
        if self._pieces is None:
            self._pieces = iter(self)
        data = self._rest or next(self._pieces, b"")
        self._rest = data[size:] if 0 <= size < len(data) else b""
        return data[:size] if self._rest else data

    def __iter__(self) -> Iterator[bytes]:
        if self._compression is None:
            while data := self._source.read(CHUNK_BYTES):
                yield data
            return
        try:
            whole = yield from _members(self._source, *_STREAMS[self._compression])
        except (zlib.error, zstandard.ZstdError, OSError, ValueError, EOFError) as error:
            self._cut(f"is damaged ({error})")
            return
        if not whole:
            self._cut("ends early")

    def _cut(self, what: str) -> None:
        self.cut = True
        self._tally.damage(self.name, f"{self._compression} stream {what}", offset=self._source.tell())


def head_of(data: bytes, compression: str | None, size: int) -> bytes:
    """The first plain bytes behind the first bytes of a file, as many as can be had; never fails."""
    if compression is None:
        return data[:size]
    head = b""
    try:
        if compression == "gzip":
            head = zlib.decompressobj(31).decompress(data, size)
        elif compression == "bzip2":
            head = bz2.BZ2Decompressor().decompress(data, size)
        elif compression == "zstd":
            unpacker = zstandard.ZstdDecompressor(max_window_size=ZSTD_WINDOW_BYTES)
            with unpacker.stream_reader(data, read_across_frames=True) as reader:
                head = reader.read(size)
    except (zlib.error, zstandard.ZstdError, OSError, ValueError):
        return head
    return head


Step = Callable[[Any, bytes], Iterator[bytes]]
"""Feeds some bytes to a decompressor, gives the plain pieces; the three libraries share no type, hence Any."""


def _members(source: Source, start: Callable[[], Any], step: Step, feed: int) -> Generator[bytes, None, bool]:
    """Plain pieces of all members of a compressed stream; returns whether the last one was whole."""
    inflater = None
    begun = False
    while chunk := source.read(CHUNK_BYTES):
        at = 0
        while at < len(chunk):
            if inflater is None:
                if begun and chunk[at] == 0 and not chunk[at:].strip(b"\0"):
                    break  # tape blocks and some writers fill up with zeros
                inflater = start()
                begun = True
            data = chunk[at : at + feed]
            at += len(data)
            yield from step(inflater, data)
            if inflater.eof:
                at -= len(inflater.unused_data)
                inflater = None
    return inflater is None


def _new_gzip() -> Any:
    return zlib.decompressobj(31)


def _gzip(inflater: Any, data: bytes) -> Iterator[bytes]:
    while data and not inflater.eof:  # at the end, what is left counts as unconsumed too
        if piece := inflater.decompress(data, PIECE_BYTES):
            yield piece
        data = inflater.unconsumed_tail


def _bzip2(inflater: Any, data: bytes) -> Iterator[bytes]:
    while piece := inflater.decompress(data, PIECE_BYTES):
        yield piece
        data = b""
        if inflater.eof or inflater.needs_input:
            break


def _new_zstd() -> Any:
    return zstandard.ZstdDecompressor(max_window_size=ZSTD_WINDOW_BYTES).decompressobj()


def _zstd(inflater: Any, data: bytes) -> Iterator[bytes]:
    if piece := inflater.decompress(data):
        yield piece


_STREAMS: dict[str, tuple[Callable[[], Any], Step, int]] = {
    "gzip": (_new_gzip, _gzip, FEED_BYTES),
    "bzip2": (bz2.BZ2Decompressor, _bzip2, FEED_BYTES),
    "zstd": (_new_zstd, _zstd, ZSTD_FEED_BYTES),
}
