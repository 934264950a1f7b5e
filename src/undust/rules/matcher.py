"""Finds the rule that decides a URL: by structure, then by literals; the cost does not grow with the number of rules.

Rules of a site that name the same keys in the same ways have one structure: these must be there, those absent, these
equal to a literal. Sites have few structures, however many rules. In each, the literals of a URL find their rules by a
hash, and only patterns are left to be tried.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from undust.rules.rule import Rule
from undust.rules.values import ANY, Absent, Pattern
from undust.urls.keys import Key

_Structure = tuple[tuple[Key, ...], tuple[Key, ...], tuple[Key, ...]]


class Reached(NamedTuple):
    """A rule that structure and literals lead to: its place in the site's order, and the patterns left to be fitted."""

    place: int
    patterns: tuple[tuple[Key, Pattern], ...]


class Group(NamedTuple):
    """The rules of one structure."""

    present: tuple[Key, ...]
    absent: tuple[Key, ...]
    literal: tuple[Key, ...]
    buckets: dict[tuple[str, ...], list[Reached]]
    """Rules by the values of the literal keys, in order."""

    @property
    def first(self) -> int:
        """Place of the first of its rules."""
        return next(iter(self.buckets.values()))[0].place


def group_rules(rules: Sequence[Rule]) -> list[Group]:
    """Sort rules by structure, in the order of their first rules."""
    groups: dict[_Structure, dict[tuple[str, ...], list[Reached]]] = {}
    for place, rule in enumerate(rules):
        present, absent, literals, patterns = [], [], [], []
        for key, match in sorted(rule.context.items(), key=lambda item: str(item[0])):
            if isinstance(match, Absent):
                absent.append(key)
            elif match.literal is not None:
                literals.append((key, match.literal))
            else:
                present.append(key)
                if match != ANY:
                    patterns.append((key, match))
        structure = tuple(present), tuple(absent), tuple(key for key, _ in literals)
        bucket = groups.setdefault(structure, {}).setdefault(tuple(text for _, text in literals), [])
        if not bucket or bucket[-1].patterns:  # a rule after one that asks nothing more is never reached
            bucket.append(Reached(place, tuple(patterns)))
    return [Group(*structure, buckets) for structure, buckets in groups.items()]


def tie_groups(groups: Sequence[Group]) -> dict[Key | None, list[Group]]:
    """Tie each group to one argument or parameter that must be there, the rarest; None for groups that need none.

    A URL without that key need not look at the group: URLs have few arguments, however many the rules know.
    """
    needed = [[key for key in group.present + group.literal if key.part in ("query", "param")] for group in groups]
    weight: dict[Key, int] = {}
    for keys in needed:
        for key in keys:
            weight[key] = weight.get(key, 0) + 1
    tied: dict[Key | None, list[Group]] = {None: []}
    for group, keys in zip(groups, needed, strict=True):
        tied.setdefault(min(keys, key=lambda key: (weight[key], str(key)), default=None), []).append(group)
    return tied


class Decision:
    """The rules of one site, ready to decide."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self.rules = tuple(rules)
        self._tied = tie_groups(group_rules(self.rules))

    def find(self, values: Mapping[Key, str]) -> int:
        """Give the place of the first rule whose context holds, or -1.

        >>> from undust.rules.line_reader import read_line
        >>> decision = Decision([read_line("h.com  //….h.com/a?s={?}  →  //….h.com/a")])
        >>> decision.find({Key("path", 0): "a"}), decision.find({Key("path", 0): "b"})
        (0, -1)
        """
        best = len(self.rules)
        for key in (None, *values):
            for group in self._tied.get(key, ()):
                if group.first >= best:
                    break
                best = _first_in(group, values, best)
        return best if best < len(self.rules) else -1


def _first_in(group: Group, values: Mapping[Key, str], best: int) -> int:
    """Give the place of the first rule of a group that holds and comes before `best`, else `best`."""
    if any(key not in values for key in group.present) or any(key in values for key in group.absent):
        return best
    if any(key not in values for key in group.literal):
        return best
    for place, patterns in group.buckets.get(tuple(values[key] for key in group.literal), ()):
        if place >= best:
            break
        if all(pattern.fit(values[key]) is not None for key, pattern in patterns):
            return place
    return best
