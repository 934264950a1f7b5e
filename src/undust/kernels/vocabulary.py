"""Words as numbers, and how often each occurs: open-addressing tables over word hashes.

Hashes of words are the same everywhere, so that a page can be made of words that would all go to one place. The places
are keyed: a hash times an odd number that nobody outside knows, of which the highest bits count (Dietzfelbinger et al.,
1997). Two words of an attacker then meet as rarely as any two.
"""

import secrets
from typing import Any

import numpy as np

from undust.kernels.compiling import kernel, part

KEY = np.uint64(secrets.randbits(64) | 1)
"""To be given to the kernels: what they know themselves is on disk, with their machine code."""

_BITS = np.uint64(64)
_ONE = np.uint64(1)


@part
def _shift(room: int) -> np.uint64:
    """Bits to shift by, so that as many are left as number a power of two of places."""
    shift = _BITS
    while room > 1:
        room >>= 1
        shift -= _ONE
    return shift


@kernel(
    "UniTuple(int64, 2)(Array(uint64, 1, 'C', readonly=True), Array(int64, 1, 'C', readonly=True),"
    "Array(uint64, 1, 'C', readonly=True), uint64[::1], int32[::1], int64, int64, int64, int32[::1],"
    "int64[::1], uint64)"
)
def number_words(
    hashes: Any,
    rows: Any,
    salts: Any,
    keys: Any,
    numbers: Any,
    known: int,
    row: int,
    at: int,
    ids: Any,
    first: Any,
    secret: np.uint64,
) -> tuple[int, int]:
    """Give each word its number, new words the next ones; a row's salt keeps languages apart.

    Begins at word `at` of row `row` and stops early when the table is half full, for the caller to enlarge it.
    Returns the next word and how many are known. `first[number]` is where a new word stands.
    """
    mask, shift = len(keys) - 1, _shift(len(keys))
    for i in range(row, len(rows) - 1):
        for t in range(max(at, rows[i]), rows[i + 1]):
            key = hashes[t] ^ salts[i]
            slot = np.int64(key * secret >> shift)
            while numbers[slot] >= 0 and keys[slot] != key:
                slot = (slot + 1) & mask
            if numbers[slot] < 0:
                if 2 * known >= len(keys):
                    return t, known
                keys[slot] = key
                numbers[slot] = known
                first[known] = t
                known += 1
            ids[t] = numbers[slot]
    return len(hashes), known


@kernel("void(uint64[::1], int32[::1], uint64[::1], int32[::1], uint64)")
def move_words(keys: Any, numbers: Any, new_keys: Any, new_numbers: Any, secret: np.uint64) -> None:
    """Move a table into a larger one whose numbers are all -1."""
    mask, shift = len(new_keys) - 1, _shift(len(new_keys))
    for old in range(len(keys)):
        if numbers[old] >= 0:
            slot = np.int64(keys[old] * secret >> shift)
            while new_numbers[slot] >= 0:
                slot = (slot + 1) & mask
            new_keys[slot] = keys[old]
            new_numbers[slot] = numbers[old]


@kernel(
    "int64(Array(uint64, 1, 'C', readonly=True), int32[::1], Array(int64, 1, 'C', readonly=True), uint64[::1],"
    "uint64[::1], int64[::1])"
)
def keep_words(hashes: Any, ids: Any, rows: Any, stems: Any, kept: Any, kept_rows: Any) -> int:
    """Replace each word by its stem's hash and leave out those whose stem is 0, the stop words.

    A text of stop words only keeps them all. `kept` has room for one more than the words.
    """
    n = 0
    kept_rows[0] = 0
    for i in range(len(rows) - 1):
        for t in range(rows[i], rows[i + 1]):
            kept[n] = stems[ids[t]]
            n += kept[n] != 0
        if n == kept_rows[i]:
            for t in range(rows[i], rows[i + 1]):
                kept[n] = hashes[t]
                n += 1
        kept_rows[i + 1] = n
    return n


@kernel(
    "int64(Array(uint64, 1, 'C', readonly=True), Array(int64, 1, 'C', readonly=True), int32[::1], uint64[::1],"
    "int64[::1], int64[::1], uint64)"
)
def count_words(hashes: Any, rows: Any, slots: Any, terms: Any, counts: Any, bags: Any, secret: np.uint64) -> int:
    """Count the distinct words of each text, in the order they first occur.

    `slots`, all -1, has a power of two above twice the words of the longest text. An entry of an earlier text
    points before this text's first term, so nothing has to be cleared.
    """
    n = 0
    bags[0] = 0
    for i in range(len(rows) - 1):
        begin = n
        room = 16
        while room < 2 * (rows[i + 1] - rows[i]):
            room *= 2
        shift = _shift(room)
        for t in range(rows[i], rows[i + 1]):
            slot = np.int64(hashes[t] * secret >> shift)
            while slots[slot] >= begin and terms[slots[slot]] != hashes[t]:
                slot = (slot + 1) & (room - 1)
            if slots[slot] < begin:
                slots[slot] = n
                terms[n] = hashes[t]
                counts[n] = 0
                n += 1
            counts[slots[slot]] += 1
        bags[i + 1] = n
    return n


@kernel("void(Array(int64, 1, 'C', readonly=True), uint64[::1], int64[::1], uint64[:, ::1], int64[:, ::1])")
def top_words(bags: Any, terms: Any, counts: Any, top: Any, top_counts: Any) -> None:
    """Pick each bag's most frequent terms, most frequent first, equal ones by hash; the rest of a row is 0."""
    size = top.shape[1]
    for i in range(len(bags) - 1):
        top[i, :] = 0
        top_counts[i, :] = 0
        for t in range(bags[i], bags[i + 1]):
            at = size
            while at > 0 and (
                counts[t] > top_counts[i, at - 1] or (counts[t] == top_counts[i, at - 1] and terms[t] < top[i, at - 1])
            ):
                at -= 1
            for j in range(size - 1, at, -1):
                top[i, j] = top[i, j - 1]
                top_counts[i, j] = top_counts[i, j - 1]
            if at < size:
                top[i, at] = terms[t]
                top_counts[i, at] = counts[t]
