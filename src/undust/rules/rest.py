"""Proves of a rule that what it makes of URLs is a form to rest in: then nobody need look at the URL a second time."""

from collections.abc import Sequence

from undust.rules.overlap import contexts_may_meet
from undust.rules.rule import Rule
from undust.rules.values import ABSENT, Absent, Drop, Ignore, Match, Operation
from undust.urls.keys import Key

MAX_RULES = 500
"""Of sites with more rules nothing is proved: it would take longer than it saves."""


def rests(rule: Rule, rules: Sequence[Rule]) -> bool:
    """Tell whether no rule of the site, given in order, would change again what a rule left that drops arguments.

    It is for URLs in which no name occurs twice, and that keep an argument with `=`, or none at all. Where it cannot
    be proved the answer is no, and the kernel looks at each URL.

    >>> from undust.rules.line_reader import read_line
    >>> page, sid = (read_line(f"h.com  //….h.com/…?{end}  →  //….h.com/…") for end in ("page=1", "sid={?}"))
    >>> rests(sid, [page, sid]), rests(page, [page, sid]), rests(page, [page])
    (True, False, True)
    """
    if len(rules) > MAX_RULES or rule.sort_query or not all(map(_drops_first, *_items(rule))):
        return False
    gone = rule.operations.keys()
    for other in rules:
        # A rule that did not hold before can hold now only if it wants something absent that is so by now.
        if any(isinstance(other.context.get(key), Absent) for key in gone):
            return False
    if not any(key in rule.context for key in gone):
        return True  # it holds again, and finds nothing more to drop
    after: dict[Key, Match] = {key: match for key, match in rule.context.items() if key not in gone}
    after |= dict.fromkeys(gone, ABSENT)
    return not any(
        not _is_harmless(other, rule) and contexts_may_meet(after, other.context)
        for other in rules
        if other is not rule
    )


def _items(rule: Rule) -> tuple[list[Key], list[Operation]]:
    return list(rule.operations.keys()), list(rule.operations.values())


def _drops_first(key: Key, operation: Operation) -> bool:
    """Tell whether an operation takes the first argument of a name away."""
    if key.part != "query" or key.nth != 1 or not key.name:
        return False
    return isinstance(operation, Drop) or (len(operation) == 1 and isinstance(operation[0], Ignore))


def _is_harmless(other: Rule, rule: Rule) -> bool:
    """Tell whether another rule has nothing to do where the arguments are gone that a rule drops."""
    if other.sort_query:
        return False
    return all(key in rule.operations and _drops_first(key, operation) for key, operation in other.operations.items())
