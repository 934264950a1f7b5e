"""An index that somebody has open: to read, or as the one who writes."""

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import xxhash

from undust.errors import InputError, OutputError, UsageError
from undust.index.compaction import compact
from undust.index.design import Design
from undust.index.lock import WriterLock
from undust.index.log import read_records
from undust.index.manifest import NAME, Manifest, read_manifest, write_manifest
from undust.index.store import MODES, Store, open_store, read_modes
from undust.index.writer import Writer
from undust.outputs import write_whole

_BEGUN = ("lock", MODES, "rows-0000-000.log")
_Result = TypeVar("_Result")
_U64 = npt.NDArray[np.uint64]


class Session:
    """The files of an index, the right to write to them, and whether writing has failed."""

    def __init__(
        self,
        path: Path,
        wanted: dict[str, Any],
        modes: _U64 | None,
        *,
        read_only: bool,
        sync: bool,
        buffer_pages: int,
    ) -> None:
        self.path = path
        self._sync = sync
        self._buffer_pages = buffer_pages
        self._failed = False
        self._store: Store | None = None
        self._writer: Writer | None = None
        self._lock = None if read_only else _claim(path)
        try:
            if not read_only and not (path / NAME).exists():
                design = Design(**{name: value for name, value in wanted.items() if value is not None})
                _create(path, design, modes)
            self._open()
            self.store.design.require(**wanted)
            self.modes = read_modes(path, self.store.manifest)
            if modes is not None and not np.array_equal(modes, self.modes):
                raise UsageError("the index was made with other modes; open it without modes")
        except BaseException:
            self._release()
            raise

    def _open(self) -> None:
        writable = self._lock is not None
        self._store = open_store(self.path, buffer_pages=self._buffer_pages, writable=writable)
        self._writer = Writer(self._store, sync=self._sync) if writable else None

    @property
    def store(self) -> Store:
        """The state that answers are given from."""
        if self._store is None:
            raise UsageError(f"{self.path}: the index is closed; open it again")
        return self._store

    def require_writer(self) -> Writer:
        """Give who may write; an error where that is nobody."""
        if self._failed:
            raise OutputError(f"{self.path}: an earlier change was not written; close the index and open it again")
        if self._writer is None:
            closed = self._store is None
            raise UsageError(f"{self.path}: the index is {'closed' if closed else 'open read-only'}; open it to write")
        return self._writer

    def change(self, work: Callable[[Writer], _Result]) -> _Result:
        """Do something that writes. If it fails, memory may know what the disk does not: nothing more is answered."""
        writer = self.require_writer()
        try:
            return work(writer)
        except BaseException:
            self._failed = True
            raise

    def settle(self, schema: pa.Schema) -> None:
        """Take on how fingerprints are made from the first of them; refuse those that are made differently."""
        self.require_writer()
        store = self.store
        design = store.design.settled(schema)
        if design is not store.design:
            write_manifest(self.path, dataclasses.replace(store.manifest, design=design))
            self.require_writer().stop()
            store.close()
            self._open()

    def refresh(self) -> bool:
        """Take in what was written since; True if that was something."""
        store = self.store
        if self._writer is not None:
            return False
        if read_manifest(self.path) == store.manifest:
            return store.read_on()
        before = store.sequence, store.manifest.generation
        self._open()
        store.close()
        return (self.store.sequence, self.store.manifest.generation) != before

    def compact(self) -> None:
        """Write the files anew."""
        before = self.require_writer()
        if self.store.design.is_settled:
            self._store = self.change(compact)
            before.stop()
            self._writer = Writer(self._store, sync=self._sync)

    def check(self) -> None:
        """Read all files, and refuse what is not as it was written."""
        store = self.store
        for run in store.runs:
            run.check()
        sequence = 0
        for number, segment in enumerate(store.segments):
            size = store.end if segment is store.active else store.manifest.segments[number]
            at = 0
            for record in read_records(segment, 0, salt=store.design.salt, sequence=sequence):
                if record.next_byte > size:
                    break
                at, sequence = record.next_byte, sequence + 1
            if at != size:
                raise InputError(f"{segment.path}: damaged at byte {at:,}; bring the folder back from a copy")

    def close(self) -> None:
        """Write what is in memory, and let others write."""
        try:
            if self._writer is not None and not self._failed:
                self.change(lambda writer: writer.close())
        finally:
            self._release()

    def _release(self) -> None:
        if self._writer is not None:
            self._writer.stop()
        if self._store is not None:
            self._store.close()
        self._store = self._writer = None
        if self._lock is not None:
            self._lock.release()
            self._lock = None


def _claim(path: Path) -> WriterLock:
    """Make the folder if need be, and take the lock; refuse a folder that holds something else."""
    try:
        path.mkdir(parents=True, exist_ok=True)
        others = list(path.iterdir()) if not (path / NAME).exists() else []
        # What is left where an index was begun, and not more.
        strange = [found.name for found in others if found.name not in _BEGUN and found.suffix != ".part"]
    except OSError as error:
        raise OutputError(f"{path}: no folder for an index: {error.strerror}; choose another") from error
    if strange:
        raise UsageError(f"{path}: not an index: holds {min(strange)}; give an empty folder, or that of an index")
    return WriterLock(path)


def _create(path: Path, design: Design, modes: _U64 | None) -> None:
    checksum = None
    if modes is not None:
        if "cascade" not in design.methods:
            raise UsageError("modes are for cascade, which is not among the methods; leave them out")
        kept = np.ascontiguousarray(modes, dtype=np.uint64)
        data = kept.shape[1].to_bytes(8, "little") + kept.tobytes()
        write_whole(path / MODES, data)
        checksum = xxhash.xxh3_128_hexdigest(data)
    manifest = Manifest(design, modes=checksum)
    try:
        (path / manifest.rows_name(0)).touch()  # before the manifest, which makes sure that files stay in the folder
    except OSError as error:
        raise OutputError(f"{path}: cannot be written: {error.strerror}") from error
    write_manifest(path, manifest)
