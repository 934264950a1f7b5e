"""Which URLs two rules have in common: whether there may be any, and the context that is both contexts."""

from collections.abc import Mapping

from undust.rules.rule import Rule
from undust.rules.values import ANY, Absent, Match, Pattern, Slot
from undust.urls.keys import Key

Context = Mapping[Key, Match]


def may_meet(a: Rule, b: Rule) -> bool:
    """Tell whether a URL may fit the contexts of both rules. If not, it is certain that none does.

    >>> from undust.rules.line_reader import read_line
    >>> one, other = (read_line(f"h.com  //….h.com/{path}/…  →  //….h.com/x") for path in ("a{n:digits}", "{a}"))
    >>> may_meet(one, other), may_meet(one, read_line("h.com  //….h.com/b/…  →  //….h.com/x"))
    (True, False)
    """
    return a.site == b.site and contexts_may_meet(a.context, b.context)


def contexts_may_meet(a: Context, b: Context) -> bool:
    """Tell the same of two contexts of one site."""
    if any(not _matches_may_meet(a[key], b[key]) for key in a.keys() & b.keys()):
        return False
    least = max(_segments(a)[0], _segments(b)[0])
    return least <= min(_segments(a)[1], _segments(b)[1])


def holds_wherever(wide: Rule, narrow: Rule) -> bool:
    """Tell whether a rule certainly holds wherever another one does."""
    return wide.site == narrow.site and all(
        key in narrow.context and _within(narrow.context[key], match) for key, match in wide.context.items()
    )


def both(a: Context, b: Context) -> dict[Key, Match] | None:
    """Give the context that holds where both hold; None if no context says that."""
    made = dict(a)
    for key, match in b.items():
        mine = made.get(key)
        if mine is None or _within(match, mine):
            made[key] = match
        elif not _within(mine, match):
            return None
    return made


def _within(narrow: Match, wide: Match) -> bool:
    """Tell whether all values that fit the one certainly fit the other."""
    if narrow == wide:
        return True
    if isinstance(narrow, Absent) or isinstance(wide, Absent):
        return False
    if wide == ANY:
        return True
    text = narrow.literal
    if text is not None:
        return wide.fit(text) is not None
    return narrow.parts == (Slot("digits"),) and wide.parts == (Slot("hex"),)


def _matches_may_meet(a: Match, b: Match) -> bool:
    if isinstance(a, Absent) or isinstance(b, Absent):
        return a == b
    for one, other in ((a, b), (b, a)):
        text = one.literal
        if text is not None:
            return other.fit(text) is not None
    starts, ends = (_start(a), _start(b)), (_end(a), _end(b))
    return (starts[0].startswith(starts[1]) or starts[1].startswith(starts[0])) and (
        ends[0].endswith(ends[1]) or ends[1].endswith(ends[0])
    )


def _start(pattern: Pattern) -> str:
    first = pattern.parts[0] if pattern.parts else ""
    return first if isinstance(first, str) else ""


def _end(pattern: Pattern) -> str:
    last = pattern.parts[-1] if pattern.parts else ""
    return last if isinstance(last, str) else ""


def _segments(context: Context) -> tuple[int, int]:
    """Give how many segments a URL has at least and at most, as a context says."""
    least, most = 0, 2**31
    for key, match in context.items():
        if key.part == "path" and isinstance(key.name, int):
            count = key.name + 1 if key.name >= 0 else -key.name
            if isinstance(match, Absent):
                most = min(most, count - 1)
            else:
                least = max(least, count)
    return least, most
