"""One URL in standard form cut into what the rules of its site look at."""

from typing import Any

import numpy as np

from undust.kernels.compiling import part
from undust.kernels.rules_bytes import hash_span, same
from undust.kernels.rules_hosts import HOST, OWN, PATH, PORT, PORT_END, SCHEME_END
from undust.kernels.rules_layout import (
    FLAGS,
    HASH_SHIFT,
    KEY,
    KEYS,
    NAME,
    NAME_COUNT,
    NAMES,
    OF_ARGUMENT,
    OF_PARAM,
    ON_HOST,
    ON_NAME,
    ON_PATH,
    ON_SCHEME,
    PART_BITS,
    TABLE,
    TEXTS,
    USES_HOST,
    USES_PARAMS,
    USES_PATH,
    USES_QUERY,
)
from undust.settings import MAX_ARGUMENTS

# Of a URL: where it begins and ends, where its path ends, where its query begins (-1: none), how many there are of
# each thing. What was written in another turn than this one is left from another URL.
START, END, PATH_END, QUERY, SEGMENTS, PARAMS, ARGUMENTS, LABELS, LISTS, TURN, SPLIT_TURN = range(11)
# Of a segment: text, end of the text, end of its parameters, the first of them.
TEXT_AT, TEXT_END, SEGMENT_END, FIRST_PARAM = range(4)
# Of a parameter or argument: separator, name in the rules (-1: in none), nth, and spans; a value at -1 has no `=`.
SEPARATOR, KNOWN, NTH, NAME_AT, NAME_END, VALUE_AT, VALUE_END = range(7)

_SHIFT = np.uint64(HASH_SHIFT)

_STOP = np.zeros(256, np.uint8)
for _byte in b"/;?#&=":
    _STOP[_byte] = _byte


@part
def _is_name(src: Any, at: int, end: int, of: int, hashed: int, name: int, words: Any, texts: Any, blob: int) -> Any:
    entry = blob + words[blob + NAMES] + NAME * name
    if words[entry] != hashed or words[entry + 1] != 2 * (end - at) + of:
        return False
    return same(src, at, texts, 4 * blob + words[blob + TEXTS] + words[entry + 2], end - at)


@part
def _known(src: Any, at: int, end: int, of: int, words: Any, texts: Any, blob: int) -> Any:
    """Give the number of a name that the rules of the site know, or -1."""
    hashed = np.int64(hash_span(src, at, end - at, np.uint64(of) << np.uint64(32)) >> _SHIFT)
    if words[blob + TABLE] == 0:
        for name in range(words[blob + NAME_COUNT]):
            if _is_name(src, at, end, of, hashed, name, words, texts, blob):
                return name
        return -1
    table = blob + words[blob + TABLE]
    mask = words[table]
    slot = hashed & mask
    while words[table + 2 * slot + 2] != 0:
        name = words[table + 2 * slot + 2] - 1
        if words[table + 2 * slot + 1] == hashed and _is_name(src, at, end, of, hashed, name, words, texts, blob):
            return name
        slot = (slot + 1) & mask
    return -1


@part
def count(name: int, counts: Any, turn: int) -> Any:
    """Count one more of a name in this turn."""
    if counts[name, 0] != turn:
        counts[name, 0], counts[name, 1] = turn, 0
    counts[name, 1] += 1
    return counts[name, 1]


@part
def _note(name: int, at: int, end: int, words: Any, blob: int, s: Any) -> Any:
    """Number a named value, and keep it for the key that it is the value of, if rules have that key."""
    turn = s.url[SPLIT_TURN]
    nth = count(name, s.counts, turn)
    entry = blob + words[blob + NAMES] + NAME * name
    for key in range(words[entry + 3], words[entry + 3] + words[entry + 4]):
        at_key = blob + words[blob + KEYS] + KEY * key
        if words[at_key] >> PART_BITS == nth:
            s.slots[key, 0], s.slots[key, 1], s.slots[key, 2] = turn, at, end
            if words[at_key + 1] != 0:
                s.lists[s.url[LISTS]] = words[at_key + 1]
                s.url[LISTS] += 1
    return nth


@part
def _params(src: Any, semicolon: int, end: int, params: Any, m: int, budget: int) -> Any:
    """Cut the parameters of a segment; give the place after the last, or -1 if they are none."""
    first = m
    i = semicolon
    while i < end:
        name = i + 1
        equals = -1
        i = name
        while i < end and src[i] != 59:
            if src[i] == 61 and equals < 0:
                equals = i
            i += 1
        if equals <= name or m - first >= budget:
            return -1
        params[m, SEPARATOR], params[m, KNOWN], params[m, NTH] = 59, -1, 0
        params[m, NAME_AT], params[m, NAME_END], params[m, VALUE_AT], params[m, VALUE_END] = name, equals, equals + 1, i
        m += 1
    return m


@part
def _segments(src: Any, at: int, end: int, url: Any, segments: Any, params: Any) -> Any:
    """Cut the path, from its first slash on; give where it ends, or -1 if there is a fragment."""
    n = m = 0
    i = at
    while i < end and src[i] == 47:
        i += 1
        start, semicolon = i, -1
        stop = np.uint8(0)
        while i < end:
            stop = _STOP[src[i]]
            if stop == 47 or stop == 63 or stop == 35:
                break
            if stop == 59 and semicolon < 0:
                semicolon = i
            i += 1
        segments[n, TEXT_AT], segments[n, TEXT_END], segments[n, SEGMENT_END] = start, i, i
        segments[n, FIRST_PARAM] = m
        if semicolon >= 0:
            after = _params(src, semicolon, i, params, m, MAX_ARGUMENTS - m)
            if after >= 0:
                segments[n, TEXT_END] = semicolon
                m = after
        n += 1
    segments[n, FIRST_PARAM] = m
    url[SEGMENTS], url[PARAMS] = n, m
    return -1 if i < end and src[i] != 63 else i


