"""Learns drafts of rules from a site's clusters: pairs, classes, contexts, belief; then again from what is left."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from undust.learn.deep_columns import DeepColumn, deep_columns
from undust.learn.pairs.belief import Draft, Judge, wrong_share
from undust.learn.pairs.candidates import Candidate, Candidates, is_open
from undust.learn.pairs.choose import Pairs, choose_pairs
from undust.learn.pairs.limits import Limits
from undust.learn.pairs.salience import is_index
from undust.learn.pairs.workspace import Workspace
from undust.rules.values import DROP, Pattern
from undust.urls.keys import Key

MAX_DRAFTS = 40
DOUBT = 5
"""Merges, for each condition that was searched for, that halve the doubt whether it holds by chance."""
UNKNOWN = 0.25
"""How often drafts are wrong of which nothing is known yet."""
RISKY, COUNTED = 0.35, 0.5
"""The same for a segment that leaves the path, unless it is the name of an index file, and for one with a number in it
(`/page-2/`): that may be one of several pages."""


@dataclass(slots=True)
class Stages:
    """How many rules each stage of learning made (the paper's table 2)."""

    pairwise: int = 0
    generalized: int = 0
    believed: int = 0


class Search:
    """Learn drafts, one after the other: each is to be applied to what those before it have left."""

    def __init__(self, work: Workspace, limits: Limits, importance: npt.NDArray[np.float64] | None = None) -> None:
        self.work, self.limits, self.importance = work, limits, importance
        self.judge = Judge(work, limits)
        self.accepted: list[Draft] = []
        self.stages = Stages()
        self.deep: dict[Key, DeepColumn] = deep_columns(work) if limits.deep else {}

    def run(self) -> list[Draft]:
        """Give the drafts that are believed, in the order in which they are to be applied."""
        for _ in range(self.limits.rounds):
            if not self._round() or len(self.accepted) >= MAX_DRAFTS:
                break
        return self.accepted

    def _round(self) -> bool:
        pairs = choose_pairs(self.work, self.importance)
        candidates = self._candidates(pairs)
        if not self.accepted:
            self.judge.estimate_noise([each.merges for each in candidates if not each.added])
            if self.judge.noise:
                candidates = self._candidates(pairs)
        prior = _record(candidates, self.judge.noise)
        ranked = sorted(
            ((self._value(each, prior), each) for each in candidates),
            key=lambda each: (len(each[1].draft.operations), -each[0], each[1].draft.name),
        )
        before = len(self.accepted)
        for worth, candidate in ranked:
            if worth > 0 and len(self.accepted) < MAX_DRAFTS:
                self._accept(candidate, worth, prior)
        return len(self.accepted) > before

    def _candidates(self, pairs: Pairs) -> list[Candidate]:
        maker = Candidates(self.judge, self.deep, self.accepted)
        made = maker.make(pairs)
        self.stages.pairwise += len(pairs.sources)
        self.stages.generalized += maker.generalized
        return made

    def _accept(self, candidate: Candidate, worth: float, prior: dict[str, float]) -> None:
        """Apply a candidate if it is still worth it after those before."""
        draft = candidate.draft
        if not is_open(draft, self.accepted):
            return
        merges = self.judge.measure(draft)
        if merges is None or self._value(replace(candidate, merges=merges), prior) < worth / 4:
            return
        self.work.accept(merges.columns, merges.depth, merges.rows)
        self.judge.refresh()
        self.accepted.append(draft)
        self.stages.believed += 1

    def _value(self, candidate: Candidate, prior: dict[str, float]) -> float:
        draft, merges = candidate.draft, candidate.merges
        doubt = max(prior.get(draft.family, UNKNOWN), _known_risk(draft))
        searched = DOUBT * candidate.added
        if searched:
            doubt += candidate.everywhere * searched / (searched + merges.gained)
        return self.judge.value(draft, merges, min(doubt, 1.0))


def _known_risk(draft: Draft) -> float:
    """Give how often a draft is wrong by what is known of all sites."""
    if not all(made == DROP for made in draft.operations.values()):
        return 0.0
    risk = 0.0
    for key in draft.operations:
        if key.part == "path":
            match = draft.context.get(key)
            name = match.literal if isinstance(match, Pattern) else None
            counted = name is not None and any(map(str.isdigit, name))
            risk = max(risk, COUNTED if counted else 0.0 if name is not None and is_index(name) else RISKY)
    return risk


def _record(candidates: Sequence[Candidate], noise: float) -> dict[str, float]:
    """Tell how often drafts of each family are wrong here, before conditions are searched for."""
    rates: dict[str, list[float]] = defaultdict(list)
    for each in candidates:
        if not each.added:
            rates[each.draft.family].append(max(0.0, wrong_share(each.merges) - 2 * noise))
    return {family: (sum(found) + 0.5) / (len(found) + 2) for family, found in rates.items()}
