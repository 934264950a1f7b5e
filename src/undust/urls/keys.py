"""The keys of a URL and their values, the form in which rules speak of it (docs/urls.md)."""

from collections import Counter
from collections.abc import Iterable
from typing import Literal, NamedTuple

from undust.errors import UrlError
from undust.settings import MAX_ARGUMENTS
from undust.urls.normalize import normalize
from undust.urls.parse import Url, split
from undust.urls.site import labels

Part = Literal["scheme", "userinfo", "host", "port", "path", "param", "query", "fragment"]
_SINGLE: tuple[Part, ...] = ("scheme", "userinfo", "port", "fragment")


class Key(NamedTuple):
    """What a value of a URL is called: a part, and within it a position or a name.

    | part | name | written |
    |---|---|---|
    | scheme, userinfo, port, fragment | | `scheme` |
    | host | 1 is the label left of the registrable domain, 2 the next | `host[1]` |
    | path | 0 is the first segment, -1 the last | `path[0]`, `path[-1]` |
    | param | name of a path parameter | `;jsessionid` |
    | query | name of an argument, "" for a query that is one value | `?sid` |

    `nth` counts repeated names from 1: the second `sid` is `?sid#2`.
    """

    part: Part
    name: str | int = ""
    nth: int = 1

    def __str__(self) -> str:
        """Write the key as rule files do; `Key.parse` reads it."""
        if isinstance(self.name, int):
            return f"{self.part}[{self.name}]"
        if self.part in _SINGLE:
            return self.part
        again = "" if self.nth == 1 else f"#{self.nth}"
        return f"{'?' if self.part == 'query' else ';'}{self.name}{again}"

    @classmethod
    def parse(cls, text: str) -> "Key":
        """Read a key as it is written.

        >>> Key.parse("?sid#2"), Key.parse("path[-1]"), str(Key("host", 1))
        (Key(part='query', name='sid', nth=2), Key(part='path', name=-1, nth=1), 'host[1]')
        """
        for single in _SINGLE:
            if text == single:
                return cls(single)
        if text[:1] in ("?", ";"):
            name, mark, nth = text[1:].partition("#")
            if not mark:
                return cls("query" if text[0] == "?" else "param", name)
            if nth.isascii() and nth.isdigit() and int(nth) > 1:
                return cls("query" if text[0] == "?" else "param", name, int(nth))
        part, _, position = text.partition("[")
        digits = position.removesuffix("]").removeprefix("-")
        if part in ("host", "path") and position.endswith("]") and digits.isascii() and digits.isdigit():
            return cls("host" if part == "host" else "path", int(position[:-1]))
        raise UrlError(
            f"unknown key {text!r}; one like scheme, host[1], port, path[0], path[-1], ;name, ?name, ?name#2"
        )


class Argument(NamedTuple):
    """A query argument or path parameter with the separator before it: `&`, `;`, or `""` for the first.

    `name` is None where the whole query is one value, `value` is None where there is no `=`.
    """

    separator: str
    name: str | None
    value: str | None


class Segment(NamedTuple):
    """A path segment and its parameters."""

    text: str
    params: tuple[Argument, ...] = ()


def split_path(path: str) -> list[Segment]:
    """Split a path into segments; a trailing slash is an empty last one, no path at all has none.

    >>> split_path("/a;v=1/")
    [Segment(text='a', params=(Argument(separator=';', name='v', value='1'),)), Segment(text='', params=())]
    """
    budget = MAX_ARGUMENTS
    segments = []
    for piece in path.split("/")[1:]:
        segment = _segment(piece, budget) if ";" in piece else Segment(piece)
        budget -= len(segment.params)
        segments.append(segment)
    return segments


def join_path(segments: Iterable[Segment]) -> str:
    """Join what `split_path` gave."""
    return "".join(f"/{segment.text}{_spelled(segment.params)}" for segment in segments)


def split_query(query: str) -> list[Argument]:
    """Split a query at `&` and `;`; one without `=`, or with more arguments than any page has, is one value.

    >>> split_query("C=N;O=D")
    [Argument(separator='', name='C', value='N'), Argument(separator=';', name='O', value='D')]
    >>> split_query("12345")
    [Argument(separator='', name=None, value='12345')]
    """
    if "=" not in query or query.count("&") + query.count(";") >= MAX_ARGUMENTS:
        return [Argument("", None, query)]
    arguments = []
    separator = ""
    for span in query.split("&"):
        for piece in span.split(";"):
            name, mark, value = piece.partition("=")
            arguments.append(Argument(separator, name, value if mark else None))
            separator = ";"
        separator = "&"
    return arguments


def join_query(arguments: Iterable[Argument]) -> str:
    """Join what `split_query` gave."""
    return _spelled(arguments)


def keys(url: str | Url) -> dict[Key, str]:
    """Give the value of each key of a URL; a key that is not there has the value ⊥.

    A text is normalized first. Segments are found from both ends. An argument without `=` has the value "".

    >>> [f"{key}={value}" for key, value in keys("http://www.h.com/a/b;s=1?x=2&x=3").items()]
    ... # doctest: +NORMALIZE_WHITESPACE
    ['scheme=http', 'host[1]=www', 'path[0]=a', 'path[1]=b', 'path[-2]=a', 'path[-1]=b',
     ';s=1', '?x=2', '?x#2=3']
    """
    parts = split(normalize(url)) if isinstance(url, str) else url
    found: dict[Key, str] = {Key("scheme"): parts.scheme}
    if parts.userinfo is not None:
        found[Key("userinfo")] = parts.userinfo
    for place, label in enumerate(labels(parts.host), 1):
        found[Key("host", place)] = label
    if parts.port is not None:
        found[Key("port")] = parts.port
    segments = split_path(parts.path)
    for place, segment in enumerate(segments):
        found[Key("path", place)] = segment.text
    for place, segment in enumerate(segments, -len(segments)):
        found[Key("path", place)] = segment.text
    _name(found, "param", (param for segment in segments for param in segment.params))
    if parts.query is not None:
        _name(found, "query", split_query(parts.query))
    if parts.fragment is not None:
        found[Key("fragment")] = parts.fragment
    return found


def _segment(piece: str, budget: int) -> Segment:
    """Cut parameters off a segment, if all that follows its first `;` has the form of parameters."""
    text, *rest = piece.split(";")
    params = [param.partition("=") for param in rest]
    if len(params) > budget or not all(name and mark for name, mark, _ in params):
        return Segment(piece)
    return Segment(text, tuple(Argument(";", name, value) for name, _, value in params))


def _spelled(arguments: Iterable[Argument]) -> str:
    pieces = []
    for separator, name, value in arguments:
        pieces.append(separator)
        pieces.append(name or "")
        if value is not None:
            pieces.append(value if name is None else f"={value}")
    return "".join(pieces)


def _name(found: dict[Key, str], part: Part, arguments: Iterable[Argument]) -> None:
    count: Counter[str] = Counter()
    for _, name, value in arguments:
        count[name or ""] += 1
        found[Key(part, name or "", count[name or ""])] = value or ""
