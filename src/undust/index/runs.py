"""Runs: files of sorted tables that are written once. Written from memory, merged from others, opened by mapping."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import xxhash

from undust.errors import InputError, OutputError
from undust.index.files import as_bytes, map_bytes, write_at
from undust.index.manifest import RunFile
from undust.kernels.index_runs import build_directory, merge

RANGE_ENTRIES = 4
"""Entries of one range of a directory: with two bits of 32 for each, 1 absent key in 20 is looked for in vain."""

CHUNK_RANGES = 1 << 17
"""Ranges that are merged at once: 4 MB of entries, read and written."""

_MAGIC, _FORMAT = 0x6E75725F74737564, 1
_LAYOUT = 6  # for each table: place and ranges of the directory, place and number of entries, two checksums
_TRAILER = 6  # magic, format, tables, place of the layout, its checksum, bytes of the file
_ALIGNED = 64

_U64 = npt.NDArray[np.uint64]
Chunk = tuple[int, int, _U64]  # the first range, how many, and the sorted entries in them


@dataclass(frozen=True, slots=True)
class Run:
    """A run that is mapped into memory."""

    folder: Path
    file: RunFile
    data: npt.NDArray[np.uint8]
    layout: _U64

    def addresses(self) -> npt.NDArray[np.int64]:
        """For each table: address of its directory, ranges, address of its entries, how many."""
        found = self.layout[:, :4].astype(np.int64)
        found[:, [0, 2]] += self.data.ctypes.data
        return found

    def entries(self, table: int) -> _U64:
        """Entries of a table, where they lie."""
        place, count = (int(value) for value in self.layout[table, 2:4])
        return self.data[place : place + 8 * count].view(np.uint64)

    def lower(self, table: int, key: int) -> int:
        """Find the first entry whose key is not below this."""
        place, ranges, _, count = (int(value) for value in self.layout[table, :4])
        at = key * ranges >> 32
        if count == 0 or at >= ranges:
            return count
        start, stop = (int(word) >> 32 for word in self.data[place + 8 * at : place + 8 * at + 16].view(np.uint64))
        if start > stop or stop > count:
            raise damaged(self.folder / self.file.name)
        return start + int(np.searchsorted(self.entries(table)[start:stop], np.uint64(key << 32)))

    def check(self) -> None:
        """Read everything, and refuse what is not as it was written."""
        end = 0
        for place, ranges, entries, count, *sums in self.layout.tolist():
            parts = (place, 8 * (ranges + 1) if ranges else 0), (entries, 8 * count)
            for (start, size), checksum in zip(parts, sums, strict=True):
                part = self.data[start : start + size]
                # What is between tables is nothing.
                if self.data[end:start].any() or xxhash.xxh3_64_intdigest(part.data) != checksum:
                    raise damaged(self.folder / self.file.name)
                end = start + size
        if self.data[end : -8 * _TRAILER - self.layout.nbytes].any():
            raise damaged(self.folder / self.file.name)


def damaged(path: Path) -> InputError:
    """Make the error for a run that is not as it was written."""
    return InputError(f"{path}: damaged; bring the folder back from a copy")


def open_run(folder: Path, file: RunFile, tables: int) -> Run:
    """Map a run; `InputError` if it is not the one that the manifest means. `FileNotFoundError` if it is gone."""
    handle = os.open(folder / file.name, os.O_RDONLY | os.O_CLOEXEC)
    try:
        if os.fstat(handle).st_size != file.size or file.size < 8 * _TRAILER:
            raise damaged(folder / file.name)
        data = map_bytes(handle, file.size)
    finally:
        os.close(handle)
    magic, version, count, place, checksum, size = data[-8 * _TRAILER :].view(np.uint64).tolist()
    layout_bytes = data[place : place + 8 * _LAYOUT * tables]
    if (magic, version, count, size, f"{checksum:016x}") != (_MAGIC, _FORMAT, tables, file.size, file.checksum):
        raise damaged(folder / file.name)
    if len(layout_bytes) != 8 * _LAYOUT * tables or xxhash.xxh3_64_intdigest(layout_bytes.data) != checksum:
        raise damaged(folder / file.name)
    return Run(folder, file, data, layout_bytes.view(np.uint64).reshape(tables, _LAYOUT))


def write_run(
    folder: Path, name: str, tables: Iterable[tuple[int, Iterable[Chunk]]], pages: int, first: int, end: int
) -> RunFile:
    """Write a run; each table is how many entries it has at most, and chunks of them by rising ranges."""
    layout: list[list[int]] = []
    try:
        with (folder / name).open("wb", buffering=0) as file:
            place = 0
            for most, chunks in tables:
                layout.append(_write_table(file.fileno(), place, most, chunks))
                place = -(-(layout[-1][2] + 8 * layout[-1][3]) // _ALIGNED) * _ALIGNED
            table = np.array(layout, dtype=np.uint64)
            checksum = xxhash.xxh3_64_intdigest(as_bytes(table))
            size = place + table.nbytes + 8 * _TRAILER
            trailer = np.array([_MAGIC, _FORMAT, len(layout), place, checksum, size], dtype=np.uint64)
            write_at(file.fileno(), table, place)
            write_at(file.fileno(), trailer, place + table.nbytes)
            os.fsync(file.fileno())
    except OSError as error:
        raise OutputError(
            f"{folder / name}: cannot be written: {error.strerror}; make room and open it again"
        ) from error
    return RunFile(name, size, f"{checksum:016x}", pages, first, end)


def ranges_for(most: int) -> int:
    """Ranges of a directory for so many entries."""
    return -(-most // RANGE_ENTRIES)


def _write_table(handle: int, place: int, most: int, chunks: Iterable[Chunk]) -> list[int]:
    ranges = ranges_for(most)
    entries_place = -(-(place + 8 * (ranges + 1)) // _ALIGNED) * _ALIGNED if ranges else place
    written, hashed, hashed_too = 0, xxhash.xxh3_64(), xxhash.xxh3_64()
    for first, count, entries in chunks:
        directory = np.empty(count, dtype=np.uint64)
        build_directory(entries, ranges, first, written, directory)
        for values, at, sums in (
            (directory, place + 8 * first, hashed),
            (entries, entries_place + 8 * written, hashed_too),
        ):
            write_at(handle, values, at)
            sums.update(as_bytes(values))
        written += len(entries)
    if ranges:
        last = np.array([written << 32], dtype=np.uint64)
        write_at(handle, last, place + 8 * ranges)
        hashed.update(as_bytes(last))
    return [place, ranges, entries_place, written, hashed.intdigest(), hashed_too.intdigest()]


def from_memory(entries: Callable[[int], _U64], tables: int) -> Iterator[tuple[int, list[Chunk]]]:
    """Give the tables of a run from sorted entries in memory."""
    for table in range(tables):
        found = entries(table)
        yield len(found), [(0, ranges_for(len(found)), found)] if len(found) else []


def from_runs(folder: Path, runs: Sequence[Run], gone: npt.NDArray[np.uint32]) -> Iterator[tuple[int, Iterator[Chunk]]]:
    """Give the tables of a run that is made of others, without the rows that are gone."""
    with ExitStack() as stack:
        handles = [stack.enter_context((folder / run.file.name).open("rb")).fileno() for run in runs]
        for table in range(len(runs[0].layout)):
            most = sum(int(run.layout[table, 3]) for run in runs)
            yield most, _merged(handles, runs, table, most, gone)


def _merged(
    handles: Sequence[int], runs: Sequence[Run], table: int, most: int, gone: npt.NDArray[np.uint32]
) -> Iterator[Chunk]:
    ranges = ranges_for(most)
    starts = [0] * len(runs)
    for first in range(0, ranges, CHUNK_RANGES):
        last = min(first + CHUNK_RANGES, ranges)
        key = -(-(last << 32) // ranges)
        stops = [run.lower(table, key) if key < 1 << 32 else int(run.layout[table, 3]) for run in runs]
        sizes = np.array(stops, dtype=np.int64) - np.array(starts, dtype=np.int64)
        ends = np.cumsum(sizes)
        heads = ends - sizes
        values, merged = np.empty(int(ends[-1]), dtype=np.uint64), np.empty(int(ends[-1]), dtype=np.uint64)
        for handle, run, start, head, end in zip(handles, runs, starts, heads.tolist(), ends.tolist(), strict=True):
            _read(handle, values[head:end], int(run.layout[table, 2]) + 8 * start, run.folder / run.file.name)
        yield first, last - first, merged[: merge(values, heads, ends, gone, merged)]
        starts = stops


def _read(handle: int, values: _U64, at: int, path: Path) -> None:
    """Read, instead of looking into the mapping: what is read in a row should come in a row."""
    view = as_bytes(values)
    while view:
        done = os.preadv(handle, [view], at)
        if done == 0:
            raise damaged(path)
        view, at = view[done:], at + done
