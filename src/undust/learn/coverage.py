"""Least coverage: how many URLs what is learned has to hold for."""

from collections.abc import Sequence
from dataclasses import replace

from undust.learn.columns import SiteUrls
from undust.learn.pairs.chains import pruned
from undust.learn.proof import proofed
from undust.rules.rule import Rule

MIN_COVERAGE = 10
"""URLs that a change has to hold for, if nobody says otherwise, …"""
MIN_COVERAGE_SHARE = 0.1
"""… or this share of the URLs of a site, if that is less: ten URLs are half of a site of twenty."""


def least_coverage(given: int | None, urls: int) -> int:
    """Give how many URLs a change has to hold for on a site.

    What is counted is the change, such as an argument that goes, not each of the rules that it becomes a part of: a
    change that holds for a thousand URLs may be written in many rules, some of which are for few of them.

    >>> least_coverage(None, 20), least_coverage(None, 20_000), least_coverage(50, 20)
    (2, 10, 50)
    """
    return min(MIN_COVERAGE, int(MIN_COVERAGE_SHARE * urls)) if given is None else given


def covered(rules: Sequence[Rule], site: SiteUrls, least: int) -> list[Rule]:
    """Give rules without those that decide fewer URLs than somebody asked for.

    Such a rule does nothing any more, and its URLs are left to no other, which was not made for them.
    """
    if all(rule.statistics.coverage >= least for rule in rules):
        return list(rules)
    kept = pruned([rule if rule.statistics.coverage >= least else _idle(rule) for rule in rules])
    learner = rules[0].statistics.learner
    made = proofed(kept, site, learner)
    # What pruning has put together may cover enough now; what does nothing stays, as it guards its URLs.
    return made if any(rule.operations or rule.sort_query for rule in made) else []


def _idle(rule: Rule) -> Rule:
    return replace(rule, operations={}, sort_query=False)
