"""Reads the WARC files inside a WACZ, which is a zip file; also where its directory was cut off."""

import struct
import zipfile
import zlib
from collections.abc import Generator, Iterator
from typing import IO

import pyarrow as pa

from undust.corpus import warc
from undust.corpus.decompress import compression_of
from undust.corpus.reading import Reading
from undust.corpus.streams import CHUNK_BYTES, Source, as_file, shown
from undust.corpus.tally import Tally
from undust.errors import InputError

_ENDINGS = (".warc", ".warc.gz", ".warc.zst")
_LOCAL = struct.Struct("<4sHHHHHIIIHH")
_DIRECTORY_END = struct.Struct("<4sHHHHIIH")
_MAX_COMMENT_BYTES = 2**16
_MAX_DIRECTORY_BYTES = 8 * 2**20
"""zipfile holds every entry in memory; a WACZ has a dozen, and this is room for a hundred thousand."""

_READABLE = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""What WACZ allows; others can ask for gigabytes of memory."""

_PROBLEMS = (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, RuntimeError, struct.error)
"""What zipfile raises for damaged files: it does not check all fields. RuntimeError: passwords, unknown methods."""


def read(source: Source, reading: Reading) -> Iterator[pa.RecordBatch]:
    """Pages of all archives in a WACZ file."""
    with as_file(source) as file:
        if _directory_bytes(file) > _MAX_DIRECTORY_BYTES:
            raise InputError(f"{source.name}: a zip file with a huge directory, so not WACZ; unpack it first")
        try:
            archive = zipfile.ZipFile(file)
        except _PROBLEMS:
            reading.tally.damage(source.name, "zip directory is missing or damaged; reading what is there")
            found = yield from _without_directory(file, source.name, reading)
            if not found:
                raise _no_archive(source.name) from None
            return
        with archive:
            members = {info.filename: info for info in archive.infolist() if _is_warc(info.filename)}
            if not members:
                raise _no_archive(source.name)
            for name in sorted(members):
                yield from _member_pages(archive, members[name], source.name, reading)


def _no_archive(name: str) -> InputError:
    return InputError(f"{name}: a zip file without archive/*.warc.gz, so not WACZ; unpack it and give what is inside")


def _directory_bytes(file: IO[bytes]) -> int:
    """Size of the directory of a zip file, as the file states it; 0 where it states none."""
    size = file.seek(0, 2)
    file.seek(max(0, size - _MAX_COMMENT_BYTES - _DIRECTORY_END.size))
    tail = file.read(_MAX_COMMENT_BYTES + _DIRECTORY_END.size)
    file.seek(0)
    at = tail.rfind(b"PK\x05\x06")
    if at < 0 or len(tail) - at < _DIRECTORY_END.size:
        return 0
    stated: int = _DIRECTORY_END.unpack_from(tail, at)[5]
    return stated if stated != 0xFFFFFFFF else _zip64_directory_bytes(tail)


def _zip64_directory_bytes(tail: bytes) -> int:
    at = tail.rfind(b"PK\x06\x06")
    if at < 0 or len(tail) - at < 48:
        return 0
    stated: int = struct.unpack_from("<Q", tail, at + 40)[0]
    return stated


def _is_warc(name: str) -> bool:
    return name.startswith("archive/") and name.lower().endswith(_ENDINGS)


def _member_pages(
    archive: zipfile.ZipFile, member: zipfile.ZipInfo, name: str, reading: Reading
) -> Iterator[pa.RecordBatch]:
    label = shown(member.filename)
    if member.compress_type not in _READABLE:
        reading.tally.damage(name, f"{label} is packed in a way that WACZ does not allow")
        return
    try:
        file = archive.open(member)
    except _PROBLEMS as error:
        reading.tally.damage(name, f"{label} cannot be unpacked ({error})")
        return
    with file:
        yield from _warc_pages(_Guarded(file), f"{name}:{label}", reading)


def _warc_pages(file: "_Guarded | _Rest", name: str, reading: Reading) -> Iterator[pa.RecordBatch]:
    # A tally of its own: bytes are counted once, as those of the WACZ.
    inner = Reading(Tally(), reading.max_body_bytes, reading.any_status)
    source = Source(file, name, inner.tally, seekable=False)
    compression = compression_of(source.peek(8))
    try:
        yield from warc.read(source, compression, inner)
    except InputError as error:
        file.problem = file.problem or str(error).removeprefix(f"{name}: ")
    inner.tally.bytes = 0
    if file.problem and not inner.tally.damaged:  # one cause, one count
        inner.tally.damage(name, file.problem)
    reading.tally.merge([inner.tally])


class _Guarded:
    """A member of a zip file that ends where it is damaged, and says so."""

    def __init__(self, file: IO[bytes]) -> None:
        self.problem = ""
        self._file = file

    def read(self, size: int = -1) -> bytes:
        if self.problem:
            return b""
        try:
            return self._file.read(size)
        except _PROBLEMS as error:
            self.problem = f"cannot be unpacked to its end ({error})"
            return b""


def _without_directory(file: IO[bytes], name: str, reading: Reading) -> Generator[pa.RecordBatch, None, bool]:
    """The archives that stand before the cut, found by the headers in front of them; returns whether any is there."""
    at = 0
    found = False
    while True:
        file.seek(at)
        header = file.read(_LOCAL.size)
        if len(header) < _LOCAL.size or header[:4] != b"PK\x03\x04":
            return found
        _, _, flags, method, _, _, _, packed, _, name_bytes, extra_bytes = _LOCAL.unpack(header)
        member = file.read(name_bytes).decode("utf-8", "replace")
        start = at + _LOCAL.size + name_bytes + extra_bytes
        unknown_size = bool(flags & 8) or packed == 0xFFFFFFFF  # stated behind the data, or in the extra field
        if _is_warc(member) and not flags & 1 and method in _READABLE:
            found = True
            file.seek(start)
            rest = _Rest(file, None if unknown_size else packed, deflated=method == zipfile.ZIP_DEFLATED)
            yield from _warc_pages(rest, f"{name}:{shown(member)}", reading)
        if unknown_size:
            return found  # where the next member starts is not known
        at = start + packed


class _Rest:
    """The bytes of a member, up to its size if that is known, else to the end of the file."""

    def __init__(self, file: IO[bytes], size: int | None, *, deflated: bool) -> None:
        self.problem = ""
        self._file = file
        self._left = size
        self._inflater = zlib.decompressobj(-15) if deflated else None

    def read(self, size: int = -1) -> bytes:
        if self._inflater is None:
            return self._raw(size if size >= 0 else CHUNK_BYTES)
        inflater = self._inflater
        while not inflater.eof and not self.problem:
            data = inflater.unconsumed_tail or self._raw(CHUNK_BYTES)
            if not data:
                break
            try:
                plain = inflater.decompress(data, size if size > 0 else CHUNK_BYTES)
            except zlib.error as error:
                self.problem = f"cannot be unpacked to its end ({error})"
                break
            if plain:
                return plain
        return b""

    def _raw(self, size: int) -> bytes:
        if self._left is not None:
            size = min(size, self._left)
        data = self._file.read(size) if size else b""
        if self._left is not None:
            self._left -= len(data)
        return data
