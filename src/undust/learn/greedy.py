"""Chooses the edits to believe: the best first, then again with what it has changed, until none is worth its risk."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from undust.learn.edits import Edit, possible_edits
from undust.learn.scopes import Condition, Features, promising
from undust.learn.state import Mask, Merges, State
from undust.urls.keys import Key

MAX_EDITS = 40
MAX_CONDITIONS = 2
TRIED_CONDITIONS = 6
"""The most promising conditions that are tried for an edit, at each step."""

MIN_CLUSTERS = 3
"""Clusters that have to show an edit: two may be alike by chance."""
MIN_GIANT = 30
"""Keys of a single cluster that show an edit as well, if it has a condition and nothing contradicts it."""
RISK_WEIGHT = 10
"""What a wrong merge costs, in right ones: a page lost is worse than a page fetched twice."""


@dataclass(frozen=True, slots=True)
class Accepted:
    """An edit that is believed, under conditions, and what it did."""

    edit: Edit
    conditions: tuple[Condition, ...]
    merges: Merges
    value: float


@dataclass(frozen=True, slots=True)
class Greedy:
    """Learn the edits of a site from its clusters."""

    max_wrong: float = 0.001
    """Wrong merges for each right one that are forgiven: one in a thousand may be a wrong label, more are a reason."""

    def learn(self, state: State) -> list[Accepted]:
        """Accept edits into the state, and list them."""
        features = Features(state.site)
        accepted: list[Accepted] = []
        record: dict[str, float] = {}
        while len(accepted) < MAX_EDITS:
            best: tuple[float, Accepted, Mask] | None = None
            seen: dict[str, list[float]] = defaultdict(list)
            edited, asked = _keys_edited(accepted), _keys_asked(accepted)
            for edit in possible_edits(state):
                if edit.value is None and edit.key in asked:
                    continue
                for conditions, rows, merges in self._scoped(state, features, edit, edited, seen):
                    value = self._value(edit, conditions, merges, record)
                    if value > 0 and (best is None or value > best[0]):
                        best = value, Accepted(edit, conditions, merges, value), rows
            record = {family: (sum(rates) + 0.5) / (len(rates) + 2) for family, rates in seen.items()}
            if best is None:
                break
            _, chosen, rows = best
            changes, depth = chosen.edit.changes(state, rows)
            state.accept(changes, rows, depth)
            accepted.append(chosen)
        return accepted

    def _scoped(
        self, state: State, features: Features, edit: Edit, edited: frozenset[Key], seen: dict[str, list[float]]
    ) -> Iterator[tuple[tuple[Condition, ...], Mask, Merges]]:
        """Try an edit everywhere, then where it fails under the conditions that promise most."""
        rows = edit.rows(state)
        if np.count_nonzero(rows) < 2:
            return
        waiting: list[tuple[tuple[Condition, ...], Mask]] = [((), rows)]
        while waiting:
            conditions, rows = waiting.pop(0)
            if np.count_nonzero(rows) < 2:
                continue
            changes, _ = edit.changes(state, rows)
            merges = state.merges(state.changed_hashes(changes, rows))
            if not conditions and merges.gained + merges.wrong:
                seen[edit.family].append(merges.wrong / (merges.gained + merges.wrong))
            if merges.gained < MIN_CLUSTERS:
                continue
            yield conditions, rows, merges
            if merges.wrong == 0 or len(conditions) == MAX_CONDITIONS:
                continue
            right, wrong = rows & merges.right_rows, rows & merges.wrong_rows
            for condition, where in promising(
                features, right, wrong, conditions, edited | {edit.key}, TRIED_CONDITIONS
            ):
                waiting.append(((*conditions, condition), rows & where))

    def _value(self, edit: Edit, conditions: tuple[Condition, ...], merges: Merges, record: dict[str, float]) -> float:
        """Weigh what an edit gains against what it risks, and against its length."""
        if merges.wrong > self.max_wrong * merges.gained:
            return 0.0
        if merges.clusters < MIN_CLUSTERS and not (conditions and merges.gained >= MIN_GIANT and merges.wrong == 0):
            return 0.0
        # How often edits of this family are wrong on this site, before this one is looked at.
        prior = record.get(edit.family, 0.25)
        risk = merges.wrong + 2 * prior * (0.5 if edit.token else 1)
        return (merges.gained - RISK_WEIGHT * risk) / (1 + 0.5 * len(conditions))


def _keys_edited(accepted: list[Accepted]) -> frozenset[Key]:
    """Give the keys that lost their value: what depends on one of them cannot be asked of the URL that is left."""
    return frozenset(each.edit.key for each in accepted if each.edit.value is None)


def _keys_asked(accepted: list[Accepted]) -> frozenset[Key]:
    """Give the keys that conditions ask about, which have to stay for the same reason."""
    return frozenset(condition.key for each in accepted for condition in each.conditions)
