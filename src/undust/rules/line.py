"""Rules on one line that a person can read: `SITE  URL pattern  →  URL pattern`.

    php.net  //{?}.php.net/manual/{a}/…?sid={?}  →  //{*=www}.php.net/manual/{a}/…

Left is what a URL must look like, right what becomes of it. Keys that neither names stay as they are.

| written | left | right |
|---|---|---|
| `text` | this value | this value (keep) |
| `{a}` `{a:digits}` | any value, any number: called a | the value called a (copy) |
| | | `{a\\|lower}` the same through a conversion |
| `{*}` `{*:digits}` | any value | does not matter (ignore), `{*=www}` www in the URL to fetch |
| `{?}` `{a?}` | any value or none | |
| `⊥` | absent | goes (drop) |
| `…` | any segments, any host labels | as they were |
| an argument that is not there | free | goes, if the left names it |
"""

import re
from collections.abc import Iterator, Mapping
from itertools import count

from undust.rules.rule import Rule
from undust.rules.values import ABSENT, Absent, Copy, Drop, Ignore, Match, Operation, Pattern, Piece, Slot
from undust.urls.host import is_address
from undust.urls.keys import Key

SORTED = "(arguments in order)"
FREE = "{?}"
GONE = "⊥"
REST = "…"

Names = dict[tuple[Key, int], str]
"""What the slots of keys are called that the right side copies; a free key has one slot."""


def write_line(rule: Rule) -> str:
    """Write a rule on one line; `read_line` reads it."""
    named = dict.fromkeys([*rule.context, *rule.operations, *_sources(rule.operations)])
    names = _names(rule, named)
    left = {key: _left(key, rule.context.get(key), names) for key in named}
    right = {key: _right(key, rule, names) for key in named}
    line = f"{rule.site}  {_url(rule, left)}  →  {_url(rule, right)}"
    return f"{line}  {SORTED}" if rule.sort_query else line


def _sources(operations: Mapping[Key, Operation]) -> Iterator[Key]:
    for operation in operations.values():
        if not isinstance(operation, Drop):
            yield from (piece.source for piece in operation if isinstance(piece, Copy))


def _names(rule: Rule, named: Mapping[Key, None]) -> Names:
    wanted: dict[tuple[Key, int], None] = {}
    for operation in rule.operations.values():
        for piece in () if isinstance(operation, Drop) else operation:
            if isinstance(piece, Copy):
                wanted[piece.source, piece.slot] = None
    for key in named:
        match = rule.context.get(key)
        if key not in rule.operations and isinstance(match, Pattern):
            slots = sum(isinstance(part, Slot) for part in match.parts)
            wanted |= dict.fromkeys((key, slot) for slot in range(slots))
    return dict(zip(wanted, _letters(), strict=False))


def _letters() -> Iterator[str]:
    alphabet = "abcdefghijklmnopqrstuvwxyz"
    yield from alphabet
    for number in count(1):
        yield from (f"{letter}{number}" for letter in alphabet)


def _left(key: Key, match: Match | None, names: Names) -> str:
    if match is None:
        return f"{{{names[key, 0]}?}}" if (key, 0) in names else FREE
    if isinstance(match, Absent):
        return GONE
    slots = count()
    text = []
    for part in match.parts:
        if isinstance(part, str):
            text.append(part)
        else:
            kind = "" if part.kind == "any" else f":{part.kind}"
            text.append(f"{{{names.get((key, next(slots)), '*')}{kind}}}")
    return "".join(text)


def _right(key: Key, rule: Rule, names: Names) -> str | None:
    """Write what becomes of a key; None where it need not be written."""
    operation = rule.operations.get(key)
    if operation is None:
        match = rule.context.get(key)
        if match is None:
            return f"{{{names[key, 0]}}}" if (key, 0) in names else FREE
        written = _left(key, match, names)
        return re.sub(r":[a-z]+\}", "}", written) if key.part in ("query", "param") or match != ABSENT else GONE
    if isinstance(operation, Drop):
        return None if key.part in ("query", "param") else GONE
    return "".join(_piece(piece, names) for piece in operation)


def _piece(piece: Piece, names: Names) -> str:
    if isinstance(piece, str):
        return piece
    if isinstance(piece, Ignore):
        return "{*}" if piece.usual is None else f"{{*={piece.usual}}}"
    through = f"|{piece.through}" if piece.through else ""
    return f"{{{names[piece.source, piece.slot]}{through}}}"


def _url(rule: Rule, written: Mapping[Key, str | None]) -> str:
    """Put the parts of one side together."""
    by_part: dict[str, dict[str | int, tuple[Key, str]]] = {}
    for key, text in written.items():
        if text is not None:
            by_part.setdefault(key.part, {})[key.name if key.nth == 1 else f"{key.name}#{key.nth}"] = (key, text)
    scheme = f"{by_part['scheme'][''][1]}:" if "scheme" in by_part else ""
    port = f":{by_part['port'][''][1]}" if "port" in by_part else ""
    params = "".join(f";{name}={text}" for name, (_, text) in by_part.get("param", {}).items())
    query = "&".join(f"{name}={text}" for name, (_, text) in by_part.get("query", {}).items())
    site = rule.site.rpartition(":")[0] if port and rule.site.rpartition(":")[2].isdigit() else rule.site
    host = _host({int(place): text for place, (_, text) in by_part.get("host", {}).items()}, rule)
    path = _path({int(place): text for place, (_, text) in by_part.get("path", {}).items()}, rule)
    return f"{scheme}//{host}{site}{port}{path}{params}{'?' if query else ''}{query}"


def has_labels(site: str) -> bool:
    """Tell whether hosts of a site can have labels left of it; those of an address or a bare name cannot."""
    return "." in site and not is_address(site.partition(":")[0])


def _host(labels: dict[int, str], rule: Rule) -> str:
    if not has_labels(rule.site):
        return ""
    last = max(labels, default=0)
    closed = last > 0 and rule.context.get(Key("host", last)) == ABSENT
    hidden = closed and labels[last] == GONE
    shown = [labels.get(place, FREE) for place in range(last - hidden, 0, -1)]
    return "".join(f"{label}." for label in ([] if closed else [REST]) + shown)


def _path(segments: dict[int, str], rule: Rule) -> str:
    last = max((place for place in segments if place >= 0), default=-1)
    first = min((place for place in segments if place < 0), default=0)
    closed = last >= 0 and first == 0 and rule.context.get(Key("path", last)) == ABSENT
    hidden = closed and segments[last] == GONE
    start = [segments.get(place, FREE) for place in range(last + (not hidden))]
    end = [segments.get(place, FREE) for place in range(first, 0)]
    return "".join(f"/{segment}" for segment in (start if closed else [*start, REST, *end]))
