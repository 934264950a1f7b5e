"""Regions of a page that its tags name: the main content, articles, and the edges (navigation, footers, banners)."""

from typing import Any

import numpy as np

from undust.kernels import html_tables as t
from undust.kernels.html_scan import ATTRIBUTE, BASIS, INPUT_END, PRIME, attribute, span_hash, step
from undust.kernels.html_state import ARTICLE_DEPTH, EDGE_DEPTH, MAIN_DEPTH

_ROLE, _CLASS, _ID, _HIDDEN, _STYLE = (t.name_hash(name) for name in ("role", "class", "id", "hidden", "style"))
_MAIN_VALUE, _ROLES = t.name_hash("main"), t.ROLE_HASHES
_KEYS, _KINDS, _MASK = t.WORD_KEYS, t.WORD_KINDS, (1 << t.WORD_BITS) - 1
_SHIFT = np.uint64(64 - t.WORD_BITS)
_MAIN, _ARTICLE, _HEADER, _EDGE = t.MAIN, t.ARTICLE, t.HEADER, t.EDGE
_EDGE_WORD, _CONTENT_WORD = 1, 2
_NONE = np.frombuffer(b"display:none", np.uint8)


@step
def _kinds(data: Any, start: Any, end: Any) -> Any:
    """Say which kinds of words a class or id has; words are split at other characters and at capitals."""
    kinds = 0
    i = start
    while i < end:
        key = BASIS
        first = i
        while i < end:
            c = np.int64(data[i])
            lower = c | 32
            if not 97 <= lower <= 122 or (c < 97 and i > first and data[i - 1] >= 97):
                break
            key = (key ^ np.uint64(lower)) * PRIME
            i += 1
        if i == first:
            i += 1
            continue
        place = np.int64(key >> _SHIFT)
        while _KEYS[place] != 0:
            if _KEYS[place] == key:
                kinds |= _KINDS[place]
                break
            place = (place + 1) & _MASK
    return kinds


@step
def _hides(data: Any, start: Any, end: Any) -> Any:
    """Tell whether a style says display:none, with or without spaces."""
    k = 0
    for i in range(start, end):
        c = data[i]
        if c <= 32:
            continue
        if 65 <= c <= 90:
            c += 32
        if c == _NONE[k]:
            k += 1
            if k == len(_NONE):
                return True
        else:
            k = 1 if c == _NONE[0] else 0
    return False


@step
def open_region(code: Any, flags: Any, key: Any, data: Any, i: Any, end: Any, state: Any, roots: Any) -> Any:
    """Read the attributes of an element that can be the root of a region; give the place after its tag."""
    main = code == _MAIN
    inside = state[MAIN_DEPTH] > 0 or state[ARTICLE_DEPTH] > 0
    edge = flags & _EDGE != 0 or (code == _HEADER and not inside)
    words = 0
    while True:
        found, name, start, stop, i = attribute(data, i, end)
        if found != ATTRIBUTE:
            break
        if name == _CLASS or name == _ID:
            words |= _kinds(data, start, stop)
        elif name == _ROLE:
            role = span_hash(data, start, stop)
            main = main or role == _MAIN_VALUE
            for k in range(len(_ROLES)):
                edge = edge or role == _ROLES[k]
        elif name == _HIDDEN or (name == _STYLE and _hides(data, start, stop)):
            edge = True
    if found == INPUT_END:
        return i
    edge = edge or words == _EDGE_WORD
    if main or code == _ARTICLE:
        state[EDGE_DEPTH] = 0  # nothing of the edge holds the content: its end tag was forgotten
    if main and state[MAIN_DEPTH] == 0:
        state[MAIN_DEPTH] = 1
        roots[1] = key
    elif state[MAIN_DEPTH] and key == roots[1]:
        state[MAIN_DEPTH] += 1
    if code == _ARTICLE:
        state[ARTICLE_DEPTH] += 1
    if state[EDGE_DEPTH]:
        if key == roots[0]:
            state[EDGE_DEPTH] += 1
    elif edge and not main:
        state[EDGE_DEPTH] = 1
        roots[0] = key
    return i


@step
def close_region(code: Any, key: Any, state: Any, roots: Any) -> Any:
    """Count an end tag of an element that can be the root of a region."""
    if state[EDGE_DEPTH] and key == roots[0]:
        state[EDGE_DEPTH] -= 1
    if state[MAIN_DEPTH] and key == roots[1]:
        state[MAIN_DEPTH] -= 1
    if code == _ARTICLE and state[ARTICLE_DEPTH]:
        state[ARTICLE_DEPTH] -= 1
