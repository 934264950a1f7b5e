"""The methods of learning, by name: each turns the URLs of one site, with their clusters, into rules."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

from undust.errors import UsageError
from undust.learn.columns import SiteUrls
from undust.rules.rule import Rule

SELECTIONS = ("graph", "naive")
"""How `tree` chooses among the rules it has found."""


class Method(Protocol):
    """One way of learning. What it needs to know it is told when it is made; nothing is kept from site to site."""

    def learn_site(self, site: SiteUrls) -> list[Rule]:
        """Give the rules of one site, with their statistics, in the order in which they are to be tried."""
        ...


@dataclass(frozen=True, slots=True)
class Options:
    """What methods can be told. Each takes what concerns it."""

    max_fpr: float = 0.01
    selection: str = "graph"
    min_coverage: int | None = None
    """URLs that a change has to hold for; None: what `coverage.least_coverage` says."""


def method(name: str, options: Options | None = None) -> Method:
    """Give the method of a name; `UsageError` if there is none."""
    if name not in METHODS:
        raise UsageError(f"unknown method {name!r}; one of {', '.join(METHODS)}")
    return METHODS[name](options or Options())


def _both(options: Options) -> Method:
    from undust.learn.both import Both

    return Both(max_fpr=options.max_fpr, min_coverage=options.min_coverage)


def _tree(options: Options) -> Method:
    from undust.learn.tree_learner import TreeLearner

    if options.selection not in SELECTIONS:
        raise UsageError(f"unknown selection {options.selection!r}; one of {', '.join(SELECTIONS)}")
    return TreeLearner(max_fpr=options.max_fpr, naive=options.selection == "naive")


def _pairwise(options: Options) -> Method:
    from undust.learn.pairs.limits import Limits
    from undust.learn.pairwise import Pairwise

    limits = Limits(max_fpr=options.max_fpr)
    return Pairwise(limits if options.min_coverage is None else replace(limits, min_coverage=options.min_coverage))


def _rewrite(options: Options) -> Method:
    from undust.learn.rewrite import Rewrite

    return Rewrite() if options.min_coverage is None else Rewrite(min_coverage=options.min_coverage)


def _dust(options: Options) -> Method:
    from undust.learn.dust import Dust

    return Dust() if options.min_coverage is None else Dust(min_coverage=options.min_coverage)


METHODS: dict[str, Callable[[Options], Method]] = {
    "both": _both,
    "tree": _tree,
    "pairwise": _pairwise,
    "rewrite": _rewrite,
    "dust": _dust,
}
"""Methods by name, and how they are made. The first is the one that is used if none is named."""
