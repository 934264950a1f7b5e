"""Min-hash bands: keys of bands of signatures, buckets of equal keys, and the verified pairs in them."""

from typing import Any

import numpy as np

from undust.kernels.compiling import kernel, part
from undust.kernels.hashing import GOLDEN, splitmix64
from undust.kernels.union_find import find, union
from undust.kernels.verify import agreement, jaccard, require_sorted, same_set

EMPTY = np.uint64(0xFFFFFFFFFFFFFFFF)  # no pair: b is not below itself
NO_ROW = np.uint32(0xFFFFFFFF)
_ROW = np.uint64(0xFFFFFFFF)
_SHIFT = np.uint64(32)
_MAX_DIFFERENT = 16  # of equal signatures, as many sets are told apart; more can only be made on purpose


@kernel("void(Array(uint64, 2, 'C', readonly=True), int64, uint64[:, ::1], int64, uint64[::1])")
def band_keys(signatures: Any, rows: int, keys: Any, at: int, whole: Any) -> None:
    """Hash each band of `rows` values of each signature into `keys[band, at + i]`, and the whole into `whole[i]`.

    A text without words has a signature of zeros; its keys are 0, which no other key is.
    """
    bands = keys.shape[0]
    for i in range(len(signatures)):
        everything = GOLDEN
        some = np.uint64(0)
        for v in range(signatures.shape[1]):
            some |= signatures[i, v]
            everything = splitmix64(everything ^ signatures[i, v])
        whole[i] = max(everything, np.uint64(1)) if some else np.uint64(0)
        for band in range(bands):
            key = GOLDEN
            for v in range(band * rows, band * rows + rows):
                key = splitmix64(key ^ signatures[i, v])
            keys[band, at + i] = max(key, np.uint64(1)) if some else np.uint64(0)


@kernel(
    "int64(Array(uint64, 1, 'C', readonly=True), Array(uint32, 1, 'C', readonly=True), boolean[::1], uint64, uint64,"
    "int64, uint64[::1])"
)
def pack_keys(keys: Any, rows: Any, wanted: Any, parts: Any, part: Any, count: int, packed: Any) -> int:
    """Append the high half of each key and its row; those of one of equal ranges of keys only.

    Returns how many are packed now; with an empty `packed` it only counts. Rows that are not wanted are left out, and
    so is what has none (`NO_ROW`).
    """
    for i in range(len(keys)):
        if keys[i] == np.uint64(0) or rows[i] == NO_ROW or not wanted[rows[i]]:
            continue
        high = keys[i] >> _SHIFT
        if parts > np.uint64(1) and (high * parts) >> _SHIFT != part:
            continue
        if len(packed):
            packed[count] = (high << _SHIFT) | np.uint64(rows[i])
        count += 1
    return count


@kernel("void(uint64[::1], Array(uint64, 1, 'C', readonly=True), uint32[::1])")
def union_buckets(packed: Any, keys: Any, parent: Any) -> None:
    """Join all rows of equal keys, unverified. `keys` are the full ones, by row: halves may be equal by chance.

    Overwrites `packed`.
    """
    start = 0
    while start < len(packed):
        half = packed[start] >> _SHIFT
        end = start + 1
        known = end  # packed[start:known] are rows of different keys; nearly always one
        while end < len(packed) and packed[end] >> _SHIFT == half:
            row = np.int64(packed[end] & _ROW)
            joined = False
            for k in range(start, known):
                other = np.int64(packed[k] & _ROW)
                if keys[row] == keys[other]:
                    union(parent, row, other)
                    joined = True
                    break
            if not joined:
                packed[known] = packed[end]
                known += 1
            end += 1
        start = end


@kernel(
    "void(uint64[::1], uint32[::1], Array(int64, 1, 'C', readonly=True), uint32[::1], boolean[::1],"
    "uint32[::1], Array(uint64, 2, 'C', readonly=True), uint32[::1])"
)
def find_equal(
    packed: Any, hashes: Any, offsets: Any, counts: Any, ordered: Any, scratch: Any, signatures: Any, first: Any
) -> None:
    """Give each packed row the first row with an equal set (or signature, if there are no sets).

    Rows are packed with a hash of their signature and sorted. Overwrites `packed`.
    """
    by_sets = len(offsets) > 0
    start = 0
    while start < len(packed):
        half = packed[start] >> _SHIFT
        end = start
        known = start
        while end < len(packed) and packed[end] >> _SHIFT == half:
            row = np.int64(packed[end] & _ROW)
            found = row
            if (end + 1 < len(packed) and packed[end + 1] >> _SHIFT == half) or known > start:
                if by_sets:
                    require_sorted(hashes, offsets, counts, ordered, row, scratch)
                for k in range(start, known):
                    other = np.int64(packed[k] & _ROW)
                    if by_sets:
                        equal = same_set(hashes, offsets, counts, row, other)
                    else:
                        equal = agreement(signatures, row, other, 1.0) == 1.0
                    if equal:
                        found = other
                        break
            first[row] = found
            if found == row and known - start < _MAX_DIFFERENT:
                packed[known] = packed[end]
                known += 1
            end += 1
        start = end


