"""The last step of learners from pairs: rules are proofed on all URLs, and those that did not earn their place go."""

from collections.abc import Sequence

from undust.learn.columns import SiteUrls
from undust.learn.pairs.chains import pruned
from undust.learn.proof import proofed
from undust.rules.rule import Rule


def finished(
    rules: Sequence[Rule], site: SiteUrls, learner: str, *, min_precision: float = 0.0, max_fpr: float = 1.0
) -> list[Rule]:
    """Give rules with their statistics, without those that decide no URL or confuse too many with another page."""
    made = proofed(rules, site, learner)
    kept = [rule for rule in made if _is_kept(rule, min_precision, max_fpr)]
    return made if len(kept) == len(made) else proofed(pruned(kept), site, learner)


def _is_kept(rule: Rule, min_precision: float, max_fpr: float) -> bool:
    found = rule.statistics
    return found.coverage > 0 and found.precision >= min_precision and found.fpr <= max_fpr
