"""Opens a path, stdin or a member of an archive as bytes that can be peeked at and stepped back in."""

import contextlib
import io
import os
import stat
import sys
import tempfile
from collections import deque
from collections.abc import Iterator
from typing import BinaryIO

from undust.corpus.tally import Tally
from undust.errors import InputError

STDIN = "-"

CHUNK_BYTES = 256 * 2**10

WINDOW_BYTES = 2 * 2**20
"""How far back a reader can step in a pipe, which cannot be sought: more than readers and decompressors buffer."""


class Source:
    """Bytes read forward, counted in a tally, with the means to look ahead and to go back.

    A file goes back anywhere; a pipe as far as its window. FastWARC takes it as a file object.

    >>> source = Source(io.BytesIO(b"WARC/1.0"), "example", Tally())
    >>> source.peek(4), source.read(), source.tell()
    (b'WARC', b'WARC/1.0', 8)
    """

    def __init__(self, file: BinaryIO, name: str, tally: Tally, *, seekable: bool | None = None) -> None:
        self.name = name
        self.seekable = file.seekable() if seekable is None else seekable
        self._file = file
        self._tally = tally
        self._position = 0  # of the next byte that read() gives
        self._counted = 0  # bytes already in the tally; going back must not count twice
        self._ahead = b""  # bytes taken from the file, but not given yet
        self._recent: deque[bytes] = deque()  # bytes given, for pipes only
        self._recent_bytes = 0

    def read(self, size: int = -1) -> bytes:
        """The next bytes, fewer than asked for where the file gives fewer; none at its end."""
        if self._ahead:
            data = self._ahead if size < 0 else self._ahead[:size]
            self._ahead = self._ahead[len(data) :]
            if size < 0:
                data += self._fetch(-1)
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
        parts = [self._ahead]
        length = len(self._ahead)
        while length < size and (more := self._fetch(size - length)):
            parts.append(more)
            length += len(more)
        self._ahead = b"".join(parts)
        return self._ahead[:size]

    def tell(self) -> int:
        """Offset of the next byte."""
        return self._position

    def rewind(self, offset: int) -> int:
        """Go to an offset read before, in a pipe to the nearest that is still known; say where that is."""
        if self.seekable:
            self._file.seek(offset)
            self._ahead = b""
            self._position = offset
            return offset
        known = b"".join(self._recent)
        oldest = self._position - len(known)
        offset = min(max(offset, oldest), self._position)
        self._ahead = known[offset - oldest :] + self._ahead
        self._recent = deque([known[: offset - oldest]])
        self._recent_bytes = offset - oldest
        self._position = offset
        return offset

    def size(self) -> int | None:
        """Bytes of a file, unknown for a pipe."""
        if not self.seekable:
            return None
        here = self._file.tell()
        end = self._file.seek(0, io.SEEK_END)
        self._file.seek(here)
        return end

    @property
    def file(self) -> BinaryIO:
        """The file below, for readers that seek in it themselves."""
        return self._file

    def count_all(self) -> None:
        """Count the whole file as read, after a reader of the file below is done."""
        size = self.size() or 0
        self._tally.bytes += max(0, size - self._counted)
        self._counted = max(size, self._counted)

    def close(self) -> None:
        """Close the file below."""
        self._file.close()

    def _fetch(self, size: int) -> bytes:
        try:
            return self._file.read(size) or b""
        except OSError as error:
            raise InputError(f"{self.name}: cannot be read: {error.strerror or error}; check the disk") from error

    def _remember(self, data: bytes) -> None:
        self._recent.append(data)
        self._recent_bytes += len(data)
        while self._recent_bytes - len(self._recent[0]) >= WINDOW_BYTES:
            self._recent_bytes -= len(self._recent.popleft())


@contextlib.contextmanager
def open_source(path: str, tally: Tally) -> Iterator[Source]:
    """A file, or stdin for `-`, open for reading; `InputError` where that fails."""
    if path == STDIN:
        # A source of its own around stdin: closing ours must not close the stream of the process.
        yield Source(sys.stdin.buffer, "stdin", tally, seekable=False)
        return
    try:
        # Reads are large or go through peek(), so a second buffer would only copy.
        file = open(path, "rb", buffering=0)  # noqa: PTH123, SIM115 - closed below, when the reader is done
    except OSError as error:
        raise InputError(f"{path}: cannot be opened: {error.strerror}; check the name and its rights") from error
    with file:
        # A device or a FIFO may claim to be seekable; only a regular file is.
        yield Source(file, path, tally, seekable=stat.S_ISREG(os.fstat(file.fileno()).st_mode))  # type: ignore[arg-type]


@contextlib.contextmanager
def as_file(source: Source) -> Iterator[BinaryIO]:
    """The source as a file that can be sought, for formats that are read from their end; pipes go to disk first."""
    source.rewind(0)
    if source.seekable:
        yield source.file
        source.count_all()
        return
    with tempfile.TemporaryFile() as spool:
        try:
            while data := source.read(CHUNK_BYTES):
                spool.write(data)
        except OSError as error:
            raise InputError(f"{source.name}: no room to keep it aside: {error.strerror}; give it as a file") from error
        spool.seek(0)
        yield spool  # type: ignore[misc] # a BinaryIO in all but name
