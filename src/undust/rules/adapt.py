"""Operations of a rule in a narrower context, whose patterns have other slots: the same becomes of every URL."""

from collections.abc import Iterator, Mapping

from undust.rules.rule import Rule
from undust.rules.values import ANY, Absent, Copy, Drop, Match, Operation, Pattern, Piece, Slot
from undust.urls.keys import Key


def adapted(rule: Rule, context: Mapping[Key, Match]) -> dict[Key, Operation]:
    """Give the operations of a rule as they are to be written in a narrower context.

    >>> from undust.rules.line_reader import read_line
    >>> adapted(read_line("h.com  //….h.com/{a}  →  //….h.com/x-{a|lower}"), {Key("path", 0): Pattern(("AB",))})
    {Key(part='path', name=0, nth=1): ('x-', 'ab')}
    """
    made: dict[Key, Operation] = {}
    for key, operation in rule.operations.items():
        if isinstance(operation, Drop):
            made[key] = operation
            continue
        pieces: list[Piece] = []
        for piece in operation:
            pieces += _copied(piece, rule, context) if isinstance(piece, Copy) else [piece]
        made[key] = tuple(pieces)
    return made


def _copied(copy: Copy, rule: Rule, context: Mapping[Key, Match]) -> Iterator[Piece]:
    before, now = rule.context.get(copy.source), context.get(copy.source)
    if now is None or isinstance(now, Absent) or now in (before, ANY):
        yield copy
        return
    text = now.literal
    if text is not None:
        taken = before.fit(text) if isinstance(before, Pattern) and before != ANY else (text,)
        value = copy.convert((taken or (text,))[copy.slot if taken and copy.slot < len(taken) else 0])
        if value:
            yield value
        return
    if isinstance(before, Pattern) and before != ANY:  # a number within a hexadecimal number: one slot as well
        yield copy
        return
    slot = 0
    for part in now.parts:  # the whole value, put together from what is now its pattern
        if isinstance(part, Slot):
            yield Copy(copy.source, slot, copy.through)
            slot += 1
        else:
            yield copy.convert(part)
