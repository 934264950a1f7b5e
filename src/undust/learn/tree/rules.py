"""Chosen rules to deployable ones: each combination of what they ask becomes one rule with all that it calls for.

Rules of a site are tried in order, and the first that holds decides; so what a rule denies need not be written in it,
as the rules before it have taken those URLs.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from undust.learn.columns import Codes, SiteUrls
from undust.learn.state import IGNORED, from_end
from undust.learn.tree.forms import Rows
from undust.learn.tree.pattern_tree import Constraint
from undust.learn.tree.trail import Gone, Ignored, Literal, Original, Trail, Usual, copied_keys
from undust.learn.tree.transforms import Transform
from undust.rules.rule import Rule
from undust.rules.values import ANY, Match, Pattern
from undust.urls.keys import Key

MAX_RULES = 200
"""Rules of a site. A learner that needs more has not understood it; what was chosen last is left out."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """What is to be done with the forms that fit some constraints: transforms, one after the other."""

    constraints: tuple[Constraint, ...]
    transforms: tuple[Transform, ...]
    usual: Usual = field(default_factory=dict)


Round = tuple[Chosen, ...]
"""Of these the first that fits a form decides; all forms are changed at once, and then the next round looks at them."""

_Question = tuple[Key, int | None]
"""Whether a key of the URL as it was given has a value, given as its code, or any at all."""


def write_rules(site: SiteUrls, rounds: Sequence[Round], *, sort_query: bool = False) -> list[Rule]:
    """Put rounds of transforms together into rules of which one at most is needed for a URL.

    With `sort_query` they also put arguments in order, and the last one does nothing else.
    """
    left = [round_ for round_ in rounds if round_]
    while left:
        try:
            found = _Cells(site, left, sort_query).rules()
        except _TooManyError:
            found = None
        if found is not None and len(found) <= MAX_RULES:
            return found
        left[-1] = left[-1][:-1]
        left = [round_ for round_ in left if round_]
    return _Cells(site, [], sort_query).rules() if sort_query else []


class _TooManyError(Exception):
    """More combinations than rules are allowed for."""


@dataclass(frozen=True, slots=True)
class _Facts:
    """What is known of the URLs of a branch: of each key its value, that it has one or none, or which it has not."""

    values: dict[Key, int | None] = field(default_factory=dict)
    """None where a key has some value; 0 where it has none."""
    denied: frozenset[tuple[Key, int]] = frozenset()

    def ask(self, key: Key, code: int | None) -> bool | None:
        """Answer a question, if what is known does."""
        if key in self.values:
            known = self.values[key]
            if code is None:
                return known != 0
            if known is not None:
                return known == code
        if code is not None and (key, code) in self.denied:
            return False
        return None

    def with_answer(self, key: Key, code: int | None, answer: bool) -> "_Facts":
        """Know one thing more."""
        if code is None:
            return _Facts({**self.values, key: None if answer else 0}, self.denied)
        if answer:
            return _Facts({**self.values, key: code}, self.denied)
        return _Facts(self.values, self.denied | {(key, code)})


class _Cells:
    """Parts the URLs of a site by what rounds of transforms ask of them."""

    def __init__(self, site: SiteUrls, rounds: Sequence[Round], sort_query: bool) -> None:
        self.site = site
        self.rounds = rounds
        self.sort_query = sort_query
        self._from_end: dict[Key, Codes] = {}
        self._made = 0

    def rules(self) -> list[Rule]:
        """Give the rules in the order in which they are to be tried."""
        found = self._cells(_Facts(), np.arange(len(self.site)))
        while found and not found[-1].operations and not self.sort_query:
            found.pop()
        return found

    def _cells(self, facts: _Facts, rows: Rows) -> list[Rule]:
        passed: list[tuple[list[Rule], _Facts]] = []
        while not isinstance(outcome := self._follow(facts), Trail):
            codes = self._column(outcome[0])[rows]
            yes = codes != 0 if outcome[1] is None else codes == outcome[1]
            if yes.any() and not yes.all():
                passed.append((self._cells(facts.with_answer(*outcome, True), rows[yes]), facts))
                rows = rows[~yes]
            # Where nobody says yes, no rule before takes such URLs, and none after need tell them apart.
            facts = facts.with_answer(*outcome, bool(yes.all()))
        self._made += 1
        if self._made > 4 * MAX_RULES:
            raise _TooManyError
        operations = outcome.operations(int(self.site.depth[rows].max(initial=0)))
        copied = dict.fromkeys(copied_keys(operations), ANY)  # without which there is nothing to copy
        found = [Rule(self.site.site, {**copied, **self._context(facts)}, operations, self.sort_query)]
        for there, before in reversed(passed):
            if len(found) == 1 and found[0].context == self._context(before):
                # What would be done anyway needs no rule of its own.
                while there and there[-1].operations == found[0].operations:
                    there.pop()
            found = there + found
        return found

    def _follow(self, facts: _Facts) -> Trail | _Question:
        """Follow a URL of which only facts are known: to the end, or to the question that is to be asked."""
        trail = Trail(self.site.value)
        for round_ in self.rounds:
            for chosen in round_:
                holds: bool | _Question = True
                for constraint in chosen.constraints:
                    holds = self._holds(trail, constraint, facts)
                    if holds is not True:
                        break
                if isinstance(holds, tuple):
                    return holds
                if holds:
                    question = self._carry_out(trail, chosen, facts)
                    if question is not None:
                        return question
                    break
        return trail

    def _carry_out(self, trail: Trail, chosen: Chosen, facts: _Facts) -> _Question | None:
        """Carry out transforms, or give the question to be asked before: a segment that is not there is not ignored."""
        for transform in chosen.transforms:
            after = trail.copy()
            after.transform(replace(transform, ignored=frozenset()), chosen.usual)
            there = set()
            for key in transform.ignored:
                value = after.read(key)
                if key.part == "path" and isinstance(value, Original):
                    holds = self._holds(after, Constraint(key, "present"), facts)
                    if isinstance(holds, tuple):
                        return holds
                    if not holds:
                        continue
                there.add(key)
            trail.transform(replace(transform, ignored=frozenset(there)), chosen.usual)
        return None

    def _holds(self, trail: Trail, constraint: Constraint, facts: _Facts) -> bool | _Question:
        value = trail.read(constraint.key)
        test, codes = constraint.test, constraint.values
        if isinstance(value, Original):
            key = value.key
            if test in ("present", "absent"):
                if key.part == "path" and int(key.name) >= 0:
                    key = Key("path", int(key.name) + trail.dropped_last)
                known = facts.ask(key, None)
                return (key, None) if known is None else known == (test == "present")
            for code in codes:
                known = facts.ask(key, code) if code != IGNORED else False
                if known is None:
                    return key, code
                if known:
                    return test == "is"
            return test == "other"
        if test in ("present", "absent"):
            return isinstance(value, Gone) == (test == "absent")
        if isinstance(value, Ignored):
            found = IGNORED in codes
        else:
            found = isinstance(value, Literal) and value.text in [
                self.site.value(code) for code in codes if code != IGNORED
            ]
        return found == (test == "is")

    def _column(self, key: Key) -> Codes:
        if key.part == "path" and isinstance(key.name, int) and key.name < 0:
            if key not in self._from_end:
                self._from_end[key] = from_end(self.site.columns, self.site.depth, -key.name)
            return self._from_end[key]
        found = self.site.columns.get(key)
        return np.zeros(len(self.site), np.int32) if found is None else found

    def _context(self, facts: _Facts) -> dict[Key, Match]:
        context: dict[Key, Match] = {}
        for key, code in facts.values.items():
            if code is None:
                context[key] = ANY
            elif code:
                text = self.site.value(code)
                context[key] = Pattern((text,) if text else ())
        return context
