"""Pages of the online index: adding, finding and removing them by URL, and bringing rows back into memory."""

from typing import Any

import numpy as np

from undust.kernels.compiling import kernel, part
from undust.kernels.index_rows import (
    BAND_TABLE,
    BANDS,
    BLOCK_TABLE,
    BLOCKS,
    DUPLICATE_WORDS,
    FOUNDER_WORDS,
    HAS_BANDS,
    HAS_DIGEST,
    HAS_SIMHASH,
    IS_DUPLICATE,
    METHOD_SHIFT,
    NONE,
    PLAN,
    ROWS,
    SALT,
    UNIT,
    block_key,
    digest_key,
    number_key,
    peek32,
    peek64,
    row_at,
    same_url,
    url_key,
    url_word,
    word,
)
from undust.kernels.index_search import CASCADE, PAGES, SCRATCH, decide
from undust.kernels.index_tables import (
    DIGEST,
    FOLLOWERS,
    REMOVED,
    TABLES,
    URL,
    chain_next,
    chain_start,
    entry_row,
    equal_keys,
    insert,
    is_alive,
    is_removed,
    memory_row,
    name_of,
)

# What is new: rows, removed rows, how many of these and of those; pages and groups that the index has.
CHANGES = "Tuple((uint32[::1], uint32[::1], int64[::1], int64[::1]))"
# For each page: the row it had already, the row of the page that it is a duplicate of, by which method, how similar.
ANSWERS = "Tuple((uint32[::1], uint32[::1], uint8[::1], float32[::1]))"

_WORDS = UNIT // 4


@kernel(f"int64({PLAN}, {TABLES}, {ROWS}, uint8[::1], int64, int64, uint64)")
def find_url(plan: Any, tables: Any, rows: Any, data: Any, start: int, stop: int, key: Any) -> int:
    """Find the row of a URL; `NONE` if the index does not have it."""
    for run in range(tables[0].shape[0], -1, -1):
        in_memory = run == tables[0].shape[0]
        if in_memory:
            at, end = chain_start(plan, tables, URL, key), 0
        else:
            at, end = equal_keys(tables, run, URL, key, np.uint64(0))
        while at >= 0 if in_memory else at < end:
            number = memory_row(tables, URL, at) if in_memory else entry_row(tables, run, URL, at)
            address = row_at(plan, rows, number)
            if address != 0:
                begin = url_word(word(address, 1), word(address, 3), plan[BANDS])
                if same_url(address, begin, data, start, stop) and not is_removed(plan, tables, number):
                    return number
            at = chain_next(tables, URL, at) if in_memory else at + 1
    return np.int64(NONE)


@part
def _fingerprint_words(plan: Any, pages: Any, page: int) -> Any:
    evidence = pages[9][page + 1] - pages[9][page]
    return FOUNDER_WORDS + evidence + (plan[BANDS] if pages[2][page] & HAS_BANDS else 0)


@kernel(f"int64({PLAN}, {PAGES}, int64[::1])")
def page_units(plan: Any, pages: Any, units: Any) -> int:
    """Tell how many units the row of each page takes at most; returns their sum."""
    total = 0
    for page in range(len(units)):
        size = 4 * _fingerprint_words(plan, pages, page) + pages[1][page + 1] - pages[1][page]
        units[page] = (size + UNIT - 1) // UNIT
        total += units[page]
    return total


