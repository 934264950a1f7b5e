"""Chooses the edits to believe: the best first, then again with what it has changed, until none is worth its risk."""

import math
from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from undust.learn.alterations import Alteration
from undust.learn.edits import Edit, possible_edits, possible_names
from undust.learn.exchanges import Exchange, possible_exchanges
from undust.learn.moves import possible_moves
from undust.learn.search import MIN_CLUSTERS, Accepted, Candidate, Search, keys_edited, length
from undust.learn.state import State

MAX_EDITS = 40

SMALL = 2_000
"""URLs of a site up to which edits are also tried together."""
MIN_GIANT = 30
"""Keys of a single cluster that show an edit as well, if it has a condition and nothing contradicts it."""
RISK_WEIGHT = 10
"""What a wrong merge costs, in right ones: a page lost is worse than a page fetched twice."""

MIN_EVIDENCE = 20
"""Keys that come together, from which the share of wrong labels is estimated, …"""
MIN_EVIDENCE_SHARE = 0.02
"""… and the same as a share of the URLs."""
LEAST_NOISE = 0.03
"""A smaller share of wrong labels is taken for none, …"""
MOST_NOISE = 0.2
"""… and a larger one for something else than wrong labels."""

WALL_SHARE = 0.5
"""Of a site one cluster of which has more URLs than that, nothing is taken for a wrong label: the cluster may be a wall
that most URLs ran into, such as a consent page, and what differs from it the pages behind."""

SCOPE_DOUBT = 5
"""Pairs of keys that agree, for each condition, which halve the doubt whether a scope holds by chance."""
SWAP_DOUBT = 8
"""How much likelier it is to fail that a value takes the place of another."""
UNSEEN = 0.25
"""Share of wrong labels that do not look like ones, as the URL that they put astray has no company there."""


@dataclass(frozen=True, slots=True)
class Greedy:
    """Learn the edits of a site from its clusters."""

    max_wrong: float = 0.001
    """Wrong merges for each right one that are forgiven: one in a thousand may be a wrong label, more are a reason."""
    min_coverage: int = 0
    """URLs that an edit has to hold for, with those that it makes one with them."""

    def learn(self, state: State) -> list[Accepted]:
        """Accept edits into the state, and list them."""
        search = Search(state)
        accepted: list[Accepted] = []
        # Moves come late: what else differs between templates has to be out of the way. Other names for a segment come
        # last, as they would make templates of some that no URL has.
        for possible in (possible_edits, possible_exchanges, possible_moves, possible_names):
            while len(accepted) < MAX_EDITS:
                edits = list(search.edits(possible, accepted))
                chosen = self._best(search, edits, accepted)
                if chosen is None:
                    break
                search.accept(chosen)
                accepted.append(chosen)
            if possible is possible_edits and len(state.site) <= SMALL:
                self._together(search, accepted)
        return accepted

    def _together(self, search: Search, accepted: list[Accepted]) -> None:
        """Accept edits that show only together, as URLs of a small site may differ in several keys at once."""
        while len(accepted) < MAX_EDITS:
            edits = [
                each for each in search.edits(possible_edits, accepted) if isinstance(each, Edit) and each.is_broad
            ]
            best: list[Accepted] = []
            for chosen, merges in search.together(edits):
                candidate = Candidate(chosen[0], (), merges, 0.0)
                doubt = sum(min(search.prior.get(edit.family, 0.25), edit.most_doubt) for edit in chosen)
                value = self._value(candidate, {chosen[0].family: doubt}, search.noise or 0.0) / len(chosen)
                if value > (best[0].value if best else 0.0):
                    best = [Accepted(edit, (), merges, value) for edit in chosen]
            if not best:
                return
            for each in best:
                search.accept(each)
                accepted.append(each)

    def _best(self, search: Search, edits: list[Alteration], accepted: list[Accepted]) -> Accepted | None:
        """Choose the edit that is worth most: everywhere, or under conditions where it fails."""
        plain = [candidate for edit in edits if (candidate := search.plain(edit)) is not None]
        closed = keys_edited(accepted)
        scoped: list[Candidate] = []
        if search.noise is None:
            scoped = [each for candidate in plain for each in search.scoped(candidate, closed)]
            walled = np.bincount(search.state.clusters).max(initial=0) > WALL_SHARE * len(search.state.site)
            search.noise = 0.0 if walled else _noise(plain + scoped, len(search.state.site))
            search.prior = _record(plain, 0.0)
        best: Accepted | None = None
        for candidate in plain + scoped:
            best = self._better(candidate, best, search)
        if not scoped:
            # One under a condition is worth less than what its edit gains everywhere: most need not be looked at.
            for candidate in sorted(plain, key=lambda each: -each.merges.gained):
                for each in search.scoped(candidate, closed, best.value if best else 0.0):
                    best = self._better(each, best, search)
        search.prior = _record(plain, search.noise)
        return best

    def _better(self, candidate: Candidate, best: Accepted | None, search: Search) -> Accepted | None:
        value = self._value(candidate, search.prior, search.noise or 0.0)
        if value <= (best.value if best else 0.0) or search.coverage(candidate) < self.min_coverage:
            return best
        return Accepted(candidate.edit, candidate.conditions, candidate.merges, value)

    def _value(self, candidate: Candidate, prior: dict[str, float], noise: float) -> float:
        """Weigh what an edit gains against what it risks, and against its length."""
        merges, conditions = candidate.merges, candidate.conditions
        # What wrong labels alone would make of a right edit, with room for chance.
        expected = noise * merges.doubtful + noise**2 * (merges.joined - merges.doubtful)
        blamed = expected + 2 * math.sqrt(expected)
        wrong = max(0.0, merges.wrong - blamed)
        if wrong > self.max_wrong * merges.gained:
            return 0.0
        unexcused = merges.wrong - merges.excused - self.max_wrong * merges.gained
        if noise and unexcused > min(_chance(UNSEEN * expected), _unseen(merges.wrong)):
            return 0.0
        if merges.clusters < MIN_CLUSTERS and not (conditions and merges.gained >= MIN_GIANT and wrong == 0):
            return 0.0
        # How often edits of this family are wrong on this site, before this one is looked at.
        doubt = min(prior.get(candidate.edit.family, 0.25), candidate.edit.most_doubt) * (
            0.5 if isinstance(candidate.edit, Edit) and candidate.edit.change else 1
        )
        risk = wrong + 2 * doubt
        if isinstance(candidate.edit, Exchange):
            # Short lists are the same however they are sorted, and what was seen may be such: values take each other's
            # place only if many clusters say so. That defaults go when they are together is as likely to fail for the
            # next cluster as the rule of succession says.
            swaps = any(part.to for part in candidate.edit.parts)
            risk += (SWAP_DOUBT if swaps else 1) * merges.gained / (merges.clusters + 2)
        # A scope that was searched for fails as often as the edit does elsewhere, until enough keys agree otherwise.
        # A hundred keys that come to one page agree more than a hundred pairs, each of which is one chance to differ.
        agreed = merges.gained * (1 + merges.gained / max(1, merges.groups)) / 2
        doubted = SCOPE_DOUBT * sum(each.surprise for each in conditions)
        risk += max(0.0, candidate.everywhere - noise) * doubted / (doubted + agreed) * merges.gained
        if noise:
            risk += _hidden(merges.wrong, merges.gained + merges.wrong, expected, doubt)
        # What several clusters show is more likely to hold for the next one.
        general = merges.clusters / (merges.clusters + 1)
        return general * (merges.gained - RISK_WEIGHT * risk) / length(candidate.edit, len(conditions))


