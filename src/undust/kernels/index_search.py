"""What a page is a duplicate of: search of the online index by digest, by simhash, by min-hash bands."""

from typing import Any

import numpy as np

from undust.kernels.compiling import kernel, part
from undust.kernels.hamming import popcount
from undust.kernels.hashing import splitmix64
from undust.kernels.index_rows import (
    BAND_TABLE,
    BANDS,
    BITS,
    BLOCK_TABLE,
    BLOCKS,
    DISTANCE,
    EVIDENCE,
    FOUNDER_WORDS,
    HAS_BANDS,
    HAS_DIGEST,
    HAS_SIMHASH,
    MAX_BUCKET,
    MAX_HUBS,
    MAX_SENTENCES,
    MAX_TRIES,
    NONE,
    PLAN,
    ROWS,
    SALT,
    SHINGLES,
    VALUES,
    block_key,
    block_shift,
    digest_key,
    founder_at,
    peek32,
    peek64,
    word,
)
from undust.kernels.index_tables import (
    DIGEST,
    TABLES,
    chain_next,
    chain_start,
    entry_key,
    entry_row,
    equal_keys,
    is_alive,
    lower_bound,
    may_have,
    memory_row,
)

EXACT, SIMHASH, MINHASH, CASCADE = 1, 2, 3, 4
# URLs, their offsets, what pages have (flags), digests, simhashes, sentences, labels, band keys, evidence, its offsets.
PAGES = (
    "Tuple((uint8[::1], int64[::1], uint8[::1], uint64[:, ::1], uint64[:, ::1], int32[::1], int32[::1],"
    "uint32[:, ::1], uint32[::1], int64[::1]))"
)
# Groups seen, groups of a bucket, stack of ranges, a stamp that tells one search from the next.
SCRATCH = "Tuple((uint64[::1], uint32[::1], int64[:, ::1], int64[::1]))"
STACK = 128

_HALF = np.uint64(32)
_SCAN = 256  # a longer range of a block's table is cut by its further bits


@kernel(f"int64({PLAN}, {TABLES}, {ROWS}, {PAGES}, int64)")
def same_text(plan: Any, tables: Any, rows: Any, pages: Any, page: int) -> int:
    """Find the oldest group with the page's text digest; `NONE` if there is none."""
    low, high = pages[3][page, 0], pages[3][page, 1]
    key = digest_key(low, high, np.uint64(plan[SALT]))
    for run in range(tables[0].shape[0] + 1):
        in_memory = run == tables[0].shape[0]
        at, stop = (
            (chain_start(plan, tables, DIGEST, key), 0)
            if in_memory
            else equal_keys(tables, run, DIGEST, key, np.uint64(0))
        )
        while at >= 0 if in_memory else at < stop:
            number = memory_row(tables, DIGEST, at) if in_memory else entry_row(tables, run, DIGEST, at)
            address = founder_at(plan, rows, number, HAS_DIGEST)
            if (
                address != 0
                and peek64(address + 40) == low
                and peek64(address + 48) == high
                and is_alive(plan, tables, rows, number)
            ):
                return number
            at = chain_next(tables, DIGEST, at) if in_memory else at + 1
    return np.int64(NONE)


@kernel(f"void({PLAN}, {TABLES}, {ROWS}, {PAGES}, int64, int64, int64[::1])")
def _consider(plan: Any, tables: Any, rows: Any, pages: Any, page: int, number: int, best: Any) -> None:
    """Compare the simhash of a page with that of a row, and note the row if it is nearer: number, distance."""
    address = founder_at(plan, rows, number, HAS_SIMHASH)
    if address == 0:
        return
    distance = np.int64(popcount(pages[4][page, 0] ^ peek64(address + 56)))
    distance += np.int64(popcount(pages[4][page, 1] ^ peek64(address + 64)))
    if distance > best[1] or (distance == best[1] and number >= best[0]):
        return
    if plan[MAX_SENTENCES] >= 0:
        if np.int32(peek32(address + 32)) != pages[6][page]:
            return
        if abs(np.int64(np.int32(peek32(address + 28))) - np.int64(pages[5][page])) > plan[MAX_SENTENCES]:
            return
    if is_alive(plan, tables, rows, number):
        best[0], best[1] = number, distance


@part
def _differing(a: Any, b: Any) -> int:
    return np.int64(popcount(a ^ b))