@part
def _arguments(src: Any, at: int, end: int, arguments: Any) -> Any:
    """Cut the query; give how many arguments it has, or -1 if there is a fragment."""
    m = 0
    named = False
    separator = 0
    i = at
    while True:
        name, equals = i, -1
        stop = np.uint8(0)
        while i < end:
            stop = _STOP[src[i]]
            if stop == 38 or stop == 59:
                break
            if stop == 61 and equals < 0:
                equals = i
            elif stop == 35:
                return -1
            i += 1
        if m < MAX_ARGUMENTS:
            arguments[m, SEPARATOR], arguments[m, KNOWN], arguments[m, NTH] = separator, -1, 0
            arguments[m, NAME_AT], arguments[m, NAME_END] = name, i if equals < 0 else equals
            arguments[m, VALUE_AT], arguments[m, VALUE_END] = -1 if equals < 0 else equals + 1, i
        named |= equals >= 0
        m += 1
        if i >= end:
            break
        separator = src[i]
        i += 1
    if named and m <= MAX_ARGUMENTS:
        return m
    arguments[0, SEPARATOR], arguments[0, KNOWN], arguments[0, NTH] = 0, -1, 0
    arguments[0, NAME_AT], arguments[0, NAME_END] = -1, -1
    arguments[0, VALUE_AT], arguments[0, VALUE_END] = at, end
    return 1


@part
def _labels(src: Any, host: Any, labels: Any) -> Any:
    """Find the labels left of the registrable domain, nearest first; the first is labels[1]."""
    n = 0
    end = host[OWN] - 1
    i = end - 1
    while i >= host[HOST] - 1 and end > host[HOST]:
        if i < host[HOST] or src[i] == 46:
            n += 1
            labels[n, 0], labels[n, 1] = i + 1, end
            end = i
        i -= 1
    return n


@part
def _note_all(src: Any, rules: Any, blob: int, of: int, tokens: Any, n: int, s: Any) -> None:
    for m in range(n):
        at, end = tokens[m, NAME_AT], tokens[m, NAME_END]
        name = _known(src, at, end, of, rules.words, rules.texts, blob)
        if name >= 0:
            tokens[m, KNOWN] = name
            value = tokens[m, VALUE_AT]
            tokens[m, NTH] = _note(name, end if value < 0 else value, tokens[m, VALUE_END], rules.words, blob, s)


@part
def _find_query(src: Any, i: int, end: int) -> Any:
    """Find the end of the path; -1 if there is a fragment."""
    while i < end and src[i] != 63:
        if src[i] == 35:
            return -1
        i += 1
    return i


@part
def split(src: Any, rules: Any, blob: int, s: Any, only_query: bool) -> Any:
    """Cut src[url[START]:url[END]] as far as the rules of its site need it; False if it is not in standard form.

    With `only_query` all before the query is as it was in the URL that was cut before.
    """
    flags = rules.words[blob + FLAGS]
    url = s.url
    end = url[END]
    url[TURN] += 1
    url[SPLIT_TURN] = url[TURN]
    url[LISTS] = url[ARGUMENTS] = 0
    if not only_query:
        url[LABELS] = url[SEGMENTS] = url[PARAMS] = 0
        if flags & USES_HOST:
            url[LABELS] = _labels(src, s.host, s.labels)
        if flags & (USES_PATH | USES_PARAMS):
            url[PATH_END] = _segments(src, s.host[PATH], end, url, s.segments, s.params)
        else:
            url[PATH_END] = _find_query(src, s.host[PATH], end)
        if url[PATH_END] < 0:
            return False
    url[QUERY] = -1
    if url[PATH_END] < end:
        url[QUERY] = url[PATH_END] + 1
        if flags & USES_QUERY:
            url[ARGUMENTS] = _arguments(src, url[QUERY], end, s.arguments)
            if url[ARGUMENTS] < 0:
                return False
    if flags & USES_PARAMS:
        _note_all(src, rules, blob, OF_PARAM, s.params, url[PARAMS], s)
    if flags & USES_QUERY:
        _note_all(src, rules, blob, OF_ARGUMENT, s.arguments, url[ARGUMENTS], s)
    return True


@part
def value_of(key: int, words: Any, blob: int, s: Any) -> Any:
    """Give the span of a key's value, -1 where it is absent."""
    entry = blob + words[blob + KEYS] + KEY * key
    on, place = words[entry] & ((1 << PART_BITS) - 1), np.int64(words[entry + 1])
    if on == ON_NAME:
        if s.slots[key, 0] == s.url[SPLIT_TURN]:
            return s.slots[key, 1], s.slots[key, 2]
    elif on == ON_PATH:
        if place < 0:
            place += s.url[SEGMENTS]
        if 0 <= place < s.url[SEGMENTS]:
            return np.int64(s.segments[place, TEXT_AT]), np.int64(s.segments[place, TEXT_END])
    elif on == ON_HOST:
        if 0 < place <= s.url[LABELS]:
            return np.int64(s.labels[place, 0]), np.int64(s.labels[place, 1])
    elif on == ON_SCHEME:
        return s.url[START], s.host[SCHEME_END]
    elif s.host[PORT] >= 0:
        return s.host[PORT], s.host[PORT_END]
    return np.int64(-1), np.int64(-1)
