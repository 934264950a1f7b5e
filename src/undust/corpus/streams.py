"""Opens a path, stdin or a member of an archive as bytes that can be peeked at and stepped back in."""

import contextlib
import io
import os
import stat
import sys
import tempfile
from collections import deque
from collections.abc import Iterator
from typing import IO, Any, Protocol

from undust.corpus.tally import Tally
from undust.errors import InputError

STDIN = "-"

CHUNK_BYTES = 256 * 2**10

WINDOW_BYTES = 2 * 2**20
"""How far back a reader can step in a pipe, which cannot be sought: more than readers and decompressors buffer."""


class Readable(Protocol):
    """All that a source needs of a file; one that can be sought has `seek` and `tell` too."""

    def read(self, size: int = -1, /) -> bytes:
        """Some of the next bytes."""


class Source:
    """Bytes read forward, counted in a tally, with the means to look ahead and to go back.

    A file goes back anywhere; a pipe as far as its window. FastWARC takes it as a file object.

    >>> source = Source(io.BytesIO(b"WARC/1.0"), "example", Tally(), seekable=True)
    >>> source.peek(4), source.read(), source.tell()
    (b'WARC', b'WARC/1.0', 8)
    """

    def __init__(
        self, file: Readable, name: str, tally: Tally, *, seekable: bool, window_bytes: int = WINDOW_BYTES
    ) -> None:
        self.name = name
        self.seekable = seekable
        self.window_bytes = window_bytes
        self._file: Any = file
        self._tally = tally
        self._position = 0  # of the next byte that read() gives
        self._counted = 0  # bytes already in the tally; going back must not count twice
        self._ahead: deque[bytes] = deque()  # bytes taken from the file, but not given yet
        self._recent: deque[bytes] = deque()  # bytes given, for pipes only
        self._recent_bytes = 0

    def read(self, size: int = -1) -> bytes:
        """The next bytes, fewer than asked for where the file gives fewer; none at its end."""
        if size < 0:
            data = b"".join([*self._ahead, self._fetch(-1)])
            self._ahead.clear()
        elif self._ahead:
            data = self._ahead.popleft()
            if len(data) > size:
                self._ahead.appendleft(data[size:])
                data = data[:size]
        else:
            data = self._fetch(size)
        self._position += len(data)
        if self._position > self._counted:
            self._tally.bytes += self._position - self._counted
            self._counted = self._position
        if not self.seekable and data:
            self._remember(data)
        return data

    def peek(self, size: int) -> bytes:
        """Up to `size` of the next bytes, fewer only at the end, without moving."""
        parts: list[bytes] = []
        missing = size
        while missing > 0 and (more := self._ahead.popleft() if self._ahead else self._fetch(missing)):
            parts.append(more)
            missing -= len(more)
        data = b"".join(parts)
        if data:
            self._ahead.appendleft(data)
        return data[:size]

    def tell(self) -> int:
        """Offset of the next byte."""
        return self._position

    def rewind(self, offset: int) -> int:
        """Go to an offset read before, in a pipe to the nearest that is still known; say where that is."""
        if self.seekable:
            self._file.seek(offset)
            self._ahead.clear()
            self._position = offset
            return offset
        # Piece by piece from the end: a window may be large, and a damaged file makes many steps back.
        while self._recent and offset < self._position:
            data = self._recent.pop()
            keep = max(0, len(data) - (self._position - offset))
            if keep:
                self._recent.append(data[:keep])
            self._ahead.appendleft(data[keep:])
            self._recent_bytes -= len(data) - keep
            self._position -= len(data) - keep
        return self._position

    def read_at(self, offset: int, size: int) -> bytes | None:
        """Up to `size` bytes at an offset read before, without moving; nothing where a pipe has forgotten them."""
        here = self._position
        data = self.peek(size) if self.rewind(offset) == offset else None
        if self._position < here:
            self._forward(here)
        return data

    def size(self) -> int | None:
        """Bytes of a file, unknown for a pipe."""
        if not self.seekable:
            return None
        here = self._file.tell()
        end: int = self._file.seek(0, io.SEEK_END)
        self._file.seek(here)
        return end

    @property
    def file(self) -> IO[bytes]:
        """The file below, for readers that seek in it themselves."""
        file: IO[bytes] = self._file
        return file

    def count_all(self) -> None:
        """Count the whole file as read, after a reader of the file below is done."""
        size = self.size() or 0
        self._tally.bytes += max(0, size - self._counted)
        self._counted = max(size, self._counted)

    def _forward(self, offset: int) -> None:
        if self.seekable:
            self.rewind(offset)
        while self._position < offset and self.read(offset - self._position):
            pass

    def _fetch(self, size: int) -> bytes:
        try:
            return self._file.read(size) or b""
        except OSError as error:
            raise InputError(f"{self.name}: cannot be read: {error.strerror or error}; check the disk") from error

    def _remember(self, data: bytes) -> None:
        self._recent.append(data)
        self._recent_bytes += len(data)
        while self._recent_bytes - len(self._recent[0]) >= self.window_bytes:
            self._recent_bytes -= len(self._recent.popleft())


def shown(path: str) -> str:
    """A path as messages and tables can hold it: on one line, in UTF-8.

    >>> shown("a\\nb.warc")
    'a?b.warc'
    """
    text = path.encode("utf-8", "replace").decode()  # names that are not UTF-8 were decoded with surrogates
    return text if text.isprintable() else "".join(c if c.isprintable() else "?" for c in text)


@contextlib.contextmanager
def open_source(path: str, tally: Tally) -> Iterator[Source]:
    """A file, or stdin for `-`, open for reading; `InputError` where that fails."""
    if path == STDIN:
        if sys.stdin is None:
            raise InputError("-: stdin is closed; give a file, or a pipe to read from")
        # A source of its own around stdin: closing ours must not close the stream of the process.
        yield Source(sys.stdin.buffer, "stdin", tally, seekable=False)
        return
    try:
        # Reads are large or go through peek(), so a second buffer would only copy.
        file = open(path, "rb", buffering=0)  # noqa: PTH123, SIM115 - closed below, when the reader is done
    except OSError as error:
        raise InputError(f"{shown(path)}: cannot be opened: {error.strerror}; check the name and its rights") from error
    with file:
        # A device or a FIFO may claim to be seekable; only a regular file is.
        yield Source(file, shown(path), tally, seekable=stat.S_ISREG(os.fstat(file.fileno()).st_mode))


@contextlib.contextmanager
def as_file(source: Source) -> Iterator[IO[bytes]]:
    """The source as a file that can be sought, for formats that are read from their end; pipes go to disk first."""
    source.rewind(0)
    if source.seekable:
        yield source.file
        source.count_all()
        return
    with spooled(iter(lambda: source.read(CHUNK_BYTES), b""), source.name) as spool:
        yield spool


@contextlib.contextmanager
def spooled(pieces: Iterator[bytes], name: str) -> Iterator[IO[bytes]]:
    """Bytes that cannot be sought, written to a nameless file on disk."""
    with tempfile.TemporaryFile() as spool:
        try:
            for piece in pieces:
                spool.write(piece)
            spool.seek(0)
        except OSError as error:
            raise InputError(f"{name}: no room to keep it aside: {error.strerror}; give it as a plain file") from error
        yield spool
