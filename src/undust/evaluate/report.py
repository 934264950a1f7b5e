"""Evaluates rules on clusters: over all URLs (micro), as the mean of sites (macro), and site by site."""

from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
import pyarrow as pa

from undust.evaluate.by_rule import RuleMeasures, measure_rules
from undust.evaluate.coded import Coded, apply_to
from undust.evaluate.confidence import Intervals, intervals
from undust.evaluate.measures import Counts, Measures, count, lost_clusters, measures_of
from undust.rules.ruleset import RuleSet


@dataclass(frozen=True, slots=True)
class Report:
    """What rules do to URLs whose clusters are known."""

    micro: Measures
    macro: dict[str, float]
    sites: dict[str, Measures]
    rules: int
    unusable: int
    """URLs that cannot be parsed; they are left out."""
    intervals: Intervals
    """How sure the measures of all URLs are, …"""
    site_intervals: dict[str, Intervals]
    """… and those of each site."""
    by_rule: list[RuleMeasures] = field(default_factory=list)
    """Each rule by itself, in the order of the set; empty where nobody counted."""

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON: micro at the top, `macro` and `sites` inside."""
        return {
            **self.micro.to_dict(),
            "rules": self.rules,
            "unusable": self.unusable,
            "intervals": self.intervals.to_dict(),
            "macro": self.macro,
            "by_rule": [each.to_dict() for each in self.by_rule],
            "sites": {
                site: {**measures.to_dict(), "intervals": self.site_intervals[site].to_dict()}
                for site, measures in self.sites.items()
            },
        }


def evaluate(rules: RuleSet, clusters: pa.Table) -> Report:
    """Measure what rules do to the URLs of a table of clusters (`url`, `cluster`). Repeated rows count once."""
    coded = apply_to(rules, clusters)
    _, cluster = np.unique(coded.clusters, return_inverse=True)
    named = [(str(rule), rule.site) for rule in rules]
    each = measure_rules(named, coded.rules, coded.keys, cluster, lost_clusters(coded.keys, cluster))
    return replace(report_on(coded, len(rules)), by_rule=each)


def report_on(coded: Coded, rules: int) -> Report:
    """Measure URLs that so many rules were applied to."""
    key, cluster = coded.keys, coded.clusters
    of_site = {site: count(key[rows], cluster[rows]) for site, rows in coded.by_site()}
    return report_of(count(key, cluster), of_site, rules, coded.unusable)


def report_of(whole: Counts, of_site: dict[str, Counts], rules: int, unusable: int) -> Report:
    """Make a report of counts."""
    ordered = dict(sorted(of_site.items()))
    found = {site: measures_of(counts) for site, counts in ordered.items()}
    sure = {site: intervals(counts) for site, counts in ordered.items()}
    return Report(measures_of(whole), macro(found), found, rules, unusable, intervals(whole), sure)


def macro(sites: dict[str, Measures]) -> dict[str, float]:
    """Give the mean of sites, in the order in which they are given."""
    names = [each.name for each in fields(Measures) if each.type is float or each.type == "float"]
    return {
        name: float(np.mean([getattr(measures, name) for measures in sites.values()])) if sites else 0.0
        for name in names
    }
