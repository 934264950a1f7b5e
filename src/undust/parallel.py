"""Spreads work over threads and processes; results come in order, whatever the number of either."""

import hashlib
import json
import os
import stat
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, contextmanager
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pyarrow as pa

from undust.asides import only_one, scratch_folder
from undust.corpus import Tally
from undust.errors import UndustError

Work = Callable[..., Iterator[pa.RecordBatch]]
"""A function of module level that turns a file and a tally, and options by name, into batches."""

Progress = Callable[[Tally], None]


def in_threads(
    function: Callable[[pa.RecordBatch], pa.RecordBatch], batches: Iterable[pa.RecordBatch], workers: int
) -> Iterator[pa.RecordBatch]:
    """Apply a function to batches in threads, as many ahead as there are threads; the next batch is read meanwhile."""
    if workers < 2:
        yield from map(function, batches)
        return
    with ThreadPoolExecutor(workers) as pool:
        ahead: deque[Future[pa.RecordBatch]] = deque()
        for batch in batches:
            ahead.append(pool.submit(function, batch))
            if len(ahead) > workers:
                yield ahead.popleft().result()
        while ahead:
            yield ahead.popleft().result()


def in_processes(
    work: Work,
    files: Sequence[str],
    options: dict[str, Any],
    workers: int,
    tally: Tally,
    progress: Progress,
    keep: Path | None = None,
) -> Iterator[pa.RecordBatch]:
    """Run `work` on each file in a pool of processes, and give its batches.

    Batches travel through files: no pipe to block on, no memory to fill. With `keep`, what is done of a file stays in
    that folder until all are done, so that a run that was interrupted goes on where it was.
    """
    # Spawned, not forked: Arrow and Numba have threads, which do not survive a fork.
    context = get_context("spawn")
    read = context.Array("q", 2)  # pages and bytes so far, of all processes
    with ExitStack() as stack:
        folder = stack.enter_context(scratch_folder()) if keep is None else stack.enter_context(_kept(keep))
        pool = stack.enter_context(
            ProcessPoolExecutor(workers, mp_context=context, initializer=_share, initargs=(read,))
        )
        parts = [folder / f"{number:06d}-{stamp(file, options)}.arrow" for number, file in enumerate(files)]
        futures = [pool.submit(_write_part, work, file, part, options) for file, part in zip(files, parts, strict=True)]
        try:
            for future, part in zip(futures, parts, strict=True):
                tally.merge([_outcome(future, read, progress)])
                yield from _read_part(part)
        finally:
            for future in futures:
                future.cancel()
    if keep is not None:
        for part in keep.glob("*.arrow*"):
            part.unlink()
        keep.rmdir()


@contextmanager
def _kept(folder: Path) -> Iterator[Path]:
    """Make a folder that outlives this process, and keep others from it meanwhile."""
    folder.mkdir(exist_ok=True)
    with only_one(folder):
        yield folder


def _outcome(future: Future[Tally], read: Any, progress: Progress) -> Tally:
    """Wait for one file, and show meanwhile how far all of them are."""
    while not future.done():
        wait([future], timeout=0.2)
        progress(Tally(pages=read[0], bytes=read[1]))
    try:
        return future.result()
    except BrokenProcessPool as error:
        raise UndustError("a process was ended from outside, perhaps for want of memory; use fewer --jobs") from error


def stamp(file: str, options: dict[str, Any]) -> str:
    """Name what a part is made of: another file, a changed one or other options are another part."""
    found = os.stat(file)  # noqa: PTH116 - a path as the user gave it
    if not stat.S_ISREG(found.st_mode):  # a folder does not tell whether a file deep in it changed
        return os.urandom(12).hex()
    text = repr([os.path.realpath(file), found.st_size, found.st_mtime_ns, sorted(options.items())])
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:24]


_read: Any = None  # in a process of the pool: where to add what it reads


def _share(read: Any) -> None:
    global _read
    _read = read


def _write_part(work: Work, file: str, part: Path, options: dict[str, Any]) -> Tally:
    told = part.with_suffix(".arrow.json")
    if part.exists():
        return Tally.from_dict(json.loads(told.read_text("utf-8")))
    tally = Tally()
    batches = work(file, tally, **options)
    first = next(batches, None)
    aside = part.with_suffix(".arrow.part")
    schema = pa.schema([]) if first is None else first.schema
    with pa.ipc.new_file(str(aside), schema) as writer:
        shown = (0, 0)
        for batch in () if first is None else _chained(first, batches):
            writer.write_batch(batch)
            shown = _show(tally, shown)
    told.write_text(json.dumps(tally.to_dict()), "utf-8")
    aside.replace(part)  # last: a part that is there is complete
    return tally


def _chained(first: pa.RecordBatch, rest: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    yield first
    yield from rest


def _show(tally: Tally, shown: tuple[int, int]) -> tuple[int, int]:
    with _read.get_lock():
        _read[0] += tally.pages - shown[0]
        _read[1] += tally.bytes - shown[1]
    return tally.pages, tally.bytes


def _read_part(part: Path) -> Iterator[pa.RecordBatch]:
    with pa.memory_map(str(part)) as source:
        reader = pa.ipc.open_file(source)
        for number in range(reader.num_record_batches):
            yield reader.get_batch(number)