@kernel(f"void({PLAN}, {TABLES}, {ROWS}, {PAGES}, int64, int64, int64, uint64, int64[:, ::1], int64[::1])")
def _walk(
    plan: Any, tables: Any, rows: Any, pages: Any, page: int, run: int, table: int, key: Any, stack: Any, best: Any
) -> None:
    """Look at the entries of a block in a run. A long range is halved by its next bit while too few bits differ."""
    shift = np.uint64(block_shift(plan, table - plan[BLOCK_TABLE]))
    first = key >> shift << shift
    stack[0, 0] = lower_bound(tables, run, table, first)
    stack[0, 1] = lower_bound(tables, run, table, first + (np.uint64(1) << shift))
    stack[0, 2], stack[0, 3] = np.int64(shift) - 1, 0
    depth = 1
    while depth:
        depth -= 1
        start, stop, bit, used = stack[depth, 0], stack[depth, 1], stack[depth, 2], stack[depth, 3]
        if used > best[1] or start >= stop:
            continue
        if stop - start <= _SCAN or bit < 0:
            for at in range(start, stop):
                if _differing(entry_key(tables, run, table, at), key) <= best[1]:
                    _consider(plan, tables, rows, pages, page, entry_row(tables, run, table, at), best)
            continue
        one = np.uint64(1) << np.uint64(bit)
        border = (entry_key(tables, run, table, start) & ~(one | (one - np.uint64(1)))) | one
        low, middle = start, stop
        while low < middle:
            half = (low + middle) >> 1
            if entry_key(tables, run, table, half) < border:
                low = half + 1
            else:
                middle = half
        has_one = np.int64((key & one) != np.uint64(0))
        stack[depth, 0], stack[depth, 1], stack[depth, 2], stack[depth, 3] = start, low, bit - 1, used + has_one
        depth += 1
        stack[depth, 0], stack[depth, 1], stack[depth, 2], stack[depth, 3] = low, stop, bit - 1, used + 1 - has_one
        depth += 1


@kernel(f"void({PLAN}, {TABLES}, {ROWS}, {PAGES}, int64, int64[:, ::1], int64[::1])")
def nearest_simhash(plan: Any, tables: Any, rows: Any, pages: Any, page: int, stack: Any, best: Any) -> None:
    """Find the group with the nearest simhash within the distance, of equals the oldest: number, distance.

    Simhashes within k bits agree in one of k + 1 blocks at least, and each block has its table: none is missed.
    """
    best[0], best[1] = NONE, plan[DISTANCE]
    for block in range(plan[BLOCKS]):
        table = plan[BLOCK_TABLE] + block
        key = block_key(plan, block, pages[4][page, 0], pages[4][page, 1], np.int64(pages[6][page]))
        for run in range(tables[0].shape[0]):
            if tables[0][run, table, 3] > 0:
                _walk(plan, tables, rows, pages, page, run, table, key, stack, best)
        entry = chain_start(plan, tables, table, key)
        while entry >= 0:
            if _differing(tables[3][table, entry] >> _HALF, key) <= best[1]:
                _consider(plan, tables, rows, pages, page, memory_row(tables, table, entry), best)
            entry = chain_next(tables, table, entry)


@part
def _jaccard(hashes: Any, start: int, stop: int, address: int, count: int, threshold: float) -> float:
    """Similarity of a page's sorted hashes and those of a row, or -1 as soon as it cannot reach the threshold."""
    total = stop - start + count
    needed = np.int64(np.ceil(threshold / (1.0 + threshold) * total - 1e-6))
    if total == 0 or min(stop - start, count) < needed:
        return -1.0
    i, j, same = start, 0, 0
    may_miss_i, may_miss_j = stop - needed, count - needed
    while i < stop and j < count:
        x, y = hashes[i], peek32(address + 4 * j)
        same += np.int64(x == y)
        i += np.int64(x <= y)
        j += np.int64(y <= x)
        if i - same > may_miss_i or j - same > may_miss_j:
            return -1.0
    similarity = same / (total - same)
    return similarity if similarity >= threshold else -1.0


@part
def _agreement(folded: Any, start: int, stop: int, address: int, count: int, values: int, threshold: float) -> float:
    """Share of equal values of two signatures, each folded to 16 bits, two a word; -1 below the threshold."""
    if stop - start != count or count == 0:
        return -1.0
    same = 0
    for k in range(count):
        x = folded[start + k] ^ peek32(address + 4 * k)
        same += np.int64((x & np.uint32(0xFFFF)) == 0) + np.int64((x >> np.uint32(16)) == 0)
    similarity = (same - (values & 1)) / values  # an odd last value has a half that is always equal
    return similarity if similarity >= threshold else -1.0


