"""The tables of the online index: from keys of 32 bits to rows, in memory and in sorted runs on disk.

An entry is `key << 32 | row`. In memory, entries of a key are chained in the order they came in. A run has them sorted,
and a directory: for each range of keys, of about four entries, where it begins and a filter of 32 bits, which tells
nearly always that a key is not there, by one look into memory. Rows of a run are all older than those of the next.
"""

from typing import Any

import numpy as np

from undust.kernels.compiling import kernel, part
from undust.kernels.hashing import splitmix64
from undust.kernels.index_rows import (
    BLOCK_TABLE,
    BLOCKS,
    NONE,
    PLAN,
    ROWS,
    SALT,
    block_shift,
    number_key,
    peek64,
    row_at,
    word,
)

URL, REMOVED, FOLLOWERS, DIGEST, FIRST_OTHER = 0, 1, 2, 3, 4
"""Numbers of the tables that every index has; those of blocks and bands follow."""

HINTS = 4096
# Of runs, for each table: address of the directory, ranges, address of the entries, their number. In memory: slots
# (key, first entry + 2), last entries, entries, next entries + 1, how many; hints (group, its oldest duplicate left).
# The last is for trouble.
TABLES = (
    "Tuple((int64[:, :, ::1], uint64[:, ::1], uint32[:, ::1], uint64[:, ::1], uint32[:, ::1], int64[::1], uint64[::1],"
    "int64[::1]))"
)

_HALF = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)
_FEW = 16


@part
def filter_bits(key: Any) -> Any:
    """Two of 32 bits for a key."""
    return (np.uint64(1) << (key & np.uint64(31))) | (np.uint64(1) << ((key >> np.uint64(5)) & np.uint64(31)))


@part
def _lower(entries: int, start: int, stop: int, value: Any) -> int:
    """Find the first of sorted entries that is not below a value."""
    while start < stop:
        middle = (start + stop) >> 1
        if peek64(entries + 8 * middle) < value:
            start = middle + 1
        else:
            stop = middle
    return start


@part
def _range(tables: Any, run: int, table: int, at: int) -> tuple[int, int]:
    """Where the entries of a range of the directory begin and end; nothing, and trouble noted, if that is not so."""
    runs, trouble = tables[0], tables[7]
    directory = runs[run, table, 0] + 8 * at
    start, stop = np.int64(peek64(directory) >> _HALF), np.int64(peek64(directory + 8) >> _HALF)
    if start > stop or stop > runs[run, table, 3]:
        trouble[1] = 1 + run
        return 0, 0
    return start, stop


@part
def lower_bound(tables: Any, run: int, table: int, key: Any) -> Any:
    """Find the first entry of a run whose key is not below this; `key` may be one more than the largest."""
    runs = tables[0]
    if runs[run, table, 3] == 0 or key > _LOW:
        return runs[run, table, 3]
    start, stop = _range(tables, run, table, np.int64((key * np.uint64(runs[run, table, 1])) >> _HALF))
    return _lower(runs[run, table, 2], start, stop, key << _HALF)


@part
def equal_keys(tables: Any, run: int, table: int, key: Any, least: Any) -> tuple[int, int]:
    """Where the entries of a key begin and end in a run; of rows from `least` on only."""
    runs = tables[0]
    if runs[run, table, 3] == 0:
        return 0, 0
    at = np.int64((key * np.uint64(runs[run, table, 1])) >> _HALF)
    bits = filter_bits(key)
    if peek64(runs[run, table, 0] + 8 * at) & bits != bits:
        return 0, 0
    start, stop = _range(tables, run, table, at)
    entries = runs[run, table, 2]
    value = key << _HALF | least
    if stop - start > _FEW:
        start = _lower(entries, start, stop, value)
        return start, _lower(entries, start, stop, (key + np.uint64(1)) << _HALF)
    while start < stop and peek64(entries + 8 * start) < value:
        start += 1
    end = start
    while end < stop and peek64(entries + 8 * end) >> _HALF == key:
        end += 1
    return start, end


@part
def entry_row(tables: Any, run: int, table: int, at: int) -> int:
    """Row of an entry of a run."""
    return np.int64(peek64(tables[0][run, table, 2] + 8 * at) & _LOW)


