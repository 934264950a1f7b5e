"""Carries out a rule's operations on one URL: the URL to fetch, and the key that duplicates share."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from undust.rules.rule import Rule
from undust.rules.values import Absent, Copy, Drop, Ignore, Match, Operation, Piece
from undust.urls.keys import Argument, Key, Segment, join_path, join_query, split_path, split_query
from undust.urls.parse import Url, join
from undust.urls.site import labels

IGNORED = "*"
"""What stands in a key for a value that does not matter. No normalized URL part that a rule ignores needs it."""

Values = Mapping[Key, str]
Taken = dict[Key, tuple[str, ...]]


class Applied(NamedTuple):
    """What a rule makes of a URL."""

    url: str
    key: str


def fit(context: Mapping[Key, Match], values: Values) -> Taken | None:
    """Give what the slots of a context take of a URL's values, or nothing if the context does not hold."""
    taken: Taken = {}
    for key, match in context.items():
        value = values.get(key)
        if isinstance(match, Absent):
            if value is not None:
                return None
            continue
        slots = None if value is None else match.fit(value)
        if slots is None:
            return None
        taken[key] = slots
    return taken


def apply(rule: Rule, parts: Url, values: Values) -> Applied | None:
    """Apply a rule to a URL in standard form that fits its context.

    Nothing where an operation cannot be carried out, as when the third segment of `/a` is to be set.
    """
    taken = fit(rule.context, values)
    if taken is None:
        return None
    results: dict[Key, tuple[str | None, str | None]] = {}  # to fetch, in the key; None is absent
    for key, operation in rule.operations.items():
        made = _make(key, operation, values, taken)
        if made is None:
            return None
        results[key] = made
    fetch = _rebuild(parts, {key: made[0] for key, made in results.items()}, sort=rule.sort_query)
    if fetch is None:
        return None
    if all(made[0] == made[1] for made in results.values()):
        return Applied(fetch, fetch)
    key_form = _rebuild(parts, {key: made[1] for key, made in results.items()}, sort=rule.sort_query)
    return None if key_form is None else Applied(fetch, key_form)


def _make(key: Key, operation: Operation, values: Values, taken: Taken) -> tuple[str | None, str | None] | None:
    """Put the value of a key together, for the URL to fetch and for the key; None as a value is ⊥."""
    if isinstance(operation, Drop):
        return None, None
    if key.part in ("query", "param") and len(operation) == 1 and isinstance(operation[0], Ignore):
        return None, None  # left out, and so left out of the key as well: what is not there cannot differ
    if len(operation) == 1 and isinstance(operation[0], Copy) and operation[0].source not in values:
        return None, None  # a copy of ⊥ is ⊥
    fetch, in_key = [], []
    for piece in operation:
        made = _piece(piece, values, taken)
        if made is None:
            return None
        fetch.append(made[0])
        in_key.append(made[1])
    return "".join(fetch), "".join(in_key)


def _piece(piece: Piece, values: Values, taken: Taken) -> tuple[str, str] | None:
    if isinstance(piece, str):
        return piece, piece
    if isinstance(piece, Ignore):
        return piece.usual or "", IGNORED
    slots = taken.get(piece.source)
    if slots is None:  # the context leaves this key free
        value = values.get(piece.source)
    else:
        value = slots[piece.slot] if piece.slot < len(slots) else values.get(piece.source)
    return None if value is None else (piece.convert(value),) * 2


def _rebuild(parts: Url, results: dict[Key, str | None], *, sort: bool) -> str | None:
    """Write the URL with other values; None where that cannot be."""
    host: dict[int, str | None] = {}
    path: dict[int, str | None] = {}
    params: dict[tuple[str, int], str | None] = {}
    query: dict[tuple[str, int], str | None] = {}
    for key, value in results.items():
        match key:
            case Key("host", int(place)):
                host[place] = value
            case Key("path", int(place)):
                path[place] = value
            case Key("param", str(name), nth):
                params[name, nth] = value
            case Key("query", str(name), nth):
                query[name, nth] = value
            case Key("scheme"):
                parts = parts._replace(scheme=value or parts.scheme)
            case Key("port"):
                parts = parts._replace(port=value)
            case Key("userinfo"):
                parts = parts._replace(userinfo=value)
    if host:
        parts = parts._replace(host=_host(parts.host, host))
    if path or params:
        segments = _path(split_path(parts.path), path, params)
        if segments is None:
            return None
        parts = parts._replace(path=join_path(segments) or "/")
    if query or (sort and parts.query):
        arguments = [] if parts.query is None else split_query(parts.query)
        parts = parts._replace(query=_query(arguments, query, sort=sort))
    return join(parts)


def _host(host: str, changes: dict[int, str | None]) -> str:
    found: dict[int, str | None] = dict(enumerate(labels(host), 1))
    here = ".".join(label or "" for label in reversed(found.values()))
    rest = host[len(here) :].removeprefix(".") if here else host
    found |= changes
    return ".".join([label for _, label in sorted(found.items(), reverse=True) if label] + [rest])


def _path(
    segments: list[Segment], changes: dict[int, str | None], params: dict[tuple[str, int], str | None]
) -> list[Segment] | None:
    made: list[Segment | None] = list(segments)
    for place, value in sorted(changes.items(), key=lambda change: (change[0] < 0, change[0])):
        at = place if place >= 0 else len(segments) + place
        if at == len(made) and place >= 0:
            made += [] if value is None else [Segment(value)]
        elif not 0 <= at < len(made):
            if value is not None:
                return None
        else:
            before = made[at]
            made[at] = None if value is None else Segment(value, before.params if before else ())
    kept = [segment for segment in made if segment is not None]
    if not params:
        return kept
    count: dict[str, int] = {}
    return [Segment(text, tuple(_changed(arguments, params, count))) for text, arguments in kept]


def _query(arguments: list[Argument], changes: dict[tuple[str, int], str | None], *, sort: bool) -> str | None:
    count: dict[str, int] = {}
    kept = list(_changed(arguments, changes, count))
    kept += [
        Argument("&", name or None, value)
        for (name, nth), value in changes.items()
        if value is not None and nth > count.get(name, 0)
    ]
    if not kept:
        return None
    separators = ["", *(argument.separator or "&" for argument in kept[1:])]
    if sort:
        kept.sort(key=lambda argument: argument.name or "")  # stable: repeated names keep their order
        only_semicolons = {argument.separator for argument in arguments} == {"", ";"}
        separators[1:] = (";" if only_semicolons else "&") * (len(kept) - 1)
    return join_query(Argument(mark, *argument[1:]) for mark, argument in zip(separators, kept, strict=True))


def _changed(
    arguments: Iterable[Argument], changes: dict[tuple[str, int], str | None], count: dict[str, int]
) -> Iterable[Argument]:
    for argument in arguments:
        name = argument.name or ""
        count[name] = count.get(name, 0) + 1
        if (name, count[name]) not in changes:
            yield argument
            continue
        value = changes[name, count[name]]
        if value is not None:
            yield argument._replace(value=value)