@kernel(f"int64({PLAN}, {PAGES}, {ROWS}, uint32[::1], int64, uint64, int64, int64, float64)")
def _write_row(
    plan: Any, pages: Any, rows: Any, out: Any, page: int, key: Any, group: int, method: int, similarity: float
) -> Any:
    """Write the row of a page behind those that are pending, with its fingerprint if it founds a group."""
    pending = rows[1]
    number = pending[1] + pending[2]
    is_founder = group == NONE
    first, last = pages[1][page], pages[1][page + 1]
    words = _fingerprint_words(plan, pages, page) if is_founder else DUPLICATE_WORDS
    units = (4 * words + last - first + UNIT - 1) // UNIT
    at = _WORDS * pending[2]
    out[at : at + _WORDS * units] = 0
    flags = np.int64(pages[2][page]) if is_founder else IS_DUPLICATE | method << METHOD_SHIFT
    out[at] = units
    out[at + 1] = flags
    out[at + 2] = last - first
    out[at + 4] = key
    out[at + 5] = number if is_founder else group
    out[at + 6] = np.float32(similarity).view(np.uint32)
    out[at + 7] = np.uint32(pages[5][page])
    out[at + 8] = np.uint32(pages[6][page])
    if is_founder:
        begin, end = pages[9][page], pages[9][page + 1]
        out[at + 3] = end - begin
        for half in range(2):
            for source, place in ((pages[3], 10), (pages[4], 14)):
                out[at + place + 2 * half] = np.uint32(source[page, half] & np.uint64(0xFFFFFFFF))
                out[at + place + 2 * half + 1] = np.uint32(source[page, half] >> np.uint64(32))
        here = at + FOUNDER_WORDS
        if flags & HAS_BANDS:
            for band in range(plan[BANDS]):
                out[here + band] = pages[7][page, band]
            here += plan[BANDS]
        for k in range(end - begin):
            out[here + k] = pages[8][begin + k]
    here = at + words
    for k in range(last - first):
        out[here + (k >> 2)] |= np.uint32(pages[0][first + k]) << np.uint32(8 * (k & 3))
    pending[2] += units
    return number


@kernel(f"void({PLAN}, {TABLES}, {ROWS}, int64)")
def _index_row(plan: Any, tables: Any, rows: Any, number: int) -> None:
    """Put the keys of a row into the tables in memory."""
    address = row_at(plan, rows, number)
    if address == 0:
        return
    flags = word(address, 1)
    insert(plan, tables, URL, np.uint64(word(address, 4)), number)
    if flags & IS_DUPLICATE:
        insert(plan, tables, FOLLOWERS, number_key(word(address, 5)), number)
        return
    if flags & HAS_DIGEST:
        key = digest_key(peek64(address + 40), peek64(address + 48), np.uint64(plan[SALT]))
        insert(plan, tables, DIGEST, key, number)
    if flags & HAS_SIMHASH:
        low, high, label = peek64(address + 56), peek64(address + 64), np.int64(np.int32(peek32(address + 32)))
        for block in range(plan[BLOCKS]):
            insert(plan, tables, plan[BLOCK_TABLE] + block, block_key(plan, block, low, high, label), number)
    if flags & HAS_BANDS:
        for band in range(plan[BANDS]):
            key = np.uint64(peek32(address + 4 * (FOUNDER_WORDS + band)))
            insert(plan, tables, plan[BAND_TABLE] + band, key, number)


@kernel(f"void({PLAN}, {TABLES}, {ROWS}, {CHANGES}, int64, int64)")
def _remove_row(plan: Any, tables: Any, rows: Any, changes: Any, number: int, group: int) -> None:
    """Remove a row, and count its group out if that has no page left."""
    _, removed, count, totals = changes
    insert(plan, tables, REMOVED, number_key(number), number)
    removed[count[0]] = np.uint32(number)
    count[0] += 1
    totals[0] -= 1
    if not is_alive(plan, tables, rows, group):
        totals[1] -= 1


