"""The baseline of substring substitutions: DUST rules (Bar-Yossef, Keidar and Schonfeld, 2007)."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from undust.learn.columns import SiteUrls
from undust.learn.dust_substrings import Substitution, likely_substitutions
from undust.learn.dust_translate import translated
from undust.learn.pairs.belief import Draft, Judge
from undust.learn.pairs.chains import compile_drafts
from undust.learn.pairs.choose import sampled
from undust.learn.pairs.finish import finished
from undust.learn.pairs.limits import Limits
from undust.learn.pairs.order import order_is_free
from undust.learn.pairs.select import select, together
from undust.learn.pairs.workspace import Workspace
from undust.rules.rule import Rule

MAX_ROWS = 20_000
"""URLs that pieces are taken from; each has more than a hundred."""
MAX_VALIDATED = 300
"""Likely rules that are validated, those with the most support."""


@dataclass(frozen=True, slots=True)
class Dust:
    """Learn substring substitutions: likely ones by support, then validated, one of each that are nearly the same."""

    min_confidence: float = 0.95
    """Share of its instances, and of its URLs, for which a rule must hold."""
    min_coverage: int = 3
    name: str = "dust"

    def learn_site(self, site: SiteUrls) -> list[Rule]:
        """Give the rules of one site, in the order in which they are to be tried."""
        if len(site) < 2 or len(np.unique(site.clusters)) == len(site):
            return []
        rows = sampled(site, MAX_ROWS)
        drafts = self.drafts(site, rows)
        accepted = select(Judge(Workspace(site, rows), Limits()), drafts, self.min_confidence, self.min_coverage)
        given = Workspace(site, rows)
        rules = compile_drafts(site.site, accepted, given, sort_query=order_is_free(site, Limits()))
        return finished(rules, site, self.name)

    def drafts(self, site: SiteUrls, rows: Sequence[int] | np.ndarray) -> list[Draft]:
        """Give the substitutions that are valid where they can be tried, in the rule language."""
        urls = site.urls.take(rows)
        likely = likely_substitutions(urls, site.clusters[rows])
        valid = [rule for rule in likely if rule.confidence >= self.min_confidence]
        texts = urls.to_pylist()
        made: list[Draft] = []
        for rule in _unrefined(valid[: 4 * MAX_VALIDATED])[:MAX_VALIDATED]:
            made += _drafts(rule, texts)
        return together(made)


def _unrefined(rules: Sequence[Substitution]) -> list[Substitution]:
    """Leave out rules that refine one with more support which is valid itself."""
    kept: list[Substitution] = []
    for rule in rules:
        if not any(rule.refines(better) for better in kept):
            kept.append(rule)
    return kept


def _drafts(rule: Substitution, texts: Sequence[str]) -> Iterator[Draft]:
    """Write a rule for each place in URLs where several of its instances have it."""
    found: Counter[str] = Counter()
    drafts: dict[str, Draft] = {}
    for source, target in rule.instances:
        draft = translated(rule, texts[source], texts[target])
        if draft is not None:
            drafts[draft.name] = draft
            found[draft.name] += 1
    for name, count in sorted(found.items(), key=lambda each: (-each[1], each[0])):
        if count >= min(3, rule.support):
            yield drafts[name]
