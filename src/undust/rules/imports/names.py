"""Names of arguments that hand-made lists write as regular expressions: the few names that one stands for, if few."""

import itertools
from collections.abc import Iterable

MAX_NAMES = 64
"""Names that one expression may stand for."""
MAX_EXPRESSION = 1_000
_MAX_DEPTH = 10
_SPECIAL = "\\[](){}.*+?|^$"


class EndlessError(Exception):
    """Why an expression does not stand for a few names."""


def expanded(expression: str, *, dot: str = "") -> list[str]:
    """Give the names that a regular expression stands for. `dot` is what `.` is taken for; without it, it is refused.

    >>> expanded("mc_(?:eid|cid)"), expanded("srs?"), expanded("p[fd]_rd")
    (['mc_eid', 'mc_cid'], ['sr', 'srs'], ['pf_rd', 'pd_rd'])
    """
    if len(expression) > MAX_EXPRESSION:
        raise EndlessError("too long")
    made, at = _either(expression, 0, dot, 0)
    if at < len(expression):
        raise EndlessError(f"{expression[at]!r} out of place")
    return list(dict.fromkeys(made))


def _either(text: str, at: int, dot: str, depth: int) -> tuple[list[str], int]:
    made, at = _sequence(text, at, dot, depth)
    while at < len(text) and text[at] == "|":
        more, at = _sequence(text, at + 1, dot, depth)
        made += more
        _require_few(made)
    return made, at


def _sequence(text: str, at: int, dot: str, depth: int) -> tuple[list[str], int]:
    made = [""]
    while at < len(text) and text[at] not in "|)":
        choices, at = _one(text, at, dot, depth)
        if at < len(text) and text[at] == "?":
            choices, at = ["", *choices], at + 1
        if at < len(text) and text[at] in "*+{?":
            raise EndlessError(f"{text[at]!r} stands for any number")
        if len(made) * len(choices) > MAX_NAMES:
            raise EndlessError("it stands for many names")
        made = [start + end for start, end in itertools.product(made, choices)]
    return made, at


def _one(text: str, at: int, dot: str, depth: int) -> tuple[list[str], int]:
    letter = text[at]
    if letter == "\\":
        if at + 1 >= len(text) or text[at + 1].isalnum():
            raise EndlessError(f"{text[at : at + 2]!r} stands for a kind of letters")
        return [text[at + 1]], at + 2
    if letter == "[":
        return _class(text, at)
    if letter == "(":
        if depth >= _MAX_DEPTH:
            raise EndlessError("groups in groups")
        start = at + 3 if text.startswith("(?:", at) else at + 1
        if text.startswith("(?", at) and start == at + 1:
            raise EndlessError(f"{text[at : at + 3]!r} is more than a group")
        made, end = _either(text, start, dot, depth + 1)
        if end >= len(text) or text[end] != ")":
            raise EndlessError("a group does not end")
        return made, end + 1
    if letter == "." and dot:
        return [dot], at + 1
    if letter in _SPECIAL:
        raise EndlessError(f"{letter!r} stands for many things")
    return [letter], at + 1


def _class(text: str, at: int) -> tuple[list[str], int]:
    end = text.find("]", at + 1)
    inside = text[at + 1 : end] if end > 0 else ""
    if not inside or any(letter in "^-\\[" for letter in inside):
        raise EndlessError("a class of letters")
    return list(inside), end + 1


def _require_few(names: Iterable[str]) -> None:
    if sum(1 for _ in names) > MAX_NAMES:
        raise EndlessError("it stands for many names")
