"""Changes to an index: records appended to the log, memory flushed to runs, runs merged."""

import dataclasses
from pathlib import Path

import numpy as np
import numpy.typing as npt

from undust.errors import OutputError, UsageError
from undust.index.answers import AnswerArrays
from undust.index.incoming import CHUNK_PAGES, Pages
from undust.index.log import MAX_SEGMENTS, SEGMENT_BYTES, Segment, make_record, removed_units
from undust.index.manifest import Manifest, RunFile, sync_folder, write_manifest
from undust.index.merging import Merges
from undust.index.runs import from_memory, write_run
from undust.index.store import Store
from undust.kernels.index_pages import answer_pages, remove_pages
from undust.kernels.index_rows import SEGMENT_BITS, UNIT

FLUSH_BYTES = 64 * 2**20
"""Memory is flushed after so much log as well: it is what opening an index after a crash has to read."""

_PATTERNS = ("rows-*.log", "run-*.tables", ".manifest.json.*.part")
_WORDS = UNIT // 4


class Writer:
    """The one who may change an index. After an error in writing it is of no more use: what counts is on disk."""

    def __init__(self, store: Store, *, sync: bool = True, published: bool = True) -> None:
        self.store = store
        self.sync = sync
        self.published = published  # a generation that is being built is not: its manifest comes when it is complete
        self.rows = np.empty(0, dtype=np.uint32)
        self.chunk_pages = min(CHUNK_PAGES, store.buffer_pages)
        self._removed = np.empty(self.chunk_pages, dtype=np.uint32)
        self._flushed = store.end
        # While rows are copied, a founder that was removed comes before the duplicates that it stays for.
        self._merges = Merges(keep_all=not published)
        self._written: Manifest | None = store.manifest if published else None
        if published:
            delete_strangers(store.folder, store.manifest)
            store.active.cut(store.end)

    def add(self, pages: Pages, threshold: float) -> AnswerArrays:
        """Add pages, and tell what each is a duplicate of. They are safe when this returns."""
        count = len(pages)
        self.make_room(count, 1 + pages.units + removed_units(count))
        store, answers = self.store, AnswerArrays(count)
        self.begin(pages.units)
        counts = np.zeros(2, dtype=np.int64)
        changes = (self.rows, self._removed, counts, store.totals)
        answer_pages(
            store.plan, store.tables(), store.rows(), pages.arrays, store.scratch, store.methods, threshold, changes,
            answers.arrays(), True,
        )  # fmt: skip
        store.require_whole()
        self.commit(int(counts[1]), self._removed[: counts[0]])
        return answers

    def remove(self, urls: npt.NDArray[np.uint8], offsets: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        """Remove pages by URL, and tell which of them were there."""
        count = len(offsets) - 1
        self.make_room(count, 1 + removed_units(count))
        store, found = self.store, np.zeros(count, dtype=np.bool_)
        self.begin(0)
        counts = np.zeros(2, dtype=np.int64)
        changes = (self.rows, self._removed, counts, store.totals)
        remove_pages(store.plan, store.tables(), store.rows(), urls, offsets, changes, found)
        store.require_whole()
        self.commit(0, self._removed[: counts[0]])
        return found

    def make_room(self, pages: int, units: int) -> None:
        """See to it that memory and the file of rows have room for one more record."""
        store = self.store
        full = store.memory.used + pages > store.memory.room
        if store.memory.used and (full or store.end - self._flushed > FLUSH_BYTES):
            self.flush()
        if store.end + UNIT * units > SEGMENT_BYTES:
            self._roll()
        store.active.reserve(store.end + UNIT * units)

    def begin(self, units: int) -> None:
        """Prepare for rows that will be written behind the header of the next record."""
        if len(self.rows) < _WORDS * units:
            self.rows = np.empty(_WORDS * units, dtype=np.uint32)
        store = self.store
        place = store.active.number << SEGMENT_BITS | store.end // UNIT
        store.pending[:] = self.rows.ctypes.data, place + 1, 0

    def commit(self, count: int, removed: npt.NDArray[np.uint32]) -> None:
        """Append what is pending as one record."""
        store = self.store
        rows = self.rows[: _WORDS * store.pending[2]]
        place = int(store.pending[1]) - 1
        store.pending[:] = 0
        if not len(rows) and not len(removed):
            return
        pages, groups = store.totals.tolist()
        record = make_record(
            rows, removed, salt=store.design.salt, count=count, sequence=store.sequence, place=place, pages=pages,
            groups=groups,
        )  # fmt: skip
        store.active.write(record, store.end, sync=self.sync and self.published)
        store.end += 4 * sum(map(len, record))
        store.sequence += 1

    def _roll(self) -> None:
        """Begin the next file of rows."""
        store = self.store
        number = len(store.segments)
        if number == MAX_SEGMENTS:
            raise UsageError(f"{store.folder}: full, with {MAX_SEGMENTS} GiB of rows; compact it, or begin another one")
        store.active.cut(store.end)
        store.active.sync()
        store.active.close()
        following = Segment(store.folder / store.manifest.rows_name(number), number, writable=True)
        sync_folder(store.folder)
        store.manifest = dataclasses.replace(store.manifest, segments=(*store.manifest.segments[:-1], store.end, 0))
        store.segments.append(following)
        store.end = self._flushed = 0
        self.flush()

    def flush(self) -> None:
        """Write what is in memory as a run, merge runs where there are many, and let the manifest know."""
        store, manifest = self.store, self.store.manifest
        store.active.sync()
        runs = manifest.runs
        if store.memory.used:
            name = f"run-{manifest.next_run:08d}.tables"
            tables = from_memory(store.memory.sorted, store.design.tables)
            first, end = (runs[-1].end if runs else 0), store.active.number << SEGMENT_BITS | store.end // UNIT
            run = write_run(store.folder, name, tables, int(store.memory.counts[0]), first, end)
            runs = (*runs, run)
            store.manifest = dataclasses.replace(manifest, next_run=manifest.next_run + 1)
        self.publish(runs)
        store.memory.clear()
        self._flushed = store.end
        self._merge()

    def _merge(self) -> None:
        """Put merged runs into their place, and merge where there are many of one size."""
        store = self.store
        self._replace(self._merges.done(runs=len(store.manifest.runs)))
        while count := self._merges.next(store):
            chosen = store.manifest.runs[-count:]
            name = f"run-{store.manifest.next_run:08d}.tables"
            store.manifest = dataclasses.replace(store.manifest, next_run=store.manifest.next_run + 1)
            started = self._merges.start(store, count, name)
            if started is None:
                break
            self._replace([(chosen, started)])

    def _replace(self, merged: list[tuple[tuple[RunFile, ...], RunFile]]) -> None:
        for replaced, run in merged:
            runs = self.store.manifest.runs
            at = runs.index(replaced[0])
            self.publish((*runs[:at], run, *runs[at + len(replaced) :]))

    def publish(self, runs: tuple[RunFile, ...]) -> None:
        """Make the state on disk the one that counts: runs, and the log up to its end."""
        store = self.store
        before = store.manifest
        pages, groups = store.totals.tolist()
        store.manifest = dataclasses.replace(
            before, runs=runs, segments=(*before.segments[:-1], store.end), sequence=store.sequence,
            pages=pages, groups=groups,
        )  # fmt: skip
        if self.published and store.manifest != self._written:
            write_manifest(store.folder, store.manifest)
            self._written = store.manifest
        store.open_runs()
        for name in {run.name for run in before.runs} - {run.name for run in runs}:
            (store.folder / name).unlink()

    def finish(self) -> None:
        """Write what is in memory as a run, and wait for what goes on beside the work."""
        self.flush()
        self._replace(self._merges.done(wait_for_all=True))

    def stop(self) -> None:
        """Give up what goes on beside the work."""
        self._merges.stop()

    def close(self) -> None:
        """Leave a run for what is in memory, and no room behind the rows, so that the next one to open has it easy."""
        self.finish()
        self.stop()
        self.store.active.cut(self.store.end)
        self.store.active.sync()
        self.store.close()


def delete_strangers(folder: Path, manifest: Manifest) -> None:
    """Delete what a crash has left behind: files that were not complete, or are not needed any more."""
    known = manifest.files()
    try:
        for pattern in _PATTERNS:
            for path in folder.glob(pattern):
                if path.name not in known:
                    path.unlink()
    except OSError as error:
        raise OutputError(f"{folder}: cannot be written: {error.strerror}") from error
