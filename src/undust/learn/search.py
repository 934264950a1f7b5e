"""Tries edits on a site: everywhere, and where they fail under conditions."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from undust.learn.alterations import Alteration
from undust.learn.edits import Edit
from undust.learn.exchanges import Exchange
from undust.learn.moves import Move
from undust.learn.sample import LARGE, Sample
from undust.learn.scopes import Condition, Features, promising
from undust.learn.state import IGNORED, Mask, Merges, Rows, State
from undust.learn.telling import Telling
from undust.learn.together import jointly, possible_sets
from undust.urls.keys import Key

MAX_CONDITIONS = 2
TRIED_CONDITIONS = 6
"""The most promising conditions that are tried for an edit, at each step."""
MIN_CLUSTERS = 3
"""Clusters that have to show an edit: two may be alike by chance."""
MIN_GAIN_SHARE = 0.0003
"""Keys fewer, as a share of the URLs, that an edit must promise to be tried under conditions."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """An edit under conditions, and what it would do."""

    edit: Alteration
    conditions: tuple[Condition, ...]
    merges: Merges
    everywhere: float
    """Share of the merges that are wrong if the edit is made without the conditions."""

    @property
    def wrong_share(self) -> float:
        """Wrong merges for each key that comes together with another.

        If one label in ten is wrong, a right edit has a share of about a tenth, whether keys come together in pairs or
        by the hundred.
        """
        return min(1.0, self.merges.wrong / self.merges.joined) if self.merges.joined else 0.0


@dataclass(frozen=True, slots=True)
class Accepted:
    """A candidate that is believed."""

    edit: Alteration
    conditions: tuple[Condition, ...]
    merges: Merges
    value: float


class Search:
    """Where learning stands, and what is known about the site."""

    def __init__(self, state: State) -> None:
        self.state = state
        self.features = Features(state.site)
        self.sample = Sample(state.site) if len(state.site) > LARGE else None
        self.telling = Telling(state.site, self.features.all, self.features.least)
        self.least = max(MIN_CLUSTERS, MIN_GAIN_SHARE * len(state.site))
        self.prior: dict[str, float] = {}
        self.noise: float | None = None

    def edits(
        self, possible: Callable[[State], Iterable[Alteration]], accepted: list[Accepted]
    ) -> Iterator[Alteration]:
        """List those of the possible edits that are worth a try."""
        asked = _keys_asked(accepted)
        part = self.sample.state if self.sample else self.state
        for edit in possible(part):
            if edit.loses and edit.keys & asked:
                continue
            if not self.sample or self.sample.gains(edit):
                yield edit

    def accept(self, chosen: Accepted) -> None:
        """Make an edit."""
        rows = np.flatnonzero(self._where(chosen.edit, chosen.conditions))
        changes, depth = chosen.edit.changes(self.state, rows)
        self.state.accept(changes, rows, depth)
        if self.sample:
            self.sample.accept(chosen.edit, chosen.conditions)
        if self.noise:
            self.state.vote()

    def plain(self, edit: Alteration) -> Candidate | None:
        """Try an edit everywhere; nothing if it makes nothing one."""
        merges = self._try(edit, np.flatnonzero(self._where(edit, ())))
        if merges.gained + merges.wrong == 0:
            return None
        return Candidate(edit, (), merges, merges.wrong / (merges.gained + merges.wrong))

    def coverage(self, candidate: Candidate) -> int:
        """Count the URLs that an edit holds for, or those that come together by it, if they are more."""
        rows = self._where(candidate.edit, candidate.conditions)
        return max(int(self.state.weights[rows].sum()), candidate.merges.joined)

    def together(self, edits: list[Edit]) -> Iterator[tuple[tuple[Edit, ...], Merges]]:
        """Give edits of different keys that do more together than one by one, and nothing wrong."""
        alone = {edit: self._try(edit, np.flatnonzero(edit.rows(self.state))) for edit in edits}
        harmless = [edit for edit in edits if alone[edit].wrong == 0]
        twos = (pair for pair in combinations(harmless, 2) if not pair[0].keys & pair[1].keys)
        for chosen in dict.fromkeys([*twos, *possible_sets(self.state, harmless)]):
            merges = jointly(self.state, chosen)
            if merges is not None and merges.gained > sum(alone[edit].gained for edit in chosen):
                yield chosen, merges

    def scoped(self, plain: Candidate, closed: frozenset[Key], worth: float = 0.0) -> Iterator[Candidate]:
        """Try an edit where it fails under the conditions that promise most, as long as it could be `worth` more."""
        edit = plain.edit
        if isinstance(edit, Move):  # whose template is scope enough
            return
        waiting = [(plain, self._where(edit, ()))]
        while waiting:
            candidate, where = waiting.pop(0)
            merges, conditions = candidate.merges, candidate.conditions
            if merges.gained < self.least or merges.wrong == 0 or len(conditions) == MAX_CONDITIONS:
                continue
            if merges.gained / length(edit, len(conditions) + 1) <= worth:
                continue
            right, wrong = np.zeros(len(self.state), np.bool_), np.zeros(len(self.state), np.bool_)
            self._try(edit, np.flatnonzero(where), right, wrong)
            for condition, holds in promising(
                self.features,
                self.state,
                where & right,
                where & wrong,
                conditions,
                closed | edit.keys,
                TRIED_CONDITIONS,
            ):
                there = where & holds
                found = self._try(edit, np.flatnonzero(there))
                if found.gained + found.wrong:
                    waiting.append((Candidate(edit, (*conditions, condition), found, plain.everywhere), there))
                    yield waiting[-1][0]

    def _where(self, edit: Alteration, conditions: tuple[Condition, ...]) -> Mask:
        asked = edit.conditions + conditions
        rows = edit.rows(self.state)
        return rows & self.features.where(asked)[self.state.rows] if asked else rows

    def _try(self, edit: Alteration, rows: Rows, right: Mask | None = None, wrong: Mask | None = None) -> Merges:
        changes, _ = edit.changes(self.state, rows)
        merges = self.state.merges(self.state.changed_hashes(changes, rows), rows, right, wrong)
        told = rows[:0] if self.noise else self._telling(edit, rows)
        if not len(told) or not merges.gained:
            return merges
        # What tells pages apart there would merge clusters that nobody has seen yet: it counts as if it did.
        if wrong is not None:
            wrong[told] = True
        clusters = self.state.clusters[self.state.rows[told]]
        return replace(merges, wrong=merges.wrong + len(np.unique(clusters)))

    def _telling(self, edit: Alteration, rows: Rows) -> Rows:
        """Give the keys that an edit would change where what it takes away tells pages apart."""
        if not isinstance(edit, Edit) or edit.change or edit.to not in (0, IGNORED):
            return rows[:0]
        codes = self.features.codes(edit.key)
        where = self.telling.where(edit.key, codes, edit.value)
        return rows[:0] if where is None else rows[where[self.state.rows[rows]]]


def length(edit: Alteration, conditions: int) -> float:
    """Give what the worth of an edit is divided by for its conditions, and for the values that it asks for together."""
    together = len(edit.parts) if isinstance(edit, Exchange) else 1
    return 1 + 0.5 * conditions + 0.25 * (together - 1)


def keys_edited(accepted: list[Accepted]) -> frozenset[Key]:
    """Give the keys that lost their value: what depends on one of them cannot be asked of the URL that is left."""
    return frozenset(key for each in accepted if each.edit.loses for key in each.edit.keys)


def _keys_asked(accepted: list[Accepted]) -> frozenset[Key]:
    """Give the keys that conditions ask about, which have to stay for the same reason."""
    return frozenset(condition.key for each in accepted for condition in each.conditions)
