"""Candidates for rules: what pairs show, generalized, measured on all URLs, and fitted better to them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from undust.learn.deep_columns import DeepColumn
from undust.learn.pairs.belief import Draft, Judge, Merges, wrong_share
from undust.learn.pairs.choose import Pairs
from undust.learn.pairs.contexts import generalize, with_needs
from undust.learn.pairs.differences import Transformation, transformations
from undust.learn.pairs.loosen import loosened
from undust.learn.pairs.references import references
from undust.learn.pairs.repair import repaired
from undust.learn.pairs.salience import Salience
from undust.learn.pairs.workspace import Mask
from undust.rules.values import ANY, DROP, Copy, Ignore, Match, Operation, Pattern
from undust.urls.keys import Key

BUDGET = 30_000_000
"""URLs that drafts are measured on in one round, all drafts together: many drafts on a small site, fewer on a large."""
WHOLE = 10
"""What a whole value counts for, in parts of one."""
AS_GOOD = 0.95
"""Share of what a draft gains that one which leaves more of the URL has to gain to be preferred."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A draft with what it makes one, and how much of the same is wrong without the conditions it was given."""

    draft: Draft
    merges: Merges
    added: int = 0
    everywhere: float = 0.0


class Candidates:
    """Makes the candidates of one round of learning."""

    def __init__(self, judge: Judge, deep: dict[Key, DeepColumn], accepted: Sequence[Draft]) -> None:
        self.judge, self.work, self.limits, self.deep = judge, judge.work, judge.limits, deep
        self.accepted, self.closed = accepted, _keys_edited(accepted)
        self.generalized = 0
        """How many rules generalization made."""
        self._salience = Salience(self.work, self.limits)
        self._left = min(self.limits.tries, BUDGET // max(len(self.work), 1))
        self._seen: set[str] = set()
        self._holding: dict[str, Mask] = {}

    def make(self, pairs: Pairs) -> list[Candidate]:
        """Give candidates: for each transformation the widest context first, others only where that is wrong."""
        several = list(self._drafts(pairs))
        made: list[Candidate] = []
        wrong: list[tuple[int, list[Draft]]] = []
        for drafts in several:
            found = self._measured(drafts[0])
            if found is not None:
                made.append(found)
                if self._is_good(found):
                    continue
            wrong.append((0 if found is None else found.merges.gained, drafts))
        for _, drafts in sorted(wrong, key=lambda each: (-each[0], each[1][0].name)):
            for draft in drafts:
                made += self._narrowed(draft)
        return self._careful(made)

    def _drafts(self, pairs: Pairs) -> Iterator[list[Draft]]:
        """Give the drafts of each transformation that pairs show."""
        least = min(2, self.limits.min_clusters)
        found: list[Transformation] = transformations(self.work, pairs, self.deep, self._salience, least)
        found += references(self.work, pairs, self.deep, self.limits)
        classes = [(pairs.sources[each.pairs], each.operations.keys()) for each in found]
        contexts = generalize(self.work, classes, self.deep, self._salience)
        for each, (sources, _), several in zip(found, classes, contexts, strict=True):
            self.generalized += len(several)
            valued = {key for key in each.operations if self.work.column(key)[sources].any()}
            depths = np.unique(self.work.depth[sources])
            depth = int(depths[0]) if len(depths) == 1 else None
            wanted = [with_needs(context, each.needs, each.operations, depth) for context in several]
            yield [_draft(context, each.operations, valued) for context in wanted]

    def _measure(self, draft: Draft) -> Merges | None:
        self._left -= 1
        return self.judge.measure(draft)

    def _measured(self, draft: Draft) -> Candidate | None:
        """Measure a draft for the first time, and ask for less where that is as right."""
        if draft.name in self._seen or not is_open(draft, self.accepted):
            return None
        self._seen.add(draft.name)
        merges = self._measure(draft)
        if merges is None or merges.gained + merges.wrong == 0:
            return None
        loose = loosened(draft)
        measured = None if loose is None else self._measure(loose)
        if loose is not None and measured is not None and _is_as_right(measured, merges):
            draft, merges = loose, measured
        return self._relaxed(Candidate(draft, merges.light()))

    def _narrowed(self, draft: Draft) -> Iterator[Candidate]:
        """Give a draft, and what it becomes under further conditions if it is wrong without them."""
        found = self._measured(draft)
        if found is not None:
            yield found
            if self._is_good(found):
                return
        if self._left <= 0 or not is_open(draft, self.accepted):
            return
        merges = self._measure(draft)
        if merges is None or not merges.wrong or merges.gained < self.limits.min_clusters:
            return
        everywhere = wrong_share(merges)
        for scoped, measured, added in repaired(self.judge, draft, merges, self.deep, self._salience, self.closed):
            self._left -= 1
            if scoped.name not in self._seen:
                self._seen.add(scoped.name)
                yield self._relaxed(Candidate(scoped, measured.light(), added, everywhere))
            if self._left <= 0:
                return

    def _relaxed(self, candidate: Candidate) -> Candidate:
        """Leave out what a context asks for if that makes more one, and nothing wrong: other values show the same."""
        now = candidate
        if not self._is_good(now):
            return now
        context = now.draft.context
        for key in [key for key, match in context.items() if match != ANY and key not in now.draft.operations]:
            wider = Draft({k: match for k, match in now.draft.context.items() if k != key}, now.draft.operations)
            merges = self._measure(wider)
            if merges is not None and merges.gained > now.merges.gained and merges.wrong <= now.merges.wrong:
                now = Candidate(wider, merges.light(), now.added, now.everywhere)
        return now

    def _is_good(self, candidate: Candidate) -> bool:
        return self.judge.value(candidate.draft, candidate.merges, 0.0) > 0

    def _careful(self, candidates: list[Candidate]) -> list[Candidate]:
        """Leave out drafts for which there is one that is as good and leaves more of the same values as they are."""
        good = [(each, _coarseness(each.draft)) for each in candidates if self._is_good(each)]
        worse: set[int] = set()
        for place, (each, coarse) in enumerate(good):
            for other, fine in good:
                if (
                    fine < coarse
                    and other.draft.operations.keys() == each.draft.operations.keys()
                    and other.merges.gained >= AS_GOOD * each.merges.gained
                    and self._share(other, each) >= AS_GOOD
                ):
                    worse.add(place)
                    break
        left_out = {id(good[place][0]) for place in worse}
        return [each for each in candidates if id(each) not in left_out]

    def _share(self, one: Candidate, other: Candidate) -> float:
        """Give the share of the URLs of a candidate that another holds for too."""
        key = one.draft.name
        if key not in self._holding:
            self._holding[key] = self.work.holds(one.draft.context)
        return float(np.mean(self._holding[key][other.merges.rows]))


def _is_as_right(one: Merges, other: Merges) -> bool:
    return one.gained >= other.gained and one.wrong <= other.wrong


def _draft(context: dict[Key, Match], operations: dict[Key, Operation], valued: set[Key]) -> Draft:
    """Make a draft. Where any value that a key has would become one literal, the value does not matter."""
    made: dict[Key, Operation] = {}
    for key, operation in operations.items():
        literal = isinstance(operation, tuple) and all(isinstance(piece, str) for piece in operation)
        match = context.get(key, ANY)
        free = match == ANY or (isinstance(match, Pattern) and match.literal is None)
        if literal and free and key in valued and key.part != "path":
            text = "".join(str(piece) for piece in operation)  # type: ignore[union-attr] # a tuple of literals
            operation = DROP if key.part in ("query", "param") else (Ignore(text),)
        made[key] = operation
    return Draft(context, made)


def _coarseness(draft: Draft) -> int:
    """Count what a draft takes from URLs: a part of a value is less than all of it, and another spelling nothing."""
    total = 0
    for made in draft.operations.values():
        if isinstance(made, tuple) and (len(made) > 1 or any(isinstance(piece, Copy) for piece in made)):
            total += sum(isinstance(piece, Ignore) for piece in made)
        else:
            total += WHOLE
    return total


def is_open(draft: Draft, accepted: Sequence[Draft]) -> bool:
    """Tell whether a draft leaves alone what others ask about, and asks about nothing that others have changed."""
    asked, closed = _keys_asked(accepted), _keys_edited(accepted)
    if any(key in asked and not draft.pins(key) for key in draft.operations):
        return False
    return not any(
        key in closed and key not in draft.operations and match != ANY for key, match in draft.context.items()
    )


def _keys_asked(drafts: Sequence[Draft]) -> frozenset[Key]:
    """Give the keys that drafts ask about, and do not work on themselves."""
    return frozenset(
        key for draft in drafts for key, match in draft.context.items() if match != ANY and key not in draft.operations
    )


def _keys_edited(drafts: Sequence[Draft]) -> frozenset[Key]:
    """Give the keys that lost their value, whatever it was."""
    return frozenset(key for draft in drafts for key in draft.operations if not draft.pins(key))
