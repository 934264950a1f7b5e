"""What a rule says about all that stands before the query, as pieces: scheme, host, port, path."""

from undust.rules.exports.conditions import InexpressibleError, quoted, require_plain, value_regex
from undust.rules.exports.pieces import Piece, made_pieces, rest_of
from undust.rules.exports.settled import is_dropped, written
from undust.rules.rule import Rule
from undust.rules.values import ABSENT, Absent, Drop, Match, Operation, Pattern
from undust.urls.keys import Key
from undust.urls.site import is_server, site_of


def head(rule: Rule) -> tuple[Piece, ...]:
    """Give the pieces of a URL before its query: scheme, host, port, path."""
    operations = {key: operation for key, operation in rest_of(rule).items() if key.part != "query"}
    for key in (*rule.context, *operations):
        if key.part == "host" and key.name != 1 and not (key.name == 2 and rule.context.get(key) == ABSENT):
            raise InexpressibleError(f"it names {key}")
    return (*_scheme(rule, operations), *_host(rule, operations), *_port(rule, operations), *_path(rule, operations))


def _scheme(rule: Rule, operations: dict[Key, Operation]) -> list[Piece]:
    key = Key("scheme")
    match = rule.context.get(key)
    if isinstance(match, Absent):
        raise InexpressibleError("it asks for URLs without a scheme, which there are none of")
    regex = "[a-z]+" if match is None else value_regex(match, "scheme")
    if key not in operations:
        return [Piece(f"{regex}://")]
    text = written(operations[key])
    if text not in ("http", "https"):
        raise InexpressibleError("it gives URLs a scheme that has no pages")
    return [Piece(regex, text), Piece("://")]


def _host(rule: Rule, operations: dict[Key, Operation]) -> list[Piece]:
    name, _, port = rule.site.partition(":") if not rule.site.startswith("[") else (rule.site, "", "")
    own = quoted(name)
    key = Key("host", 1)
    dotted = (
        not port and "." in name and not name.startswith("[") and site_of(name, None) == name and not _is_number(name)
    )
    match = rule.context.get(key)
    if Key("host", 2) in operations:
        raise InexpressibleError("it changes host[2]")
    if not dotted:
        if key in rule.context or key in operations:
            raise InexpressibleError("it names labels of a host that has none")
        return [Piece(own)]
    label = value_regex(match, "host") if isinstance(match, Pattern) else r"[^./:@?]+"
    if key not in operations:
        more = "" if rule.context.get(Key("host", 2)) == ABSENT else r"(?:[^/:@?]*\.)?"
        some = rf"{more}{label}\." if isinstance(match, Pattern) else more or rf"(?:{label}\.)?"
        return [Piece(own if isinstance(match, Absent) else f"{some}{own}")]
    text = written(operations[key]) or ""
    if not isinstance(operations[key], Drop) and written(operations[key]) is None:
        raise InexpressibleError("it puts a label of the host together")
    regex = "" if isinstance(match, Absent) else rf"{label}\." if isinstance(match, Pattern) else rf"(?:{label}\.)?"
    return [Piece(regex, f"{require_plain(text)}." if text else ""), Piece(own)]


def _is_number(name: str) -> bool:
    return name.replace(".", "").isdigit()


def _port(rule: Rule, operations: dict[Key, Operation]) -> list[Piece]:
    key = Key("port")
    port = rule.site.rpartition(":")[2] if ":" in rule.site and not rule.site.endswith("]") else ""
    if key in operations and (port or not isinstance(operations[key], Drop)):
        raise InexpressibleError("it changes the port")
    match = rule.context.get(key)
    if is_server(rule.site) and not port:  # with a port it would be another site
        if isinstance(match, Pattern):
            raise InexpressibleError("it asks for a port, and URLs of the site have none")
        return []
    regex = value_regex(match, "port") if isinstance(match, Pattern) else port or "[0-9]+"
    bound = isinstance(match, Pattern) or bool(port)
    if isinstance(match, Absent) or (Key("scheme") in operations and not bound):
        return []
    made = f":{regex}" if bound else f"(?::{regex})?"
    if Key("scheme") in operations:
        raise InexpressibleError("it changes the scheme and keeps the port")
    return [Piece(made, "" if key in operations else None)]


def _path(rule: Rule, operations: dict[Key, Operation]) -> list[Piece]:
    places = [int(key.name) for key in (*rule.context, *operations) if key.part == "path"]
    params = {str(key.name) for key in (*rule.context, *operations) if key.part == "param"}
    if params:
        return _params(rule, operations, params, places)
    if not places:
        return [Piece("/[^?]*")]
    first, last = (
        max((place for place in places if place >= 0), default=-1),
        min((place for place in places if place < 0), default=0),
    )
    closed = last == 0 and first >= 0 and rule.context.get(Key("path", first)) == ABSENT
    if closed and Key("path", first) in operations:
        raise InexpressibleError("it adds a segment")
    start = [_segment(rule, operations, place) for place in range(first + (not closed))]
    end = [_segment(rule, operations, place) for place in range(last, 0)]
    dropped = any(pieces == [] or pieces[0].text == "" for pieces in (*start, *end))
    middle = [] if closed else [Piece("(?:/[^/?;]*)+" if dropped else "(?:/[^/?;]*)*")]
    return [piece for pieces in start for piece in pieces] + middle + [piece for pieces in end for piece in pieces]


def _segment(rule: Rule, operations: dict[Key, Operation], place: int) -> list[Piece]:
    key = Key("path", place)
    match: Match | None = rule.context.get(key)
    if isinstance(match, Absent):
        raise InexpressibleError(f"it asks that {key} be absent")
    regex = value_regex(match, "path") if match is not None else "[^/?;]*"
    if key not in operations:
        return [Piece(f"/{regex}")]
    operation = operations[key]
    if isinstance(operation, Drop):
        return [Piece(f"/{regex}", "")]
    if match is None:
        text = written(operation)
        if text is None:
            raise InexpressibleError(f"{key} becomes a value from elsewhere")
        return [Piece("/"), Piece(regex, require_plain(text))]
    return [Piece("/"), *made_pieces(rule, key, operation)]


def _params(rule: Rule, operations: dict[Key, Operation], params: set[str], places: list[int]) -> list[Piece]:
    if places or len(params) > 1:
        raise InexpressibleError("it names several parts of the path, parameters among them")
    name = params.pop()
    key = Key("param", name)
    if (
        Key("param", name) not in operations
        or not is_dropped(key, operations[key])
        or len([other for other in (*rule.context, *operations) if other.part == "param" and other != key])
    ):
        raise InexpressibleError(f"it asks for ;{name}")
    match = rule.context.get(key)
    if isinstance(match, Absent):
        raise InexpressibleError(f"it asks that {key} be absent")
    value = value_regex(match, "param") if match is not None else "[^/?;]*"
    dropped = f";{quoted(name)}={value}"
    return [Piece("/[^?;]*"), Piece(dropped if match is not None else f"(?:{dropped})?", ""), Piece("(?:/[^?;]*)?")]
