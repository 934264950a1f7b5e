"""Spreads input files over processes; results come in the order of the files, whatever the number of processes."""

import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pyarrow as pa

from undust.corpus import Tally
from undust.errors import UndustError

Work = Callable[..., Iterator[pa.RecordBatch]]
"""A function of module level that turns a file and a tally, and options by name, into batches."""

Progress = Callable[[Tally], None]


def in_processes(
    work: Work, files: Sequence[str], options: dict[str, Any], workers: int, tally: Tally, progress: Progress
) -> Iterator[pa.RecordBatch]:
    """Run `work` on each file in a pool of processes, and give its batches.

    Batches travel through files in a temporary folder: no pipe to block on, no memory to fill.
    """
    # Spawned, not forked: Arrow and Numba have threads, which do not survive a fork.
    context = get_context("spawn")
    read = context.Array("q", 2)  # pages and bytes so far, of all processes
    with (
        tempfile.TemporaryDirectory(prefix="undust-") as folder,
        ProcessPoolExecutor(workers, mp_context=context, initializer=_share, initargs=(read,)) as pool,
    ):
        parts = [Path(folder) / f"{number}.arrow" for number in range(len(files))]
        futures = [pool.submit(_write_part, work, file, part, options) for file, part in zip(files, parts, strict=True)]
        try:
            for future, part in zip(futures, parts, strict=True):
                tally.merge([_outcome(future, read, progress)])
                yield from _read_part(part)
        finally:
            for future in futures:
                future.cancel()


def _outcome(future: Future[Tally], read: Any, progress: Progress) -> Tally:
    """Wait for one file, and show meanwhile how far all of them are."""
    while not future.done():
        wait([future], timeout=0.2)
        progress(Tally(pages=read[0], bytes=read[1]))
    try:
        return future.result()
    except BrokenProcessPool as error:
        raise UndustError("a process was ended from outside, perhaps for want of memory; use fewer --jobs") from error


_read: Any = None  # in a process of the pool: where to add what it reads


def _share(read: Any) -> None:
    global _read
    _read = read


def _write_part(work: Work, file: str, part: Path, options: dict[str, Any]) -> Tally:
    tally = Tally()
    batches = work(file, tally, **options)
    first = next(batches, None)
    if first is None:
        return tally
    with pa.ipc.new_file(str(part), first.schema) as writer:
        writer.write_batch(first)
        shown = _show(tally, (0, 0))
        for batch in batches:
            writer.write_batch(batch)
            shown = _show(tally, shown)
    return tally


def _show(tally: Tally, shown: tuple[int, int]) -> tuple[int, int]:
    with _read.get_lock():
        _read[0] += tally.pages - shown[0]
        _read[1] += tally.bytes - shown[1]
    return tally.pages, tally.bytes


def _read_part(part: Path) -> Iterator[pa.RecordBatch]:
    if not part.exists():
        return
    with pa.memory_map(str(part)) as source:
        reader = pa.ipc.open_file(source)
        for number in range(reader.num_record_batches):
            yield reader.get_batch(number)
    part.unlink()
