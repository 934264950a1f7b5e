"""What rules say, in plain words."""

from undust.rules.rule import Rule
from undust.rules.values import ANY, Absent, Drop, Ignore, Match, Operation, Pattern, Piece, Slot
from undust.urls.keys import Key

_THROUGH = {"lower": "in lower case", "upper": "in upper case", "encode": "escaped", "decode": "unescaped"}
_ENDINGS = {1: "st", 2: "nd", 3: "rd"}
_KINDS = {"any": "anything", "digits": "a number", "hex": "a hexadecimal number", "uuid": "a UUID", "date": "a date"}


def key_in_words(key: Key) -> str:
    """Name a key as people do.

    >>> [key_in_words(Key.parse(text)) for text in ("path[0]", "path[-1]", "?sid#2", "host[1]")]
    ['segment 1', 'the last segment', 'argument sid (2nd)', 'host label 1']
    """
    match key:
        case Key("host", place):
            return f"host label {place}"
        case Key("path", int(place)):
            if place >= 0:
                return f"segment {place + 1}"
            return "the last segment" if place == -1 else f"segment {-place} from the end"
        case Key("query" | "param" as part, name, nth):
            if name == "":
                return "the query"
            what = "argument" if part == "query" else "path parameter"
            return f"{what} {name}" if nth == 1 else f"{what} {name} ({_nth(nth)})"
        case _:
            return f"the {key.part}"


def match_in_words(key: Key, match: Match) -> str:
    """Say what a context asks of a key.

    >>> match_in_words(Key.parse("?t"), Pattern((Slot("digits"), ".msg", Slot("digits"))))
    'argument t is a number, then ".msg", then a number'
    """
    name = key_in_words(key)
    if isinstance(match, Absent):
        return f"{name} is absent"
    if match == ANY:
        return f"{name} is there"
    if not match.parts:
        return f"{name} is empty"
    return f"{name} is " + ", then ".join(_KINDS[p.kind] if isinstance(p, Slot) else f'"{p}"' for p in match.parts)


def operation_in_words(key: Key, operation: Operation, rule: Rule) -> str:
    """Say what becomes of a key."""
    name = key_in_words(key)
    if isinstance(operation, Drop):
        return f"{name} goes"
    if len(operation) == 1 and isinstance(operation[0], Ignore):
        if key.part in ("query", "param"):
            return f"{name} does not matter and is left out"
        usual = operation[0].usual
        return f"{name} does not matter: * in the key, {_quoted(usual or '')} in the URL to fetch"
    if not operation:
        return f"{name} becomes empty"
    return f"{name} becomes " + ", then ".join(_piece(piece, rule) for piece in operation)


def operations_in_words(rule: Rule) -> list[str]:
    """Say all that a rule does."""
    told = [operation_in_words(key, operation, rule) for key, operation in rule.operations.items()]
    if rule.sort_query:
        told.append("the arguments are put in order")
    return told or ["nothing: its URLs stay as they are"]


def evidence_in_words(rule: Rule) -> list[str]:
    """Say what speaks for a rule."""
    known = rule.statistics
    if not known.coverage:
        told = ["none was counted"]
    else:
        clusters = f"{known.clusters:,} cluster{'' if known.clusters == 1 else 's'}"
        told = [
            f"{known.support:,} right and {known.false_positives:,} wrong pairs (fpr {known.fpr:.2%}) in {clusters}",
            f"holds for {known.coverage:,} of {known.trained_on:,} URLs of the site, precision {known.precision:.2%},"
            f" {known.merged:,} URLs fewer",
        ]
    by = [f"by {known.learner}"] if known.learner else []
    on = [f"on {known.learned_at}"] if known.learned_at else []
    if by or on:
        told.append(" ".join(["learned", *by, *on]))
    if known.expires:
        told.append(f"to be relied on until {known.expires}")
    return told


def _piece(piece: Piece, rule: Rule) -> str:
    if isinstance(piece, str):
        return _quoted(piece)
    if isinstance(piece, Ignore):
        return f"what does not matter ({_quoted(piece.usual or '')} in the URL to fetch)"
    name = key_in_words(piece.source)
    match = rule.context.get(piece.source)
    if isinstance(match, Pattern) and match != ANY and any(isinstance(part, Slot) for part in match.parts):
        name = f"the {_nth(piece.slot + 1)} part of {name}"
    return f"{name} {_THROUGH[piece.through]}" if piece.through else name


def _quoted(text: str) -> str:
    return f'"{text}"' if text else "nothing"


def _nth(number: int) -> str:
    return f"{number}{_ENDINGS.get(number, 'th')}"
