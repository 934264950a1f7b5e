"""Counts what becomes one when URLs get other keys: rightly, in a cluster, and wrongly, across clusters."""

from typing import Any

import numpy as np

from undust.kernels.compiling import kernel, part

_MIX_1, _MIX_2, _GOLDEN = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB), np.uint64(0x9E3779B97F4A7C15)


@part
def _mix(x: Any) -> Any:
    x = (x ^ (x >> np.uint64(30))) * _MIX_1
    x = (x ^ (x >> np.uint64(27))) * _MIX_2
    return x ^ (x >> np.uint64(31))


@kernel("void(Array(int32, 1, 'C', readonly=True), uint64, uint64[::1])")
def add_hashes(codes: Any, seed: Any, sums: Any) -> None:
    """Add to each row's sum the hash of its code; an absent value (0) adds nothing."""
    for i in range(len(codes)):
        if codes[i] != 0:
            sums[i] += _mix(np.uint64(codes[i]) * _GOLDEN + seed)


@kernel("void(Array(uint64, 1, 'C', readonly=True), int64[::1], int32[::1], int32[::1])")
def number(hashes: Any, table: Any, numbers: Any, counts: Any) -> None:
    """Number equal hashes alike, in the order in which they come first; `counts` has the size of each group.

    `table` has a power of two places, at least twice as many as there are hashes, each -1.
    """
    last = np.uint64(len(table) - 1)
    groups = 0
    for i in range(len(hashes)):
        at = _mix(hashes[i]) & last
        while table[at] >= 0 and hashes[table[at]] != hashes[i]:
            at = (at + np.uint64(1)) & last
        if table[at] < 0:
            table[at] = i
            numbers[i] = groups
            counts[groups] = 1
            groups += 1
        else:
            numbers[i] = numbers[table[at]]
            counts[numbers[i]] += 1
    if groups < len(counts):
        counts[groups] = 0
