"""Arrays in files: written at a place, mapped into memory."""

import mmap
import os
from typing import Any

import numpy as np
import numpy.typing as npt


def as_bytes(values: npt.NDArray[Any]) -> memoryview:
    """Give the bytes of an array, without copying them.

    >>> as_bytes(np.array([1, 2], np.uint16)).tolist(), len(as_bytes(np.empty(0, np.uint64)))
    ([1, 0, 2, 0], 0)
    """
    return values.reshape(-1).view(np.uint8).data


def write_at(handle: int, values: npt.NDArray[Any], at: int) -> int:
    """Write an array at a place, all of it; returns the place behind it."""
    view = as_bytes(values)
    while view:
        done = os.pwrite(handle, view, at)
        view, at = view[done:], at + done
    return at


def map_bytes(handle: int, size: int) -> npt.NDArray[np.uint8]:
    """Map the first bytes of a file, to be read one here, one there: the system need not read ahead."""
    mapped = mmap.mmap(handle, size, access=mmap.ACCESS_READ)
    if hasattr(mmap, "MADV_RANDOM"):
        mapped.madvise(mmap.MADV_RANDOM)
    return np.frombuffer(mapped, dtype=np.uint8)
