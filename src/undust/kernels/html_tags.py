"""Start tags that mean more to a page's text than a break: links, images, title, metadata, raw text, regions."""

from typing import Any

from undust.kernels import html_tables as t
from undust.kernels.html_flow import BLANK, IN_ATTRIBUTE, LINE, LINES, NEW_BLOCK, REFERENCES, flow, value_of
from undust.kernels.html_scan import (
    ATTRIBUTE,
    INPUT_END,
    SELF_CLOSED,
    attribute,
    has_token,
    raw_end,
    script_end,
    skip_attributes,
    span_hash,
    step,
)
from undust.kernels.html_state import (
    ABSENT,
    ANCHOR,
    AUX,
    BASE,
    BLOCKS,
    CANONICAL,
    CELL_LINK,
    FIRST_LINK,
    FOREIGN_DEPTH,
    HREF,
    IN_HEAD,
    IN_LINK,
    IN_PRE,
    LANGUAGE,
    LINKED_FROM,
    LINKS,
    MAX_LINKS,
    OPEN,
    OPENED,
    PRAGMA,
    STRICT,
    TEMPLATE_DEPTH,
    TITLE,
    WANT_LINKS,
    begin_word,
    close_link,
    open_template,
    take_back_block,
)
from undust.settings import MAX_URL_BYTES

MAX_TITLE_BYTES = 4096  # of the source; a title that is never closed is as long as the page

_HREF, _REL, _ALT, _TYPE, _LANG = (t.name_hash(name) for name in ("href", "rel", "alt", "type", "lang"))
_XML_LANG, _EQUIV, _CONTENT = (t.name_hash(name) for name in ("xml:lang", "http-equiv", "content"))
_CANONICAL_VALUE, _LANGUAGE_VALUE = t.name_hash("canonical"), t.name_hash("content-language")
_IMAGE_VALUE = t.name_hash("image")
_LINK_A, _AREA, _IMAGE, _INPUT, _TITLE, _SCRIPT = t.LINK_A, t.AREA, t.IMAGE, t.INPUT, t.TITLE, t.SCRIPT
_TEXTAREA, _XMP, _PLAINTEXT, _TEMPLATE, _FOREIGN = t.TEXTAREA, t.XMP, t.PLAINTEXT, t.TEMPLATE, t.FOREIGN
_LINK, _META, _BASE, _HTML, _BODY, _PRE, _CELL, _ROW = t.LINK, t.META, t.BASE, t.HTML, t.BODY, t.PRE, t.CELL, t.ROW
_BREAK, _RAWTEXT = t.BREAK, t.RAWTEXT


@step
def _store(data: Any, start: Any, end: Any, aux: Any, state: Any, meta: Any, row: Any, field: Any) -> Any:
    """Keep the value of an attribute as a fact of the page, if it has none yet."""
    if meta[row, field] == ABSENT and end > start and end - start <= MAX_URL_BYTES:
        o = state[AUX]
        after = value_of(data, start, end, aux, o)
        if after > o:
            meta[row, field], meta[row, field + 1] = o, after
            state[AUX] = after


@step
def _record(data: Any, href: Any, href_end: Any, aux: Any, state: Any, links: Any, o: Any) -> Any:
    """Write a link whose anchor text begins at o; give its row, or ABSENT if links are not wanted or too many."""
    too_many = state[LINKS] - state[FIRST_LINK] >= state[MAX_LINKS]
    if not state[WANT_LINKS] or too_many or href_end - href > MAX_URL_BYTES:
        return ABSENT
    m = state[LINKS]
    place = state[AUX]
    after = value_of(data, href, href_end, aux, place)
    links[m, HREF], links[m, HREF + 1] = place, after
    links[m, ANCHOR], links[m, ANCHOR + 1] = o, o
    state[AUX] = after
    state[LINKS] = m + 1
    return m


@step
def _link(data: Any, i: Any, end: Any, o: Any, aux: Any, state: Any, links: Any, blocks: Any) -> Any:
    """Open a link at an `a` start tag, which closes one that is still open (13.2.6.4.7)."""
    close_link(state, links, blocks, o)
    href, href_end = ABSENT, ABSENT
    while True:
        found, name, start, stop, i = attribute(data, i, end)
        if found != ATTRIBUTE:
            break
        if name == _HREF and href == ABSENT:
            href, href_end = start, stop
    if found != INPUT_END and href != ABSENT and not state[TEMPLATE_DEPTH]:
        state[OPENED] += 1
        state[IN_LINK] = state[OPENED]
        state[LINKED_FROM] = o
        state[OPEN] = _record(data, href, href_end, aux, state, links, o)
    return i


@step
def _image(
    code: Any, data: Any, i: Any, end: Any, out: Any, o: Any, first: Any, stop: Any, pending: Any,
    aux: Any, state: Any, links: Any, blocks: Any,
) -> Any:  # fmt: skip
    """Write the alternative text of an image in its place, apart from the words around it."""
    alt, alt_end, href, href_end = i, i, ABSENT, ABSENT
    shown = code != _INPUT
    while True:
        found, name, start, after, i = attribute(data, i, end)
        if found != ATTRIBUTE:
            break
        if name == _ALT and alt == alt_end:
            alt, alt_end = start, after
        elif name == _HREF and code == _AREA and href == ABSENT:
            href, href_end = start, after
        elif name == _TYPE and code == _INPUT and span_hash(data, start, after) == _IMAGE_VALUE:
            shown = True
    pending = max(pending, BLANK)
    before = o
    if shown and alt_end > alt and found != INPUT_END:
        kept = state[BLOCKS]
        begun = begin_word(out, o, first, pending, state, blocks)
        o = flow(data, alt, alt_end, out, begun, stop, REFERENCES | IN_ATTRIBUTE)
        if o == begun:
            o = before
            take_back_block(state, kept, o)
        else:
            pending = BLANK
    if href != ABSENT and found != INPUT_END:
        m = _record(data, href, href_end, aux, state, links, before)
        if m != ABSENT:
            links[m, ANCHOR + 1] = o
    return i, o, pending