@kernel(f"float64({PLAN}, {ROWS}, {PAGES}, int64, int64, float64)")
def _similarity(plan: Any, rows: Any, pages: Any, page: int, number: int, threshold: float) -> float:
    """Similarity of a page and a row by their evidence, or -1 below the threshold."""
    address = founder_at(plan, rows, number, HAS_BANDS)
    if address == 0:
        return -1.0
    evidence, start, stop = pages[8], pages[9][page], pages[9][page + 1]
    count = word(address, 3)
    address += 4 * (FOUNDER_WORDS + plan[BANDS])
    if plan[EVIDENCE] == SHINGLES:
        return _jaccard(evidence, start, stop, address, count, threshold)
    return _agreement(evidence, start, stop, address, count, plan[VALUES], threshold)


@part
def _is_seen(seen: Any, stamp: int, number: int) -> bool:
    """Tell whether this search has met a group before, and remember that it has now."""
    value = np.uint64(stamp) << _HALF | np.uint64(number)
    last = len(seen) - 1
    at = np.int64(splitmix64(value)) & last
    while seen[at] >> _HALF == np.uint64(stamp):
        if seen[at] == value:
            return True
        at = (at + 1) & last
    seen[at] = value
    return False


@kernel(f"int64({PLAN}, {TABLES}, {ROWS}, int64, uint64, uint32[::1])")
def _bucket(plan: Any, tables: Any, rows: Any, table: int, key: Any, found: Any) -> int:
    """List the living groups with a band key, the oldest first; at most one more than are all compared."""
    most = plan[MAX_BUCKET] + 1
    count = 0
    for run in range(tables[0].shape[0]):
        start, stop = equal_keys(tables, run, table, key, np.uint64(0))
        for at in range(start, stop):
            number = entry_row(tables, run, table, at)
            if is_alive(plan, tables, rows, number):
                found[count] = np.uint32(number)
                count += 1
                if count == most:
                    return count
    entry = chain_start(plan, tables, table, key)
    while entry >= 0:
        if is_alive(plan, tables, rows, memory_row(tables, table, entry)):
            found[count] = np.uint32(memory_row(tables, table, entry))
            count += 1
            if count == most:
                return count
        entry = chain_next(tables, table, entry)
    return count


@kernel(f"float64({PLAN}, {TABLES}, {ROWS}, {PAGES}, {SCRATCH}, int64, float64, int64[::1])")
def most_similar(
    plan: Any, tables: Any, rows: Any, pages: Any, scratch: Any, page: int, threshold: float, best: Any
) -> float:
    """Find the most similar group that shares a band with the page, of equals the oldest, and give the similarity.

    All groups of a bucket are compared, each once, unless it is a large one: a template that many pages share. Of
    that only the oldest are, and after some tries in vain none: no page costs more than so many comparisons.
    """
    seen, found, _, stamp = scratch
    stamp[0] += 1
    if stamp[0] >= NONE:
        seen[:] = 0
        stamp[0] = 1
    best[0] = NONE
    most, tries = threshold, plan[MAX_TRIES]
    for band in range(plan[BANDS]):
        if not may_have(plan, tables, plan[BAND_TABLE] + band, np.uint64(pages[7][page, band])):
            continue
        count = _bucket(plan, tables, rows, plan[BAND_TABLE] + band, np.uint64(pages[7][page, band]), found)
        large = count > plan[MAX_BUCKET]
        for k in range(plan[MAX_HUBS] if large else count):
            number = np.int64(found[k])
            if large and tries == 0:
                break
            if _is_seen(seen, stamp[0], number):
                continue
            similarity = _similarity(plan, rows, pages, page, number, most)
            if similarity > most or (similarity == most and number < best[0]):
                best[0], most = number, similarity
            elif large:
                tries -= 1
    return most


@kernel(f"Tuple((int64, int64, float64))({PLAN}, {TABLES}, {ROWS}, {PAGES}, {SCRATCH}, int64[::1], int64, float64)")
def decide(
    plan: Any, tables: Any, rows: Any, pages: Any, scratch: Any, methods: Any, page: int, threshold: float
) -> tuple[int, int, float]:
    """Ask the methods in order; the first that finds a group decides: group (`NONE` for none), method, similarity."""
    flags = pages[2][page]
    best = scratch[3][1:]
    for method in methods:
        if method == EXACT and flags & HAS_DIGEST:
            group = same_text(plan, tables, rows, pages, page)
            if group != NONE:
                return group, EXACT, 1.0
        elif method == MINHASH and flags & HAS_BANDS:
            similarity = most_similar(plan, tables, rows, pages, scratch, page, threshold, best)
            if best[0] != NONE:
                return best[0], MINHASH, similarity
        elif (method == SIMHASH or method == CASCADE) and flags & HAS_SIMHASH:
            nearest_simhash(plan, tables, rows, pages, page, scratch[2], best)
            if best[0] != NONE:
                return best[0], method, 1.0 - best[1] / plan[BITS]
    return np.int64(NONE), np.int64(0), 0.0
