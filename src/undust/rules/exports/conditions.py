"""Rule contexts as regular expressions that every engine reads alike, without look-around."""

import re
from collections.abc import Iterable
from typing import NamedTuple

from undust.rules.rule import Rule
from undust.rules.spelling import unescaped
from undust.rules.values import Absent, Drop, Ignore, Match, Pattern, Slot
from undust.urls.keys import Key
from undust.urls.site import bundled, site_of

ENDS = {"query": "&;", "path": "/?;", "segment": "/?", "host": "./:@?", "param": "/?;", "port": "/?", "scheme": ":"}
"""What ends a value, by the part of the URL that it stands in."""

_META = re.compile(r"[\\.^$*+?()\[\]{}|]")
_PLAIN = re.compile(r"[A-Za-z0-9\-_.~:,!@]*+")
_KIND = {"digits": "[0-9]+", "hex": "[0-9A-Fa-f]+"}
_UUID = "[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}"
_DATE = "[0-9]{4}(?:-[0-9]{2}(?:-[0-9]{2})?|[0-9]{2}(?:[0-9]{2})?)?"


class InexpressibleError(Exception):
    """Why a rule, or a part of it, has no counterpart in a format; caught in this room and listed."""


class Condition(NamedTuple):
    """A regular expression that must be found in a URL, or must not."""

    regex: str
    wanted: bool = True


Conditions = tuple[Condition, ...]
"""All of them must hold."""


def quoted(text: str) -> str:
    """Escape a literal for any engine: Java, PCRE, RE2, Python."""
    return _META.sub(r"\\\g<0>", text)


def require_standard(rule: Rule) -> None:
    """Refuse texts that no URL in standard form has: a quotation mark would end the text of a file it is written to."""
    values = [*rule.context.values(), *(each for each in rule.operations.values() if not isinstance(each, Drop))]
    pieces = [
        piece
        for value in values
        for piece in (value.parts if isinstance(value, Pattern) else () if isinstance(value, Absent) else value)
    ]
    texts = [piece.usual if isinstance(piece, Ignore) else piece for piece in pieces]
    names = [key.name for key in (*rule.context, *rule.operations)]
    if any(isinstance(text, str) and unescaped(text) is not None for text in (*texts, *names)):
        raise InexpressibleError("it has letters that are escaped in URLs")


def require_plain(text: str) -> str:
    """Give a literal that a rule writes into URLs, if it stays what it is there."""
    if not _PLAIN.fullmatch(text) or text in (".", ".."):
        raise InexpressibleError(f"it writes {text[:40]!r}, which not every engine writes as it is")
    return text


def value_pieces(pattern: Pattern, part: str) -> list[tuple[str, bool]]:
    """Give regular expressions for the parts of a pattern, and whether each is a slot.

    Their sequence fits what the pattern fits, with the same values in its slots, and can fit in one way only; where a
    pattern has no such form, it is refused.
    """
    ends = ENDS[part]
    parts = pattern.parts
    wide = sum(piece == Slot() for piece in parts)
    made: list[tuple[str, bool]] = []
    for place, piece in enumerate(parts):
        if isinstance(piece, str):
            made.append((quoted(piece), False))
            continue
        near = [parts[at] for at in (place - 1, place + 1) if 0 <= at < len(parts)]
        if any(isinstance(other, Slot) for other in near):
            raise InexpressibleError("two open parts of a value stand side by side")
        after = parts[place + 1] if place + 1 < len(parts) else ""
        if piece.kind == "any":
            made.append((_wide(ends, str(after), wide, last=not after), True))
        elif piece.kind in _KIND:
            inside = re.compile(_KIND[piece.kind][:-1])
            before = parts[place - 1] if place else ""
            if (before and inside.match(str(before)[-1])) or (after and inside.match(str(after)[0])):
                raise InexpressibleError(f"{piece.kind} beside literals that could belong to them")
            made.append((_KIND[piece.kind], True))
        elif len(parts) > 1:
            raise InexpressibleError(f"a {piece.kind} inside a value")
        else:
            made.append((_UUID if piece.kind == "uuid" else _DATE, True))
    return made


