"""Lines of two texts beside each other, and in lines that differ a little, the words that do."""

import re
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from typing import Any

_WORDS = re.compile(r"\w+|\s+|[^\w\s]")
_MAX_WORDS = 400  # of a line; of longer ones the words are not compared
_CONTEXT = 3  # equal lines that are shown around what differs

Opcode = tuple[str, int, int, int, int]
Piece = tuple[str, bool]
"""A piece of a line, and whether it is in this one only."""


def side_by_side(first: Sequence[str], second: Sequence[str], opcodes: Iterable[Opcode]) -> list[dict[str, Any]]:
    """Give rows for a table: `same` lines, lines that `differ`, those on one side only, and `gap`s of equal lines.

    >>> rows = side_by_side(["a", "one cat"], ["a", "one dog"], [("equal", 0, 1, 0, 1), ("replace", 1, 2, 1, 2)])
    >>> rows[0]["kind"], rows[1]["a"]
    ('same', [('one ', False), ('cat', True)])
    """
    found: list[dict[str, Any]] = []
    operations = list(opcodes)
    for place, (kind, a0, a1, b0, b1) in enumerate(operations):
        if kind == "equal":
            found += _equal(first[a0:a1], begins=place == 0, ends=place == len(operations) - 1)
            continue
        for row in range(max(a1 - a0, b1 - b0)):
            a = first[a0 + row] if a0 + row < a1 else None
            b = second[b0 + row] if b0 + row < b1 else None
            found.append(_differing(a, b))
    return found


def _equal(lines: Sequence[str], *, begins: bool, ends: bool) -> Iterable[dict[str, Any]]:
    head = 0 if begins else _CONTEXT
    tail = 0 if ends else _CONTEXT
    if begins and ends:
        head = 8 * _CONTEXT  # nothing differs: show how the pages begin
    if len(lines) <= head + tail + 1:
        return [_same(line) for line in lines]
    gap = {"kind": "gap", "count": len(lines) - head - tail}
    return [*map(_same, lines[:head]), gap, *map(_same, lines[len(lines) - tail :] if tail else [])]


def _same(line: str) -> dict[str, Any]:
    return {"kind": "same", "a": [(line, False)], "b": [(line, False)]}


def _differing(a: str | None, b: str | None) -> dict[str, Any]:
    if a is None or b is None:
        only = [(a if b is None else b, True)]
        return {
            "kind": "only_a" if b is None else "only_b",
            "a": only if b is None else [],
            "b": [] if b is None else only,
        }
    words = _WORDS.findall(a), _WORDS.findall(b)
    if max(map(len, words)) > _MAX_WORDS:
        return {"kind": "differ", "a": [(a, True)], "b": [(b, True)]}
    sides: tuple[list[Piece], list[Piece]] = ([], [])
    for kind, a0, a1, b0, b1 in SequenceMatcher(None, *words, autojunk=False).get_opcodes():
        for side, piece in zip(sides, (words[0][a0:a1], words[1][b0:b1]), strict=True):
            if piece:
                side.append(("".join(piece), kind != "equal"))
    return {"kind": "differ", "a": sides[0], "b": sides[1]}
