"""Pieces of a URL: what each looks like, and what stands there after a rule."""

from typing import NamedTuple

from undust.rules.exports.conditions import InexpressibleError, require_plain, value_pieces, value_regex
from undust.rules.exports.settled import written
from undust.rules.rule import Rule
from undust.rules.values import Copy, Drop, Operation, Pattern
from undust.urls.keys import Key


class Piece(NamedTuple):
    """Part of a URL: what it looks like, and what stands there afterwards; None is what stood there."""

    regex: str
    text: str | None = None


def rest_of(rule: Rule) -> dict[Key, Operation]:
    """Give what a rule does beside putting arguments in order and writing what is there anyway."""
    return {
        key: operation
        for key, operation in rule.operations.items()
        if operation != (Copy(key),) or (isinstance(rule.context.get(key), Pattern) and len(_parts(rule, key)) > 1)
    }


def _parts(rule: Rule, key: Key) -> tuple[object, ...]:
    match = rule.context.get(key)
    return match.parts if isinstance(match, Pattern) else ()


def made_pieces(rule: Rule, key: Key, operation: Operation) -> tuple[Piece, ...]:
    """Give the pieces of a value that is put together from itself and literals."""
    match = rule.context.get(key)
    if isinstance(operation, Drop) or not isinstance(match, Pattern):
        raise InexpressibleError(f"it gives a value to {key} where there may be none")
    text = written(operation)
    if text is not None:
        return (Piece(value_regex(match, key.part), require_plain(text)),)
    regexes = value_pieces(match, key.part)
    slots = [place for place, (_, is_slot) in enumerate(regexes) if is_slot]
    pieces: list[Piece] = []
    at = 0
    for piece in operation:
        if not isinstance(piece, Copy):
            pieces.append(Piece("", require_plain(piece if isinstance(piece, str) else piece.usual or "")))
            continue
        if piece.through or piece.source != key or piece.slot >= len(slots) or slots[piece.slot] < at:
            raise InexpressibleError(
                f"{key} becomes {'lower or upper case, or is encoded' if piece.through else 'a value from elsewhere'}"
            )
        upto = slots[piece.slot]
        pieces += [Piece(regex, "") for regex, _ in regexes[at:upto]] + [Piece(regexes[upto][0])]
        at = upto + 1
    return (*pieces, *(Piece(regex, "") for regex, _ in regexes[at:]))
