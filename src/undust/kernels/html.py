"""HTML to text in one pass over the bytes, without a tree: the tokenizer of the HTML standard (13.2.5) as a kernel.

Text goes to `out`, attribute values to `aux`; spans of titles, links and blocks to the other arrays, whose
columns `html_state` names. The cost depends on the number of bytes only: nesting is counted, not stored.
"""

from typing import Any

import numpy as np

from undust.kernels import html_tables as t
from undust.kernels.characters import encode
from undust.kernels.compiling import kernel
from undust.kernels.html_flow import BLANK, LINES, NEW_BLOCK, NOTHING, REFERENCES, after_space, blank, flow, unseen
from undust.kernels.html_references import reference
from undust.kernels.html_regions import close_region, open_region
from undust.kernels.html_scan import declaration_end, element, in_cdata, skip_attributes, step, tag_name
from undust.kernels.html_state import (
    ABSENT,
    AUX,
    BLOCKS,
    BLOCKS_END,
    CELL_LINK,
    CUT,
    FOREIGN_DEPTH,
    HOW_PLAIN,
    HOW_XHTML,
    HOW_XML,
    IN_HEAD,
    IN_LINK,
    IN_PRE,
    LINKS,
    LINKS_END,
    STRICT,
    TEMPLATE_DEPTH,
    TITLE,
    WANT_BLOCKS,
    begin_word,
    close_link,
    close_template,
    reset,
)
from undust.kernels.html_tags import MAX_TITLE_BYTES, special

_CLASS = t.BYTE_CLASS
_TEXT, _SPACE, _LESS, _AMPERSAND, _CONTROL, _LATIN = t.TEXT, t.SPACE, t.LESS, t.AMPERSAND, t.CONTROL, t.LATIN
_BRACKET = t.BRACKET
_BLOCK, _APART, _HEAD, _SPECIAL, _ROOT = t.BLOCK, t.APART, t.HEAD, t.SPECIAL, t.ROOT
_SHOWN_RAW = t.SHOWN_RAW
_CODES, _FLAGS = t.ELEMENT_CODES, t.ELEMENT_FLAGS
_CODE_A, _CODE_PRE, _CODE_CELL, _CODE_TEMPLATE, _CODE_FOREIGN = t.LINK_A, t.PRE, t.CELL, t.TEMPLATE, t.FOREIGN
_TITLE_HASH = t.name_hash("title")


@step
def _end_tag(key: Any, o: Any, pending: Any, state: Any, roots: Any, links: Any, blocks: Any) -> Any:
    """Do what an end tag means; give the output's place and what is due there."""
    place = element(key)
    if place < 0:
        return o, pending
    code, flags = _CODES[place], _FLAGS[place]
    if flags & _BLOCK:
        pending = NEW_BLOCK
    elif flags & _APART:
        pending = max(pending, BLANK)
    if flags & _ROOT:
        if state[WANT_BLOCKS]:
            close_region(code, key, state, roots)
    elif code == _CODE_A:
        close_link(state, links, blocks, o)
    elif code == _CODE_CELL:
        if state[IN_LINK] > state[CELL_LINK]:
            close_link(state, links, blocks, o)
    elif code == _CODE_PRE:
        state[IN_PRE] = 0
    elif code == _CODE_FOREIGN:
        state[FOREIGN_DEPTH] = max(state[FOREIGN_DEPTH] - 1, 0)
    elif code == _CODE_TEMPLATE:
        return close_template(state, links, blocks, o, pending)
    return o, pending


@step
def _xml_title(data: Any, i: Any, end: Any, aux: Any, state: Any, meta: Any, row: Any) -> Any:
    """Keep the first title of a feed or another XML document, up to the next tag."""
    stop = i
    while stop < end and stop < i + MAX_TITLE_BYTES and data[stop] != 60:
        stop += 1
    while stop < end and data[stop] & 0xC0 == 0x80:
        stop -= 1
    place = state[AUX]
    state[AUX] = flow(data, i, stop, aux, place, place + 2 * MAX_TITLE_BYTES, REFERENCES)
    meta[row, TITLE], meta[row, TITLE + 1] = place, state[AUX]


