"""Learns the rules of a site in several ways, and takes those that save most for what they risk.

Edits of one key compose, and say much in few rules; pairs of URLs show what changes together, also on a site of forty
URLs; the pattern tree sees whole sections. None of them is best everywhere, and which one is can be seen on the URLs
that all have learned from: each believes only what it would bet on unseen pages, so what saves more there is not what
fits better.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from undust.learn.columns import SiteUrls
from undust.learn.coverage import least_coverage
from undust.learn.greedy import RISK_WEIGHT
from undust.learn.learner import Learner, keys_of
from undust.learn.methods import Method
from undust.learn.pairs.limits import Limits
from undust.learn.pairwise import Pairwise
from undust.learn.search import MIN_CLUSTERS
from undust.learn.tree_learner import TreeLearner
from undust.rules.care import drop
from undust.rules.rule import Rule
from undust.rules.ruleset import RuleSet

FEW = 5_000
"""URLs of a site up to which it is learned in all ways. On a larger one edits see what the others do, in less time."""
ENOUGH = 0.98
"""Share of the duplicates from which on no other way is tried."""
TRIES = 100
"""Drafts that learning from pairs measures in a round before it searches for no further conditions: more take three
times as long, and what they find has not been worth more."""


@dataclass(frozen=True, slots=True)
class Worth:
    """What rules make one of the URLs they were learned from."""

    gained: int
    """Keys fewer, within clusters."""
    wrong: int
    """Clusters that were apart and are no longer."""

    @classmethod
    def of(cls, rules: Sequence[Rule], site: SiteUrls) -> "Worth":
        """Count both, linearly: a cluster of a thousand URLs is not a million pairs."""
        if not rules:
            return cls(0, 0)
        keys = keys_of(list(rules), site)
        cells = len(np.unique(keys.astype(np.int64) << 32 | site.clusters))
        return cls(len(site) - cells, cells - len(np.unique(keys)))

    def beats(self, other: "Worth") -> bool:
        """Tell whether more is saved, and enough more to pay for what more is wrong.

        What is wrong in both does not count: where labels are wrong, the right rules have that against them.
        """
        return self.gained - other.gained > RISK_WEIGHT * max(0, self.wrong - other.wrong)


def shown_often(rules: Sequence[Rule]) -> list[Rule]:
    """Leave out rules that few pages show but that make many URLs one: a wall shows that all of a section is one page.

    The tree and pairs look at sections as they were seen; what a single cluster says of them may be a lie.
    """
    lies = [rule for rule in rules if rule.statistics.clusters < MIN_CLUSTERS and rule.statistics.merged > MIN_CLUSTERS]
    return list(drop(RuleSet(rules), lies).rules) if lies else list(rules)


@dataclass(frozen=True, slots=True)
class Both:
    """Learn by edits, by the pattern tree and by pairs, and choose by what each proves to save."""

    max_fpr: float = 0.01
    min_coverage: int | None = None

    def learn_site(self, site: SiteUrls) -> list[Rule]:
        """Give the rules of one site, in the order in which they are to be tried."""
        first, *others = self._ways(site)
        # The first is believed as it is: where labels are wrong, the right rules have much against them.
        best = first.learn_site(site)
        if not others:
            return best
        possible = len(site) - len(np.unique(site.clusters))
        worth = Worth.of(best, site)
        for learner in others:
            if worth.gained >= ENOUGH * possible and not worth.wrong:
                break
            rules = shown_often(learner.learn_site(site))
            found = Worth.of(rules, site)
            if found.beats(worth):
                best, worth = rules, found
        return best

    def _ways(self, site: SiteUrls) -> Iterator[Method]:
        """Give the ways in which a site is learned; of those that save as much the first is taken."""
        yield Learner(max_fpr=self.max_fpr, min_coverage=self.min_coverage)
        if len(site) <= FEW:
            yield TreeLearner(max_fpr=self.max_fpr)
            least = least_coverage(self.min_coverage, len(site))
            yield Pairwise(Limits(max_fpr=self.max_fpr, min_coverage=least, tries=TRIES))
