"""What rules make of a URL, in the most obvious way, however slow: what the fast ways are held against.

It shares nothing with them but the words of the language (`Rule`, `Key`, `Pattern`): URLs are cut at their marks,
values are tried at every place, rules one after the other. Of undust itself only the standard form and the public
suffix list are used, which have tests of their own.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple
from urllib.parse import quote, unquote

from undust.errors import UrlError
from undust.rules.rule import Rule
from undust.rules.values import Absent, Copy, Drop, Ignore, Operation, Pattern, Slot
from undust.settings import MAX_ARGUMENTS
from undust.urls.keys import Key
from undust.urls.normalize import normalize
from undust.urls.site import bundled

KINDS = {
    "any": r"(?s:.*)",
    "digits": r"[0-9]+",
    "hex": r"[0-9a-fA-F]+",
    "uuid": r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}",
    "date": r"[0-9]{4}-[0-9]{2}|[0-9]{4}-[0-9]{2}-[0-9]{2}|[0-9]{6}|[0-9]{8}",
}
CONVERSIONS: dict[str, Callable[[str], str]] = {
    "": str,
    "lower": str.lower,
    "upper": str.upper,
    "encode": lambda text: quote(text, safe=""),
    "decode": unquote,
}


class ImpossibleError(Exception):
    """A rule cannot be carried out on this URL: it writes to a place that is not there, or joins what is absent."""


class Answer(NamedTuple):
    """What rules make of a URL: the URL to fetch, the key, and the place of the rule; -1 for none."""

    url: str
    key: str
    place: int


def answer(rules: Sequence[Rule], url: str) -> Answer:
    """Give what becomes of a URL in standard form; itself, where what rules make of it is no form to rest in."""
    made = answer_once(rules, url)
    if made.url == url:
        return made
    try:
        rests = normalize(made.url) == made.url and answer_once(rules, made.url)[:2] == made[:2]
    except UrlError:
        rests = False
    return made if rests else Answer(url, url, -1)


def answer_once(rules: Sequence[Rule], url: str) -> Answer:
    """Give what the first rule of the host makes of a URL, or of its site if the host has none; rest or not."""
    parts = cut(url)
    known = {rule.site for rule in rules}
    site = next((name for name in (parts.own, parts.site) if name in known), None)
    for place, rule in enumerate(rules):
        if rule.site == site and holds(rule, parts):
            made = carry_out(rule, url)
            return Answer(url, url, -1) if made is None else Answer(*made, place)
    return Answer(url, url, -1)


@dataclass
class Argument:
    """A query argument or path parameter. No name where the query is one value, no value where there is no `=`."""

    mark: str
    name: str | None
    value: str | None

    def __str__(self) -> str:
        named = "" if self.name is None else self.name + ("" if self.value is None else "=")
        return self.mark + named + (self.value or "")


@dataclass
class Segment:
    """A segment of the path."""

    text: str
    params: list[Argument] = field(default_factory=list)

    def __str__(self) -> str:
        return "/" + self.text + "".join(map(str, self.params))


@dataclass
class Parts:
    """A URL cut into what rules speak of."""

    scheme: str
    user: str | None
    labels: list[str]
    """Those left of the domain, next to it first."""
    domain: str
    port: str | None
    own: str
    """The host, where it is a part of a site."""
    site: str
    segments: list[Segment]
    query: list[Argument] | None
    fragment: str | None

    def __str__(self) -> str:
        """Put them together again."""
        host = ".".join([*reversed(self.labels), self.domain])
        ends = (("@", self.user), (":", self.port), ("#", self.fragment))
        user, port, fragment = (
            "" if text is None else text + mark if mark == "@" else mark + text for mark, text in ends
        )
        query = "" if self.query is None else "?" + "".join(map(str, self.query))
        return f"{self.scheme}://{user}{host}{port}{''.join(map(str, self.segments)) or '/'}{query}{fragment}"

    def named(self, part: str) -> list[Argument]:
        """Give arguments or parameters, all in their order."""
        return (self.query or []) if part == "query" else [each for one in self.segments for each in one.params]

    def value(self, key: Key) -> str | None:
        """Give the value of a key; None is ⊥."""
        if key.part in ("scheme", "port"):
            return self.scheme if key.part == "scheme" else self.port
        if isinstance(key.name, int):
            texts = self.labels if key.part == "host" else [segment.text for segment in self.segments]
            numbers = range(1, len(texts) + 1) if key.part == "host" else range(len(texts))
            backwards = {} if key.part == "host" else dict(zip(range(-len(texts), 0), texts, strict=True))
            return (dict(zip(numbers, texts, strict=True)) | backwards).get(key.name)
        same = [each.value or "" for each in self.named(key.part) if (each.name or "") == key.name]
        return dict(enumerate(same, 1)).get(key.nth)


def cut(url: str) -> Parts:
    """Cut a URL in standard form."""
    scheme, _, rest = url.partition("://")
    rest, *fragment = rest.split("#", 1)
    rest, *query = rest.split("?", 1)
    place, _, path = rest.partition("/")
    *user, address = place.rsplit("@", 1)
    found = re.fullmatch(r"(\[.*\]|[^:]*)(?::(.*))?", address)
    assert found, url
    host, port = found[1], found[2]
    name = host.removesuffix(".")
    if host.startswith("[") or "." not in name or (name.split(".")[-1].isdigit() and not host.endswith(".")):
        domain, site, own = host, address, address
    else:
        site, own = bundled().registrable(name), host
        left = name.removesuffix(site).rstrip(".")
        domain = host.removeprefix(left).removeprefix(".") if left else host
    left = host.removesuffix(domain).removesuffix(".")
    labels = left.split(".")[::-1] if left else []
    segments, room = [], MAX_ARGUMENTS
    for piece in path.split("/"):
        text, *params = piece.split(";")
        fit = len(params) <= room and all(re.match("[^=]+=", each) for each in params)
        segments.append(Segment(text, [_argument(";", each) for each in params]) if fit else Segment(piece))
        room -= len(segments[-1].params)
    arguments = _arguments(query[0]) if query else None
    ends = (user[0] if user else None, fragment[0] if fragment else None)
    return Parts(scheme, ends[0], labels, domain, port, own, site, segments, arguments, ends[1])


def _argument(mark: str, text: str) -> Argument:
    name, *value = text.split("=", 1)
    return Argument(mark, name, value[0] if value else None)


def _arguments(query: str) -> list[Argument]:
    pieces = re.split("([&;])", query)
    if "=" not in query or len(pieces) // 2 >= MAX_ARGUMENTS:
        return [Argument("", None, query)]
    return [_argument(mark, text) for mark, text in zip(["", *pieces[1::2]], pieces[::2], strict=True)]


def holds(rule: Rule, parts: Parts) -> bool:
    """Tell whether a URL fits the context of a rule."""
    for key, match in rule.context.items():
        value = parts.value(key)
        if isinstance(match, Absent) != (value is None):
            return False
        if isinstance(match, Pattern) and value is not None and fit(match, value) is None:
            return False
    return True


def fit(pattern: Pattern, value: str) -> list[str] | None:
    """Give what the slots of a pattern take, or nothing if it does not fit.

    Where there is one wide slot, what stands before it is fitted from the start, what stands after it from the end of
    what is left. Otherwise all is fitted from the start, and a wide slot ends where the text after it first occurs, or
    takes all. Slots of other kinds take as much as they can.
    """
    wide = [place for place, part in enumerate(pattern.parts) if part == Slot("any")]
    if len(wide) != 1:
        whole = _from_start(pattern.parts, value)
        return None if whole is None or whole[1] else whole[0]
    head = _from_start(pattern.parts[: wide[0]], value)
    tail = None if head is None else _from_end(pattern.parts[wide[0] + 1 :], head[1])
    return None if head is None or tail is None else [*head[0], tail[1], *tail[0]]


def _from_start(parts: Sequence[str | Slot], value: str) -> tuple[list[str], str] | None:
    """Fit parts to the start of a value; give what slots took and what is left."""
    taken = []
    for place, part in enumerate(parts):
        after = parts[place + 1] if place + 1 < len(parts) else None
        if isinstance(part, str):
            ends = [len(part)] if value[: len(part)] == part else []
        elif part.kind == "any" and isinstance(after, str):
            ends = [end for end in range(len(value) + 1) if value[end : end + len(after)] == after][:1]
        else:
            ends = [end for end in range(len(value), -1, -1) if re.fullmatch(KINDS[part.kind], value[:end])][:1]
        if not ends:
            return None
        taken += [] if isinstance(part, str) else [value[: ends[0]]]
        value = value[ends[0] :]
    return taken, value


def _from_end(parts: Sequence[str | Slot], value: str) -> tuple[list[str], str] | None:
    """Fit parts, none of them a wide slot, to the end of a value; give what slots took and what is left."""
    taken = []
    for part in reversed(parts):
        wanted = re.escape(part) if isinstance(part, str) else KINDS[part.kind]
        starts = [start for start in range(len(value) + 1) if re.fullmatch(wanted, value[start:])][:1]
        if not starts:
            return None
        taken += [] if isinstance(part, str) else [value[starts[0] :]]
        value = value[: starts[0]]
    return taken[::-1], value


def carry_out(rule: Rule, url: str) -> tuple[str, str] | None:
    """Give the URL to fetch and the key that a rule makes of a URL it holds for; nothing where that cannot be done."""
    forms = []
    for in_key in (False, True):
        source, target = cut(url), cut(url)
        try:
            values = {key: _make(rule, key, made, source, in_key) for key, made in rule.operations.items()}
            _write(target, values)
        except ImpossibleError:
            return None
        if rule.sort_query and target.query:
            marks = {each.mark for each in source.query or []}
            target.query.sort(key=lambda each: each.name or "")
            for place, each in enumerate(target.query):
                each.mark = "" if not place else ";" if marks == {"", ";"} else "&"
        forms.append(str(target))
    return forms[0], forms[1]


def _make(rule: Rule, key: Key, operation: Operation, source: Parts, in_key: bool) -> str | None:
    """Give the value that an operation makes, None for ⊥."""
    if isinstance(operation, Drop):
        return None
    if len(operation) == 1:
        if isinstance(operation[0], Ignore) and key.part in ("query", "param"):
            return None
        if isinstance(operation[0], Copy) and source.value(operation[0].source) is None:
            return None
    made = ""
    for piece in operation:
        if isinstance(piece, Copy):
            value = source.value(piece.source)
            if value is None:
                raise ImpossibleError
            match = rule.context.get(piece.source)
            slots = fit(match, value) if isinstance(match, Pattern) else None
            made += CONVERSIONS[piece.through](slots[piece.slot] if slots and piece.slot < len(slots) else value)
        elif isinstance(piece, Ignore):
            made += "*" if in_key else piece.usual or ""
        else:
            made += piece
    return made


def _write(target: Parts, values: dict[Key, str | None]) -> None:
    """Put values in their places."""
    if Key("scheme") in values:
        target.scheme = values[Key("scheme")] or target.scheme
    if Key("port") in values:
        target.port = values[Key("port")]
    _write_host(target, {int(key.name): value for key, value in values.items() if key.part == "host"})
    _write_path(target, {int(key.name): value for key, value in values.items() if key.part == "path"})
    for part in ("param", "query"):
        for key, argument in _numbered(target.named(part), part):
            if key in values:
                argument.value = values[key]
                argument.mark = "gone" if values[key] is None else argument.mark
    for segment in target.segments:
        segment.params = [each for each in segment.params if each.mark != "gone"]
    _write_query(target, {key: value for key, value in values.items() if key.part == "query"})


def _numbered(arguments: Sequence[Argument], part: str) -> list[tuple[Key, Argument]]:
    names = [each.name or "" for each in arguments]
    return [(Key(part, name, names[: at + 1].count(name)), arguments[at]) for at, name in enumerate(names)]  # type: ignore[arg-type] # param or query


def _write_host(target: Parts, values: dict[int, str | None]) -> None:
    if values:
        labels = dict(enumerate(target.labels, 1)) | values
        target.labels = [label for _, label in sorted(labels.items()) if label]


def _write_path(target: Parts, values: dict[int, str | None]) -> None:
    length = len(target.segments)
    made: list[Segment | None] = list(target.segments)
    for place in [*sorted(place for place in values if place >= 0), *sorted(place for place in values if place < 0)]:
        value, at = values[place], place if place >= 0 else length + place
        if place == len(made) and value is not None:
            made.append(Segment(value))
        elif 0 <= at < len(made):
            before = made[at]
            made[at] = None if value is None else Segment(value, before.params if before else [])
        elif value is not None:
            raise ImpossibleError
    target.segments = [segment for segment in made if segment is not None]


def _write_query(target: Parts, values: dict[Key, str | None]) -> None:
    """Take away what goes, and add what was not there at the end."""
    if not values:
        return
    there = {key for key, _ in _numbered(target.query or [], "query")}
    kept = [each for each in target.query or [] if each.mark != "gone"]
    kept += [
        Argument("&", str(key.name) or None, value)
        for key, value in values.items()
        if value is not None and key not in there
    ]
    for place, each in enumerate(kept):
        each.mark = "" if not place else each.mark or "&"
    target.query = kept or None
