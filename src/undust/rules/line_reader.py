"""Reads rules from the one-line form that `undust.rules.line` describes."""

import re
from collections.abc import Mapping
from itertools import count
from urllib.parse import quote

from undust.errors import UsageError
from undust.rules.line import FREE, GONE, REST, has_labels
from undust.rules.rule import Rule
from undust.rules.spelling import site_fault, unescaped
from undust.rules.values import (
    ABSENT,
    DROP,
    KINDS,
    THROUGH,
    Absent,
    Copy,
    Drop,
    Ignore,
    Match,
    Operation,
    Pattern,
    Piece,
    Slot,
)
from undust.urls.keys import Key

Holes = dict[str, tuple[Key, int]]
"""Where the values come from that the left side gives a name."""

_LINE = re.compile(r"(\S++)\s++(\S++)\s++→\s++(\S++)(?:\s++(\(arguments in order\)))?+")
_ATOM = r"(?:\{[^{}]*+\}|[^/?;{}])*+"  # inside braces a question mark divides nothing
_SIDE = re.compile(rf"(?:([^:/]++):)?+//({_ATOM})((?:/{_ATOM})*+)((?:;{_ATOM})*+)(?:\?(.*+))?+")
_HOLE = re.compile(r"\{([^{}]*+)\}")


def read_line(line: str) -> Rule:
    """Read a rule as `write_line` writes it; `UsageError` says what is wrong with it.

    >>> str(read_line("h.test  //….h.test/…/index.html?sid={?}  →  //….h.test/…/"))
    'h.test  //….h.test/…/index.html?sid={?}  →  //….h.test/…/'
    """
    found = _LINE.fullmatch(line.strip())
    if not found:
        raise UsageError(f"{line[:80]!r}: not a rule; write SITE  PATTERN  →  PATTERN")
    site, left, right, in_order = found.groups()
    if (fault := site_fault(site)) is not None:
        raise UsageError(f"{site[:80]!r}: {fault}")
    holes: dict[str, tuple[Key, int]] = {}
    context: dict[Key, Match] = {}
    given = _read_side(left, site)
    for key, text in given.items():
        match = _read_match(key, text, holes)
        if match is not None:
            context[key] = match
    wanted = _read_side(right, site, like=given)
    operations: dict[Key, Operation] = {}
    for key in dict.fromkeys([*given, *wanted]):
        operation = _read_operation(key, wanted.get(key), holes)
        if operation is not None and not _stays(key, operation, context):
            operations[key] = operation
    return Rule(site, context, operations, sort_query=in_order is not None)


def _stays(key: Key, operation: Operation, context: Mapping[Key, Match]) -> bool:
    """Tell whether an operation gives a key the value that it has anyway."""
    match = context.get(key)
    if isinstance(operation, Drop):
        return match == ABSENT
    if match is None:
        return operation == (Copy(key),)
    if isinstance(match, Absent):
        return False
    slots = count()
    same = tuple(part if isinstance(part, str) else Copy(key, next(slots)) for part in match.parts)
    return operation == same


def _read_side(side: str, site: str, like: Mapping[Key, str] | None = None) -> dict[Key, str]:
    """Cut a side into the texts of its keys, in order."""
    found = _SIDE.fullmatch(side)
    if not found:
        raise UsageError(f"{side[:80]!r}: not a URL pattern; it should look like //….example.com/…?name={{?}}")
    scheme, authority, path, params, query = found.groups()
    texts: dict[Key, str] = {}
    if scheme:
        texts[Key("scheme")] = scheme
    host, port = _cut_port(authority, site)
    if port is not None:
        texts[Key("port")] = port
    texts |= _read_host(host, site, closing=like is None)
    texts |= _read_path(path, closing=like is None)
    for mark, part, separator in ((params, "param", ";"), (query, "query", "&")):
        for piece in (mark or "").split(separator):
            name, equals, text = piece.partition("=")
            if equals:
                texts[Key.parse(("?" if part == "query" else ";") + name)] = text
            elif piece:
                raise UsageError(f"{piece[:80]!r}: an argument without =; write name={{?}}")
    return texts


def _cut_port(authority: str, site: str) -> tuple[str, str | None]:
    if authority.endswith(site):
        return authority, None
    bare = site.rpartition(":")[0] if ":" in site and not site.endswith("]") else site
    head, found, port = authority.rpartition(f"{bare}:")
    if found:
        return head + site, port
    raise UsageError(f"{authority[:80]!r}: not a host of {site}")


