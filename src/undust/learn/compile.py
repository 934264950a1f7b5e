"""Edits to rules: each combination of conditions that can occur becomes one rule with all the operations it calls for.

Rules of a site are tried in order, and the first that holds decides; so what a rule denies need not be written in it,
as the rules before it have taken those URLs.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from undust.learn.maps import Change
from undust.learn.scopes import Test
from undust.learn.steps import AnyStep, ExchangeStep, MoveStep
from undust.rules.rule import Rule
from undust.rules.values import ABSENT, ANY, DROP, Copy, Ignore, Match, Operation, Pattern, Slot
from undust.urls.keys import Key

MAX_RULES = 200
"""Rules of a site. A learner that needs more has not understood the site; the least valuable edits are left out."""


_Question = tuple[Key, Test, str | Change]


@dataclass(frozen=True, slots=True)
class _Facts:
    """What a branch knows of the URLs in it, as answers to questions."""

    answers: dict[_Question, bool] = field(default_factory=dict)
    hidden: frozenset[_Question] = frozenset()
    """Questions whose answer no context need tell."""

    def ask(self, key: Key, test: Test, value: "str | Change" = "") -> bool | None:
        """Answer a question, if what is known does."""
        known = self.answers.get((key, test, value))
        if known is not None:
            return known
        for (other, kind, text), answer in self.answers.items():
            if other == key and kind == "is" and answer:
                if test == "is":
                    return False  # it is something else
                assert isinstance(text, str)  # noqa: S101 - a value is a text
                if isinstance(value, Change):
                    return re.search(value.looks(), text) is not None
                return test == "present" or (text.isascii() and text.isdigit())
            if other == key and kind == "present" and not answer:
                return False
            if other == key and kind in ("digits", "like") and answer and test == "present":
                return True
        return None

    def with_answer(self, question: _Question, answer: bool, *, shown: bool = True) -> "_Facts":
        """Know one thing more."""
        return _Facts({**self.answers, question: answer}, self.hidden if shown else self.hidden | {question})

    def context(self) -> dict[Key, Match]:
        """Write what is known for sure as a context; denials are left to the rules before."""
        made: dict[Key, Match] = {}
        for (key, test, value), answer in self.answers.items():
            if (key, test, value) in self.hidden:
                continue
            if test == "is" and answer and isinstance(value, str):
                made[key] = Pattern((value,) if value else ())
            elif test == "digits" and answer:
                made.setdefault(key, Pattern((Slot("digits"),)))
            elif isinstance(value, Change) and answer:
                made.setdefault(key, value.pattern())
            elif test == "present" and answer:
                made.setdefault(key, ANY)
        return made


Rows = npt.NDArray[np.bool_]
Ask = Callable[[Key, Test, str | Change], Rows]
"""Which of the training URLs answer a question with yes."""


def compile_rules(site: str, steps: Sequence[AnyStep], ask: Ask, *, sort_query: bool = False) -> list[Rule]:
    """Put steps, which are taken one after the other, together into rules of which one at most is needed for a URL.

    Combinations of conditions that no training URL shows get no rule of their own.
    """
    while True:
        rules: list[Rule] = []
        for rule in _cells(site, steps, ask, _Facts(), None, sort_query):
            rules.append(rule)
            if len(rules) > 4 * MAX_RULES:
                break
        needed = _prune(rules)
        if len(needed) <= MAX_RULES and len(rules) <= 4 * MAX_RULES:
            return needed
        steps = steps[:-1]  # the last accepted is the least valuable


def _cells(
    site: str, steps: Sequence[AnyStep], ask: Ask, facts: _Facts, rows: Rows | None, sort_query: bool
) -> Iterator[Rule]:
    outcome = _simulate(steps, facts)
    if isinstance(outcome, _Outcome):
        yield Rule(site, {**facts.context(), **outcome.pinned}, outcome.operations, sort_query)
        return
    yes = ask(*outcome)
    there = yes if rows is None else yes & rows
    others = ~yes if rows is None else ~yes & rows
    if there.any():
        yield from _cells(site, steps, ask, facts.with_answer(outcome, True), there, sort_query)
    if others.any():
        # Where nobody said yes, no rule before this one takes such URLs, and this one need not tell them apart.
        yield from _cells(
            site, steps, ask, facts.with_answer(outcome, False, shown=bool(there.any())), others, sort_query
        )


@dataclass(frozen=True, slots=True)
class _Outcome:
    operations: dict[Key, Operation]
    pinned: dict[Key, Match]
    """What the operations rely on, whatever the URLs before looked like."""


def _simulate(steps: Sequence[AnyStep], facts: _Facts) -> _Outcome | _Question:
    """Take the steps for a URL of which only facts are known: its operations, or the question that is to be asked."""
    made: dict[Key, Operation] = {}
    pinned: dict[Key, Match] = {}
    gone_start: list[int] = []  # segments that left the path, by their first place
    gone_end: list[int] = []
    for step in steps:
        holds: bool | None = True
        for condition in step.conditions:
            answer = facts.ask(condition.key, condition.test, condition.value)
            if answer is None:
                return condition.key, condition.test, condition.value
            holds = holds and answer == condition.holds
        if isinstance(step, MoveStep):
            # Segments that left the path, or another move, have made another template of it.
            if holds and not (gone_start or gone_end or pinned):
                made |= _moved(step, made)
                pinned[step.deepest] = ABSENT
            continue
        if isinstance(step, ExchangeStep):
            unknown = _exchanged(step, made, facts) if holds else None
            if unknown is not None:
                return unknown
            continue
        key = _original(step.key, gone_start, gone_end)
        if not holds or isinstance(made.get(key), type(DROP)) or (pinned and key.part == "path"):
            continue
        if step.value is not None:
            holds = _has(key, step.value, made, facts)
            if holds is None:
                return key, "is", step.value
            if not holds:
                continue
        if step.change:
            if made.get(key) is not None:
                continue
            changed = True if step.change.kind == "lower" else facts.ask(key, "like", step.change)
            if changed is None:
                return key, "like", step.change
            if changed:
                made[key] = step.change.operation(key, step.usual)
        elif step.ignored:
            if key.part == "path":  # which no shorter path has
                there = facts.ask(key, "present")
                if there is None:
                    return key, "present", ""
                if not there:
                    continue
            made[key] = (Ignore(step.usual),)
        elif step.to is None:
            made[key] = DROP
            if key.part == "path":
                assert isinstance(key.name, int)  # noqa: S101 - segments are counted
                (gone_start if key.name >= 0 else gone_end).append(key.name)
        else:
            made[key] = _literal(step.to)
    return _Outcome(made, pinned)


def _has(key: Key, value: str, made: dict[Key, Operation], facts: _Facts) -> bool | None:
    """Tell whether a key has a value after the steps before; None if that depends on what is not known."""
    now = made.get(key)
    return facts.ask(key, "is", value) if now is None else now == _literal(value)


def _literal(value: str | None) -> Operation:
    return DROP if value is None else (value,) if value else ()


def _exchanged(step: ExchangeStep, made: dict[Key, Operation], facts: _Facts) -> _Question | None:
    """Carry out an exchange if all of its values are there; give the question that is to be asked first, if any."""
    for key, value, _ in step.parts:
        there = _has(key, value, made, facts)
        if there is None:
            return key, "is", value
        if not there:
            return None
    made |= {key: _literal(to) for key, _, to in step.parts}
    return None


def _moved(step: MoveStep, made: dict[Key, Operation]) -> dict[Key, Operation]:
    """Give the operations of a move; what earlier steps made of a value moves with it."""
    found: dict[Key, Operation] = {}
    for key, to in step.targets:
        found[key] = made.get(to, (Copy(to),)) if isinstance(to, Key) else _literal(to)
    return found


def _original(key: Key, gone_start: list[int], gone_end: list[int]) -> Key:
    """Give the first place of a segment that is now at another, as those that left the path are counted no more."""
    if key.part != "path" or not isinstance(key.name, int):
        return key
    place = key.name
    for gone in sorted(gone_start) if place >= 0 else sorted(gone_end, reverse=True):
        if place >= 0 and gone <= place:
            place += 1
        elif place < 0 and gone >= place:
            place -= 1
    return Key("path", place)


def _prune(rules: list[Rule]) -> list[Rule]:
    """Leave out rules that change nothing and stand in the way of no other."""
    kept: list[Rule] = []
    for place in range(len(rules) - 1, -1, -1):
        rule = rules[place]
        does_nothing = not rule.operations and not rule.sort_query
        if does_nothing and not any(_may_meet(rule, later) and later.operations for later in kept):
            continue
        same = [later for later in kept if _may_meet(rule, later)]
        if same and same[0].operations == rule.operations and set(same[0].context.items()) <= set(rule.context.items()):
            continue  # the rule after it does the same for the same URLs
        kept.insert(0, rule)
    return kept


def _may_meet(a: Rule, b: Rule) -> bool:
    """Tell whether a URL may fit the contexts of both rules."""
    for key in a.context.keys() & b.context.keys():
        one, other = a.context[key], b.context[key]
        if (one == ABSENT) != (other == ABSENT):
            return False
        if isinstance(one, Pattern) and isinstance(other, Pattern):
            first, second = one.literal, other.literal
            if first is not None and other.fit(first) is None:
                return False
            if second is not None and one.fit(second) is None:
                return False
    return True