@step
def _metadata(code: Any, data: Any, i: Any, end: Any, aux: Any, state: Any, meta: Any, row: Any) -> Any:
    """Keep what `link`, `meta`, `base`, `html` and `body` say of the page."""
    first, second, third = False, False, False
    start, stop = i, i
    language, language_end = i, i
    while True:
        found, name, value, value_end, i = attribute(data, i, end)
        if found != ATTRIBUTE:
            break
        if name == _HREF or name == _CONTENT:
            start, stop = value, value_end
        elif name == _REL:
            first = has_token(data, value, value_end, _CANONICAL_VALUE)
        elif name == _EQUIV:
            second = span_hash(data, value, value_end) == _LANGUAGE_VALUE
        elif name == _LANG or (name == _XML_LANG and language == language_end):
            language, language_end = value, value_end
            third = True
    if found == INPUT_END or state[TEMPLATE_DEPTH]:
        return i
    # A canonical link counts in the head only: the body holds what visitors wrote.
    if code == _LINK and first and state[IN_HEAD]:
        _store(data, start, stop, aux, state, meta, row, CANONICAL)
    elif code == _META and second:
        _store(data, start, stop, aux, state, meta, row, PRAGMA)
    elif code == _BASE:
        _store(data, start, stop, aux, state, meta, row, BASE)
    elif third and (code == _HTML or code == _BODY):
        _store(data, language, language_end, aux, state, meta, row, LANGUAGE)
    return i


@step
def _raw(
    code: Any, key: Any, data: Any, i: Any, end: Any, out: Any, o: Any, first: Any, stop: Any, pending: Any,
    aux: Any, state: Any, meta: Any, row: Any, blocks: Any,
) -> Any:  # fmt: skip
    """Read an element whose content is no markup: shown as text, kept as title, or dropped."""
    close = end
    if code == _SCRIPT:
        close = script_end(data, i, end)
    elif code != _PLAINTEXT:
        close = raw_end(data, i, end, key)
    if code == _TITLE:
        if meta[row, TITLE] == ABSENT and not state[TEMPLATE_DEPTH]:
            limit = min(close, i + MAX_TITLE_BYTES)
            while limit < close and data[limit] & 0xC0 == 0x80:
                limit -= 1
            place = state[AUX]
            state[AUX] = flow(data, i, limit, aux, place, place + 2 * MAX_TITLE_BYTES, REFERENCES)
            meta[row, TITLE], meta[row, TITLE + 1] = place, state[AUX]
    elif code == _TEXTAREA or code == _XMP or code == _PLAINTEXT:
        kept = state[BLOCKS]
        begun = begin_word(out, o, first, NEW_BLOCK, state, blocks)
        after = flow(data, i, close, out, begun, stop, LINES | (REFERENCES if code == _TEXTAREA else 0))
        if after > begun:
            o = after
        else:
            take_back_block(state, kept, o)
        pending = NEW_BLOCK
    return close, o, pending


@step
def special(
    code: Any, key: Any, data: Any, i: Any, end: Any, out: Any, o: Any, first: Any, stop: Any, pending: Any,
    aux: Any, state: Any, meta: Any, row: Any, links: Any, blocks: Any,
) -> Any:  # fmt: skip
    """Read the rest of a start tag with a meaning of its own; give the place, the output's and what is due there."""
    if code == _LINK_A:
        return _link(data, i, end, o, aux, state, links, blocks), o, pending
    if code == _IMAGE or code == _INPUT or code == _AREA:
        return _image(code, data, i, end, out, o, first, stop, pending, aux, state, links, blocks)
    if code == _LINK or code == _META or code == _BASE or code == _HTML or code == _BODY:
        return _metadata(code, data, i, end, aux, state, meta, row), o, pending
    if code == _BREAK:  # one ends a line, two a paragraph
        return skip_attributes(data, i, end), o, LINE if pending < LINE else NEW_BLOCK
    if code == _PRE:
        i = skip_attributes(data, i, end)
        state[IN_PRE] = 1
        return i, o, pending
    if code == _CELL or code == _ROW:
        # 13.2.6.4.15: a link that began in a cell ends with it, even if nothing says so.
        if state[IN_LINK] > state[CELL_LINK]:
            close_link(state, links, blocks, o)
        state[CELL_LINK] = state[OPENED]
        return skip_attributes(data, i, end), o, pending
    found = ATTRIBUTE
    while found == ATTRIBUTE:
        found, _name, _start, _stop, i = attribute(data, i, end)
    if code == _FOREIGN:
        if found != SELF_CLOSED:
            state[FOREIGN_DEPTH] += 1
        return i, o, pending
    if code == _TEMPLATE:
        open_template(state, o, pending)
        return i, o, pending
    # In SVG and MathML there is no raw text; the title of a drawing is its text, as alt is that of an image.
    if found == SELF_CLOSED and (state[FOREIGN_DEPTH] or state[STRICT]):
        return i, o, max(pending, BLANK)
    if state[FOREIGN_DEPTH] and code != _SCRIPT and code != _RAWTEXT:
        return i, o, max(pending, BLANK)
    return _raw(code, key, data, i, end, out, o, first, stop, pending, aux, state, meta, row, blocks)