@kernel(f"void({PLAN}, {TABLES}, {ROWS}, {PAGES}, {SCRATCH}, int64[::1], float64, {CHANGES}, {ANSWERS}, boolean)")
def answer_pages(
    plan: Any,
    tables: Any,
    rows: Any,
    pages: Any,
    scratch: Any,
    methods: Any,
    threshold: float,
    changes: Any,
    answers: Any,
    store: bool,
) -> None:
    """Tell of each page in turn what it is a duplicate of and, with `store`, add it before the next.

    A page that is known and still belongs to its group stays as it is. One that has changed more leaves its group.
    """
    owns, names, by, similarities = answers
    totals = changes[3]
    for page in range(len(owns)):
        first, last = pages[1][page], pages[1][page + 1]
        key = url_key(pages[0], first, last, np.uint64(plan[SALT]))
        own = find_url(plan, tables, rows, pages[0], first, last, key)
        own_group, empty = np.int64(NONE), False
        if own != NONE:
            address = row_at(plan, rows, own)
            own_group = word(address, 5)
            empty = word(address, 1) == 0
        group, method, similarity = decide(plan, tables, rows, pages, scratch, methods, page, threshold)
        if pages[2][page] == 0 and empty:
            group = own_group  # nothing then, nothing now
        name = np.int64(NONE) if group == NONE else name_of(plan, tables, rows, group)
        stays = own != NONE and own_group == group
        owns[page] = np.uint32(own if stays else NONE)
        if store and not stays:
            if own != NONE:
                _remove_row(plan, tables, rows, changes, own, own_group)
            own = _write_row(plan, pages, rows, changes[0], page, key, group, method, similarity)
            _index_row(plan, tables, rows, own)
            changes[2][1] += 1
            totals[0] += 1
            totals[1] += group == NONE
        if name == own:
            name = np.int64(NONE)
        names[page] = np.uint32(name)
        by[page] = np.uint8(method if name != NONE else 0)
        similarities[page] = np.float32(similarity if name != NONE else 0.0)


@kernel(f"void({PLAN}, {TABLES}, {ROWS}, uint8[::1], int64[::1], {ANSWERS})")
def find_pages(plan: Any, tables: Any, rows: Any, data: Any, offsets: Any, answers: Any) -> None:
    """Tell of each URL which row it has, and what the index knows it to be a duplicate of."""
    owns, names, by, similarities = answers
    for page in range(len(owns)):
        key = url_key(data, offsets[page], offsets[page + 1], np.uint64(plan[SALT]))
        own = find_url(plan, tables, rows, data, offsets[page], offsets[page + 1], key)
        owns[page], names[page], by[page], similarities[page] = np.uint32(own), np.uint32(NONE), 0, 0.0
        if own != NONE:
            address = row_at(plan, rows, own)
            name = name_of(plan, tables, rows, word(address, 5))
            if name != own:
                names[page] = np.uint32(name)
                by[page] = np.uint8(word(address, 1) >> METHOD_SHIFT)
                if by[page] > CASCADE:
                    rows[2][0] = 1 + own
                similarities[page] = np.uint32(peek32(address + 24)).view(np.float32)


@kernel(f"void({PLAN}, {TABLES}, {ROWS}, uint8[::1], int64[::1], {CHANGES}, boolean[::1])")
def remove_pages(plan: Any, tables: Any, rows: Any, data: Any, offsets: Any, changes: Any, found: Any) -> None:
    """Remove pages by their URLs, and tell which of them were there."""
    for page in range(len(found)):
        key = url_key(data, offsets[page], offsets[page + 1], np.uint64(plan[SALT]))
        own = find_url(plan, tables, rows, data, offsets[page], offsets[page + 1], key)
        found[page] = own != NONE
        if own != NONE:
            _remove_row(plan, tables, rows, changes, own, word(row_at(plan, rows, own), 5))


@kernel(f"int64({PLAN}, {TABLES}, {ROWS}, int64, int64, Array(uint32, 1, 'C', readonly=True))")
def replay(plan: Any, tables: Any, rows: Any, first: int, end: int, removed: Any) -> int:
    """Bring the rows between two numbers and the removals beside them back into memory; returns how many rows."""
    count = 0
    number = first
    while number < end:
        address = row_at(plan, rows, number)
        if address == 0:
            return -1
        _index_row(plan, tables, rows, number)
        number += word(address, 0)
        count += 1
    for k in range(len(removed)):
        insert(plan, tables, REMOVED, number_key(np.int64(removed[k])), np.int64(removed[k]))
    return count