def _read_host(host: str, site: str, *, closing: bool) -> dict[Key, str]:
    shown = host[: len(host) - len(site)].rstrip(".")
    labels = [] if not shown else _split_outside(shown, ".")
    is_open = bool(labels) and labels[0] == REST
    texts = {
        Key("host", place): label
        for place, label in zip(range(len(labels), 0, -1), labels, strict=True)
        if label != REST
    }
    if closing and not is_open and has_labels(site):
        texts[Key("host", len(labels) + 1)] = GONE
    return texts


def _read_path(path: str, *, closing: bool) -> dict[Key, str]:
    segments = path.split("/")[1:]
    if REST not in segments:
        texts = {Key("path", place): text for place, text in enumerate(segments)}
        if closing:
            texts[Key("path", len(segments))] = GONE
        return texts
    if segments.count(REST) > 1:
        raise UsageError(f"{path[:80]!r}: a path has one {REST}; segments are named from its start and from its end")
    rest = segments.index(REST)
    texts = {Key("path", place): text for place, text in enumerate(segments[:rest])}
    after = segments[rest + 1 :]
    return texts | {Key("path", place - len(after)): text for place, text in enumerate(after)}


def _split_outside(text: str, separator: str) -> list[str]:
    """Split at a separator that is not inside braces."""
    holes = _HOLE.findall(text)
    pieces = _HOLE.sub("\0", text).split(separator)
    fill = iter(holes)
    return [re.sub("\0", lambda _: f"{{{next(fill)}}}", piece) for piece in pieces]


def _read_match(key: Key, text: str, holes: Holes) -> Match | None:
    """Read what the left side says of a key; nothing where it leaves it free."""
    if text == GONE:
        return ABSENT
    if text.endswith("?}") and text.startswith("{") and text.count("{") == 1:
        if text != FREE:
            holes[text[1:-2]] = (key, 0)
        return None
    parts: list[str | Slot] = []
    slots = count()
    for literal, hole in _pieces(text):
        if literal:
            parts.append(literal)
        if hole is None:
            continue
        name, _, kind = hole.partition(":")
        if (kind or "any") not in KINDS:
            raise UsageError(f"{text[:80]!r}: unknown kind {kind!r}; one of {', '.join(KINDS)}")
        parts.append(Slot(kind or "any"))  # type: ignore[arg-type] # one of the kinds
        slot = next(slots)
        if name != "*":
            holes[name] = (key, slot)
    return Pattern(tuple(parts))


def _read_operation(key: Key, text: str | None, holes: Holes) -> Operation | None:
    """Read what the right side makes of a key; nothing where it stays as it is."""
    if text is None or text == GONE:
        # A host label or segment that the right side does not reach was only looked at.
        return DROP if text == GONE or key.part in ("query", "param") else None
    if text == FREE:
        return None
    pieces: list[Piece] = []
    for literal, hole in _pieces(text):
        if literal:
            pieces.append(literal)
        if hole is not None:
            pieces.append(_read_piece(hole, holes))
    return tuple(pieces)


def _read_piece(hole: str, holes: Holes) -> Piece:
    if hole.startswith("*"):
        return Ignore(hole[2:] if hole.startswith("*=") else None)
    name, _, through = hole.partition("|")
    if name not in holes:
        raise UsageError(f"{{{hole[:40]}}}: nothing on the left is called {name[:40]!r}")
    if through not in THROUGH:
        raise UsageError(f"{{{hole[:40]}}}: unknown conversion; one of {', '.join(filter(None, THROUGH))}")
    source, slot = holes[name]
    return Copy(source, slot, through)


def _pieces(text: str) -> list[tuple[str, str | None]]:
    """Cut a text into literal parts and the holes after them."""
    if (letter := unescaped(_HOLE.sub("", text))) is not None:
        raise UsageError(f"{text[:80]!r}: {letter!r} is escaped in URLs; write {quote(letter)}")
    pieces: list[tuple[str, str | None]] = []
    at = 0
    for hole in _HOLE.finditer(text):
        pieces.append((text[at : hole.start()], hole[1]))
        at = hole.end()
    return [*pieces, (text[at:], None)]
