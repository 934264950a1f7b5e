"""Patterns that ask for less: words of a title that all URLs happen to share, letters that stand before a number.

`{*}-story-{a:digits}.html` says no more about how URLs are made than `{*}-{a:digits}.html`, if the title is ignored.
"""

import re

from undust.learn.deep_gaps import Parts, tidy
from undust.learn.pairs.belief import Draft
from undust.rules.values import ANY, Copy, Ignore, Operation, Pattern, Piece, Slot
from undust.urls.keys import Key

_ENDS_IN_WORDS = re.compile(r"(?:[-_+~][A-Za-z0-9]+)+")
_BEGINS_WITH_WORDS = re.compile(r"(?:[A-Za-z0-9]+[-_+~])+")
_BETWEEN_WORDS = re.compile(r"([-_+~])[A-Za-z0-9]+(?:\1[A-Za-z0-9]+)*\1")


def loosened(draft: Draft) -> Draft | None:
    """Give a draft that asks for less of the values it takes parts of; None if it asks for little already."""
    context, operations = dict(draft.context), dict(draft.operations)
    for key, match in draft.context.items():
        if not isinstance(match, Pattern) or match.literal is not None or match == ANY:
            continue
        copied = _copied(draft, key)
        slots = range(sum(isinstance(part, Slot) for part in match.parts))
        parts = _loose(match.parts, [slot not in copied for slot in slots])
        operation = operations.get(key)
        if parts != match.parts:
            context[key] = Pattern(parts)
            if isinstance(operation, tuple) and _is_own(key, operation, match):
                operations[key] = _spelled(key, parts, [piece for piece in operation if not isinstance(piece, str)])
        elif isinstance(operation, tuple) and copied:
            context[key], operations[key] = _with_its_letters(key, match, operation)
    changed = context != draft.context or operations != draft.operations
    return Draft(context, operations) if changed else None


def _copied(draft: Draft, key: Key) -> set[int]:
    """Give the slots of a key that operations copy."""
    pieces = (piece for made in draft.operations.values() if isinstance(made, tuple) for piece in made)
    return {piece.slot for piece in pieces if isinstance(piece, Copy) and piece.source == key}


def _with_its_letters(key: Key, pattern: Pattern, operation: tuple[Piece, ...]) -> tuple[Pattern, tuple[Piece, ...]]:
    """Take letters that stand before a number, and are kept before it, for a part of what is copied."""
    first, *rest = pattern.parts
    numbered = isinstance(first, str) and first.isalnum() and rest[:1] == [Slot("digits")] and Slot() not in rest
    if numbered and operation[:2] == (first, Copy(key)):
        return Pattern(tidy([Slot(), *rest[1:]])), operation[1:]
    return pattern, operation


def _is_own(key: Key, operation: tuple[Piece, ...], pattern: Pattern) -> bool:
    """Tell whether an operation takes its pattern part by part, in order, and changes only what it ignores."""
    slots = iter(range(sum(isinstance(part, Slot) for part in pattern.parts)))
    if len(operation) != len(pattern.parts):
        return False
    for part, piece in zip(pattern.parts, operation, strict=True):
        if isinstance(part, str):
            if piece != part:
                return False
        else:
            slot = next(slots)
            if not isinstance(piece, Ignore) and piece != Copy(key, slot):
                return False
    return True


def _loose(parts: Parts, ignored: list[bool]) -> Parts:
    """Leave out words beside slots that are ignored."""
    made: list[str | Slot] = []
    slot = -1
    for place, part in enumerate(parts):
        if isinstance(part, Slot):
            slot += 1
            made.append(part)
            continue
        before = place > 0 and ignored[slot] and parts[place - 1] == Slot()
        after = place + 1 < len(parts) and ignored[slot + 1] and parts[place + 1] == Slot()
        text = part
        if before and place + 1 == len(parts) and _ENDS_IN_WORDS.fullmatch(text):
            text = ""
        elif before and (found := _BETWEEN_WORDS.match(text)):
            text = text[found.end() - 1 :]
        elif after and place == 0 and _BEGINS_WITH_WORDS.fullmatch(text):
            text = ""
        made.append(text)
    return tidy(made)


def _spelled(key: Key, parts: Parts, fates: list[Copy | Ignore]) -> Operation:
    made: list[Piece] = []
    slot = 0
    for part in parts:
        if isinstance(part, str):
            made.append(part)
        else:
            fate = fates[slot]
            made.append(Copy(key, slot) if isinstance(fate, Copy) else fate)
            slot += 1
    return tuple(made)