@part
def entry_key(tables: Any, run: int, table: int, at: int) -> Any:
    """Key of an entry of a run."""
    return peek64(tables[0][run, table, 2] + 8 * at) >> _HALF


@part
def chain_key(plan: Any, table: int, key: Any) -> Any:
    """What entries are chained by: the key, or for the table of a block the bits of the block."""
    block = table - plan[BLOCK_TABLE]
    if block >= 0 and block < plan[BLOCKS]:
        return key >> np.uint64(block_shift(plan, block))
    return key


@part
def _slot(plan: Any, slots: Any, table: int, chain: Any) -> Any:
    """Place of a chain among the slots of a table, or the free one where it would go."""
    last = slots.shape[1] - 1
    at = np.int64(splitmix64(chain ^ np.uint64(plan[SALT]))) & last
    while slots[table, at] != np.uint64(0) and slots[table, at] >> _HALF != chain:
        at = (at + 1) & last
    return at


@part
def may_have(plan: Any, tables: Any, table: int, key: Any) -> Any:
    """Tell, by one look into each run and one into memory, whether there may be entries of a key; no is certain.

    Without a branch that depends on what is found: the processor fetches for many keys and runs at once.
    """
    runs = tables[0]
    bits = filter_bits(key)
    found = False
    for run in range(runs.shape[0]):
        if runs[run, table, 3] > 0:
            at = np.int64((key * np.uint64(runs[run, table, 1])) >> _HALF)
            found |= peek64(runs[run, table, 0] + 8 * at) & bits == bits
    if tables[5][table] > 0:
        found |= tables[1][table, _slot(plan, tables[1], table, chain_key(plan, table, key))] != np.uint64(0)
    return found


@part
def insert(plan: Any, tables: Any, table: int, key: Any, number: int) -> None:
    """Put an entry into a table in memory, behind those of its chain. The caller has seen to it that there is room."""
    _, slots, tails, entries, nexts, counts, _, _ = tables
    chain = chain_key(plan, table, key)
    at = _slot(plan, slots, table, chain)
    entry = counts[table]
    counts[table] = entry + 1
    entries[table, entry] = key << _HALF | np.uint64(number)
    nexts[table, entry] = 0
    if slots[table, at] & _LOW > np.uint64(1):
        nexts[table, np.int64(tails[table, at])] = np.uint32(entry + 1)
    else:
        slots[table, at] = chain << _HALF | np.uint64(entry + 2)
    tails[table, at] = np.uint32(entry)


@part
def chain_start(plan: Any, tables: Any, table: int, key: Any) -> Any:
    """First entry in memory of a key's chain; -1 if there is none."""
    if tables[5][table] == 0:
        return -1
    at = _slot(plan, tables[1], table, chain_key(plan, table, key))
    first = np.int64(tables[1][table, at] & _LOW)
    return first - 2 if first > 1 else -1


@part
def chain_next(tables: Any, table: int, entry: int) -> int:
    """Next entry of a chain; -1 at its end."""
    return np.int64(tables[4][table, entry]) - 1


@part
def memory_row(tables: Any, table: int, entry: int) -> int:
    """Row of an entry in memory."""
    return np.int64(tables[3][table, entry] & _LOW)


@kernel(f"boolean({PLAN}, {TABLES}, int64, uint64, int64)")
def has_entry(plan: Any, tables: Any, table: int, key: Any, number: int) -> bool:
    """Tell whether a table has an entry."""
    entry = chain_start(plan, tables, table, key)
    while entry >= 0:
        if memory_row(tables, table, entry) == number:
            return True
        entry = chain_next(tables, table, entry)
    for run in range(tables[0].shape[0] - 1, -1, -1):
        start, stop = equal_keys(tables, run, table, key, np.uint64(number))
        if start < stop and entry_row(tables, run, table, start) == number:
            return True
    return False


@part
def is_removed(plan: Any, tables: Any, number: int) -> bool:
    """Tell whether a row was removed; only of rows that other tables lead to, as the rest is forgotten in time."""
    return has_entry(plan, tables, REMOVED, number_key(number), number)


