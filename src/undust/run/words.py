"""Says in plain words what a rule does."""

from collections.abc import Mapping

from undust.rules.rule import Rule
from undust.rules.values import Copy, Drop, Ignore, Match, Operation, Pattern, Piece, Slot
from undust.urls.keys import Key

Context = Mapping[Key, Match]

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
    said = [_done(key, operation, key in moved, rule.context) for key, operation in rule.operations.items()]
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


def _done(key: Key, operation: Operation, moved: bool, context: Context) -> str:
    name = name_of(key)
    if isinstance(operation, Drop):
        return f"{name} does not matter" if key.part in ("query", "param") and not moved else f"{name} goes"
    if not operation:
        return f"{name} becomes empty"
    if len(operation) == 1 and not (_is_part(operation[0], context) and _own(operation[0], key)):
        return _one(key, operation[0], context)
    if any(isinstance(piece, Copy) and piece.source != key for piece in operation):
        return f"{name} becomes {''.join(map(_piece, operation))}"
    return _parts(name, operation, context.get(key))


def _one(key: Key, piece: Piece, context: Context) -> str:
    name = name_of(key)
    if isinstance(piece, str):
        return f"{name} becomes {piece or 'empty'}"
    if isinstance(piece, Ignore):
        return f"{name} does not matter" + (f" ({piece.usual} is fetched)" if piece.usual else "")
    through = f" {_THROUGH[piece.through]}" if piece.through else ""
    if piece.source == key:
        return f"{name} is taken{through}" if through else f"{name} stays"
    part = f"the {_nth(piece.slot)} {{…}} of " if _is_part(piece, context) else ""
    return f"{name} is what {part}{name_of(piece.source)} was{through}"


def _parts(name: str, operation: tuple[Piece, ...], match: Match | None) -> str:
    """Say what becomes of the parts of a value that stays in its place."""
    slots = sum(isinstance(part, Slot) for part in match.parts) if isinstance(match, Pattern) else 1
    values = [piece for piece in operation if not isinstance(piece, str)]
    in_order = len(values) == slots and all(
        isinstance(piece, Ignore) or piece.slot == place for place, piece in enumerate(values)
    )
    looks = "".join(
        ("{…}" if in_order else f"{{{_nth(piece.slot)} …}}") if isinstance(piece, Copy) else _piece(piece)
        for piece in operation
    )
    through = {piece.through for piece in values if isinstance(piece, Copy)}
    how = "".join(f" {said}" for each, said in _THROUGH.items() if each in through)
    usual = [piece.usual for piece in values if isinstance(piece, Ignore)]
    if not usual:
        return f"{name} becomes {looks}{how}"
    fetched = "".join(f" ({each} is fetched)" for each in usual[:1] if each)
    taken = f"; the rest is taken{how}" if how else ""
    return f"in {name} as {looks} what * stands for does not matter{fetched}{taken}"


def _own(piece: Piece, key: Key) -> bool:
    return isinstance(piece, Copy) and piece.source == key


def _is_part(piece: Piece, context: Context) -> bool:
    """Tell whether a piece is less than the whole value that it comes from."""
    match = context.get(piece.source) if isinstance(piece, Copy) else None
    return isinstance(match, Pattern) and len(match.parts) > 1


def _nth(place: int) -> str:
    return {0: "1st", 1: "2nd", 2: "3rd"}.get(place, f"{place + 1}th")


def _piece(piece: Piece) -> str:
    if isinstance(piece, str):
        return piece
    if isinstance(piece, Ignore):
        return "*"
    return f"{{{name_of(piece.source).removeprefix('the ')}}}"
