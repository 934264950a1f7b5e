"""Drafts to rules: what drafts do one after the other, a rule does at once.

Drafts are applied in order, each to what those before it have left. Which of them a URL meets makes it one of a few
*cells*; each cell that a training URL is in becomes one rule. Cells in which a draft holds come before those in which
it does not, so a rule need not say what must not hold: URLs for which it does are taken already.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from undust.learn.pairs.belief import Draft
from undust.learn.pairs.workspace import Mask, Workspace
from undust.rules.rule import Rule
from undust.rules.values import ABSENT, ANY, DROP, Absent, Copy, Drop, Match, Operation, Pattern, Piece
from undust.urls.keys import Key

MAX_RULES = 200
"""Rules of a site. Where there would be more, the last drafts are left out, which are worth the least."""

Context = dict[Key, Match]
Operations = dict[Key, Operation]


@dataclass(frozen=True, slots=True)
class _Cell:
    """What is known of the URLs of a cell, as they were given, and what has become of them so far."""

    context: Context = field(default_factory=dict)
    operations: Operations = field(default_factory=dict)
    gone: tuple[int, ...] = ()
    """Places of the segments that left the path."""


def compile_drafts(site: str, drafts: Sequence[Draft], work: Workspace, *, sort_query: bool = False) -> list[Rule]:
    """Make rules of which at most one is needed for a URL. `work` has the training URLs as they were given."""
    while True:
        rules: list[Rule] = []
        for cell in _cells(drafts, 0, _Cell(), np.ones(len(work), np.bool_), work):
            rules.append(Rule(site, cell.context, cell.operations, sort_query))
            if len(rules) > 4 * MAX_RULES:
                break
        needed = pruned(rules)
        if len(needed) <= MAX_RULES and len(rules) <= 4 * MAX_RULES:
            return needed
        drafts = drafts[: len(drafts) // 2]


def _cells(drafts: Sequence[Draft], place: int, cell: _Cell, rows: Mask, work: Workspace) -> Iterator[_Cell]:
    if place == len(drafts):
        yield cell
        return
    draft = drafts[place]
    asked = _asked(draft, cell)
    if asked is None:
        yield from _cells(drafts, place + 1, cell, rows, work)
        return
    yes = work.holds(asked, rows) if asked else rows
    after = _applied(draft, asked, cell) if yes.any() else None
    if after is not None:
        yield from _cells(drafts, place + 1, after, yes, work)
    no = rows & ~yes if after is not None else rows
    if no.any():
        yield from _cells(drafts, place + 1, cell, no, work)


def _asked(draft: Draft, cell: _Cell) -> Context | None:
    """Give what a URL must have been given with for a draft to hold in a cell; None if it cannot hold."""
    made: Context = {}
    for key, match in draft.context.items():
        first = _original(key, cell.gone)
        operation = cell.operations.get(first)
        if isinstance(operation, Drop):
            if not isinstance(match, Absent):
                return None
        elif operation is None:
            known = cell.context.get(first)
            if known == match or (match == ANY and isinstance(known, Pattern)):
                continue
            if known is not None and _both(known, match) is None:
                return None
            made[first] = match
        elif all(isinstance(piece, str) for piece in operation):
            text = "".join(str(piece) for piece in operation)
            if not isinstance(match, Pattern) or match.fit(text) is None:
                return None
        elif match != ANY:
            return None
    return made


def _applied(draft: Draft, asked: Context, cell: _Cell) -> _Cell | None:
    """Carry out a draft in a cell; None where one rule cannot say both what was and what is to be done."""
    context = dict(cell.context)
    operations = dict(cell.operations)
    for key, match in asked.items():
        both = _both(context[key], match) if key in context else match
        if both is None:
            return None
        if key in context and both != context[key] and not _narrow(operations, key, context[key], both):
            return None
        context[key] = both
    made: Operations = {}
    for key, operation in draft.operations.items():
        told = _translated(operation, draft, cell, context)
        if told is None:
            return None
        made[_original(key, cell.gone)] = told
    gone = [int(key.name) for key, operation in made.items() if key.part == "path" and isinstance(operation, Drop)]
    return _Cell(context, {**operations, **made}, (*cell.gone, *gone))


def _translated(operation: Operation, draft: Draft, cell: _Cell, context: Context) -> Operation | None:
    """Write an operation on what earlier drafts left as one on the URL as it was given."""
    if isinstance(operation, Drop):
        return DROP
    pieces: list[Piece] = []
    for piece in operation:
        if not isinstance(piece, Copy):
            pieces.append(piece)
            continue
        source = _original(piece.source, cell.gone)
        if source in cell.operations:
            return None
        known, asked = context.get(source), draft.context.get(piece.source)
        if isinstance(known, Pattern) and known.literal is not None and isinstance(asked, Pattern):
            slots = asked.fit(known.literal) or ()
            text = slots[piece.slot] if piece.slot < len(slots) else known.literal
            pieces.append(piece.convert(text))
        elif known not in (asked, None, ANY):
            return None
        else:
            pieces.append(replace(piece, source=source))
    return tuple(piece for piece in pieces if piece != "")


def _both(one: Match, other: Match) -> Match | None:
    """Give what fits both of two matches; None if nothing does, or no single match can say it."""
    if one == other:
        return one
    if isinstance(one, Absent) or isinstance(other, Absent):
        return None
    for narrow, wide in ((one, other), (other, one)):
        if wide == ANY:
            return narrow
        if narrow.literal is not None:
            return narrow if wide.fit(narrow.literal) is not None else None
    return None


def _narrow(operations: Operations, key: Key, was: Match, now: Match) -> bool:
    """Make operations that copy from a key hold when more is known of it; tell whether that can be."""
    for name, operation in operations.items():
        if isinstance(operation, Drop) or not any(isinstance(each, Copy) and each.source == key for each in operation):
            continue
        if not (isinstance(now, Pattern) and now.literal is not None and isinstance(was, Pattern)):
            return False
        slots = was.fit(now.literal) or ()
        operations[name] = tuple(
            each.convert(slots[each.slot] if each.slot < len(slots) else now.literal)
            if isinstance(each, Copy) and each.source == key
            else each
            for each in operation
        )
    return True


def _original(key: Key, gone: Sequence[int]) -> Key:
    """Give the first place of a segment that is now at another, as those that left the path are counted no more."""
    if key.part != "path":
        return key
    place = int(key.name)
    for left in sorted(each for each in gone if each >= 0) if place >= 0 else sorted(gone, reverse=True):
        if place >= 0 and left <= place:
            place += 1
        elif place < 0 and 0 > left >= place:
            place -= 1
    return Key("path", place)


def pruned(rules: Sequence[Rule]) -> list[Rule]:
    """Leave out rules that change nothing and stand in the way of no other, or do what the next one does."""
    kept: list[Rule] = []
    for rule in reversed(rules):
        met = [later for later in kept if may_meet(rule, later)]
        if not rule.operations and not rule.sort_query and not any(later.operations for later in met):
            continue
        if met and _same(met[0], rule) and set(met[0].context.items()) <= set(rule.context.items()):
            continue
        kept.insert(0, rule)
    return kept


def _same(one: Rule, other: Rule) -> bool:
    return one.operations == other.operations and one.sort_query == other.sort_query


def may_meet(one: Rule, other: Rule) -> bool:
    """Tell whether a URL may fit the contexts of both rules."""
    for key in one.context.keys() & other.context.keys():
        a, b = one.context[key], other.context[key]
        if (a == ABSENT) != (b == ABSENT):
            return False
        if isinstance(a, Pattern) and isinstance(b, Pattern):
            if a.literal is not None and b.fit(a.literal) is None:
                return False
            if b.literal is not None and a.fit(b.literal) is None:
                return False
    return True
