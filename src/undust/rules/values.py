"""What a rule says about one value of a URL: which values it fits, and what becomes of them."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal
from urllib.parse import quote, unquote

from undust.urls.keys import Key

Kind = Literal["any", "digits", "hex", "uuid", "date"]
Through = Literal["", "lower", "upper", "encode", "decode"]

# Possessive, and each of one character class: time grows with the length of the value and nothing else.
_KINDS: dict[Kind, re.Pattern[str]] = {
    "any": re.compile(r".*+", re.DOTALL),
    "digits": re.compile(r"[0-9]++"),
    "hex": re.compile(r"[0-9A-Fa-f]++"),
    "uuid": re.compile(r"[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}"),
    "date": re.compile(r"[0-9]{4}(?:-[0-9]{2}(?:-[0-9]{2})?+|[0-9]{2}(?:[0-9]{2})?+)"),
}
KINDS = tuple(_KINDS)

_THROUGH: dict[Through, Callable[[str], str]] = {
    "": lambda value: value,
    "lower": str.lower,
    "upper": str.upper,
    "encode": lambda value: quote(value, safe=""),
    "decode": unquote,
}
THROUGH = tuple(_THROUGH)


@dataclass(frozen=True, slots=True)
class Slot:
    """A place in a pattern that any value of a kind can take."""

    kind: Kind = "any"


@dataclass(frozen=True, slots=True)
class Pattern:
    """What a value must look like: literal text and slots in turn. `Pattern(())` is the empty value.

    A pattern with one slot of kind `any` is fitted from both ends; with several, each of them ends where the text after
    it first occurs, and the last takes the rest. The other kinds take the longest run. Nothing is tried twice.
    """

    parts: tuple[str | Slot, ...]

    @property
    def literal(self) -> str | None:
        """The one value that fits, if there is only one."""
        if all(isinstance(part, str) for part in self.parts):
            return "".join(part for part in self.parts if isinstance(part, str))
        return None

    def fit(self, value: str) -> tuple[str, ...] | None:
        """Give what each slot takes of a value, or nothing if it does not fit.

        >>> Pattern((Slot(), "-", Slot("digits"), ".html")).fit("a-nice-title-123.html")
        ('a-nice-title', '123')
        >>> Pattern((Slot("digits"), ".msg", Slot())).fit("123.new") is None
        True
        """
        wide = [place for place, part in enumerate(self.parts) if part == Slot("any")]
        if len(wide) != 1:
            return _fit_forward(self.parts, value)
        (place,) = wide
        head = _fit_start(self.parts[:place], value)
        if head is None:
            return None
        taken, start = head
        tail = _fit_end(self.parts[place + 1 :], value, start)
        return None if tail is None else (*taken, value[start : tail[1]], *tail[0])


ANY = Pattern((Slot(),))


@dataclass(frozen=True, slots=True)
class Absent:
    """⊥: the key must not be there."""


ABSENT = Absent()
Match = Pattern | Absent


@dataclass(frozen=True, slots=True)
class Copy:
    """The value of a key of the source, or what one slot of its pattern took of it."""

    source: Key
    slot: int = 0
    through: Through = ""

    def convert(self, value: str) -> str:
        """Send a value through the conversion."""
        return _THROUGH[self.through](value)


@dataclass(frozen=True, slots=True)
class Ignore:
    """A value that does not matter: `*` in the key, and in the URL to fetch the value that most URLs had.

    An ignored argument is left out of the URL to fetch; there `usual` is None.
    """

    usual: str | None = None


@dataclass(frozen=True, slots=True)
class Drop:
    """The key disappears."""


DROP = Drop()
Piece = str | Copy | Ignore
Operation = Drop | tuple[Piece, ...]
"""What becomes of a key: it goes, or its value is put together from literal text (keep), copies and ignored parts."""


def _fit_start(parts: Sequence[str | Slot], value: str) -> tuple[tuple[str, ...], int] | None:
    """Fit parts without wide slots at the start; give what slots took and where they end."""
    taken: list[str] = []
    at = 0
    for part in parts:
        if isinstance(part, str):
            if not value.startswith(part, at):
                return None
            at += len(part)
        else:
            found = _KINDS[part.kind].match(value, at)
            if not found:
                return None
            taken.append(found[0])
            at = found.end()
    return tuple(taken), at


def _fit_end(parts: Sequence[str | Slot], value: str, start: int) -> tuple[tuple[str, ...], int] | None:
    """Fit parts without wide slots at the end, not before `start`; give what slots took and where they begin."""
    taken: list[str] = []
    end = len(value)
    for part in reversed(parts):
        if isinstance(part, str):
            if end - len(part) < start or not value.endswith(part, start, end):
                return None
            end -= len(part)
        else:
            begin = _run_start(part.kind, value, start, end)
            if begin is None:
                return None
            taken.append(value[begin:end])
            end = begin
    return tuple(reversed(taken)), end


def _run_start(kind: Kind, value: str, start: int, end: int) -> int | None:
    """Find where the longest run of a kind begins that stops at `end`."""
    if kind in ("uuid", "date"):
        for size in (36,) if kind == "uuid" else (10, 8, 7, 6, 4):
            if end - size >= start and _KINDS[kind].fullmatch(value, end - size, end):
                return end - size
        return None
    letters = "0123456789" if kind == "digits" else "0123456789ABCDEFabcdef"
    begin = start + len(value[start:end].rstrip(letters))
    return begin if begin < end else None


def _fit_forward(parts: Sequence[str | Slot], value: str) -> tuple[str, ...] | None:
    taken: list[str] = []
    at = 0
    for place, part in enumerate(parts):
        if part == Slot("any"):
            after = parts[place + 1] if place + 1 < len(parts) else None
            end = value.find(after, at) if isinstance(after, str) else len(value)
            if end < 0:
                return None
            taken.append(value[at:end])
            at = end
            continue
        fitted = _fit_start((part,), value[at:])
        if fitted is None:
            return None
        taken += fitted[0]
        at += fitted[1]
    return tuple(taken) if at == len(value) else None
