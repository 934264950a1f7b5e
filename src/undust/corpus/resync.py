"""Finds the next WARC record behind a damaged place, in plain and in compressed files."""

import re
import struct
import zlib
from collections.abc import Callable, Iterator
from typing import Any

import zstandard

from undust.corpus.decompress import ZSTD_FEED_BYTES, ZSTD_WINDOW_BYTES
from undust.corpus.streams import CHUNK_BYTES, Source

_PLAIN = re.compile(rb"(?<=\n)WARC/[01]\.\d{1,2}\r?\n[A-Za-z]")
_GZIP = re.compile(rb"\x1f\x8b\x08[\x00-\x1f]")
_ZSTD = re.compile(rb"\x28\xb5\x2f\xfd")
_LZ4 = re.compile(rb"\x04\x22\x4d\x18")
_HEADER_END = re.compile(rb"\n\r?\n")
_LENGTH = re.compile(rb"\ncontent-length[ \t]*:[ \t]*(\d{1,18})[ \t]*\r?\n", re.IGNORECASE)

_MAX_MARK_BYTES = 32
_MAX_HEADER_BYTES = 192 * 2**10
_BEHIND_BYTES = 64

_PEEK_BYTES = 512 * 2**10
_MAX_FIRST_BYTES = 4 * 2**20
"""How much of a compressed file, and of its plain bytes, is looked at for a second record."""

_MAX_FALSE_MARKS = 10_000
"""A file that is full of marks with no record behind them was made to cost time; the search ends there."""

_DICTIONARY_FRAME = 0x184D2A5D
_MAX_DICTIONARY_BYTES = 16 * 2**20


class RecordFinder:
    """Looks for starts of records in a source. Each place is looked at once more at most."""

    def __init__(self, source: Source, compression: str | None) -> None:
        self.compression = compression
        self.dictionary = _dictionary(source) if compression == "zstd" else None
        self._source = source
        self._nothing_after: int | None = None  # no record starts behind this offset
        self._false_marks = 0

    def next_after(self, offset: int) -> int | None:
        """Move the source to the first record that starts behind `offset`, and say where that is."""
        if self._nothing_after is not None and offset >= self._nothing_after:
            return None
        pattern, check, ahead = self._marks()
        base = self._source.rewind(offset)  # of data
        data = b""
        at = 1  # where to search in data; never 0, as a plain record is known by the newline before it
        while True:
            more = self._source.read(CHUNK_BYTES)
            data += more
            limit = len(data) - (ahead if more else 0)
            while (match := pattern.search(data, at)) and match.start() < limit:
                at = match.start()
                if check(memoryview(data)[at : at + ahead]):
                    return self._source.rewind(base + at)
                self._false_marks += 1
                at += 1
            if not more or self._false_marks > _MAX_FALSE_MARKS:
                self._nothing_after = offset
                return None
            at = match.start() if match else max(at, len(data) - _MAX_MARK_BYTES)
            base += at - 1
            data = data[at - 1 :]
            at = 1

    def behind_block(self, offset: int) -> bytes | None:
        """A few bytes behind the block of the record at an offset, up to the end of its member.

        Nothing where its header or block is not all there; no bytes where that cannot be seen any more.
        """
        if self.compression is None:
            end = self.block_end(offset)
            return end if end is None else self._source.read_at(end, _BEHIND_BYTES) or b""
        if self.compression == "lz4" or self._source.rewind(offset) != offset:
            return b""
        data = bytearray()
        end = None
        dropped = 0
        for piece in self._member():
            data += piece
            end = end_of_record(data) if end is None else end
            if end is not None and dropped + len(data) >= end + _BEHIND_BYTES:
                break
            if end is not None and len(data) > 2 * CHUNK_BYTES:
                dropped += len(data) - CHUNK_BYTES
                del data[:-CHUNK_BYTES]
            elif end is None and len(data) > _MAX_HEADER_BYTES:
                return None
        if end is None or dropped + len(data) < end:
            return None
        return bytes(data[end - dropped :][:_BEHIND_BYTES])

    def block_end(self, offset: int) -> int | None:
        """Where the block of the record at an offset of a plain file ends."""
        header = self._source.read_at(offset, _MAX_HEADER_BYTES)
        end = None if header is None else end_of_record(header)
        return None if end is None else offset + end

    def only_zeros_at(self, offset: int) -> bool:
        """Whether there are zeros from an offset to the end of the file, and nothing else."""
        found = False
        self._source.rewind(offset)
        while data := self._source.read(CHUNK_BYTES):
            found = True
            if data.strip(b"\0"):
                return False
        return found

    def is_whole(self, member: bytes) -> bool:
        """Whether the bytes from the start of a member reach to its end."""
        inflater, feed = self._inflater()
        try:
            for start in range(0, len(member), feed):
                inflater.decompress(member[start : start + feed])
                if inflater.eof:
                    return True
        except (zlib.error, zstandard.ZstdError):
            return False
        return False

    def _member(self) -> Iterator[bytes]:
        """The plain bytes of the member that the source stands at, as far as they can be had."""
        inflater, feed = self._inflater()
        try:
            while not inflater.eof and (data := self._source.read(feed)):
                yield inflater.decompress(data)
        except (zlib.error, zstandard.ZstdError):
            return

    def _inflater(self) -> tuple[Any, int]:
        if self.compression == "gzip":
            return zlib.decompressobj(31), 16 * 2**10  # which can grow to 16 MiB
        return self._zstd().decompressobj(), ZSTD_FEED_BYTES

    def _marks(self) -> tuple[re.Pattern[bytes], Callable[[memoryview], bool], int]:
        """What a record starts with, how to make sure of it, and the bytes which that takes."""
        if self.compression == "gzip":
            return _GZIP, _gzip_record, 4 * 2**10
        if self.compression == "zstd":
            # A frame shows nothing before its first block is there, and that has up to 128 KiB.
            return _ZSTD, self._zstd_record, 256 * 2**10
        if self.compression == "lz4":
            return _LZ4, _always, 4 * 2**10  # FastWARC itself will tell
        return _PLAIN, _always, 4 * 2**10

    def _zstd_record(self, data: memoryview) -> bool:
        try:
            with self._zstd().stream_reader(data) as reader:
                return reader.read(5) == b"WARC/"
        except zstandard.ZstdError:
            return False

    def _zstd(self) -> zstandard.ZstdDecompressor:
        dictionary = None if self.dictionary is None else zstandard.ZstdCompressionDict(self.dictionary)
        return zstandard.ZstdDecompressor(dict_data=dictionary, max_window_size=ZSTD_WINDOW_BYTES)


