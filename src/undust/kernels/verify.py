"""Exact similarity of two pages: Jaccard of their sets of hashes, kept in rising order; and sorting such sets."""

from typing import Any

import numpy as np

from undust.kernels.compiling import kernel, part

_BYTE = np.uint32(255)
_FEW = 32


@part
def sort_set(hashes: Any, start: int, count: int, scratch: Any) -> int:
    """Sort `count` hashes in place, each once; returns how many are left.

    By bytes, not by comparing: its time does not depend on the values, which come from the web.
    """
    if count <= _FEW:
        for i in range(start + 1, start + count):
            value = hashes[i]
            j = i - 1
            while j >= start and hashes[j] > value:
                hashes[j + 1] = hashes[j]
                j -= 1
            hashes[j + 1] = value
    else:
        counts = scratch[:1024]
        work = scratch[1024:]
        counts[:] = 0
        for i in range(start, start + count):
            value = hashes[i]
            counts[value & _BYTE] += np.uint32(1)
            counts[np.uint32(256) + ((value >> np.uint32(8)) & _BYTE)] += np.uint32(1)
            counts[np.uint32(512) + ((value >> np.uint32(16)) & _BYTE)] += np.uint32(1)
            counts[np.uint32(768) + (value >> np.uint32(24))] += np.uint32(1)
        for byte in range(4):
            total = np.uint32(0)
            for c in range(256 * byte, 256 * byte + 256):
                here = counts[c]
                counts[c] = total
                total += here
        for byte in range(4):
            shift = np.uint32(8 * byte)
            first = np.uint32(256 * byte)
            if byte % 2 == 0:
                for i in range(count):
                    value = hashes[start + i]
                    slot = first + ((value >> shift) & _BYTE)
                    work[counts[slot]] = value
                    counts[slot] += np.uint32(1)
            else:
                for i in range(count):
                    value = work[i]
                    slot = first + ((value >> shift) & _BYTE)
                    hashes[start + np.int64(counts[slot])] = value
                    counts[slot] += np.uint32(1)
    kept = 0
    for i in range(start, start + count):
        if kept == 0 or hashes[i] != hashes[start + kept - 1]:
            hashes[start + kept] = hashes[i]
            kept += 1
    return kept


@part
def require_sorted(hashes: Any, offsets: Any, counts: Any, ordered: Any, row: int, scratch: Any) -> None:
    """Sort a page's set unless it is sorted: most pages are never compared, and need not be."""
    if not ordered[row]:
        counts[row] = sort_set(hashes, offsets[row], np.int64(counts[row]), scratch)
        ordered[row] = True


@part
def jaccard(hashes: Any, offsets: Any, counts: Any, a: int, b: int, threshold: float) -> float:
    """Similarity of two sorted sets, or -1 as soon as it cannot reach the threshold."""
    i, j = offsets[a], offsets[b]
    size_a, size_b = np.int64(counts[a]), np.int64(counts[b])
    total = size_a + size_b
    # |A∩B| ≥ t |A∪B|  ⇔  |A∩B| ≥ t/(1+t) (|A|+|B|); a little less, as the last word is that of the division below.
    needed = np.int64(np.ceil(threshold / (1.0 + threshold) * total - 1e-6))
    if total == 0 or min(size_a, size_b) < needed:
        return -1.0
    end_a, end_b = i + size_a, j + size_b
    may_miss_a, may_miss_b = i + size_a - needed, j + size_b - needed
    same = 0
    while i < end_a and j < end_b:
        x, y = hashes[i], hashes[j]
        same += np.int64(x == y)
        i += np.int64(x <= y)
        j += np.int64(y <= x)
        if i - same > may_miss_a or j - same > may_miss_b:
            return -1.0
    similarity = same / (total - same)
    return similarity if similarity >= threshold else -1.0


@part
def agreement(signatures: Any, a: int, b: int, threshold: float) -> float:
    """Share of equal values of two signatures, or -1 below the threshold."""
    same = 0
    for v in range(signatures.shape[1]):
        same += np.int64(signatures[a, v] == signatures[b, v])
    similarity = same / signatures.shape[1]
    return similarity if similarity >= threshold else -1.0


@part
def same_set(hashes: Any, offsets: Any, counts: Any, a: int, b: int) -> bool:
    """Tell whether two sorted sets are equal."""
    if counts[a] != counts[b]:
        return False
    i, j = offsets[a], offsets[b]
    for k in range(np.int64(counts[a])):
        if hashes[i + k] != hashes[j + k]:
            return False
    return True


@kernel("void(uint32[::1], Array(int64, 1, 'C', readonly=True), uint32[::1], boolean[::1], uint32[::1])")
def sort_sets(hashes: Any, offsets: Any, counts: Any, ordered: Any, scratch: Any) -> None:
    """Sort all sets that are not sorted yet. `scratch` has room for 1,024 numbers and the largest set."""
    for row in range(len(counts)):
        require_sorted(hashes, offsets, counts, ordered, row, scratch)


@kernel(
    "void(uint32[::1], Array(int64, 1, 'C', readonly=True), uint32[::1], boolean[::1], uint32[::1],"
    "Array(int64, 1, 'C', readonly=True), Array(int64, 1, 'C', readonly=True), float64[::1])"
)
def jaccards(
    hashes: Any, offsets: Any, counts: Any, ordered: Any, scratch: Any, a: Any, b: Any, similarities: Any
) -> None:
    """Similarity of given pairs of pages; 0 where one has no shingles."""
    for k in range(len(a)):
        require_sorted(hashes, offsets, counts, ordered, a[k], scratch)
        require_sorted(hashes, offsets, counts, ordered, b[k], scratch)
        similarities[k] = max(jaccard(hashes, offsets, counts, a[k], b[k], 0.0), 0.0)
