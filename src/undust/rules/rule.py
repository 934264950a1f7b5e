"""A rule: for which URLs of a site it holds, what it makes of them, and what is known about it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from undust.rules.values import Match, Operation
from undust.urls.keys import Key


@dataclass(frozen=True, slots=True)
class Statistics:
    """What was counted when the rule was proofed on the URLs it was learned from."""

    coverage: int = 0
    """URLs that the rule holds for."""
    support: int = 0
    """Pairs of URLs that it makes one and that are duplicates."""
    false_positives: int = 0
    """Pairs of URLs that it makes one although they are not."""
    clusters: int = 0
    """Clusters in which it makes several URLs one."""
    merged: int = 0
    """URLs fewer, after the rule."""
    examples: tuple[tuple[str, str], ...] = ()
    learner: str = ""
    trained_on: int = 0
    """URLs of the site that were learned from."""
    learned_at: str = ""
    """Date on which it was learned, such as 2026-03-01."""
    expires: str = ""
    """Date from which it is no longer to be relied on."""

    @property
    def fpr(self) -> float:
        """Share of false pairs among the pairs that it makes one."""
        pairs = self.support + self.false_positives
        return self.false_positives / pairs if pairs else 0.0

    @property
    def saves(self) -> int:
        """Fetches that it saves: URLs fewer, but for those that only other rules bring to its keys."""
        return min(self.merged, self.coverage)

    @property
    def precision(self) -> float:
        """Share of its URLs that it does not confuse with another page: (coverage - f) / coverage."""
        wrong = min(self.false_positives, self.coverage)
        return (self.coverage - wrong) / self.coverage if self.coverage else 1.0


@dataclass(frozen=True, slots=True)
class Rule:
    """Operations on the URLs of a site that fit a context. Keys that it does not name stay as they are.

    A context names keys that must fit a pattern or be absent; all other keys are free.
    """

    site: str
    context: Mapping[Key, Match] = field(default_factory=lambda: MappingProxyType({}))
    operations: Mapping[Key, Operation] = field(default_factory=lambda: MappingProxyType({}))
    sort_query: bool = False
    """The order of query arguments does not matter: they are put in order."""
    statistics: Statistics = field(default=Statistics(), compare=False)

    @property
    def id(self) -> str:
        """Short name that the rule keeps as long as context and operations are the same, whatever else is known."""
        from undust.rules.files import name_of

        return name_of(self)

    @property
    def acts(self) -> bool:
        """Whether it does anything. A rule that does not keeps those after it from taking its URLs over."""
        return bool(self.operations) or self.sort_query

    def __reduce__(self) -> tuple[Any, ...]:
        return Rule, (self.site, dict(self.context), dict(self.operations), self.sort_query, self.statistics)

    def __str__(self) -> str:
        """Write the rule on one line that a person can read."""
        from undust.rules.line import write_line

        return write_line(self)

    def __hash__(self) -> int:
        """Equal rules have equal hashes; the order in which keys are named counts for neither."""
        return hash((self.site, frozenset(self.context.items()), frozenset(self.operations.items()), self.sort_query))
