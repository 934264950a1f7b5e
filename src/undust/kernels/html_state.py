"""What the HTML kernel remembers of a page besides its place: open link, block and regions, head, template."""

from typing import Any

from undust.kernels.html_flow import NEW_BLOCK, separate
from undust.kernels.html_scan import integers, step

# Fields of `state`. The first six count over all pages of a batch, or are its options; the others are set anew.
(LINKS, BLOCKS, AUX, WANT_LINKS, WANT_BLOCKS, MAX_LINKS) = integers(range(6))
# IN_LINK is the number of the open link on its page, from 1; 0 if none is open. OPEN is its row, if it has one.
(IN_LINK, OPENED, OPEN, LINKED_FROM, FIRST_LINK, FIRST_BLOCK, CELL_LINK) = integers(range(6, 13))
(IN_HEAD, FOREIGN_DEPTH, IN_PRE, STRICT) = integers(range(13, 17))
(TEMPLATE_DEPTH, KEPT_OUT, KEPT_PENDING, KEPT_LINKS, KEPT_BLOCKS) = integers(range(17, 22))
(EDGE_DEPTH, MAIN_DEPTH, ARTICLE_DEPTH) = integers(range(22, 25))
STATE_SIZE = 25
ABSENT, NO_CELL = integers((-1, 1 << 62))
SLACK = 16  # how many bytes a text may be longer than asked for, for the sake of its last word's characters

(HOW_HTML, HOW_XHTML, HOW_XML, HOW_PLAIN) = integers(range(4))  # how a page is read

# Columns of `meta`: spans in `aux`, then facts, for each page.
(TITLE, CANONICAL, BASE, LANGUAGE, PRAGMA) = integers(range(0, 10, 2))
(CUT, LINKS_END, BLOCKS_END) = integers(range(10, 13))
META_SIZE = 13

# Columns of `links`: spans of the anchor text in `out` and of the target in `aux`.
(ANCHOR, HREF) = integers(range(0, 4, 2))
LINK_SIZE = 4

# Columns of `blocks`, and the flags of the third.
(START, LINKED, REGION) = integers(range(3))
BLOCK_SIZE = 3
IN_EDGE, IN_MAIN, IN_ARTICLE = integers((1, 2, 4))


@step
def reset(state: Any) -> Any:
    """Begin a page."""
    for k in range(IN_LINK, STATE_SIZE):
        state[k] = 0
    state[OPEN] = ABSENT
    state[IN_HEAD] = 1
    state[CELL_LINK] = NO_CELL
    state[FIRST_LINK], state[FIRST_BLOCK] = state[LINKS], state[BLOCKS]


@step
def count_linked(state: Any, blocks: Any, o: Any) -> Any:
    """Add what the open link wrote since it was last counted to the current block."""
    if state[WANT_BLOCKS] and state[BLOCKS] > state[FIRST_BLOCK]:
        blocks[state[BLOCKS] - 1, LINKED] += o - state[LINKED_FROM]
    state[LINKED_FROM] = o


@step
def begin_word(out: Any, o: Any, first: Any, pending: Any, state: Any, blocks: Any) -> Any:
    """Write what is due before a word and begin its block, if it is the first of one."""
    if pending == NEW_BLOCK and state[WANT_BLOCKS]:
        if state[IN_LINK]:
            count_linked(state, blocks, o)
        if o > first:
            o = separate(out, o, pending)
        b = state[BLOCKS]
        blocks[b, START] = o
        blocks[b, LINKED] = 0
        blocks[b, REGION] = (
            (IN_EDGE if state[EDGE_DEPTH] else 0)
            | (IN_MAIN if state[MAIN_DEPTH] else 0)
            | (IN_ARTICLE if state[ARTICLE_DEPTH] else 0)
        )
        state[BLOCKS] = b + 1
        state[LINKED_FROM] = o
        return o
    return separate(out, o, pending) if o > first else o


@step
def take_back_block(state: Any, kept: Any, o: Any) -> Any:
    """Undo the block that was begun at o for a word that did not come."""
    if state[BLOCKS] != kept:
        state[BLOCKS] = kept
        state[LINKED_FROM] = o


@step
def close_link(state: Any, links: Any, blocks: Any, o: Any) -> Any:
    """End the open link, if there is one; what a template holds ends none outside of it, and opens none."""
    if state[IN_LINK] and not state[TEMPLATE_DEPTH]:
        count_linked(state, blocks, o)
        if state[OPEN] != ABSENT:
            links[state[OPEN], ANCHOR + 1] = o
            state[OPEN] = ABSENT
        state[IN_LINK] = 0


@step
def open_template(state: Any, o: Any, pending: Any) -> Any:
    """Remember what was written before a template, whose content is no part of the page."""
    if state[TEMPLATE_DEPTH] == 0:
        state[KEPT_OUT], state[KEPT_PENDING] = o, pending
        state[KEPT_LINKS], state[KEPT_BLOCKS] = state[LINKS], state[BLOCKS]
    state[TEMPLATE_DEPTH] += 1


@step
def close_template(state: Any, links: Any, blocks: Any, o: Any, pending: Any) -> Any:
    """Take back what was written in a template at its end; give the place and what is due there."""
    if state[TEMPLATE_DEPTH] == 0:
        return o, pending
    state[TEMPLATE_DEPTH] -= 1
    if state[TEMPLATE_DEPTH] > 0:
        return o, pending
    state[LINKS], state[BLOCKS] = state[KEPT_LINKS], state[KEPT_BLOCKS]
    state[LINKED_FROM] = min(state[LINKED_FROM], state[KEPT_OUT])
    return state[KEPT_OUT], state[KEPT_PENDING]
