"""Learns the rules of a site by its pattern tree (Lei et al., 2010).

    forms ──> pattern tree ──> duplicate nodes ──> operations, proofed ──> selection ──> forms …
    forms     pattern_tree     nodes               candidates              deploy

What the chosen rules leave of the forms goes round again, as rules show what was hidden behind others. In the end all
rounds are written as rules of which one at most is needed for a URL.
"""

from dataclasses import dataclass, field, replace

import numpy as np

from undust.learn.columns import SiteUrls
from undust.learn.learner import keys_of, order_is_free
from undust.learn.proof import proofed
from undust.learn.tree.candidates import find_candidates
from undust.learn.tree.deploy import deploy
from undust.learn.tree.evidence import Belief
from undust.learn.tree.forms import Forms, forms_of
from undust.learn.tree.pattern_tree import grow
from undust.learn.tree.rules import Round, write_rules
from undust.rules.rule import Rule, Statistics
from undust.urls.keys import Key

MAX_TREES = 8
"""Trees that are grown, each on what the rules before it have left."""

MIN_SHOWN = 10
"""URLs of a rule, of which some have to be duplicates. Fewer may be a combination that nobody meant."""


@dataclass(frozen=True, slots=True)
class TreeLearner:
    """Learn rules from the tree of a site's URL patterns."""

    max_fpr: float = 0.01
    naive: bool = False
    """Choose rules by the naive strategy instead of by the graph."""
    belief: Belief = field(default_factory=Belief)
    name: str = "tree"

    def learn_site(self, site: SiteUrls) -> list[Rule]:
        """Give the rules of one site, in the order in which they are to be tried."""
        if len(site) < 2 or len(np.unique(site.clusters)) == len(site):
            return []
        rounds, forms = self.rounds(site)
        rules = write_rules(site, rounds)
        keys = keys_of(rules, site)
        if len(np.unique(keys)) > len(np.unique(forms.hashes)):  # which know no order of arguments
            ordered = write_rules(site, rounds, sort_query=True)
            if order_is_free(site, keys, keys_of(ordered, site)):
                rules = ordered
        return self._proofed(rules, site)

    def rounds(self, site: SiteUrls) -> tuple[list[Round], Forms]:
        """Choose what is to be done, round after round; give that, and what becomes of the forms."""
        belief = replace(self.belief, max_fpr=self.max_fpr)
        forms = forms_of(site)
        rounds: list[Round] = []
        for _ in range(MAX_TREES):
            # What was asked for has to stay: the URL that is left must lead to the same rule.
            closed: frozenset[Key] = frozenset(
                constraint.key for done in rounds for each in done for constraint in each.constraints
            )
            tree = grow(forms)
            made, forms = deploy(tree, find_candidates(tree, belief, closed), belief, naive=self.naive)
            if not made:
                break
            rounds += made
        return rounds, forms

    def _proofed(self, rules: list[Rule], site: SiteUrls) -> list[Rule]:
        """Run rules on the URLs they were learned from; those that confuse too much or show too little do nothing."""
        found = proofed(rules, site, self.name)
        while any(rule.operations and self._fails(rule.statistics) for rule in found):
            kept = [replace(rule, operations={}) if self._fails(rule.statistics) else rule for rule in found]
            found = proofed(kept, site, self.name)
        while found and not found[-1].operations and not found[-1].sort_query:
            found.pop()
        return found

    def _fails(self, found: Statistics) -> bool:
        return found.fpr > self.max_fpr or (found.coverage < MIN_SHOWN and not found.clusters)
