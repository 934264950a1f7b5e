"""Which rule of a site decides a URL: the first whose context holds, found by structure and literals."""

from typing import Any

import numpy as np

from undust.kernels.compiling import part
from undust.kernels.rules_bytes import find, hash_span, same
from undust.kernels.rules_layout import (
    ANY,
    BUCKET_RULE,
    COMMON,
    CONDITION,
    COUNT_BITS,
    DATE,
    DIGITS,
    GROUP,
    HASH_SHIFT,
    MAX_COUNT,
    PART,
    PATTERN,
    TEXT,
    TEXTS,
    UUID,
)
from undust.kernels.rules_split import LISTS, value_of

_SHIFT = np.uint64(HASH_SHIFT)
_NO_RULE = 2**62

_DIGIT, _HEX = np.zeros(256, np.bool_), np.zeros(256, np.bool_)
_DIGIT[48:58] = _HEX[48:58] = _HEX[65:71] = _HEX[97:103] = True


@part
def _digits(src: Any, at: int, count: int) -> Any:
    for k in range(count):
        if not _DIGIT[src[at + k]]:
            return False
    return True


@part
def _is_uuid(src: Any, at: int, end: int) -> Any:
    if end - at < 36:
        return False
    for k in range(36):
        c = src[at + k]
        if k == 8 or k == 13 or k == 18 or k == 23:
            if c != 45:
                return False
        elif not _HEX[c]:
            return False
    return True


@part
def _date_size(src: Any, at: int, end: int) -> Any:
    """Size of the date that begins here: 2024-05-06, 2024-05, 20240506 or 202405; 0 if none does."""
    size = end - at
    if size < 6 or not _digits(src, at, 4):
        return 0
    if src[at + 4] == 45:
        if size < 7 or not _digits(src, at + 5, 2):
            return 0
        return 10 if size >= 10 and src[at + 7] == 45 and _digits(src, at + 8, 2) else 7
    if not _digits(src, at + 4, 2):
        return 0
    return 8 if size >= 8 and _digits(src, at + 6, 2) else 6


@part
def _run(kind: int, src: Any, at: int, end: int) -> Any:
    """Where the longest run of a kind ends that begins here; -1 if there is none."""
    if kind == DATE:
        size = _date_size(src, at, end)
        return at + size if size > 0 else -1
    if kind == UUID:
        return at + 36 if _is_uuid(src, at, end) else -1
    i = at
    if kind == DIGITS:
        while i < end and _DIGIT[src[i]]:
            i += 1
    else:
        while i < end and _HEX[src[i]]:
            i += 1
    return i if i > at else -1


@part
def _run_back(kind: int, src: Any, at: int, end: int) -> Any:
    """Where the longest run of a kind begins that ends here; -1 if there is none."""
    if kind == DATE:
        for size in (10, 8, 7, 6):
            if end - size >= at and _date_size(src, end - size, end) == size:
                return end - size
        return -1
    if kind == UUID:
        return end - 36 if end - 36 >= at and _is_uuid(src, end - 36, end) else -1
    i = end
    if kind == DIGITS:
        while i > at and _DIGIT[src[i - 1]]:
            i -= 1
    else:
        while i > at and _HEX[src[i - 1]]:
            i -= 1
    return i if i < end else -1


@part
def fit(words: Any, texts: Any, base: int, blob: int, pattern: int, src: Any, at: int, end: int, slot: int) -> Any:
    """Tell whether a value fits a pattern, and what one of its slots takes. `base` is where the texts begin.

    As `Pattern.fit`: up to the one wide slot from the start, what follows it from the end; else forward.
    """
    parts, slots, wide = words[pattern], words[pattern + 1], words[pattern + 2]
    taken, taken_end = at, end
    seen = 0
    place = 0
    while place < parts and place != wide:
        entry = pattern + PATTERN + PART * place
        kind, size = words[entry], words[entry + 2]
        if kind == TEXT:
            text = base + words[entry + 1]
            if end - at < size or not same(src, at, texts, text, size):
                return False, 0, 0
            at += size
        else:
            if kind == ANY:
                after = end
                if place + 1 < parts and words[entry + PART] == TEXT:
                    borders = blob + words[entry + PART + 3]
                    after = find(
                        src, at, end, texts, base + words[entry + PART + 1], words[entry + PART + 2], words, borders
                    )
            else:
                after = _run(kind, src, at, end)
            if after < 0:
                return False, 0, 0
            if seen == slot:
                taken, taken_end = at, after
            seen += 1
            at = after
        place += 1
    if wide < 0:
        return at == end, taken, taken_end
    wide_slot = seen
    seen = slots
    place = parts - 1
    while place > wide:
        entry = pattern + PATTERN + PART * place
        kind, size = words[entry], words[entry + 2]
        if kind == TEXT:
            if end - size < at or not same(src, end - size, texts, base + words[entry + 1], size):
                return False, 0, 0
            end -= size
        else:
            start = _run_back(kind, src, at, end)
            if start < 0:
                return False, 0, 0
            seen -= 1
            if seen == slot:
                taken, taken_end = start, end
            end = start
        place -= 1
    if wide_slot == slot:
        taken, taken_end = at, end
    return True, taken, taken_end


