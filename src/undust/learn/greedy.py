"""Chooses the edits to believe: the best first, then again with what it has changed, until none is worth its risk."""

import math
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

MIN_EVIDENCE = 50
"""Keys that come together, from which the share of wrong labels is estimated, …"""
MIN_EVIDENCE_SHARE = 0.02
"""… and the same as a share of the URLs."""
LEAST_NOISE = 0.02
"""A smaller share of wrong labels is taken for none, …"""
MOST_NOISE = 0.2
"""… and a larger one for something else than wrong labels."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """An edit under conditions, and what it would do."""

    edit: Edit
    conditions: tuple[Condition, ...]
    merges: Merges

    @property
    def wrong_share(self) -> float:
        """Wrong merges for each key that comes together with another.

        If one label in ten is wrong, a right edit has a share of about a tenth, whether keys come together in pairs or
        by the hundred.
        """
        return self.merges.wrong / self.merges.joined if self.merges.joined else 0.0


@dataclass(frozen=True, slots=True)
class Accepted:
    """A candidate that is believed."""

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
        prior: dict[str, float] = {}
        noise: float | None = None
        while len(accepted) < MAX_EDITS:
            candidates = list(self._candidates(state, features, accepted))
            if noise is None:
                noise = _noise(candidates, len(state.site))
            values = [self._value(candidate, prior, noise) for candidate in candidates]
            prior = _record(candidates, noise)
            if not values or max(values) <= 0:
                break
            place = int(np.argmax(values))
            chosen = candidates[place]
            rows = chosen.edit.rows(state) & features.where(chosen.conditions)
            changes, depth = chosen.edit.changes(state, rows)
            state.accept(changes, rows, depth)
            accepted.append(Accepted(chosen.edit, chosen.conditions, chosen.merges, values[place]))
        return accepted

    def _candidates(self, state: State, features: Features, accepted: list[Accepted]) -> Iterator[Candidate]:
        edited, asked = _keys_edited(accepted), _keys_asked(accepted)
        for edit in possible_edits(state):
            if edit.value is not None or edit.key not in asked:
                yield from self._scoped(state, features, edit, edited)

    def _scoped(self, state: State, features: Features, edit: Edit, edited: frozenset[Key]) -> Iterator[Candidate]:
        """Try an edit everywhere, then where it fails under the conditions that promise most."""
        waiting: list[tuple[tuple[Condition, ...], Mask]] = [((), edit.rows(state))]
        while waiting:
            conditions, rows = waiting.pop(0)
            if np.count_nonzero(rows) < 2:
                continue
            changes, _ = edit.changes(state, rows)
            merges = state.merges(state.changed_hashes(changes, rows))
            if merges.gained + merges.wrong == 0:
                continue
            yield Candidate(edit, conditions, merges.without_rows())
            if merges.gained < MIN_CLUSTERS or merges.wrong == 0 or len(conditions) == MAX_CONDITIONS:
                continue
            right, wrong = rows & merges.right_rows, rows & merges.wrong_rows
            for condition, where in promising(
                features, right, wrong, conditions, edited | {edit.key}, TRIED_CONDITIONS
            ):
                waiting.append(((*conditions, condition), rows & where))

    def _value(self, candidate: Candidate, prior: dict[str, float], noise: float) -> float:
        """Weigh what an edit gains against what it risks, and against its length."""
        merges, conditions = candidate.merges, candidate.conditions
        # What wrong labels alone would make of a right edit, with room for chance.
        blamed = noise * merges.joined + 2 * math.sqrt(noise * (1 - noise) * merges.joined)
        wrong = max(0.0, merges.wrong - blamed)
        if wrong > self.max_wrong * merges.gained:
            return 0.0
        if merges.clusters < MIN_CLUSTERS and not (conditions and merges.gained >= MIN_GIANT and wrong == 0):
            return 0.0
        # How often edits of this family are wrong on this site, before this one is looked at.
        risk = wrong + 2 * prior.get(candidate.edit.family, 0.25) * (0.5 if candidate.edit.token else 1)
        # What several clusters show is more likely to hold for the next one.
        general = merges.clusters / (merges.clusters + 1)
        return general * (merges.gained - RISK_WEIGHT * risk) / (1 + 0.5 * len(conditions))


def _noise(candidates: list[Candidate], urls: int) -> float:
    """Estimate the share of wrong labels: what speaks against the edit that is surest to be right.

    Where labels are right, some edit, maybe under a condition, has nothing against it. Where one in ten is wrong, none
    with much evidence has. Sure means that its share is low even if chance was kind to it.
    """
    least = max(MIN_EVIDENCE, MIN_EVIDENCE_SHARE * urls)
    much = [each for each in candidates if each.merges.joined >= least]
    if not much:
        return 0.0
    noise = min(much, key=lambda each: _upper(each.wrong_share, each.merges.joined)).wrong_share
    return noise if LEAST_NOISE <= noise <= MOST_NOISE else 0.0


def _upper(share: float, count: int, deviations: float = 3.0) -> float:
    """Give the upper end of what a share may be (Wilson's interval)."""
    square = deviations**2
    middle = share + square / (2 * count)
    spread = deviations * math.sqrt(share * (1 - share) / count + square / (4 * count**2))
    return (middle + spread) / (1 + square / count)


def _record(candidates: list[Candidate], noise: float) -> dict[str, float]:
    """Tell how often edits of each family are wrong here, beyond what wrong labels explain."""
    rates: dict[str, list[float]] = defaultdict(list)
    for each in candidates:
        if not each.conditions:
            rates[each.edit.family].append(max(0.0, each.wrong_share - noise))
    return {family: (sum(found) + 0.5) / (len(found) + 2) for family, found in rates.items()}


def _keys_edited(accepted: list[Accepted]) -> frozenset[Key]:
    """Give the keys that lost their value: what depends on one of them cannot be asked of the URL that is left."""
    return frozenset(each.edit.key for each in accepted if each.edit.value is None)


def _keys_asked(accepted: list[Accepted]) -> frozenset[Key]:
    """Give the keys that conditions ask about, which have to stay for the same reason."""
    return frozenset(condition.key for each in accepted for condition in each.conditions)