@part
def _slot(table: Any, pair: Any) -> int:
    """Place of a pair in a table of known ones, or the free place where it would go."""
    mask = len(table) - 1
    at = np.int64(splitmix64(pair)) & mask
    while table[at] != EMPTY and table[at] != pair:
        at = (at + 1) & mask
    return at


@kernel("void(uint64[::1], Array(uint64, 1, 'C', readonly=True))")
def remember(table: Any, pairs: Any) -> None:
    """Put pairs into a table of known ones; its size is a power of two, well above their number."""
    for i in range(len(pairs)):
        if pairs[i] != EMPTY:
            table[_slot(table, pairs[i])] = pairs[i]


@kernel(
    "void(Array(uint64, 1, 'C', readonly=True), uint32[::1], Array(int64, 1, 'C', readonly=True),"
    "uint32[::1], boolean[::1], uint32[::1], Array(uint64, 2, 'C', readonly=True), float64,"
    "uint64[::1], uint32[::1], int64, uint32[::1], uint8[::1], int64[::1], uint64[::1], float32[::1])"
)
def verify_buckets(
    packed: Any,
    hashes: Any,
    offsets: Any,
    counts: Any,
    ordered: Any,
    scratch: Any,
    signatures: Any,
    threshold: float,
    known: Any,
    parent: Any,
    max_bucket: int,
    hubs: Any,
    tries: Any,
    state: Any,
    pairs: Any,
    similarities: Any,
) -> None:
    """Find the pairs of at least `threshold` in each bucket of equal keys.

    In a bucket of more than `max_bucket` rows each row is compared with the hubs only, and paired with the first of
    them that is similar; a row that is similar to none becomes one, while `hubs` has room. Each row has so many
    `tries` with hubs, in all the buckets together. Pairs that are `known` are not looked at; with `parent`, nor are
    pairs of one component, and found ones join theirs. Stops when an output is full, and goes on from `state` when
    called again: place, pairs found, room needed.
    """
    by_sets, by_parent = len(offsets) > 0, len(parent) > 0
    at, found, needed = state[0], 0, 0
    size = len(packed)
    while at < size:
        half = packed[at] >> _SHIFT
        end = at + 1
        while end < size and packed[end] >> _SHIFT == half:
            end += 1
        if end - at == 1:
            at = end
            continue
        large = end - at > max_bucket  # never the rest of a bucket: only smaller ones are left in between
        if found + end - at > len(pairs):
            needed = end - at
            break
        if by_sets:
            for t in range(at, end):
                require_sorted(hashes, offsets, counts, ordered, np.int64(packed[t] & _ROW), scratch)
        hub_count = 0
        while at < end:
            if not large and found + end - at > len(pairs):
                break
            row = np.int64(packed[at] & _ROW)
            matched = False
            for t in range(hub_count if large else end - at - 1):
                if large:
                    a, b = np.int64(hubs[t]), row
                else:
                    a, b = row, np.int64(packed[at + 1 + t] & _ROW)
                if large and tries[row] == 0:
                    matched = True  # nothing is known of it: it is not a hub
                    break
                pair = np.uint64(a) << _SHIFT | np.uint64(b)
                if by_parent:
                    similar = find(parent, a) == find(parent, b)
                else:
                    similar = known[_slot(known, pair)] == pair
                if not similar:
                    if by_sets:
                        similarity = jaccard(hashes, offsets, counts, a, b, threshold)
                    else:
                        similarity = agreement(signatures, a, b, threshold)
                    if similarity >= 0.0:
                        similar = True
                        pairs[found] = pair
                        similarities[found] = similarity
                        found += 1
                        if by_parent:
                            union(parent, a, b)
                    elif large:
                        tries[row] -= np.uint8(1)
                if similar and large:
                    matched = True
                    break
            if large and not matched and hub_count < len(hubs):
                hubs[hub_count] = row
                hub_count += 1
            at += 1
        if at < end:
            needed = end - at
            break
    state[0], state[1], state[2] = at, found, needed
