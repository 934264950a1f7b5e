"""Bags of words of a whole corpus (paper 002): documents of each term, weights, keys of drawn min-hash values."""

import math
from typing import Any

import numpy as np

from undust.kernels.compiling import kernel, part
from undust.kernels.hashing import GOLDEN, load64, splitmix64

FREE = np.int64(-1)  # no term: these are 32 bits wide


@part
def _slot(keys: Any, term: int) -> int:
    """Place of a term in an open-addressing table, or the free place where it would go."""
    mask = len(keys) - 1
    at = np.int64(splitmix64(np.uint64(term))) & mask
    while keys[at] != FREE and keys[at] != term:
        at = (at + 1) & mask
    return at


@kernel("UniTuple(int64, 2)(Array(uint32, 1, 'C', readonly=True), int64, int64[::1], int64[::1], int64)")
def count_terms(terms: Any, at: int, keys: Any, counts: Any, known: int) -> tuple[int, int]:
    """Add one for each occurrence of a term, from place `at` on. Returns the next place and how many terms are known.

    Stops early when the table is half full, for the caller to enlarge it.
    """
    for t in range(at, len(terms)):
        slot = _slot(keys, np.int64(terms[t]))
        if keys[slot] == FREE:
            if 2 * known >= len(keys):
                return t, known
            keys[slot] = np.int64(terms[t])
            known += 1
        counts[slot] += 1
    return len(terms), known


@kernel("void(int64[::1], int64[::1], int64[::1], int64[::1])")
def move_terms(keys: Any, counts: Any, new_keys: Any, new_counts: Any) -> None:
    """Move a table into a larger one, all of whose places are free."""
    for old in range(len(keys)):
        if keys[old] != FREE:
            slot = _slot(new_keys, keys[old])
            new_keys[slot] = keys[old]
            new_counts[slot] = counts[old]


@kernel(
    "int64(Array(int64, 1, 'C', readonly=True), Array(uint32, 1, 'C', readonly=True),"
    "Array(uint32, 1, 'C', readonly=True), int64[::1], int64[::1], float64, float64, float64, float64, int64[::1],"
    "uint32[::1], float64[::1])"
)
def weigh_bags(
    rows: Any, terms: Any, counts: Any, keys: Any, documents: Any, total_documents: float, least: float, most: float,
    total: float, kept_rows: Any, kept_terms: Any, weights: Any,
) -> int:  # fmt: skip
    """Drop terms of fewer than `least` or more than `most` documents, weigh the rest by tf-idf, scale to `total`.

    Terms stay in order. Returns how many are kept.
    """
    n = 0
    kept_rows[0] = 0
    for i in range(len(rows) - 1):
        begin, whole = n, 0.0
        for t in range(rows[i], rows[i + 1]):
            found = np.float64(documents[_slot(keys, np.int64(terms[t]))])
            if found < least or found > most:
                continue
            weight = np.float64(counts[t]) * math.log(total_documents / found)
            if weight > 0.0:
                kept_terms[n] = terms[t]
                weights[n] = weight
                whole += weight
                n += 1
        for t in range(begin, n):
            weights[t] *= total / whole
        kept_rows[i + 1] = n
    return n


@kernel(
    "void(Array(uint32, 2, 'C', readonly=True), Array(int64, 1, 'C', readonly=True),"
    "Array(boolean, 1, 'C', readonly=True), uint64[::1])"
)
def draw_keys(values: Any, drawn: Any, present: Any, keys: Any) -> None:
    """Hash the drawn values of each signature into a key. Signatures are columns; 0 for a page without words."""
    for i in range(len(keys)):
        keys[i] = GOLDEN
    for d in range(len(drawn)):
        row = values[drawn[d]]
        for i in range(len(keys)):
            keys[i] = splitmix64(keys[i] ^ np.uint64(row[i]))
    for i in range(len(keys)):
        keys[i] = max(keys[i], np.uint64(1)) if present[i] else np.uint64(0)


@kernel("void(Array(uint8, 1, 'C', readonly=True), Array(int64, 1, 'C', readonly=True), uint64[::1])")
def hash_strings(data: Any, offsets: Any, hashes: Any) -> None:
    """Hash strings of any length. Who must be sure compares the strings, too."""
    for i in range(len(hashes)):
        at, end = offsets[i], offsets[i + 1]
        state = GOLDEN ^ np.uint64(end - at)
        while end - at >= 8:
            state = splitmix64(state ^ load64(data, at))
            at += 8
        rest = np.uint64(0)
        while at < end:
            rest = rest << np.uint64(8) | np.uint64(data[at])
            at += 1
        hashes[i] = splitmix64(state ^ rest)
