"""Learns the rules of a site from pairs of duplicate URLs with a decision tree (Koppula et al.)."""

from dataclasses import dataclass, field

import numpy as np

from undust.learn.columns import SiteUrls
from undust.learn.pairs.chains import compile_drafts
from undust.learn.pairs.choose import sampled
from undust.learn.pairs.finish import finished
from undust.learn.pairs.limits import Limits
from undust.learn.pairs.order import order_is_free
from undust.learn.pairs.search import Search, Stages
from undust.learn.pairs.workspace import Workspace
from undust.rules.rule import Rule


@dataclass(frozen=True, slots=True)
class Pairwise:
    """Learn from pairs: what turns one URL of a cluster into a better one, generalized by a decision tree."""

    limits: Limits = field(default_factory=Limits)
    name: str = "pairwise"

    def learn_site(self, site: SiteUrls) -> list[Rule]:
        """Give the rules of one site, in the order in which they are to be tried."""
        if len(site) < 2 or len(np.unique(site.clusters)) == len(site):
            return []
        rows = sampled(site)
        drafts = Search(Workspace(site, rows), self.limits, site.importance).run()
        given = Workspace(site, rows)
        rules = compile_drafts(site.site, drafts, given, sort_query=order_is_free(site, self.limits))
        # What a sample shows need not hold for all.
        max_fpr = self.limits.max_fpr if len(rows) < len(site) else 1.0
        return finished(rules, site, self.name, min_precision=self.limits.min_precision, max_fpr=max_fpr)

    def stages(self, site: SiteUrls) -> Stages:
        """Tell how many rules each stage of learning makes of a site (the paper's table 2)."""
        search = Search(Workspace(site, sampled(site)), self.limits, site.importance)
        search.run()
        return search.stages
