"""Care of a set of rules: find, choose, drop and withdraw some of them. Each gives a new set, and reads no clock.

A rule is taken out so that nothing else changes: the URLs that it decided keep their standard form. Where a rule after
it would take them over, for which it was never learned, a rule without operations stays in its place, as a guard.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from undust.errors import UsageError
from undust.rules.files import ID_SIZE
from undust.rules.overlap import may_meet
from undust.rules.rule import Rule, Statistics
from undust.rules.ruleset import RuleSet
from undust.rules.withdrawn import Withdrawn, united

SHORTEST_ID = 4
"""Letters of a rule's short name that must be given at least."""

GUARD = "guard"
"""The learner of rules that only keep others from taking URLs over."""


class Dropped(NamedTuple):
    """What is left, and what went."""

    rules: RuleSet
    dropped: tuple[Rule, ...]
    guards: tuple[Rule, ...]
    """Rules without operations that stand where a dropped one did."""


@dataclass(frozen=True, slots=True)
class Choice:
    """Which rules are meant: those for which all that is given holds."""

    ids: tuple[str, ...] = ()
    """Short names, their beginnings, or numbers counted from 1."""
    site: str | None = None
    below_precision: float | None = None
    below_coverage: int | None = None
    older_than: str | None = None
    """Date: rules learned before it, and those of which nobody knows when."""
    expired_on: str | None = None
    """Date: rules that are not to be relied on any more on that day."""

    def of(self, rules: RuleSet) -> tuple[Rule, ...]:
        """Give the rules of a set that are meant."""
        named = None if not self.ids else set(find_rules(rules, self.ids))
        return tuple(rule for rule in rules if (named is None or rule in named) and self._means(rule))

    def _means(self, rule: Rule) -> bool:
        known = rule.statistics
        return not (
            (self.site is not None and rule.site != self.site)
            or (self.below_precision is not None and known.precision >= self.below_precision)
            or (self.below_coverage is not None and known.coverage >= self.below_coverage)
            or (self.older_than is not None and known.learned_at >= self.older_than)
            or (self.expired_on is not None and not "" < known.expires <= self.expired_on)
        )


def find_rules(rules: RuleSet, names: Iterable[str]) -> tuple[Rule, ...]:
    """Give the rules of some short names, of their beginnings, or of numbers counted from 1."""
    by_id: dict[str, Rule] = {}
    found = []
    for name in names:
        if name.isascii() and name.isdecimal() and len(name) < ID_SIZE and 1 <= int(name) <= len(rules):
            found.append(rules[int(name) - 1])
            continue
        by_id = by_id or {rule.id: rule for rule in rules}
        found.append(by_id[_find_id(by_id, name)])
    return tuple(found)


def _find_id(known: Mapping[str, Rule], name: str) -> str:
    if name in known:
        return name
    found = [each for each in known if len(name) >= SHORTEST_ID and each.startswith(name.lower())]
    if not found:
        raise UsageError(f"no rule {name[:40]!r}: give a number from 1 to {len(known)}, or an id as undust rules list")
    if len(found) > 1:
        raise UsageError(f"{len(found)} rules begin with {name[:40]!r}: {', '.join(found[:5])}; give more letters")
    return found[0]


def drop(rules: RuleSet, chosen: Iterable[Rule]) -> Dropped:
    """Take rules out; what becomes of URLs that they did not decide stays as it is."""
    gone = set(chosen)
    kept: list[Rule] = []
    guards: list[Rule] = []
    dropped: list[Rule] = []
    for of_site in _by_site(rules):
        if gone.isdisjoint(of_site):
            kept += of_site
            continue
        left: list[Rule] = []
        for rule in reversed(of_site):
            meets = any(later.acts and may_meet(rule, later) for later in left)
            if rule in gone:
                dropped.append(rule)
                if rule.acts and meets:
                    guards.append(Rule(rule.site, rule.context, statistics=Statistics(learner=GUARD)))
                    left.append(guards[-1])
            elif meets or rule.statistics.learner != GUARD:
                left.append(rule)
        kept += reversed(left)
    return Dropped(rules.with_rules(kept), tuple(reversed(dropped)), tuple(reversed(guards)))


def withdraw(
    rules: RuleSet,
    ids: Iterable[str],
    reason: str,
    *,
    withdrawn_at: str = "",
    counterexamples: Sequence[tuple[str, str]] = (),
) -> RuleSet:
    """Take rules out of force for good: no later learning or merging brings them back.

    `ids` are short names (`Rule.id`) or numbers. `counterexamples` are pairs of URLs that the rules made one and that
    are two pages: then no rule comes back, either, that makes one of the pairs one.

    >>> from undust.rules.line_reader import read_line
    >>> rules = RuleSet([read_line("h.com  //….h.com/…?sid={?}  →  //….h.com/…")])
    >>> after = withdraw(rules, [rule.id for rule in rules], "sid names the page")
    >>> len(after), after.withdrawn[0].reason
    (0, 'sid names the page')
    """
    chosen = find_rules(rules, ids)
    told = tuple(Withdrawn(rule, reason, withdrawn_at, tuple(counterexamples)) for rule in chosen if rule.acts)
    return drop(rules, chosen).rules.with_withdrawn(united(rules.withdrawn, told))


def restore(rules: RuleSet, ids: Iterable[str]) -> RuleSet:
    """Strike rules off the list of those withdrawn, so that they may be learned again. It does not put them back."""
    listed = RuleSet(each.rule for each in rules.withdrawn)
    free = set(find_rules(listed, ids))
    return rules.with_withdrawn(each for each in rules.withdrawn if each.rule not in free)


def dated(rules: RuleSet, learned_at: str = "", expires: str = "") -> RuleSet:
    """Note on each rule that has no date yet when it was learned, and from when it is not to be relied on."""
    return rules.with_rules(
        replace(
            rule,
            statistics=replace(
                rule.statistics,
                learned_at=rule.statistics.learned_at or learned_at,
                expires=rule.statistics.expires or expires,
            ),
        )
        for rule in rules
    )


def _by_site(rules: RuleSet) -> list[list[Rule]]:
    sites: dict[str, list[Rule]] = {}
    for rule in rules:
        sites.setdefault(rule.site, []).append(rule)
    return list(sites.values())
