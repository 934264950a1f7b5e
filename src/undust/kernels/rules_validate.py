"""Proves that the words of a site lead nowhere but into themselves, before a kernel trusts those that come from a file.

Kernels follow places in words without a look at their bounds. A file may be damaged or hostile, and it may be too large
to be read as a whole when it is opened: so a site is proved when the first of its URLs comes.
"""

from typing import Any

import numpy as np

from undust.kernels.compiling import kernel, part
from undust.kernels.rules_bytes import SLACK, hash_span
from undust.kernels.rules_layout import (
    ANY,
    BUCKET_RULE,
    COMMON,
    CONDITION,
    COPIED,
    COUNT_BITS,
    DATE,
    FIRST,
    FLAGS,
    GROUP,
    HASH_SHIFT,
    HEADER,
    IGNORED,
    KEY,
    KEY_COUNT,
    KEYS,
    LEFT,
    MAX_COUNT,
    NAME,
    NAME_COUNT,
    NAME_SIZE,
    NAMES,
    ON_HOST_FROM,
    ON_NAME,
    ON_PARAMS_FROM,
    ON_PATH_FROM,
    ON_QUERY_FROM,
    OPERATION,
    OPERATIONS,
    PART,
    PART_BITS,
    PATTERN,
    PIECE,
    RULE,
    RULES,
    SIZE,
    SUM,
    TABLE,
    TEXT,
    TEXTS,
)
from undust.kernels.rules_scratch import rules_at, scratch_at, table_at

_SHIFT = np.uint64(HASH_SHIFT)
_SPARE = SLACK // 4


@part
def _sum(texts: Any, blob: int, size: int) -> Any:
    """The sum over all words of a site after the sum itself."""
    return hash_span(texts, 4 * (blob + SUM + 1), 4 * (size - SUM - 1), np.uint64(size)) >> _SHIFT


@part
def _room(words: Any, blob: int, place: int, size: int, count: int) -> Any:
    """Tell whether `count` things of a size have room at a place."""
    end = words[blob + TEXTS] // 4
    return HEADER <= place <= end and 0 <= count and size * count <= end - place


@part
def _text(words: Any, blob: int, text: int, size: int) -> Any:
    return 0 <= text and 0 <= size <= 4 * np.int64(words[blob + SIZE]) - words[blob + TEXTS] - text


@part
def _key(words: Any, blob: int, key: int) -> Any:
    return 0 <= key < words[blob + KEY_COUNT]


@part
def _table(words: Any, blob: int, place: int) -> Any:
    """Tell whether a table has room, and an empty slot at which a search ends."""
    if not _room(words, blob, place, 1, 2):
        return False
    mask = np.int64(words[blob + place])
    if mask == 0:
        return True
    if mask < 0 or mask & (mask + 1) != 0 or not _room(words, blob, place + 1, 2, mask + 1):
        return False
    for slot in range(mask + 1):
        if words[blob + place + 2 * slot + 2] == 0:
            return True
    return False


@part
def _pattern(words: Any, blob: int, place: int, budget: Any) -> Any:
    if not _room(words, blob, place, 1, PATTERN):
        return False
    at = blob + place
    parts, wide = words[at], words[at + 2]
    if not _room(words, blob, place + PATTERN, PART, parts) or wide < -1 or wide >= parts:
        return False
    for k in range(parts):
        entry = at + PATTERN + PART * k
        kind, text, size, borders = words[entry], words[entry + 1], words[entry + 2], words[entry + 3]
        if kind < 0 or kind > DATE or (kind == TEXT and not _text(words, blob, text, size)):
            return False
        budget[0] -= 1
        if kind == TEXT and k > 0 and k - 1 != wide and words[entry - PART] == ANY:  # it will be searched for
            if not _room(words, blob, borders, 1, size):
                return False
            budget[0] -= size
            for i in range(size):
                if not 0 <= words[blob + borders + i] <= i:
                    return False
    return True


