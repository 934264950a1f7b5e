"""Runs of the online index as they are made: sorted entries merged, removed rows left out, directories built."""

from typing import Any

import numpy as np

from undust.kernels.compiling import kernel, part
from undust.kernels.hashing import splitmix64
from undust.kernels.index_rows import (
    IS_DUPLICATE,
    PLAN,
    ROWS,
    UNIT,
    peek32,
    row_at,
    word,
)
from undust.kernels.index_tables import TABLES, URL, filter_bits, has_entry, is_alive, is_removed

_HALF = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)
_WORDS = UNIT // 4


@part
def _place(numbers: Any, number: Any) -> int:
    """Place of a row in a set of rows, or the free one (0) where it would go."""
    last = len(numbers) - 1
    at = np.int64(splitmix64(number)) & last
    while numbers[at] != 0 and np.uint64(numbers[at]) != number:
        at = (at + 1) & last
    return at


@kernel(f"int64({PLAN}, {TABLES}, {ROWS}, Array(uint64, 1, 'C', readonly=True), int64, int64, uint32[::1])")
def collect_gone(plan: Any, tables: Any, rows: Any, entries: Any, first: int, end: int, gone: Any) -> int:
    """Put removed rows between two numbers into a set, from entries of the table of removed ones; returns how many.

    But not the founder of a group that has duplicates left: its fingerprint goes on standing for the group.
    `gone` has zeros, a power of two, at least twice as many as entries.
    """
    count = 0
    for k in range(len(entries)):
        number = np.int64(entries[k] & _LOW)
        if number < first or number >= end:
            continue
        address = row_at(plan, rows, number)
        if address == 0:
            return -1
        if not word(address, 1) & IS_DUPLICATE and is_alive(plan, tables, rows, number):
            continue
        at = _place(gone, np.uint64(number))
        if gone[at] == 0:
            gone[at] = np.uint32(number)
            count += 1
    return count


@kernel(
    "int64(Array(uint64, 1, 'C', readonly=True), int64[::1], Array(int64, 1, 'C', readonly=True),"
    "Array(uint32, 1, 'C', readonly=True), uint64[::1])"
)
def merge(values: Any, heads: Any, ends: Any, gone: Any, merged: Any) -> int:
    """Merge sorted slices of `values`, from `heads` to `ends`, without entries of rows that are gone.

    Returns how many there are. Overwrites `heads`. `gone` is a set as of `collect_gone`, or empty.
    """
    count = 0
    slices = len(heads)
    while True:
        best = -1
        least = np.uint64(0)
        for k in range(slices):
            if heads[k] < ends[k]:
                value = values[heads[k]]
                if best < 0 or value < least:
                    best, least = k, value
        if best < 0:
            return count
        heads[best] += 1
        if len(gone) == 0 or gone[_place(gone, least & _LOW)] == 0:
            merged[count] = least
            count += 1


@kernel("void(Array(uint64, 1, 'C', readonly=True), uint64, int64, int64, uint64[::1])")
def build_directory(entries: Any, ranges: Any, first: int, before: int, directory: Any) -> None:
    """Fill a part of a directory, from range `first` on, for the sorted entries in it; `before` come before them."""
    at = 0
    for k in range(len(directory)):
        start = np.uint64(before + at)
        bits = np.uint64(0)
        while at < len(entries):
            key = entries[at] >> _HALF
            if np.int64((key * ranges) >> _HALF) != first + k:
                break
            bits |= filter_bits(key)
            at += 1
        directory[k] = start << _HALF | bits


@kernel(
    f"int64({PLAN}, {TABLES}, {ROWS}, int64, int64, int64, uint32[::1], uint32[:, ::1], int64[::1], uint32[::1],"
    "int64[::1])"
)
def copy_living(
    plan: Any,
    tables: Any,
    rows: Any,
    number: int,
    end: int,
    target: int,
    out: Any,
    founders: Any,
    counts: Any,
    removed: Any,
    totals: Any,
) -> int:
    """Copy the rows that still count, from `number` to `end`, to where they get the numbers from `target` on.

    `founders` (old number, new number) grows by those copied, in rising order; duplicates get the new number of theirs.
    A founder that is removed but has duplicates left is copied, and its new number goes to `removed`. `counts` has the
    units copied, the founders, the removed, the rows copied. Stops where there is no room for the next row, or as many
    as `removed` could hold were copied; returns where.
    """
    while number < end:
        address = row_at(plan, rows, number)
        if address == 0:
            return -1
        units = word(address, 0)
        flags = word(address, 1)
        is_gone = is_removed(plan, tables, number)
        if is_gone:
            is_needed = not flags & IS_DUPLICATE and is_alive(plan, tables, rows, number)
        else:
            is_needed = has_entry(plan, tables, URL, np.uint64(word(address, 4)), number)
        if not is_needed:
            number += units
            continue
        at = _WORDS * counts[0]
        if at + _WORDS * units > len(out) or counts[1] == len(founders) or counts[3] == len(removed):
            return number
        counts[3] += 1
        for k in range(_WORDS * units):
            out[at + k] = peek32(address + 4 * k)
        copied = target + counts[0]
        counts[0] += units
        totals[0] += not is_gone
        if flags & IS_DUPLICATE:
            low, high = 0, counts[1]
            old = np.uint32(word(address, 5))
            while low < high:
                middle = (low + high) >> 1
                if founders[middle, 0] < old:
                    low = middle + 1
                else:
                    high = middle
            if low == counts[1] or founders[low, 0] != old:
                rows[2][0] = 1 + number
                return -1
            out[at + 5] = founders[low, 1]
        else:
            out[at + 5] = copied
            founders[counts[1], 0], founders[counts[1], 1] = np.uint32(number), np.uint32(copied)
            counts[1] += 1
            totals[1] += 1
            if is_gone:
                removed[counts[2]] = np.uint32(copied)
                counts[2] += 1
        number += units
    return number
