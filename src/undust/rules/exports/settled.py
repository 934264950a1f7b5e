"""Where rules surely rest: what they make of a URL, no rule of the site changes again.

A set of rules does not use a result that it would change again; a pattern in another program cannot look that far. So
what is exported leaves out where that may be, from what is known of each key after the rule.
"""

from collections.abc import Sequence

from undust.rules.rule import Rule
from undust.rules.values import ABSENT, ANY, DROP, Absent, Copy, Drop, Ignore, Match, Operation, Pattern, Slot
from undust.urls.keys import Key

UNCHANGED = "as it was"
UNKNOWN = "unknown"
After = str | Match
"""What is known of a key after a rule: `UNCHANGED`, `UNKNOWN`, `ABSENT`, or the literal that it has, as a pattern."""


def is_dropped(key: Key, operation: Operation) -> bool:
    """Tell whether a key disappears from the URL to fetch."""
    if isinstance(operation, Drop):
        return True
    if key.part in ("query", "param"):
        return len(operation) == 1 and isinstance(operation[0], Ignore)
    return key.part == "host" and written(operation) == ""


def written(operation: Operation) -> str | None:
    """Give the text that an operation writes whatever the URL, if it does."""
    if isinstance(operation, Drop):
        return None
    texts = [
        piece if isinstance(piece, str) else piece.usual or "" for piece in operation if not isinstance(piece, Copy)
    ]
    return "".join(texts) if len(texts) == len(operation) else None


def disturbances(rules: Sequence[Rule], place: int) -> list[list[tuple[Key, Match]]]:
    """Give the contexts in which what a rule makes of a URL may be changed again, order of arguments aside.

    Each is told by the keys that the rule does not touch, so that it can be asked of the URL beforehand; an empty one
    cannot.
    """
    rule = rules[place]
    made = []
    for other_place, other in enumerate(rules):
        known = {key: after(rule, key) for key in (*other.context, *other.operations)}
        if other_place < place and all(known[key] == UNCHANGED for key in other.context):
            continue  # it did not hold before, and still does not
        if any(_denies(rule, key, match, known[key]) for key, match in other.context.items()):
            continue
        idle = all(_is_idle(rule, other, key, operation, known[key]) for key, operation in other.operations.items())
        if not idle or _starred(other) != _starred(rule):
            made.append([(key, match) for key, match in other.context.items() if known[key] == UNCHANGED])
        if all(_grants(rule, key, match, known[key]) for key, match in other.context.items()):
            return made  # it holds, so no later one is asked
    return [*made, []] if _starred(rule) else made


def _starred(rule: Rule) -> dict[Key, tuple[Operation, Match | None]]:
    """Give the operations that put a `*` into keys: whatever decides on the result has to put it there, too."""
    return {
        key: (operation, rule.context.get(key))
        for key, operation in rule.operations.items()
        if not isinstance(operation, Drop)
        and any(isinstance(piece, Ignore) for piece in operation)
        and not (key.part in ("query", "param") and len(operation) == 1)
    }


def after(rule: Rule, key: Key) -> After:
    """Give what is known of a key of a URL that a rule has been applied to, which had no argument twice."""
    operation = rule.operations.get(key)
    if operation is None:
        return UNKNOWN if _moves(rule, key) else UNCHANGED
    if is_dropped(key, operation):
        return UNKNOWN if key.part == "path" else ABSENT
    text = written(operation)
    return UNKNOWN if text is None else Pattern((text,) if text else ())


def _moves(rule: Rule, key: Key) -> bool:
    """Tell whether an operation on another key can change which value this one names."""
    if key.part == "path":
        places = [(other, made) for other, made in rule.operations.items() if other.part == "path"]
        return any(isinstance(made, Drop) or _may_be_same(int(key.name), int(other.name)) for other, made in places)
    if key.part in ("query", "param"):
        dropped = [other for other, made in rule.operations.items() if other.part == key.part]
        return any(other.name == key.name for other in dropped) or (not key.name and bool(dropped))
    # A label next to the site that is written stays one, so those before it stay where they are.
    labels = [(other, made) for other, made in rule.operations.items() if other.part == "host"]
    return key.part == "host" and any(other.name != 1 or not written(made) for other, made in labels)


def _may_be_same(a: int, b: int) -> bool:
    return (a < 0) != (b < 0) or a == b


def _denies(rule: Rule, key: Key, match: Match, known: After) -> bool:
    if known == UNKNOWN:
        return False
    if known == UNCHANGED:
        return key in rule.context and _contradict(rule.context[key], match)
    return _contradict(known, match)


def _contradict(known: After, match: Match) -> bool:
    if isinstance(known, Absent) or isinstance(match, Absent):
        return isinstance(known, Absent) != isinstance(match, Absent)
    if isinstance(known, Pattern) and known.literal is not None:
        return match.fit(known.literal) is None
    return isinstance(known, Pattern) and match.literal is not None and known.fit(match.literal) is None


def _grants(rule: Rule, key: Key, match: Match, known: After) -> bool:
    if known == UNCHANGED:
        had = rule.context.get(key)
        return had is not None and (had == match or (match == ANY and isinstance(had, Pattern)))
    if known == UNKNOWN:  # a value that was put together as it was found fits as it did
        return rule.context.get(key) == match and is_stable(key, rule.operations.get(key, DROP), match)
    if isinstance(known, Pattern) and known.literal is not None and isinstance(match, Pattern):
        return match.fit(known.literal) is not None
    return isinstance(known, Absent) and isinstance(match, Absent)


def _is_idle(rule: Rule, other: Rule, key: Key, operation: Operation, known: After) -> bool:
    """Tell whether an operation of another rule changes nothing after the rule."""
    if is_dropped(key, operation) and key.part != "path":
        return known == ABSENT or (known == UNCHANGED and rule.context.get(key) == ABSENT)
    text = written(operation)
    if text is not None and isinstance(known, Pattern):
        return known.literal == text
    if text is not None and known == UNCHANGED:
        had = rule.context.get(key)
        return isinstance(had, Pattern) and had.literal == text
    same = rule.operations.get(key) == operation and rule.context.get(key) == other.context.get(key)
    return same and is_stable(key, operation, rule.context.get(key))


def is_stable(key: Key, operation: Operation, match: Match | None) -> bool:
    """Tell whether a value that was put together once would be put together the same a second time.

    So it is where the parts stand as in the pattern, each slot with what it took, or with a text that takes its place
    and nobody else's.
    """
    if isinstance(operation, Drop) or not isinstance(match, Pattern) or len(operation) != len(match.parts):
        return False
    slot = 0
    marks = "".join(part for part in match.parts if isinstance(part, str))
    for piece, part in zip(operation, match.parts, strict=True):
        if isinstance(part, str):
            if piece != part:
                return False
            continue
        if isinstance(piece, Copy):
            if (piece.source, piece.slot, piece.through) != (key, slot, ""):
                return False
        else:
            text = piece if isinstance(piece, str) else piece.usual or ""
            if Pattern((part,)).fit(text) is None or set(text) & set(marks):
                return False
        slot += isinstance(part, Slot)
    return True