@part
def _pieces(words: Any, blob: int, place: int, budget: Any) -> Any:
    if not _room(words, blob, place, 1, 1) or not _room(words, blob, place + 1, PIECE, words[blob + place]):
        return False
    for k in range(words[blob + place]):
        piece = blob + place + 1 + PIECE * k
        budget[0] -= 1
        if words[piece] == COPIED:
            pattern = words[piece + 2]
            if not _key(words, blob, words[piece + 1]):
                return False
            if pattern != 0 and (budget[0] < 0 or not _pattern(words, blob, pattern, budget)):
                return False
        elif words[piece] < 0 or words[piece] > IGNORED or not _text(words, blob, words[piece + 1], words[piece + 2]):
            return False
    return True


@part
def _rule(words: Any, blob: int, place: int, most: int, budget: Any) -> Any:
    if not _room(words, blob, place, 1, RULE):
        return False
    rule = blob + place
    count = words[rule + OPERATIONS]
    if count < 0 or count > most or not _room(words, blob, place + RULE, OPERATION, count):
        return False
    before = 0
    for k in range(ON_HOST_FROM, ON_QUERY_FROM + 1):
        if words[rule + k] < before or words[rule + k] > count:
            return False
        before = words[rule + k]
    for k in range(count):
        operation = rule + RULE + OPERATION * k
        target, pieces = words[operation], words[operation + 2]
        if words[rule + ON_HOST_FROM] <= k < words[rule + ON_PATH_FROM] and target < 1:
            return False
        if k >= words[rule + ON_PARAMS_FROM] and not 0 <= target < words[blob + NAME_COUNT]:
            return False
        budget[0] -= 1
        if pieces != 0 and (budget[0] < 0 or not _pieces(words, blob, pieces, budget)):
            return False
    return True


@part
def _conditions(words: Any, blob: int, place: int, budget: Any) -> Any:
    if not _room(words, blob, place, 1, 1) or not _room(words, blob, place + 1, CONDITION, words[blob + place]):
        return False
    for c in range(words[blob + place]):
        condition = blob + place + 1 + CONDITION * c
        if budget[0] < 0 or not _key(words, blob, words[condition]):
            return False
        if not _pattern(words, blob, words[condition + 1], budget):
            return False
    return True


@part
def _bucket(words: Any, blob: int, place: int, literals: int, most: int, budget: Any) -> Any:
    if not _room(words, blob, place, 1, 2 * literals + 1):
        return False
    for k in range(literals):
        if not _text(words, blob, words[blob + place + 2 * k], words[blob + place + 2 * k + 1]):
            return False
    start = place + 2 * literals
    rules = words[blob + start]
    if not _room(words, blob, start + 1, BUCKET_RULE, rules):
        return False
    for r in range(rules):
        entry = blob + start + 1 + BUCKET_RULE * r
        budget[0] -= 1
        if budget[0] < 0 or not 0 <= words[entry] < words[blob + RULES]:
            return False
        if words[entry + 2] != 0 and not _conditions(words, blob, words[entry + 2], budget):
            return False
        if not _rule(words, blob, words[entry + 1], most, budget):
            return False
    return True


@part
def _group(words: Any, blob: int, place: int, most: int, budget: Any) -> Any:
    if not _room(words, blob, place, 1, GROUP):
        return False
    counts, found = words[blob + place + 1], np.int64(words[blob + place + 2])
    if counts < 0:
        return False
    literals = np.int64(counts >> (2 * COUNT_BITS))
    keys = (counts & MAX_COUNT) + ((counts >> COUNT_BITS) & MAX_COUNT) + literals
    if not _room(words, blob, place + GROUP, 1, keys):
        return False
    for k in range(keys):
        if not _key(words, blob, words[blob + place + GROUP + k]):
            return False
    mask = np.int64(0)
    if literals > 0:
        if not _table(words, blob, found):
            return False
        mask = np.int64(words[blob + found])
    budget[0] -= mask + keys + 1
    for slot in range(mask + 1):
        bucket = found
        if literals > 0:
            bucket = np.int64(words[blob + found + 1] if mask == 0 else words[blob + found + 2 * slot + 2])
            if bucket == 0:
                continue
        if budget[0] < 0 or not _bucket(words, blob, bucket, literals, most, budget):
            return False
    return True


