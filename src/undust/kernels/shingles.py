"""Shingles as hashes: one 32-bit hash for each run of words, in the order of the text."""

from typing import Any

import numpy as np

from undust.kernels.compiling import kernel
from undust.kernels.hashing import splitmix64

_BASE = np.uint64(0x9FB21C651E98DF25)  # of the rolling polynomial, odd


@kernel(
    "void(Array(uint64, 1, 'C', readonly=True), Array(int64, 1, 'C', readonly=True), int64, uint64, uint32[::1],"
    "int64[::1])"
)
def shingle_hashes(hashes: Any, rows: Any, width: int, key: np.uint64, shingles: Any, offsets: Any) -> None:
    """Hash each run of `width` words of each text; a shorter text is one run, a text without words has none."""
    power = np.uint64(1)
    for _ in range(width):
        power *= _BASE
    out = 0
    for i in range(len(rows) - 1):
        offsets[i] = out
        first, end = rows[i], rows[i + 1]
        if first == end:
            continue
        lead = min(first + width, end)
        run = np.uint64(0)
        for t in range(first, lead):
            run = run * _BASE + hashes[t]
        shingles[out] = np.uint32(splitmix64(run ^ key) >> np.uint64(32))
        out += 1
        for t in range(lead, end):
            run = run * _BASE + hashes[t] - hashes[t - width] * power
            shingles[out] = np.uint32(splitmix64(run ^ key) >> np.uint64(32))
            out += 1
    offsets[len(rows) - 1] = out
