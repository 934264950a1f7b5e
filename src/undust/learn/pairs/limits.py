"""How much has to be seen before it is believed."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """Thresholds of learning from pairs."""

    min_coverage: int = 10
    """URLs that a rule has to hold for."""
    min_clusters: int = 3
    """Clusters that have to show a rule, and to have a value for it to be a word of the site: two may be chance."""
    min_giant: int = 30
    """Keys of fewer clusters that show a rule as well, if nothing contradicts it."""
    max_wrong: float = 0.001
    """Wrong merges for each right one that are forgiven: one in a thousand may be a wrong label."""
    min_precision: float = 0.0
    """Share of a rule's URLs that it must not confuse with another page (levels of the paper: 1, 0.95, 0.9, 0.8)."""
    max_fpr: float = 0.01
    """Share of false pairs among those that a rule makes one, where it was learned from a sample of the URLs."""
    deep: bool = True
    """Whether values are cut into deep tokens."""
    sceptical: bool = True
    """Whether a rule has to earn its belief; if not, coverage and precision alone decide, as in the paper."""
    tries: int = 30_000
    """Drafts that are measured in one round, at most, before no further conditions are searched for."""
    rounds: int = 8
    """How often pairs are chosen anew from what the rules so far have left; the paper does it once."""


def of_paper(min_precision: float, min_coverage: int = 10, *, deep: bool = True) -> Limits:
    """Give the limits of the paper: one pass, and rules by coverage and precision on the URLs they are learned from."""
    return Limits(
        min_coverage=min_coverage,
        min_clusters=1,
        min_giant=1,
        min_precision=min_precision,
        deep=deep,
        sceptical=False,
        rounds=1,
    )
