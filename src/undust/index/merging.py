"""Merging of runs: which, and when. Small merges are done at once, large ones beside the work, by threads."""

import math
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from undust.index.manifest import RunFile
from undust.index.runs import Chunk, Run, from_runs, write_run
from undust.index.store import Store
from undust.kernels.index_runs import collect_gone
from undust.kernels.index_tables import REMOVED

FAN_OUT = 4
"""Runs of about one size that are merged into one: more are more to look into, fewer are more to write."""

AT_ONCE = 4
"""Merges of more than so many full memories are left to threads: nobody who adds a page should wait for them."""

MAX_RUNS = 32
"""With more runs than these, whoever adds pages waits for the threads: each run is one more to look into."""

_THREADS = 2


def runs_to_merge(runs: Sequence[RunFile], pages: int) -> int:
    """Tell how many of the last runs to merge: all up to a size of which there are FAN_OUT; 0 for none.

    `pages` is how many make a run of the smallest size.

    >>> runs = [RunFile("", 0, "", size, 0, 0) for size in (160, 40, 40, 10, 10, 10)]
    >>> runs_to_merge([*runs, runs[-1]], 10), runs_to_merge(runs, 10)
    (4, 0)
    """
    levels = [max(0, round(math.log(max(run.pages, 1) / pages, FAN_OUT))) for run in runs]
    for level in sorted(set(levels)):
        count = 0
        while count < len(levels) and levels[-1 - count] <= level:
            count += 1
        if levels[len(levels) - count :].count(level) >= FAN_OUT:
            return count
    return 0


def gone_rows(store: Store, first: int, end: int) -> npt.NDArray[np.uint32]:
    """Give the set of rows between two numbers that no table needs any more."""
    in_memory = store.memory.entries[REMOVED, : store.memory.counts[REMOVED]]
    entries = [*(run.entries(REMOVED) for run in store.runs), in_memory]
    total = sum(map(len, entries))
    if not total:
        return np.empty(0, dtype=np.uint32)
    gone = np.zeros(1 << (2 * total).bit_length(), dtype=np.uint32)
    for some in entries:
        collect_gone(store.plan, store.tables(), store.rows(), some, first, end, gone)
    store.require_whole()
    return gone


@dataclass(frozen=True, slots=True)
class Merge:
    """Runs that are being made into one."""

    replaced: tuple[RunFile, ...]
    done: "Future[RunFile]"


class Merges:
    """What is being merged, and what is done. With `keep_all`, rows that are gone are not left out."""

    def __init__(self, *, keep_all: bool = False) -> None:
        self._keep_all = keep_all
        self._going: list[Merge] = []
        self._threads: ThreadPoolExecutor | None = None
        self._stop = threading.Event()

    def next(self, store: Store) -> int:
        """Tell how many of the last runs of a store to merge next; 0 if none, or not before others are done."""
        runs = store.manifest.runs
        busy = {run.name for merge in self._going for run in merge.replaced}
        last = max((at for at, run in enumerate(runs) if run.name in busy), default=-1)
        count = runs_to_merge(runs[last + 1 :], store.buffer_pages)
        return count if _is_small(store, count) or len(self._going) < _THREADS else 0

    def start(self, store: Store, count: int, name: str) -> RunFile | None:
        """Merge the last `count` runs of a store into one. Gives it if it was done at once."""
        chosen = tuple(store.runs[-count:])
        gone = np.empty(0, dtype=np.uint32)
        if not self._keep_all:
            gone = gone_rows(store, chosen[0].file.first, chosen[-1].file.end)
        if _is_small(store, count):
            return _merged(store.folder, chosen, gone, name, self._stop)
        if self._threads is None:
            self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="undust-merge")
        done = self._threads.submit(_merged, store.folder, chosen, gone, name, self._stop)
        self._going.append(Merge(tuple(run.file for run in chosen), done))
        return None

    def done(self, *, wait_for_all: bool = False, runs: int = 0) -> list[tuple[tuple[RunFile, ...], RunFile]]:
        """Give what was merged since: the runs, and the one in their place. Waits where there are too many runs."""
        if wait_for_all:
            wait([merge.done for merge in self._going])
        elif runs > MAX_RUNS:
            wait([merge.done for merge in self._going], return_when="FIRST_COMPLETED")
        finished = [merge for merge in self._going if merge.done.done()]
        self._going = [merge for merge in self._going if merge not in finished]
        return [(merge.replaced, merge.done.result()) for merge in finished]

    def stop(self) -> None:
        """Give up what is not done: the runs it would replace are still there."""
        self._stop.set()
        if self._threads is not None:
            self._threads.shutdown(wait=True)
        self._going = []


def _is_small(store: Store, count: int) -> bool:
    return sum(run.pages for run in store.manifest.runs[-count:]) <= AT_ONCE * store.buffer_pages


class _StoppedError(Exception):
    """Nobody waits for this merge any more."""


def _merged(
    folder: Path, chosen: Sequence[Run], gone: npt.NDArray[np.uint32], name: str, stop: threading.Event
) -> RunFile:
    def watched(chunks: Iterator[Chunk]) -> Iterator[Chunk]:
        for chunk in chunks:
            if stop.is_set():
                raise _StoppedError
            yield chunk

    tables = ((most, watched(chunks)) for most, chunks in from_runs(folder, chosen, gone))
    pages = sum(run.file.pages for run in chosen)
    return write_run(folder, name, tables, pages, chosen[0].file.first, chosen[-1].file.end)
