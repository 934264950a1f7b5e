"""Substring substitutions in the rule language: which keys of a URL a piece belongs to, and what becomes of them.

A piece within one value becomes a pattern with a slot before and after it. A piece that goes over several keys becomes
literals of all of them. What cannot be said is left out: a piece that cuts a name of an argument in two, one that adds
a segment to paths of any length, and one that takes a value only partly along to another key.
"""

from collections.abc import Mapping

from undust.learn.deep_gaps import tidy
from undust.learn.dust_substrings import Substitution
from undust.learn.pairs.belief import Draft
from undust.rules.values import ABSENT, DROP, Copy, Match, Operation, Pattern, Piece, Slot
from undust.urls.keys import Key, keys

MAX_SEGMENTS = 2
"""Segments that one rule can take out of a path."""


def translated(rule: Substitution, source: str, target: str) -> Draft | None:
    """Write what a substitution does to one URL, in standard form, as a draft; None if the rule language cannot."""
    before, after = keys(source), keys(target)
    context: dict[Key, Match] = {}
    operations: dict[Key, Operation] = {}
    plain = [key for key in {**before, **after} if key.part != "path"]
    path = _path(before, after)
    if path is None:
        return None
    for key, (value, told) in {**{key: (before.get(key), after.get(key)) for key in plain}, **path}.items():
        if value == told:
            continue
        made = _change(rule, key, value, told, before)
        if made is None:
            return None
        match, operation = made
        context[key] = match
        operations[key] = operation
        if isinstance(operation, tuple):
            for piece in operation:
                if isinstance(piece, Copy) and piece.source != key:
                    context[piece.source] = Pattern((Slot(),))
                    operations[piece.source] = DROP
    return Draft(context, operations) if operations else None


def _path(before: Mapping[Key, str], after: Mapping[Key, str]) -> dict[Key, tuple[str | None, str | None]] | None:
    """Align two paths from both ends; give what differs, by place from the end it is nearer to."""
    source, target = ([url[key] for key in url if key.part == "path" and int(key.name) >= 0] for url in (before, after))
    shorter = min(len(source), len(target))
    start = 0
    while start < shorter and source[start] == target[start]:
        start += 1
    end = 0
    while end < shorter - start and source[-1 - end] == target[-1 - end]:
        end += 1
    here, there = source[start : len(source) - end], target[start : len(target) - end]
    if len(there) > len(here) or len(here) - len(there) > MAX_SEGMENTS:
        return None
    told: list[str | None] = [*there, *([None] * (len(here) - len(there)))]
    first = start if end else -len(here)
    return {Key("path", first + nth): (value, told[nth]) for nth, value in enumerate(here)}


def _change(
    rule: Substitution, key: Key, value: str | None, told: str | None, before: Mapping[Key, str]
) -> tuple[Match, Operation] | None:
    """Give what one key must look like and what becomes of it."""
    if value is None:
        return None if told is None or told not in rule.instead else (ABSENT, (told,) if told else ())
    literal = Pattern((value,) if value else ())
    if told is None:
        # Where the value is no part of the piece, another key may take it along, which then says so.
        return (literal, DROP) if value in rule.piece else (Pattern((Slot(),)), DROP)
    if rule.piece and rule.piece in value and value.replace(rule.piece, rule.instead, 1) == told:
        if value == rule.piece:
            return literal, (told,) if told else ()
        return Pattern((Slot(), rule.piece, Slot())), tuple(
            piece for piece in (Copy(key, 0), rule.instead, Copy(key, 1)) if piece != ""
        )
    if value in rule.piece:
        return literal, (told,) if told else ()
    return _taken_along(key, value, told, before)


def _taken_along(key: Key, value: str, told: str, before: Mapping[Key, str]) -> tuple[Match, Operation] | None:
    """Find the value of another key in what comes after a value that stays: `/story?id=5` for `/story_5`."""
    if not told.startswith(value):
        return None
    rest = told[len(value) :]
    for other, moved in before.items():
        if other.part == "query" and moved and rest.endswith(moved):
            pieces: list[Piece] = [Copy(key), rest[: len(rest) - len(moved)], Copy(other)]
            return Pattern(tidy([Slot()])), tuple(piece for piece in pieces if piece != "")
    return None