def _wide(ends: str, after: str, wide: int, *, last: bool) -> str:
    if last or wide == 1:
        return f"[^{ends}]*"
    if len(after) != 1 or after in "]^-\\":
        raise InexpressibleError("several open parts that a longer text parts")
    return f"[^{ends}{after}]*"


def value_regex(match: Pattern, part: str) -> str:
    """Give one regular expression for a value."""
    return "".join(regex for regex, _ in value_pieces(match, part))


def name_of(key: Key) -> str:
    """Give the name of an argument or parameter for a regular expression."""
    return quoted(str(key.name))


def at_least(context: Iterable[tuple[Key, Match]], site: str) -> Conditions:
    """Give conditions that hold wherever a context does, maybe elsewhere too: where an earlier rule may decide."""
    made = [_loose(key, match, site) for key, match in context]
    return tuple(condition for condition in made if condition is not None)


def _loose(key: Key, match: Match, site: str) -> Condition | None:
    if key.part == "query" and key.name and key.nth == 1:
        start = rf"^[^?]*\?(?:.*[&;])?{name_of(key)}"
        if isinstance(match, Absent):
            return Condition(f"{start}=", wanted=False)
        bare = "|[&;]|$" if match.fit("") is not None else ""
        return Condition(f"{start}(?:={_loose_value(match, 'query')}(?:[&;]|$){bare})")
    if isinstance(match, Absent):
        return None
    value = _loose_value(match, "segment" if key.part == "path" else key.part)
    match key:
        case Key("scheme"):
            return Condition(f"^{value}:")
        case Key("host", 1):
            return Condition(rf"^[^/]*//(?:[^/]*\.)?{value}\.{quoted(site.partition(':')[0])}")
        case Key("port"):
            return Condition(f"^[^/]*//[^/]*:{value}(?:/|$)")
        case Key("path", int(place)) if place >= 0:
            return Condition(f"^[^/]*//[^/]*(?:/[^/?]*){{{place}}}/{value}(?:[/?;]|$)")
        case Key("path", int(place)):
            return Condition(rf"^[^?]*/{value}(?:;[^/?]*)?(?:/[^/?]*){{{-place - 1}}}(?:\?|$)")
        case Key("param"):
            return Condition(f"^[^?]*;{name_of(key)}=")
    return None


def _loose_value(match: Pattern, part: str) -> str:
    """Give a regular expression for a value that fits at least what a pattern does."""
    try:
        return value_regex(match, part)
    except InexpressibleError:
        return f"[^{ENDS[part]}]*"


def exactly(key: Key, match: Match) -> Condition:
    """Give a condition on an argument that holds only where the context does."""
    if key.part != "query" or not key.name or key.nth > 1:
        raise InexpressibleError(f"it asks for {key}")
    start = rf"^[^?]*\?(?:.*[&;])?{name_of(key)}"
    if isinstance(match, Absent):
        return Condition(rf"{start}(?:[=&;]|$)", wanted=False)
    return Condition(f"{start}={value_regex(match, 'query')}(?:[&;]|$)")


def once(name: str) -> Condition:
    """Give the condition that an argument does not occur twice."""
    escaped = quoted(name)
    return Condition(rf"^[^?]*\?(?:.*[&;])?{escaped}(?:=[^&;]*)?[&;](?:.*[&;])?{escaped}(?:[=&;]|$)", wanted=False)


def disjoint(first: Rule, second: Rule) -> bool:
    """Tell whether no URL can fit the contexts of both."""
    return any(contradict(match, second.context[key]) for key, match in first.context.items() if key in second.context)


def contradict(a: Match, b: Match) -> bool:
    """Tell whether no value fits both, as far as that is plain."""
    if isinstance(a, Absent) or isinstance(b, Absent):
        return not (isinstance(a, Absent) and isinstance(b, Absent))
    if a.literal is not None:
        return b.fit(a.literal) is None
    return b.literal is not None and a.fit(b.literal) is None


def require_whole_site(site: str) -> None:
    """Refuse a site below which other sites begin: a pattern for its hosts would reach theirs."""
    if "/" in site or "." not in site or site_of(site.partition(":")[0], None) != site:
        return
    dotted = f".{site}"
    known = bundled()
    if site in known.wildcards or any(suffix.endswith(dotted) for suffix in known.suffixes):
        raise InexpressibleError("other sites begin below it (public suffixes)")
