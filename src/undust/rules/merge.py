"""Two sets of rules become one: what both say holds together, what they say against each other evidence decides.

Rules of a site are tried in order, and the first that holds decides. Where one of each set holds for a URL, the merged
set has a rule for just that case, before the two: with the operations of both, if they go together, else with those of
the rule that more speaks for. What one set leaves alone, the other decides as before.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from undust.rules.adapt import adapted
from undust.rules.care import drop
from undust.rules.overlap import both, holds_wherever, may_meet
from undust.rules.rule import Rule
from undust.rules.ruleset import RuleSet
from undust.rules.values import Match, Operation
from undust.rules.withdrawn import Withdrawn, barred, united
from undust.urls.keys import Key

MAX_PAIRS = 40_000
"""Pairs of rules of a site that are looked at one by one; of larger sites the list with more evidence is taken."""
MAX_MERGED = 1_000
"""Rules that a site may come to have by that."""
_Z = 1.96


class Conflict(NamedTuple):
    """Two rules that hold for some URLs both, and do things that do not go together."""

    site: str
    kept: Rule
    lost: Rule
    why: str


@dataclass(frozen=True, slots=True)
class Merged:
    """The set that was made, and what was decided."""

    rules: RuleSet
    conflicts: tuple[Conflict, ...] = ()
    together: tuple[tuple[Rule, Rule], ...] = ()
    """Rules of the two sets that are carried out together where both hold."""
    barred: tuple[tuple[Rule, Withdrawn], ...] = ()
    """Rules that would bring back what was withdrawn."""
    whole: tuple[str, ...] = ()
    """Sites with so many rules that one list was taken as it is."""
    lost_examples: tuple[tuple[str, str], ...] = ()
    """Examples of duplicates that were one under their own set, and are not under the merged one."""

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "rules": len(self.rules),
            "withdrawn": len(self.rules.withdrawn),
            "conflicts": [
                {"site": each.site, "kept": _named(each.kept), "lost": _named(each.lost), "why": each.why}
                for each in self.conflicts
            ],
            "together": [[_named(rule) for rule in pair] for pair in self.together],
            "barred": [{"rule": _named(rule), "withdrawn": _named(by.rule)} for rule, by in self.barred],
            "whole": list(self.whole),
            "lost_examples": [list(pair) for pair in self.lost_examples],
        }


def evidence(rule: Rule) -> tuple[float, int, str]:
    """Weigh a rule: the share of right pairs that its clusters vouch for, then URLs, then how new it is.

    The share is the lower bound of Wilson's interval (95 %), in which a cluster counts once however many pairs it has.
    A rule made by hand, of which nothing was counted, has none.
    """
    known = rule.statistics
    number, share = known.clusters, 1 - known.fpr
    bound = 0.0
    if number:
        spread = _Z * math.sqrt(share * (1 - share) / number + _Z**2 / (4 * number**2))
        bound = (share + _Z**2 / (2 * number) - spread) / (1 + _Z**2 / number)
    return bound, known.coverage, known.learned_at


def merge(first: RuleSet, second: RuleSet) -> Merged:
    """Make one set of two. What either has withdrawn the other does not bring back.

    >>> from undust.rules.line_reader import read_line
    >>> one, other = (RuleSet([read_line(f"h.com  //….h.com/…?{a}={{?}}  →  //….h.com/…")]) for a in ("sid", "ref"))
    >>> merge(one, other).rules.normalize("http://h.com/?ref=1&sid=2&x=3")
    'http://h.com/?x=3'
    """
    one, barred_one = _allowed(first, second)
    other, barred_other = _allowed(second, first)
    withdrawn = united(first.withdrawn, second.withdrawn)
    sites = _by_site(one), _by_site(other)
    made: list[Rule] = []
    told = _Told()
    for site in dict.fromkeys([*sites[0], *sites[1]]):
        lists = sites[0].get(site, []), sites[1].get(site, [])
        made += _merge_site(site, *lists, withdrawn, told) if all(lists) else lists[0] or lists[1]
    return Merged(
        RuleSet(made, about={**first.about, **second.about}, withdrawn=withdrawn),
        tuple(dict.fromkeys(told.conflicts)),
        tuple(dict.fromkeys(told.together)),
        (*barred_one, *barred_other),
        tuple(told.whole),
        tuple(told.lost_examples),
    )


class _Told:
    """What was decided so far."""

    def __init__(self) -> None:
        self.conflicts: list[Conflict] = []
        self.together: list[tuple[Rule, Rule]] = []
        self.whole: list[str] = []
        self.lost_examples: list[tuple[str, str]] = []


def _allowed(rules: RuleSet, other: RuleSet) -> tuple[RuleSet, list[tuple[Rule, Withdrawn]]]:
    """Leave out rules that would bring back what another set has withdrawn; what it has itself is its own affair."""
    if not other.withdrawn:
        return rules, []
    theirs = set(other)
    against: dict[str, list[Withdrawn]] = {}
    for each in other.withdrawn:
        against.setdefault(each.rule.site, []).append(each)
    found = [
        (rule, by)
        for rule in rules
        if rule.acts and rule not in theirs and (by := barred(rule, against.get(rule.site, ()))) is not None
    ]
    return drop(rules, [rule for rule, _ in found]).rules, found


def _merge_site(
    site: str, first: Sequence[Rule], second: Sequence[Rule], withdrawn: Sequence[Withdrawn], told: _Told
) -> list[Rule]:
    if _weight(second) > _weight(first):  # what no rule can be made for, the list before decides
        first, second = second, first
    made: list[Rule] | None = None
    found = _Told()
    if len(first) * len(second) <= MAX_PAIRS:
        made = _product(first, second, [each for each in withdrawn if each.rule.site == site], found)
    if made is None or len(made) > MAX_MERGED:
        told.whole.append(site)
        return list(first)
    told.conflicts += found.conflicts
    told.together += found.together
    for rules in (first, second):
        told.lost_examples += _lost_examples(rules, made)
    return made


def _weight(rules: Iterable[Rule]) -> float:
    return sum(evidence(rule)[0] * rule.statistics.coverage for rule in rules)


def _product(first: Sequence[Rule], second: Sequence[Rule], withdrawn: Sequence[Withdrawn], told: _Told) -> list[Rule]:
    """Give a rule for each pair of rules that may both decide, in the order of the first, then of the second."""
    made: list[Rule] = []
    for one in (*first, None):
        for other in (*second, None):
            rule = one or other
            if one is not None and other is not None:
                rule = _pair(one, other, withdrawn, told, made)
            if rule is not None and not any(holds_wherever(before, rule) for before in made):
                made.append(rule)
    return _pruned(made)


def _pair(one: Rule, other: Rule, withdrawn: Sequence[Withdrawn], told: _Told, before: Sequence[Rule]) -> Rule | None:
    """Give the rule for URLs that both rules hold for; None where there are none, or a rule before has them."""
    if one == other:
        return max(one, other, key=lambda rule: (rule.statistics.learned_at, rule.statistics.trained_on))
    if not may_meet(one, other):
        return None
    context = both(one.context, other.context)
    if context is None:  # no context says "both"
        if one.acts and other.acts and _united(one, other, {**other.context, **one.context}) is None:
            told.conflicts.append(Conflict(one.site, one, other, "no context says where both hold; its list is before"))
        return None
    bare = Rule(one.site, context)
    if any(holds_wherever(rule, bare) for rule in before):
        return None
    if not (one.acts and other.acts):
        acting = one if one.acts else other
        return replace(bare, **_acts(acting, context), statistics=acting.statistics)
    operations = _united(one, other, context)
    better, worse = (one, other) if evidence(one) >= evidence(other) else (other, one)
    if operations is not None:
        together = replace(
            bare,
            operations=operations,
            sort_query=one.sort_query or other.sort_query,
            statistics=replace(worse.statistics, learner=_learners(one, other)),
        )
        if barred(together, withdrawn) is None:
            if all(_does(together) != _does(rule) for rule in (one, other)):
                told.together.append((one, other))
            return together
    told.conflicts.append(Conflict(one.site, better, worse, _why(better, worse)))
    return replace(bare, **_acts(better, context), statistics=better.statistics)


def _united(one: Rule, other: Rule, context: Mapping[Key, Match]) -> dict[Key, Operation] | None:
    """Give the operations of both rules, or nothing if they do not go together."""
    if any(one.operations[key] != other.operations[key] for key in one.operations.keys() & other.operations.keys()):
        return None
    if one.operations.keys() != other.operations.keys():
        for part in ("host", "path"):  # two may speak of one label or segment, counted from both ends
            if all(any(key.part == part for key in rule.operations) for rule in (one, other)):
                return None
    return {**adapted(one, context), **adapted(other, context)}


def _acts(rule: Rule, context: Mapping[Key, Match]) -> dict[str, Any]:
    return {"operations": adapted(rule, context), "sort_query": rule.sort_query}


def _pruned(rules: Sequence[Rule]) -> list[Rule]:
    """Leave out rules without which the same becomes of every URL."""
    kept: list[Rule] = []
    for rule in reversed(rules):
        after = next((later for later in reversed(kept) if may_meet(rule, later)), None)
        needed = rule.acts if after is None else not (_does(after) == _does(rule) and holds_wherever(after, rule))
        if not rule.acts and not any(later.acts and may_meet(rule, later) for later in kept):
            needed = False
        if needed:
            kept.append(rule)
    return kept[::-1]


def _does(rule: Rule) -> tuple[Any, bool]:
    return rule.operations, rule.sort_query


def _learners(one: Rule, other: Rule) -> str:
    names = [name for rule in (one, other) for name in rule.statistics.learner.split("+") if name]
    return "+".join(dict.fromkeys(names))


def _why(better: Rule, worse: Rule) -> str:
    mine, theirs = evidence(better), evidence(worse)
    if mine[0] != theirs[0]:
        return f"right in {mine[0]:.1%} of its pairs at least, the other in {theirs[0]:.1%}"
    if mine[1] != theirs[1]:
        return f"it covers {mine[1]:,} URLs, the other {theirs[1]:,}"
    return "it is newer" if mine[2] != theirs[2] else "its set was named first"


def _lost_examples(rules: Sequence[Rule], merged: Sequence[Rule]) -> Iterator[tuple[str, str]]:
    before, after = RuleSet(rules), RuleSet(merged)
    for rule in rules:
        for a, b in rule.statistics.examples:
            if before.same(a, b) and not after.same(a, b):
                yield a, b


def _by_site(rules: RuleSet) -> dict[str, list[Rule]]:
    sites: dict[str, list[Rule]] = {}
    for rule in rules:
        sites.setdefault(rule.site, []).append(rule)
    return sites


def _named(rule: Rule) -> dict[str, str]:
    return {"id": rule.id, "rule": str(rule)}
