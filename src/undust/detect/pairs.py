"""Pairs of similar pages, as one sorted table: from simhashes within some bits, and from min-hash bands."""

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from undust.errors import UsageError
from undust.kernels.radix import sort_pairs
from undust.tables import PAIRS

MEMORY_BYTES = 2 * 2**30
"""What finding pairs may use for its own arrays, beside its input and its result."""

MAX_ROWS = 2**32 - 1

_Task = TypeVar("_Task")
_Result = TypeVar("_Result")


def to_table(packed: npt.NDArray[np.uint64], similarities: npt.NDArray[np.float32]) -> pa.Table:
    """Make the table of pairs from rows packed as `a << 32 | b`, by falling similarity, then a, then b, each once.

    The order is the same whatever the order they were found in.

    >>> to_table(np.array([1 << 32 | 2, 0 << 32 | 2], np.uint64), np.array([0.5, 1], np.float32)).to_pylist()[0]
    {'a': 0, 'b': 2, 'similarity': 1.0}
    """
    pairs, weights = sort_once(np.array(packed, dtype=np.uint64), np.array(similarities, dtype=np.float32))
    a, b = unpacked(pairs)
    return pa.table([pa.array(a), pa.array(b), pa.array(weights)], schema=PAIRS)


def sort_once(
    pairs: npt.NDArray[np.uint64], similarities: npt.NDArray[np.float32]
) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.float32]]:
    """Sort packed pairs by falling similarity, then a, then b, each once. The arrays are overwritten."""
    weights = similarities.view(np.uint32)
    largest = int(pairs.max(initial=0) >> np.uint64(32)) | int((pairs & np.uint64(MAX_ROWS)).max(initial=0))
    work = np.empty_like(pairs), np.empty_like(weights), np.empty(256, dtype=np.int64)
    sort_pairs(pairs, weights, *work, largest.bit_length())
    once = np.ones(len(pairs), dtype=np.bool_)
    once[1:] = pairs[1:] != pairs[:-1]
    if not once.all():
        pairs, weights = pairs[once], weights[once]
    return pairs, weights.view(np.float32)


def unpacked(pairs: npt.NDArray[np.uint64]) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint32]]:
    """Give the two rows of packed pairs."""
    return (pairs >> np.uint64(32)).astype(np.uint32), pairs.astype(np.uint32)


def from_table(pairs: pa.Table) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint32], npt.NDArray[np.float32]]:
    """Give the columns of a table of pairs as arrays."""
    a, b, similarity = (pairs[name].combine_chunks().to_numpy() for name in PAIRS.names)
    return a, b, similarity


def require_rows(count: int) -> None:
    """Refuse more rows than a pair can name."""
    if count > MAX_ROWS:
        raise UsageError(f"{count:,} pages; pairs are found among {MAX_ROWS:,} at most: split the input")


def thread_count(threads: int | None) -> int:
    """Take the number of processors where nobody says how many threads to use."""
    if threads is not None and threads < 1:
        raise UsageError(f"threads is {threads}; use at least 1")
    if threads is None and hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))  # those that this process may use
    return threads or os.cpu_count() or 1


def in_threads(work: Callable[[_Task], _Result], tasks: Iterable[_Task], threads: int) -> Iterator[_Result]:
    """Run kernels, which do without the interpreter lock, side by side; results come in the order of the tasks."""
    if threads == 1:
        yield from map(work, tasks)
        return
    with ThreadPoolExecutor(threads) as pool:
        yield from pool.map(work, tasks)