@part
def _names(words: Any, blob: int) -> Any:
    """Prove keys, names, and the table of names; what is tied to keys is proved by `_lists`."""
    names, keys = words[blob + NAME_COUNT], words[blob + KEY_COUNT]
    if not _room(words, blob, words[blob + KEYS], KEY, keys) or not _room(
        words, blob, words[blob + NAMES], NAME, names
    ):
        return False
    for name in range(names):
        entry = blob + words[blob + NAMES] + NAME * name
        first, count = words[entry + 3], words[entry + 4]
        if words[entry + 1] < 0 or not _text(words, blob, words[entry + 2], words[entry + 1] >> 1):
            return False
        if first < 0 or count < 0 or np.int64(first) + count > keys:
            return False
        before = -1
        for key in range(first, first + count):  # at most one key for each argument of a URL
            entry = words[blob + words[blob + KEYS] + KEY * key]
            nth = entry >> PART_BITS
            if nth <= before or entry & ((1 << PART_BITS) - 1) != ON_NAME:
                return False
            before = nth
    place = np.int64(words[blob + TABLE])
    if place == 0:
        return True
    if not _table(words, blob, place) or words[blob + place] == 0:
        return False
    for slot in range(words[blob + place] + 1):
        if not 0 <= words[blob + place + 2 * slot + 2] <= names:
            return False
    return True


@part
def _lists(words: Any, blob: int, most: int, budget: Any) -> Any:
    """Prove each list of groups: the common one, then those that are tied to keys."""
    for key in range(-1, words[blob + KEY_COUNT]):
        place = np.int64(words[blob + COMMON])
        if key >= 0:
            entry = blob + words[blob + KEYS] + KEY * key
            place = np.int64(words[entry + 1])
            if words[entry] & ((1 << PART_BITS) - 1) != ON_NAME or place == 0:
                continue
        if not _room(words, blob, place, 1, 1) or not _room(words, blob, place + 1, 1, words[blob + place]):
            return False
        for g in range(words[blob + place]):
            budget[0] -= 1
            if budget[0] < 0 or not _group(words, blob, words[blob + place + 1 + g], most, budget):
                return False
    return True


@kernel("int64(int64, int64)")
def validate_site(address: Any, blob: Any) -> Any:
    """Tell whether the words of a site that begin at `blob` are whole: 1 or 0."""
    table = table_at(address)
    rules, s = rules_at(table), scratch_at(table)
    words, texts = rules.words, rules.texts
    if blob < 0 or blob > len(words) - HEADER:
        return 0
    size, start = np.int64(words[blob + SIZE]), words[blob + TEXTS]
    if size < HEADER or size > len(words) - _SPARE - blob or start < 4 * HEADER or start > 4 * size or start % 4 != 0:
        return 0
    if np.int64(_sum(texts, blob, size)) != words[blob + SUM] or not _text(words, blob, 0, words[blob + NAME_SIZE]):
        return 0
    if words[blob + FLAGS] & LEFT:
        return 1
    if words[blob + FIRST] < 0 or words[blob + KEY_COUNT] >= len(s.slots) or words[blob + NAME_COUNT] >= len(s.counts):
        return 0
    # What rules share is looked at again for each: a site that takes many times its size is no site of ours.
    s.url[0] = 64 * size
    if _names(words, blob) and _lists(words, blob, len(s.results) - 1, s.url):
        return 1
    return 0


@kernel("void(int32[::1], uint8[::1])")
def seal_sites(words: Any, texts: Any) -> None:
    """Write into each site the sum that `validate_site` will compare."""
    blob = np.int64(0)
    while blob < len(words) and words[blob + SIZE] > 0:
        size = np.int64(words[blob + SIZE])
        words[blob + SUM] = np.int64(_sum(texts, blob, size))
        blob += size
