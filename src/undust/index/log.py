"""Files of rows: a log that is written at its end only, one checked record for each acknowledged change.

A record is a header of one unit, the rows, and the numbers of removed rows. The log is also where rows are read from,
by mapping it, so that a page is written once. A record that was cut off by a crash is the last one, and is not there.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import xxhash

from undust.errors import InputError, OutputError
from undust.index.files import as_bytes, map_bytes, write_at
from undust.kernels.index_rows import SEGMENT_BITS, UNIT

SEGMENT_BYTES = UNIT << SEGMENT_BITS
MAX_SEGMENTS = 1 << (32 - SEGMENT_BITS)
_FIRST_BYTES = 1 << 20
_PIECE_BYTES = 1 << 24
_MAGIC = 0x74737564
_HEADER = np.dtype(
    [
        ("magic", "<u4"),
        ("removed", "<u4"),
        ("sequence", "<u8"),
        ("place", "<u8"),
        ("units", "<u8"),
        ("pages", "<u8"),
        ("groups", "<u8"),
        ("rows", "<u8"),
        ("checksum", "<u8"),
    ]
)
_U8 = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Record:
    """One change: rows with numbers from `first` to before `end`, rows removed, and what the index has after it."""

    first: int
    end: int
    removed: npt.NDArray[np.uint32]
    rows: int  # how many rows these are
    sequence: int
    pages: int
    groups: int
    next_byte: int  # where the next record begins in its file


def removed_units(count: int) -> int:
    """Units that the numbers of removed rows take."""
    return (4 * count + UNIT - 1) // UNIT


class Segment:
    """One file of rows, mapped into memory; the writer makes it longer ahead of what it writes.

    Rows are looked at in the mapping, as far as they are known to be there. What may be there is read, as a writer
    that takes its room back could cut off what is mapped behind the rows.
    """

    def __init__(self, path: Path, number: int, *, writable: bool = False) -> None:
        self.path = path
        self.number = number
        self._mapped: _U8 = np.zeros(0, dtype=np.uint8)
        mode = os.O_RDWR | os.O_CREAT if writable else os.O_RDONLY
        try:
            self._handle = os.open(path, mode | os.O_CLOEXEC, 0o666)
            self.remap()
        except FileNotFoundError:
            raise
        except OSError as error:
            raise InputError(f"{path}: cannot be read: {error.strerror}") from error

    @property
    def size(self) -> int:
        """How much is mapped of the file."""
        return len(self._mapped)

    @property
    def address(self) -> int:
        """Where in memory it is mapped."""
        return int(self._mapped.ctypes.data)

    def remap(self) -> None:
        """Map the file as long as it is now."""
        size = os.fstat(self._handle).st_size
        if size != len(self._mapped):
            self._mapped = map_bytes(self._handle, size) if size else np.zeros(0, dtype=np.uint8)

    def read(self, at: int, size: int) -> _U8:
        """Read bytes from a place; fewer where the file ends."""
        data = np.empty(size, dtype=np.uint8)
        done = 0
        while more := os.preadv(self._handle, [data[done:].data], at + done) if done < size else 0:
            done += more
        return data[:done]

    def reserve(self, end: int) -> None:
        """Make room up to a byte: the file grows, with zeros, to at least twice its size."""
        if end > self.size:
            self._truncate(min(max(end, 2 * self.size, _FIRST_BYTES), SEGMENT_BYTES))

    def cut(self, end: int) -> None:
        """Take off what is behind a byte: nothing that counts."""
        if end != self.size:
            self._truncate(end)

    def _truncate(self, size: int) -> None:
        try:
            os.ftruncate(self._handle, size)
            self.remap()
        except OSError as error:
            raise OutputError(f"{self.path}: cannot be written: {error.strerror}") from error

    def write(self, parts: list[npt.NDArray[np.uint32]], at: int, *, sync: bool) -> None:
        """Write at a place; with `sync`, return when it outlives a crash of the machine."""
        try:
            for part in parts:
                at = write_at(self._handle, part, at)
            if sync:
                os.fdatasync(self._handle) if hasattr(os, "fdatasync") else os.fsync(self._handle)
        except OSError as error:
            raise OutputError(
                f"{self.path}: cannot be written: {error.strerror}; make room and open it again"
            ) from error

    def sync(self) -> None:
        """Return when all that was written outlives a crash of the machine."""
        self.write([], 0, sync=True)

    def close(self) -> None:
        """Give the file back."""
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1


def make_record(
    rows: npt.NDArray[np.uint32],
    removed: npt.NDArray[np.uint32],
    *,
    salt: int,
    count: int,
    sequence: int,
    place: int,
    pages: int,
    groups: int,
) -> list[npt.NDArray[np.uint32]]:
    """Make a record of `count` rows (whole units) and removed numbers, for the unit `place`."""
    padded = np.zeros(removed_units(len(removed)) * (UNIT // 4), dtype=np.uint32)
    padded[: len(removed)] = removed
    header = np.zeros(1, dtype=_HEADER)
    fields = (_MAGIC, len(removed), sequence, place, len(rows) * 4 // UNIT, pages, groups, count, 0)
    header[0] = fields
    hashed = xxhash.xxh3_64(seed=salt)
    for part in (header.view(np.uint8), rows, padded):
        hashed.update(as_bytes(part))
    header["checksum"] = hashed.intdigest()
    return [header.view(np.uint32), rows, padded]


def _record_at(segment: Segment, at: int, salt: int, sequence: int | None) -> Record | None:
    """Read the record at a byte; None if there is no whole one, or not the one of this sequence."""
    raw = segment.read(at, UNIT)
    if len(raw) < UNIT:
        return None
    header = raw.view(_HEADER)[0]
    units, removed = int(header["units"]), int(header["removed"])
    place = segment.number << SEGMENT_BITS | at // UNIT
    size = UNIT * (units + removed_units(removed))
    if header["magic"] != _MAGIC or header["place"] != place or at + UNIT + size > SEGMENT_BYTES:
        return None
    if sequence is not None and header["sequence"] != sequence:
        return None
    body = segment.read(at + UNIT, size)
    checksum = int(header["checksum"])
    header["checksum"] = 0
    hashed = xxhash.xxh3_64(raw.data, seed=salt)
    hashed.update(body.data)
    if len(body) < size or hashed.intdigest() != checksum:
        return None
    return Record(
        first=place + 1,
        end=place + 1 + units,
        removed=body[UNIT * units :][: 4 * removed].view(np.uint32),
        rows=int(header["rows"]),
        sequence=int(header["sequence"]),
        pages=int(header["pages"]),
        groups=int(header["groups"]),
        next_byte=at + UNIT + size,
    )


def read_records(segment: Segment, at: int, *, salt: int, sequence: int) -> Iterator[Record]:
    """Give the whole records from a byte on, the first of which has this sequence.

    What is not a whole record ends the log, unless a whole one follows it: then the file is damaged.
    """
    while True:
        record = _record_at(segment, at, salt, sequence)
        if record is None:
            if not _follows(segment, at, salt, sequence):
                return
            # Another process may have written on while this one looked.
            record = _record_at(segment, at, salt, sequence)
            if record is None:
                raise InputError(f"{segment.path}: damaged at byte {at:,}; bring the folder back from a copy")
        yield record
        at, sequence = record.next_byte, sequence + 1


def _follows(segment: Segment, at: int, salt: int, sequence: int) -> bool:
    """Tell whether a whole record of a later sequence comes behind something that is none."""
    if not segment.read(at, UNIT).any():
        return False  # room that was not written to
    while len(data := segment.read(at, _PIECE_BYTES)) >= UNIT:
        magics = data[: len(data) // UNIT * UNIT].view(np.uint32)[:: UNIT // 4]
        for unit in np.flatnonzero(magics == _MAGIC).tolist():
            record = _record_at(segment, at + UNIT * unit, salt, None)
            if record is not None and record.sequence > sequence:
                return True
        at += len(data)
    return False
