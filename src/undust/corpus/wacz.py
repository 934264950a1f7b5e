"""Reads the WARC files inside a WACZ, which is a zip file; also where its directory was cut off."""

import struct
import zipfile
import zlib
from collections.abc import Iterator
from typing import BinaryIO

import pyarrow as pa

from undust.corpus import warc
from undust.corpus.reading import Reading
from undust.corpus.streams import CHUNK_BYTES, Source, as_file
from undust.errors import InputError

_ENDINGS = (".warc", ".warc.gz", ".warc.zst")
_LOCAL = struct.Struct("<4sHHHHHIIIHH")
_DEFLATED = 8


def read(source: Source, reading: Reading) -> Iterator[pa.RecordBatch]:
    """Pages of all archives in a WACZ file."""
    with as_file(source) as file:
        try:
            archive = zipfile.ZipFile(file)
        except (
            zipfile.BadZipFile,
            OSError,
            ValueError,
            NotImplementedError,
            struct.error,
            UnicodeDecodeError,
        ):
            # ValueError and its like: fields of a damaged directory, which zipfile does not check all by itself.
            reading.tally.damage(source.name, "zip directory is missing or damaged; reading what is there")
            yield from _without_directory(file, source.name, reading)
            return
        with archive:
            members = sorted(name for name in archive.namelist() if _is_warc(name))
            if not members:
                raise InputError(
                    f"{source.name}: a zip file without archive/*.warc.gz, so not WACZ; unpack it and give what is inside"
                )
            for member in members:
                yield from _member_pages(archive, member, source.name, reading)


def _is_warc(name: str) -> bool:
    return name.startswith("archive/") and name.lower().endswith(_ENDINGS)


def _member_pages(archive: zipfile.ZipFile, member: str, name: str, reading: Reading) -> Iterator[pa.RecordBatch]:
    try:
        file = archive.open(member)
    except (
        zipfile.BadZipFile,
        RuntimeError,
        NotImplementedError,
        OSError,
        ValueError,
        struct.error,
    ) as error:
        # RuntimeError: a member with a password.
        reading.tally.damage(name, f"{member} cannot be unpacked ({error})")
        return
    with file:
        yield from _warc_pages(_Guarded(file), f"{name}:{member}", reading)


def _warc_pages(file: "_Guarded | _Rest", name: str, reading: Reading) -> Iterator[pa.RecordBatch]:
    inner = Reading(type(reading.tally)(), reading.max_body_bytes, reading.any_status)
    yield from warc.read(Source(file, name, inner.tally, seekable=False), inner)  # type: ignore[arg-type]
    inner.tally.bytes = 0  # counted once, as bytes of the WACZ
    reading.tally.merge([inner.tally])
    if file.problem:
        reading.tally.damage(name, file.problem)


class _Guarded:
    """A member of a zip file that ends where it is damaged, and says so."""

    def __init__(self, file: "zipfile.ZipExtFile | BinaryIO") -> None:
        self.problem = ""
        self._file = file

    def read(self, size: int = -1) -> bytes:
        if self.problem:
            return b""
        try:
            return self._file.read(size)
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, NotImplementedError) as error:
            self.problem = f"cannot be unpacked to its end ({error})"
            return b""


def _without_directory(file: BinaryIO, name: str, reading: Reading) -> Iterator[pa.RecordBatch]:
    """The archives that stand before the cut, found by the headers in front of them."""
    at = 0
    while True:
        file.seek(at)
        header = file.read(_LOCAL.size)
        if len(header) < _LOCAL.size or header[:4] != b"PK\x03\x04":
            return
        _, _, flags, method, _, _, _, packed, _, name_bytes, extra_bytes = _LOCAL.unpack(header)
        member = file.read(name_bytes).decode("utf-8", "replace")
        start = at + _LOCAL.size + name_bytes + extra_bytes
        unknown_size = bool(flags & 8) or packed == 0xFFFFFFFF  # stated behind the data, or in the extra field
        if _is_warc(member) and not flags & 1 and method in (0, _DEFLATED):
            file.seek(start)
            rest = _Rest(file, None if unknown_size else packed, deflated=method == _DEFLATED)
            yield from _warc_pages(rest, f"{name}:{member}", reading)
        if unknown_size:
            return  # where the next member starts is not known
        at = start + packed


class _Rest:
    """The bytes of a member, up to its size if that is known, else to the end of the file."""

    def __init__(self, file: BinaryIO, size: int | None, *, deflated: bool) -> None:
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
