"""An index as one process sees it: mapped rows and runs, tables in memory, and the arguments of kernels for them."""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import xxhash

from undust.errors import InputError
from undust.index.design import METHODS
from undust.index.log import Record, Segment, read_records
from undust.index.manifest import Manifest, read_manifest
from undust.index.memory import Memory
from undust.index.runs import Run, open_run
from undust.kernels.index_pages import replay
from undust.kernels.index_rows import BANDS, MAX_BUCKET, NONE, gather_urls
from undust.kernels.index_search import STACK

MODES = "modes.npy"
_ATTEMPTS = 100

_Rows = tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int64]]


class Store:
    """A consistent state of an index. It changes only by `read_on`, and by whoever writes through it."""

    def __init__(self, folder: Path, manifest: Manifest, *, buffer_pages: int, writable: bool = False) -> None:
        self.folder = folder
        self.manifest = manifest
        self.buffer_pages = buffer_pages
        self.writable = writable
        self.design = manifest.design
        self.plan = self.design.plan()
        self.methods = np.array([METHODS[name] for name in self.design.methods], dtype=np.int64)
        self.pending = np.zeros(3, dtype=np.int64)
        self.trouble = np.zeros(2, dtype=np.int64)
        self.totals = np.array([manifest.pages, manifest.groups], dtype=np.int64)
        self.sequence = manifest.sequence
        self.end = manifest.segments[-1]
        last = len(manifest.segments) - 1
        self.segments = [
            Segment(folder / manifest.rows_name(number), number, writable=writable and number == last)
            for number in range(len(manifest.segments))
        ]
        for segment, size in zip(self.segments, manifest.segments, strict=True):
            if segment.size < size:
                raise InputError(f"{segment.path}: cut short; bring the folder back from a copy")
        self.runs: list[Run] = []
        self.memory = Memory(self.design.tables, buffer_pages)
        self.scratch = self._scratch()
        self.open_runs()

    def _scratch(self) -> tuple[npt.NDArray[Any], ...]:
        bands, bucket = int(self.plan[BANDS]), int(self.plan[MAX_BUCKET])
        seen = 1 << max(2 * bands * (bucket + 1), 16).bit_length()
        return (
            np.zeros(seen, dtype=np.uint64),
            np.zeros(bucket + 1, dtype=np.uint32),
            np.zeros((STACK, 4), dtype=np.int64),
            np.zeros(3, dtype=np.int64),
        )

    def open_runs(self) -> None:
        """Map the runs of the manifest; those that are mapped stay."""
        known = {run.file.name: run for run in self.runs}
        self.runs = [
            known.get(file.name) or open_run(self.folder, file, self.design.tables) for file in self.manifest.runs
        ]
        addresses = [run.addresses() for run in self.runs]
        shape = (len(addresses), self.design.tables, 4)
        self._addresses = np.stack(addresses) if addresses else np.zeros(shape, dtype=np.int64)

    @property
    def active(self) -> Segment:
        """The file of rows that grows."""
        return self.segments[-1]

    def tables(self) -> tuple[npt.NDArray[Any], ...]:
        """Give the tables as kernels take them."""
        m = self.memory
        return self._addresses, m.slots, m.tails, m.entries, m.nexts, m.counts, m.hints, self.trouble

    def rows(self) -> _Rows:
        """Give the rows as kernels take them."""
        ends = [*self.manifest.segments[:-1], self.end]
        places = [[segment.address, end] for segment, end in zip(self.segments, ends, strict=True)]
        return np.array(places, dtype=np.int64), self.pending, self.trouble

    def require_whole(self) -> None:
        """Raise the error for what a kernel found damaged."""
        if self.trouble.any():
            row, run = self.trouble.tolist()
            self.trouble[:] = 0
            where = self.runs[run - 1].file.name if run else f"row {row - 1:,}"
            raise InputError(f"{self.folder}: {where} is damaged; bring the folder back from a copy")

    def urls(self, numbers: npt.NDArray[np.uint32]) -> pa.Array:
        """Give the URLs of rows; null for none."""
        offsets = np.zeros(len(numbers) + 1, dtype=np.int64)
        rows = self.rows()
        size = gather_urls(self.plan, rows, numbers, offsets, np.empty(0, dtype=np.uint8))
        data = np.empty(max(size, 0), dtype=np.uint8)
        if size > 0:
            gather_urls(self.plan, rows, numbers, offsets, data)
        self.require_whole()
        there = pa.array(numbers != NONE)
        found = pa.LargeStringArray.from_buffers(
            len(numbers), pa.py_buffer(offsets), pa.py_buffer(data), there.buffers()[1]
        )
        try:
            found.validate(full=True)
        except pa.ArrowInvalid as error:
            raise InputError(f"{self.folder}: a URL is damaged; bring the folder back from a copy") from error
        return found.cast(pa.string())

    def read_on(self) -> bool:
        """Take in what was written to the log since; True if that was something."""
        before = self.sequence
        for record in read_records(self.active, self.end, salt=self.design.salt, sequence=self.sequence):
            most = max(record.rows, len(record.removed))
            if self.memory.used + most > self.memory.room:
                return self._read_again(2 * (self.memory.used + most), before)
            self._take(record)
        return self.sequence > before

    def _read_again(self, room: int, before: int) -> bool:
        """Begin anew, from where runs end, with more memory: the writer keeps more in memory than we thought."""
        self.memory = Memory(self.design.tables, room)
        self.sequence, self.end = self.manifest.sequence, self.manifest.segments[-1]
        self.read_on()
        return self.sequence > before

    def _take(self, record: Record) -> None:
        if record.next_byte > self.active.size:
            self.active.remap()
        self.end = record.next_byte
        count = replay(self.plan, self.tables(), self.rows(), record.first, record.end, record.removed)
        self.require_whole()
        if count != record.rows:
            raise InputError(f"{self.active.path}: damaged; bring the folder back from a copy")
        self.sequence += 1
        self.totals[:] = record.pages, record.groups

    def close(self) -> None:
        """Give back files and memory."""
        for segment in self.segments:
            segment.close()
        self.segments, self.runs = [], []
        self.memory = Memory(1, 1)


def open_store(folder: Path, *, buffer_pages: int, writable: bool = False) -> Store:
    """Open the index of a folder as it is now."""
    for _ in range(_ATTEMPTS):
        manifest = read_manifest(folder)
        try:
            store = Store(folder, manifest, buffer_pages=buffer_pages, writable=writable)
            store.read_on()
            return store
        except FileNotFoundError as error:
            # Whoever writes has merged what we were about to read.
            if read_manifest(folder) == manifest:
                raise InputError(f"{error.filename}: missing; bring the folder back from a copy") from error
    raise InputError(f"{folder}: changes faster than it can be opened; try again")


def read_modes(folder: Path, manifest: Manifest) -> npt.NDArray[np.uint64]:
    """Read the modes of the cascade; none, if there are none."""
    if manifest.modes is None:
        return np.zeros((0, 1), dtype=np.uint64)
    path = folder / MODES
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from error
    if xxhash.xxh3_128_hexdigest(data) != manifest.modes:
        raise InputError(f"{path}: damaged; bring the folder back from a copy")
    width = int.from_bytes(data[:8], "little")
    return np.frombuffer(data, dtype=np.uint64, offset=8).reshape(-1, width).copy()
