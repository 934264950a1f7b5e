"""The main content of a page out of its blocks: by the regions its tags name, else by density of text and links.

The rules by length and share of links are those of shallow text features (Kohlschütter, Fankhauser, Nejdl:
Boilerplate Detection using Shallow Text Features, WSDM 2010, section 4), with bytes for words so that scripts
without spaces count as well.
"""

from typing import Any

from undust.kernels.compiling import kernel
from undust.kernels.html_scan import step
from undust.kernels.html_state import HOW_XHTML, IN_ARTICLE, IN_EDGE, IN_MAIN, LINKED, REGION, START

_CHOSEN, _DENSE = 8, 16

# A word of six bytes, the separator included, is the unit of the paper's limits of 15, 17, 40 and 4 words.
_SHORT, _NEXT_SHORT, _LONG, _TINY = 90, 102, 240, 24
MIN_MAIN_BYTES = 32  # a main element with less is a shell that scripts fill
MIN_DENSE_SHARE = 4  # at least 1/4 of the text must be dense; else the page is a list, and lists are content


@step
def _size(blocks: Any, k: Any, last: Any, end: Any) -> Any:
    return (blocks[k + 1, START] if k + 1 < last else end) - blocks[k, START]


@step
def _choose(blocks: Any, first: Any, last: Any, end: Any) -> Any:
    """Mark the blocks of the regions that count; say whether a main element was among them."""
    in_main, in_article, rest = 0, 0, 0
    for k in range(first, last):
        size, region = _size(blocks, k, last, end), blocks[k, REGION]
        if not region & IN_EDGE:
            rest += size
            in_main += size if region & IN_MAIN else 0
            in_article += size if region & IN_ARTICLE else 0
    wanted = 0
    if in_main >= MIN_MAIN_BYTES:
        wanted = IN_MAIN
    elif in_article >= MIN_MAIN_BYTES and 2 * in_article >= rest:
        wanted = IN_ARTICLE
    for k in range(first, last):
        region = blocks[k, REGION]
        if rest == 0 or (not region & IN_EDGE and region & wanted == wanted):
            blocks[k, REGION] |= _CHOSEN
    return wanted != 0 or rest == 0


@step
def _mark_dense(blocks: Any, first: Any, last: Any, end: Any) -> Any:
    """Mark the chosen blocks that read like text; say whether they are enough to do without the others."""
    chosen, dense = 0, 0
    previous_size, previous_linked = 0, 0
    for k in range(first, last):
        if not blocks[k, REGION] & _CHOSEN:
            continue
        size, linked = _size(blocks, k, last, end), blocks[k, LINKED]
        n = k + 1
        while n < last and not blocks[n, REGION] & _CHOSEN:
            n += 1
        next_size = _size(blocks, n, last, end) if n < last else 0
        if 3 * linked > size:
            text = False
        elif 9 * previous_linked <= 5 * previous_size:
            text = size > _SHORT or next_size > _SHORT or previous_size > _TINY
        else:
            text = size > _LONG or next_size > _NEXT_SHORT
        chosen += size
        if text:
            blocks[k, REGION] |= _DENSE
            dense += size
        previous_size, previous_linked = size, linked
    return MIN_DENSE_SHARE * dense >= chosen


@kernel(
    "void(Array(uint8, 1, 'C', readonly=True), Array(int64, 1, 'C', readonly=True),"
    " Array(int64, 1, 'A', readonly=True), int64[:, ::1], Array(uint8, 1, 'C', readonly=True), uint8[::1], int64[::1])"
)
def keep_main(text: Any, offsets: Any, ends: Any, blocks: Any, hows: Any, out: Any, out_offsets: Any) -> None:
    """Copy the blocks of the main content of each page; all of them if none stands out. `out` is as long as `text`."""
    first = 0
    o = 0
    out_offsets[0] = 0
    for row in range(len(ends)):
        last, end = ends[row], offsets[row + 1]
        wanted = _CHOSEN
        if hows[row] > HOW_XHTML:
            for k in range(first, last):
                blocks[k, REGION] = _CHOSEN
        elif not _choose(blocks, first, last, end) and _mark_dense(blocks, first, last, end):
            wanted = _DENSE
        start = o
        for k in range(first, last):
            if blocks[k, REGION] & wanted:
                if o > start and out[o - 1] != 10:
                    out[o] = 10
                    o += 1
                for i in range(blocks[k, START], blocks[k, START] + _size(blocks, k, last, end)):
                    out[o] = text[i]
                    o += 1
        while o > start and out[o - 1] <= 32:
            o -= 1
        out_offsets[row + 1] = o
        first = last
