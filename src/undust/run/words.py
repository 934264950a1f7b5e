"""Says in plain words what a rule does."""

from undust.rules.rule import Rule
from undust.rules.values import Copy, Drop, Ignore, Match, Operation, Pattern, Piece, Slot
from undust.urls.keys import Key

_PLACES = {0: "first", 1: "second", 2: "third", -1: "last", -2: "last but one"}
_KINDS = {"any": "…", "digits": "a number", "hex": "a hexadecimal number", "uuid": "a UUID", "date": "a date"}
_THROUGH = {
    "lower": "in lower case",
    "upper": "in upper case",
    "encode": "with its characters escaped",
    "decode": "with its escapes undone",
}


def in_words(rule: Rule) -> str:
    """Say what a rule does, and for which URLs.

    >>> from undust.rules.line_reader import read_line
    >>> print(in_words(read_line("h.com  //….h.com/…?do=login&id={*}  →  //….h.com/…?do=login")))
    where the argument do is login and the argument id is there: the argument id does not matter
    """
    moved = {
        piece.source
        for key, operation in rule.operations.items()
        for piece in (() if isinstance(operation, Drop) else operation)
        if isinstance(piece, Copy) and piece.source != key
    }
    said = [_done(key, operation, key in moved) for key, operation in rule.operations.items()]
    if rule.sort_query:
        said.append("the order of arguments does not matter")
    asked = [_asked(key, match) for key, match in rule.context.items()]
    where = f"where {' and '.join(asked)}: " if asked else ""
    return where + ("; ".join(said) if said else "nothing changes")


def name_of(key: Key) -> str:
    """Name a key of a URL."""
    if key.part == "query":
        again = "" if key.nth == 1 else f"{_PLACES.get(key.nth - 1, f'{key.nth}th')} "
        return f"the {again}argument {key.name}" if key.name else "the query"
    if key.part == "param":
        return f"the path parameter {key.name}"
    if key.part == "path" and isinstance(key.name, int):
        place = _PLACES.get(key.name) or (f"{key.name + 1}th" if key.name >= 0 else f"{-key.name}th last")
        return f"the {place} segment"
    if key.part == "host" and isinstance(key.name, int):
        place = "" if key.name == 1 else f"{_PLACES.get(key.name - 1) or f'{key.name}th'} "
        return f"the {place}label before the domain"
    return f"the {key.part}"


def _asked(key: Key, match: Match) -> str:
    if not isinstance(match, Pattern):
        return f"{name_of(key)} is not there"
    literal = match.literal
    if literal is not None:
        return f"{name_of(key)} is {literal or 'empty'}"
    if match.parts == (Slot(),):
        return f"{name_of(key)} is there"
    looks = "".join(part if isinstance(part, str) else f"{{{_KINDS[part.kind]}}}" for part in match.parts)
    return f"{name_of(key)} is {looks.strip('{}') if len(match.parts) == 1 else f'like {looks}'}"


def _done(key: Key, operation: Operation, moved: bool) -> str:
    name = name_of(key)
    if isinstance(operation, Drop):
        return f"{name} does not matter" if key.part in ("query", "param") and not moved else f"{name} goes"
    if len(operation) == 1:
        return _one(key, operation[0])
    if not operation:
        return f"{name} becomes empty"
    if any(isinstance(piece, Copy) and piece.source != key for piece in operation):
        return f"{name} becomes {''.join(map(_piece, operation))}"
    return f"of {name} only {''.join(map(_piece, operation))} counts"


def _one(key: Key, piece: Piece) -> str:
    name = name_of(key)
    if isinstance(piece, str):
        return f"{name} becomes {piece or 'empty'}"
    if isinstance(piece, Ignore):
        return f"{name} does not matter" + (f" ({piece.usual} is fetched)" if piece.usual else "")
    through = f" {_THROUGH[piece.through]}" if piece.through else ""
    if piece.source == key:
        return f"{name} is taken{through}" if through else f"{name} stays"
    return f"{name} is what {name_of(piece.source)} was{through}"


def _piece(piece: Piece) -> str:
    if isinstance(piece, str):
        return piece
    if isinstance(piece, Ignore):
        return "*"
    return f"{{{name_of(piece.source).removeprefix('the ')}}}"