@part
def _unlink_removed(plan: Any, tables: Any, key: Any) -> None:
    """Let a chain of followers begin with one that is not removed: what is removed never comes back."""
    slots = tables[1]
    if tables[5][FOLLOWERS] == 0:
        return
    at = _slot(plan, slots, FOLLOWERS, key)
    while slots[FOLLOWERS, at] & _LOW > np.uint64(1):
        entry = np.int64(slots[FOLLOWERS, at] & _LOW) - 2
        if not is_removed(plan, tables, memory_row(tables, FOLLOWERS, entry)):
            return
        following = chain_next(tables, FOLLOWERS, entry)
        slots[FOLLOWERS, at] = key << _HALF | np.uint64(following + 2 if following >= 0 else 1)


@part
def _follows(plan: Any, tables: Any, rows: Any, number: int, group: int) -> Any:
    """Tell whether a row is there and of this group: keys of groups may be equal by chance."""
    if is_removed(plan, tables, number):
        return False
    address = row_at(plan, rows, number)
    return address != 0 and word(address, 5) == group


@kernel(f"int64({PLAN}, {TABLES}, {ROWS}, int64)")
def first_follower(plan: Any, tables: Any, rows: Any, group: int) -> int:
    """Find the oldest duplicate left of a group; `NONE` if none is left.

    It is remembered as a hint that all before it are gone, or a group that loses its pages one by one would be
    walked through again for each.
    """
    runs, hints = tables[0], tables[6]
    key = number_key(group)
    hint = np.int64(key & np.uint64(HINTS - 1))
    least = np.uint64(0)
    if hints[hint] >> _HALF == np.uint64(group):
        least = hints[hint] & _LOW
    found = np.int64(NONE)
    for run in range(runs.shape[0]):
        start, stop = equal_keys(tables, run, FOLLOWERS, key, least)
        for at in range(start, stop):
            number = entry_row(tables, run, FOLLOWERS, at)
            if _follows(plan, tables, rows, number, group):
                found = number
                break
        if found != NONE:
            break
    if found == NONE:
        _unlink_removed(plan, tables, key)
        entry = chain_start(plan, tables, FOLLOWERS, key)
        while entry >= 0:
            if _follows(plan, tables, rows, memory_row(tables, FOLLOWERS, entry), group):
                found = memory_row(tables, FOLLOWERS, entry)
                break
            entry = chain_next(tables, FOLLOWERS, entry)
    if found != NONE:
        hints[hint] = np.uint64(group) << _HALF | np.uint64(found)
    return found


@part
def is_alive(plan: Any, tables: Any, rows: Any, group: int) -> bool:
    """Tell whether a group has a page left: its founder, or a duplicate."""
    return not is_removed(plan, tables, group) or first_follower(plan, tables, rows, group) != NONE


@part
def name_of(plan: Any, tables: Any, rows: Any, group: int) -> int:
    """Give the page that a group goes by: its founder, else its oldest duplicate; `NONE` if it has no page left."""
    if not is_removed(plan, tables, group):
        return group
    return first_follower(plan, tables, rows, group)


@kernel(f"int64({PLAN}, {TABLES}, {ROWS}, int64, uint32[::1])")
def list_followers(plan: Any, tables: Any, rows: Any, member: int, numbers: Any) -> int:
    """List the duplicates left of a row's group, the oldest first, as far as there is room; returns how many."""
    runs = tables[0]
    address = row_at(plan, rows, member)
    if address == 0:
        return 0
    group = word(address, 5)
    key = number_key(group)
    count = 0
    for run in range(runs.shape[0]):
        start, stop = equal_keys(tables, run, FOLLOWERS, key, np.uint64(0))
        for at in range(start, stop):
            number = entry_row(tables, run, FOLLOWERS, at)
            if _follows(plan, tables, rows, number, group):
                if count < len(numbers):
                    numbers[count] = np.uint32(number)
                count += 1
    entry = chain_start(plan, tables, FOLLOWERS, key)
    while entry >= 0:
        number = memory_row(tables, FOLLOWERS, entry)
        if _follows(plan, tables, rows, number, group):
            if count < len(numbers):
                numbers[count] = np.uint32(number)
            count += 1
        entry = chain_next(tables, FOLLOWERS, entry)
    return count
