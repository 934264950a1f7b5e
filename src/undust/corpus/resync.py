"""Finds the next WARC record behind a damaged place, in plain and in compressed files."""

import re
import struct
import zlib
from collections.abc import Callable

import zstandard

from undust.corpus.decompress import ZSTD_WINDOW_BYTES, compression_of
from undust.corpus.streams import CHUNK_BYTES, Source

_PLAIN = re.compile(rb"(?<=\n)WARC/[01]\.\d{1,2}\r?\n[A-Za-z]")
_GZIP = re.compile(rb"\x1f\x8b\x08[\x00-\x1f]")
_ZSTD = re.compile(rb"\x28\xb5\x2f\xfd")
_LZ4 = re.compile(rb"\x04\x22\x4d\x18")

_MAX_MARK_BYTES = 32

_DICTIONARY_FRAME = 0x184D2A5D
_MAX_DICTIONARY_BYTES = 16 * 2**20


class RecordFinder:
    """Looks for starts of records in a source. Each place is looked at once more at most."""

    def __init__(self, source: Source) -> None:
        head = source.peek(8)
        self.compression = compression_of(head)
        self.dictionary = _dictionary(source, head) if self.compression == "zstd" else None
        self._source = source
        self._nothing_after: int | None = None  # no record starts behind this offset

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
                if check(data[at : at + ahead]):
                    return self._source.rewind(base + at)
                at += 1
            if not more:
                self._nothing_after = offset
                return None
            at = match.start() if match else max(at, len(data) - _MAX_MARK_BYTES)
            base += at - 1
            data = data[at - 1 :]
            at = 1

    def _marks(self) -> tuple[re.Pattern[bytes], Callable[[bytes], bool], int]:
        """What a record starts with, how to make sure of it, and the bytes which that takes."""
        if self.compression == "gzip":
            return _GZIP, _gzip_record, 4 * 2**10
        if self.compression == "zstd":
            # A frame shows nothing before its first block is there, and that has up to 128 KiB.
            return _ZSTD, self._zstd_record, 256 * 2**10
        if self.compression == "lz4":
            return _LZ4, _always, 4 * 2**10  # FastWARC itself will tell
        return _PLAIN, _always, 4 * 2**10

    def _zstd_record(self, data: bytes) -> bool:
        unpacker = zstandard.ZstdDecompressor(dict_data=self._zstd_dictionary(), max_window_size=ZSTD_WINDOW_BYTES)
        try:
            with unpacker.stream_reader(data) as reader:
                return reader.read(5) == b"WARC/"
        except zstandard.ZstdError:
            return False

    def _zstd_dictionary(self) -> zstandard.ZstdCompressionDict | None:
        return None if self.dictionary is None else zstandard.ZstdCompressionDict(self.dictionary)


def _always(_data: bytes) -> bool:
    return True


def _gzip_record(data: bytes) -> bool:
    try:
        return zlib.decompressobj(31).decompress(data, 5) == b"WARC/"
    except zlib.error:
        return False


def _dictionary(source: Source, head: bytes) -> bytes | None:
    """The dictionary that a WARC.zst keeps in its first frame (as it is or compressed), if there is one."""
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