@step
def _page(
    data: Any, i: Any, end: Any, how: Any, out: Any, o: Any, stop: Any, aux: Any,
    state: Any, roots: Any, meta: Any, row: Any, links: Any, blocks: Any,
) -> Any:  # fmt: skip
    """Write the text of one page from o on, at most SLACK bytes more than to `stop`; give the place after it."""
    first = o
    if how == HOW_PLAIN:
        begin_word(out, o, o, NEW_BLOCK, state, blocks)
        o = flow(data, i, end, out, o, stop, LINES)
        i = end
    state[STRICT] = how == HOW_XHTML
    pending = NEW_BLOCK
    while i < end and o < stop:
        c = data[i]
        kind = _CLASS[c]
        if kind == _SPACE:
            if state[IN_PRE]:
                pending = after_space(data, i, end, pending)
            elif pending == NOTHING:
                pending = BLANK
            i += 1
            continue
        if kind == _CONTROL:
            i += 1
            continue
        value, second = 0, 0
        if kind == _LESS:
            d = data[i + 1] if i + 1 < end else np.uint8(0)
            if 97 <= (d | 32) <= 122:
                key, i = tag_name(data, i + 1, end)
                if how == HOW_XML:
                    i = skip_attributes(data, i, end)
                    pending = NEW_BLOCK
                    if key == _TITLE_HASH and meta[row, TITLE] == ABSENT:
                        _xml_title(data, i, end, aux, state, meta, row)
                    continue
                place = element(key)
                if place < 0:
                    state[IN_HEAD] = 0
                    i = skip_attributes(data, i, end)
                    continue
                code, flags = _CODES[place], _FLAGS[place]
                if not flags & _HEAD:
                    state[IN_HEAD] = 0
                if flags & _BLOCK:
                    pending = NEW_BLOCK
                    if not flags & _SHOWN_RAW:
                        state[FOREIGN_DEPTH] = 0  # 13.2.6.5: such an element ends a drawing
                elif flags & _APART:
                    pending = max(pending, BLANK)
                if flags & _SPECIAL:
                    i, o, pending = special(
                        code, key, data, i, end, out, o, first, stop, pending, aux, state, meta, row, links, blocks
                    )
                elif flags & _ROOT and state[WANT_BLOCKS]:
                    i = open_region(code, flags, key, data, i, end, state, roots)
                else:
                    i = skip_attributes(data, i, end)
                continue
            if d == 47:
                if i + 2 < end and 97 <= (data[i + 2] | 32) <= 122:
                    key, i = tag_name(data, i + 2, end)
                    i = skip_attributes(data, i, end)
                    if how == HOW_XML:
                        pending = NEW_BLOCK
                    else:
                        o, pending = _end_tag(key, o, pending, state, roots, links, blocks)
                    continue
                if i + 2 < end:
                    i = declaration_end(data, i, end)
                    continue
            elif d == 33 or d == 63:
                if (how == HOW_XML or state[FOREIGN_DEPTH]) and in_cdata(data, i, end):
                    i += 9
                else:
                    i = declaration_end(data, i, end)
                continue
        elif kind == _AMPERSAND:
            i, value, second = reference(data, i, end, NOTHING)
            if blank(value):
                pending = max(pending, BLANK)
                continue
            if unseen(value):
                continue
            if value == 0:
                value = 38
        elif kind == _LATIN and i + 1 < end and (data[i + 1] <= 0xA0 or data[i + 1] == 0xAD):
            if data[i + 1] == 0xA0:
                pending = max(pending, BLANK)
            i += 2
            continue
        elif kind == _BRACKET and (how == HOW_XML or state[FOREIGN_DEPTH]):
            if i + 2 < end and data[i + 1] == 93 and data[i + 2] == 62:
                pending = max(pending, BLANK)
                i += 3
                continue
        if pending == BLANK:
            out[o] = 32
            o += 1
        elif pending != NOTHING:
            o = begin_word(out, o, first, pending, state, blocks)
            state[IN_HEAD] = 0
        pending = NOTHING
        if value != 0:
            o = encode(value, out, o)
            if second:
                o = encode(second, out, o)
            continue
        run = min(end, max(i + stop - o, i + 1))
        limit = min(end, run + 3)
        while run < limit and data[run] & 0xC0 == 0x80:  # not into a character
            run += 1
        while True:
            out[o] = c
            o += 1
            i += 1
            if i >= run:
                break
            c = data[i]
            if _CLASS[c] != _TEXT:
                break
    if o >= stop:
        meta[row, CUT] = 1
    if state[TEMPLATE_DEPTH]:
        state[TEMPLATE_DEPTH] = 1
        o, pending = close_template(state, links, blocks, o, pending)
    close_link(state, links, blocks, o)
    return o


@kernel(
    "void(Array(uint8, 1, 'C', readonly=True), Array(int64, 1, 'C', readonly=True),"
    " Array(int64, 1, 'C', readonly=True), Array(uint8, 1, 'C', readonly=True), int64,"
    " uint8[::1], int64[::1], uint8[::1], int64[::1], uint64[::1], int64[:, ::1], int64[:, ::1], int64[:, ::1])"
)
def read_pages(
    data: Any, starts: Any, ends: Any, hows: Any, max_text: Any,
    out: Any, offsets: Any, aux: Any, state: Any, roots: Any, meta: Any, links: Any, blocks: Any,
) -> None:  # fmt: skip
    """Write the text of each page, UTF-8 in and out, one after the other.

    The bytes must be valid UTF-8. `out` needs room for 6/5 of the bytes of a page (`&nGt;` is 5 bytes of source and
    6 of text), at most for `max_text`, and SLACK more for each; `aux` 6/5 of the bytes and SLACK for each page,
    `links` and `blocks` a row for each 8 and 4 bytes, and two more for each page.
    """
    o = np.int64(0)
    offsets[0] = 0
    for row in range(len(starts)):
        for k in range(CUT):
            meta[row, k] = ABSENT
        meta[row, CUT] = 0
        reset(state)
        start, end, how = starts[row], ends[row], np.int64(hows[row])
        o = _page(data, start, end, how, out, o, o + max_text, aux, state, roots, meta, row, links, blocks)
        offsets[row + 1] = o
        meta[row, LINKS_END], meta[row, BLOCKS_END] = state[LINKS], state[BLOCKS]