def _noise(candidates: list[Candidate], urls: int) -> float:
    """Estimate the share of wrong labels: what speaks against the edit that is surest to be right.

    Where labels are right, some edit, maybe under a condition, has nothing against it. Where one in ten is wrong, none
    with much evidence has. Sure means that its share is low even if chance was kind to it.
    """
    least = max(MIN_EVIDENCE, MIN_EVIDENCE_SHARE * urls)
    shown = [each for each in candidates if each.merges.joined >= least and _plain(each)]
    much = [each for each in shown if each.merges.wrong - each.merges.excused <= _unseen(each.merges.wrong)]
    if not much:
        return 0.0
    # Wrong labels spare no edit: there are no more of them than the one with the least against it allows.
    if min(_bound(each.wrong_share, each.merges.joined, 3) for each in shown) < LEAST_NOISE:
        return 0.0
    surest = min(much, key=lambda each: _bound(each.wrong_share, each.merges.joined, 3))
    # Of many candidates one is the luckiest. Those that are as good but for luck tell more, the more they join.
    most = _bound(surest.wrong_share, surest.merges.joined, 3)
    alike = [each for each in much if _bound(each.wrong_share, each.merges.joined, -3) <= most]
    noise = max(alike, key=lambda each: each.merges.joined).wrong_share
    return noise if LEAST_NOISE <= noise <= MOST_NOISE else 0.0


def _unseen(wrong: int) -> float:
    """Give how many of the wrong merges may not look like wrong labels although they are, with room for chance."""
    return UNSEEN * wrong + 2 * math.sqrt(UNSEEN * (1 - UNSEEN) * wrong)


def _chance(expected: float) -> float:
    return expected + 2 * math.sqrt(expected)


def _plain(candidate: Candidate) -> bool:
    """Tell whether no condition denies a value: such ones can be found for any few URLs whose labels are wrong."""
    return all(condition.holds or condition.test != "is" for condition in candidate.conditions)


def _bound(share: float, count: int, deviations: float) -> float:
    """Give the upper or, for negative deviations, the lower end of what a share may be (Wilson's interval)."""
    square = deviations**2
    middle = share + square / (2 * count)
    spread = deviations * math.sqrt(share * (1 - share) / count + square / (4 * count**2))
    return (middle + spread) / (1 + square / count)


def _hidden(wrong: int, tries: int, expected: float, doubt: float) -> float:
    """Give the wrong merges to expect of an edit beyond what wrong labels explain.

    Either the edit is right, and wrong merges come from wrong labels alone, or, with the probability `doubt`, it fails
    for some share of its merges; each share is as likely as another before the merges are looked at.
    """
    shares = np.arange(1, 101) / 100
    means = np.concatenate([[expected], expected * (1 - shares) + tries * shares])
    weights = np.concatenate([[1 - doubt], np.full(100, doubt / 100)])
    logs = wrong * np.log(means) - means
    likely = weights * np.exp(logs - logs.max())
    return float((likely[1:] * shares).sum() / likely.sum() * tries)


def _record(candidates: list[Candidate], noise: float) -> dict[str, float]:
    """Tell how often edits of each family are wrong here, beyond what wrong labels explain."""
    rates: dict[str, list[float]] = defaultdict(list)
    for each in candidates:
        if not each.conditions:
            rates[each.edit.family].append(max(0.0, each.wrong_share - noise))
    return {family: (sum(found) + 0.5) / (len(found) + 2) for family, found in rates.items()}