def end_of_record(data: bytes | bytearray) -> int | None:
    """Where the block ends of the record that the bytes begin with, as its header states it.

    >>> end_of_record(b"WARC/1.0\\r\\nContent-Length: 5\\r\\n\\r\\nhello")
    36
    """
    header = _HEADER_END.search(data)
    length = _LENGTH.search(data, 0, header.end()) if header else None
    return header.end() + int(length[1]) if header and length else None


def holds_many(source: Source, compression: str) -> bool:
    """Whether the first member of a compressed file shows a second record in it: the file was compressed as a whole."""
    data = source.peek(_PEEK_BYTES)
    member = b""
    try:
        if compression == "gzip":
            member = zlib.decompressobj(31).decompress(data, _MAX_FIRST_BYTES)
        elif data.startswith(b"\x28\xb5\x2f\xfd"):
            with zstandard.ZstdDecompressor(max_window_size=ZSTD_WINDOW_BYTES).stream_reader(data) as reader:
                member = reader.read(_MAX_FIRST_BYTES)
    except (zlib.error, zstandard.ZstdError):
        return False
    end = end_of_record(member)
    return end is not None and member[end : end + _BEHIND_BYTES].lstrip(b"\r\n").startswith(b"WARC/")


def _always(_data: memoryview) -> bool:
    return True


def _gzip_record(data: memoryview) -> bool:
    try:
        return zlib.decompressobj(31).decompress(data, 5) == b"WARC/"
    except zlib.error:
        return False


def _dictionary(source: Source) -> bytes | None:
    """The dictionary that a WARC.zst keeps in its first frame (as it is or compressed), if there is one."""
    head = source.peek(8)
    if len(head) < 8:
        return None
    magic, size = struct.unpack("<II", head)
    if magic != _DICTIONARY_FRAME or size > _MAX_DICTIONARY_BYTES:
        return None
    dictionary = source.peek(8 + size)[8:]
    if not dictionary.startswith(b"\x28\xb5\x2f\xfd"):
        return dictionary
    try:
        with zstandard.ZstdDecompressor(max_window_size=ZSTD_WINDOW_BYTES).stream_reader(dictionary) as reader:
            return reader.read(_MAX_DICTIONARY_BYTES)
    except zstandard.ZstdError:
        return None
