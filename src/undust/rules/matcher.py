"""Finds the rule that decides a URL: a decision over keys, whose cost does not grow with the number of rules."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from undust.rules.rule import Rule
from undust.rules.values import ABSENT, ANY, Absent, Match, Pattern
from undust.urls.keys import Key

MAX_NODES = 4096
"""Nodes of one site's decision. Rules that would need more are tried one after the other from there on."""

_Pending = tuple[int, dict[Key, Match]]  # place of a rule in the site's order, and what is still to be asked


@dataclass(slots=True)
class _Node:
    """One question about one key, or the end: the rules to try."""

    key: Key | None = None
    literals: dict[str, "_Node"] = field(default_factory=dict)
    patterns: list[tuple[Pattern, "_Node"]] = field(default_factory=list)
    present: "_Node | None" = None
    absent: "_Node | None" = None
    rules: tuple[int, ...] = ()


class Decision:
    """The rules of one site, compiled. The first rule in order whose context holds decides."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self.rules = tuple(rules)
        self._nodes = 0
        self._root = self._build([(place, dict(rule.context)) for place, rule in enumerate(self.rules)])

    def candidates(self, values: Mapping[Key, str]) -> tuple[int, ...]:
        """Give the places of the rules that may hold for a URL: one at most, unless the site is past `MAX_NODES`."""
        node = self._root
        while node.key is not None:
            value = values.get(node.key)
            if value is None:
                node = node.absent  # type: ignore[assignment] # nodes that ask have all answers
                continue
            after = node.literals.get(value)
            if after is None:
                after = next((then for pattern, then in node.patterns if pattern.fit(value) is not None), node.present)
            node = after  # type: ignore[assignment]
        return node.rules

    def _build(self, pending: list[_Pending]) -> _Node:
        self._nodes += 1
        if not pending:
            return _Node()
        if not pending[0][1]:
            return _Node(rules=(pending[0][0],))
        if self._nodes > MAX_NODES:
            return _Node(rules=tuple(place for place, _ in pending))
        key = next(iter(pending[0][1]))
        matches = [rest[key] for _, rest in pending if key in rest]
        found = [match for match in matches if isinstance(match, Pattern)]
        node = _Node(key)
        for literal in dict.fromkeys(match.literal for match in found):
            if literal is not None:
                node.literals[literal] = self._build(_after(pending, key, _is(literal)))
        seen: list[Pattern] = []
        for pattern in dict.fromkeys(match for match in found if match.literal is None and match != ANY):
            # A value that fits an earlier pattern has gone there; here it fits this one, and later ones are still open.
            node.patterns.append((pattern, self._build(_after(pending, key, _may_fit(pattern, tuple(seen))))))
            seen.append(pattern)
        node.present = self._build(_after(pending, key, lambda match: match == ANY))
        node.absent = self._build(_after(pending, key, lambda match: isinstance(match, Absent)))
        return node


_Answer = Callable[[Match], bool | None]
"""Whether a match holds, given what the branch knows of the value; None where that is still open."""


def _is(literal: str) -> _Answer:
    return lambda match: match != ABSENT and isinstance(match, Pattern) and match.fit(literal) is not None


def _may_fit(pattern: Pattern, earlier: tuple[Pattern, ...]) -> _Answer:
    def answer(match: Match) -> bool | None:
        if match in (pattern, ANY):
            return True
        if match == ABSENT or match in earlier or (isinstance(match, Pattern) and match.literal is not None):
            return False
        return None

    return answer


def _after(pending: list[_Pending], key: Key, answer: _Answer) -> list[_Pending]:
    """Give the rules that are left in a branch; what it answers is not asked again."""
    left: list[_Pending] = []
    for place, rest in pending:
        if key not in rest:
            left.append((place, rest))
            continue
        holds = answer(rest[key])
        if holds is None:
            left.append((place, rest))
        elif holds:
            left.append((place, {other: match for other, match in rest.items() if other != key}))
    return left