@part
def _is_bucket(src: Any, words: Any, texts: Any, blob: int, bucket: int, literals: int, count: int, s: Any) -> Any:
    """Tell whether a URL has the literals of a bucket."""
    base = 4 * blob + words[blob + TEXTS]
    for k in range(count):
        at, end = value_of(words[literals + k], words, blob, s)
        text, size = base + words[bucket + 2 * k], words[bucket + 2 * k + 1]
        if at < 0 or end - at != size or not same(src, at, texts, text, size):
            return False
    return True


@part
def _find_bucket(src: Any, words: Any, texts: Any, blob: int, table: int, literals: int, count: int, s: Any) -> Any:
    """Find the rules of a group that have the literals of a URL: its bucket, -1 if none do."""
    mask = words[table]
    slot = np.int64(0)
    hashed = np.int64(-1)
    if mask > 0:
        made = np.uint64(0)
        for k in range(count):
            at, end = value_of(words[literals + k], words, blob, s)
            if at < 0:
                return -1
            made = hash_span(src, at, end - at, made)
        hashed = np.int64(made >> _SHIFT)
        slot = hashed & mask
    while True:
        # The only bucket has no hash before it.
        bucket = np.int64(words[table + 1] if mask == 0 else words[table + 2 * slot + 2])
        if bucket == 0:
            return -1
        if (mask == 0 or words[table + 2 * slot + 1] == hashed) and _is_bucket(
            src, words, texts, blob, blob + bucket, literals, count, s
        ):
            return blob + bucket
        if mask == 0:
            return -1
        slot = (slot + 1) & mask


@part
def _holds(words: Any, blob: int, keys: int, present: int, absent: int, s: Any) -> Any:
    """Tell whether the keys are there, and are absent, that a group needs so."""
    for k in range(present + absent):
        at, _ = value_of(words[keys + k], words, blob, s)
        if (at < 0) == (k < present):
            return False
    return True


@part
def _fits(src: Any, words: Any, texts: Any, blob: int, conditions: int, s: Any) -> Any:
    """Tell whether the values of a URL fit the patterns of a rule."""
    base = 4 * blob + words[blob + TEXTS]
    for c in range(words[conditions]):
        condition = conditions + 1 + CONDITION * c
        at, end = value_of(words[condition], words, blob, s)
        if at < 0:  # not so in what we write, but in a file it may be
            return False
        fits, _, _ = fit(words, texts, base, blob, blob + words[condition + 1], src, at, end, -1)
        if not fits:
            return False
    return True


@part
def decide(src: Any, rules: Any, blob: int, s: Any) -> Any:
    """Find the rule that decides a URL: its place among those of the site, and its words; -1 if none holds."""
    words, texts = rules.words, rules.texts
    best, rule = np.int64(_NO_RULE), np.int64(-1)
    s.lists[s.url[LISTS]] = words[blob + COMMON]
    for n in range(s.url[LISTS], -1, -1):
        tied = blob + s.lists[n]
        for g in range(words[tied]):
            group = blob + words[tied + 1 + g]
            if words[group] >= best:
                break
            counts = words[group + 1]
            present, absent = counts & MAX_COUNT, (counts >> COUNT_BITS) & MAX_COUNT
            literal = counts >> (2 * COUNT_BITS)
            keys = group + GROUP
            if not _holds(words, blob, keys, present, absent, s):
                continue
            bucket = np.int64(blob + words[group + 2])
            if literal > 0:
                bucket = _find_bucket(src, words, texts, blob, bucket, keys + present + absent, literal, s)
                if bucket < 0:
                    continue
                bucket += 2 * literal
            for r in range(words[bucket]):
                entry = bucket + 1 + BUCKET_RULE * r
                if words[entry] >= best:
                    break
                if words[entry + 2] == 0 or _fits(src, words, texts, blob, blob + words[entry + 2], s):
                    best, rule = np.int64(words[entry]), np.int64(blob + words[entry + 1])
                    break
    return (best, rule) if rule >= 0 else (np.int64(-1), np.int64(-1))
