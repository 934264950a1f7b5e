"""Deployable rules (Lei et al., 2010, section 5.3): of the candidates, those that do not contradict each other.

Three things must not be (figure 7): two rules for the same node, a rule for a node below one that has a rule, and rules
that go round in a circle.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, slots=True)
class Link:
    """A candidate rule from one node to another, or to itself, as far as choosing goes."""

    source: int
    target: int
    fpr: float
    support: int
    """URLs that the rule normalizes."""
    value: float
    """What it gains, proofed."""


@dataclass(frozen=True, slots=True)
class Tree:
    """The nodes that rules connect: which is above which, and how many URLs each has (its volume)."""

    parent: npt.NDArray[np.int64]
    volume: npt.NDArray[np.int64]

    def above(self, node: int) -> list[int]:
        """Give the ancestors of a node, the nearest first."""
        found = []
        while (node := int(self.parent[node])) >= 0:
            found.append(node)
        return found

    def related(self, one: int, other: int) -> bool:
        """Tell whether two nodes are the same, or one is above the other."""
        return one == other or one in self.above(other) or other in self.above(one)


Chain = tuple[int, ...]
"""Rules one after the other, by their places among the candidates: what is to be done with the URLs of a node."""


def choose_naively(tree: Tree, links: Sequence[Link]) -> list[int]:
    """Choose by what each conflict alone suggests: low fpr, nodes nearer to the root, much support."""
    best: dict[int, int] = {}
    for place in sorted(range(len(links)), key=lambda at: (links[at].fpr, -links[at].support, -links[at].value, at)):
        best.setdefault(links[place].source, place)
    kept = {source: place for source, place in best.items() if not any(above in best for above in tree.above(source))}
    while circle := find_circle(tree, links, kept):
        del kept[min(circle, key=lambda source: (links[kept[source]].support, links[kept[source]].value, source))]
    return sorted(kept.values())


def without_covered(tree: Tree, links: Sequence[Link], places: Iterable[int]) -> list[int]:
    """Of rules for nodes one above the other keep those that gain most; nodes and depths count for nothing."""
    kept: list[int] = []
    for place in sorted(places, key=lambda at: (-links[at].value, at)):
        if not any(tree.related(links[place].source, links[other].source) for other in kept):
            kept.append(place)
    return sorted(kept)


def concatenated(tree: Tree, links: Sequence[Link], chosen: Iterable[int]) -> list[Chain]:
    """Give for each source the rules that lead from it to where no other rule holds."""
    rule_of = {links[place].source: place for place in chosen}
    while circle := find_circle(tree, links, rule_of):
        del rule_of[min(circle, key=lambda source: (links[rule_of[source]].value, source))]
    chains = []
    for source in sorted(rule_of):
        chain = [rule_of[source]]
        while (after := _next(tree, links, rule_of, chain[-1])) is not None:
            chain.append(after)
        chains.append(tuple(chain))
    return chains


def find_circle(tree: Tree, links: Sequence[Link], rule_of: dict[int, int]) -> list[int]:
    """Give the sources of rules that go round in a circle, one circle of all; nothing if there is none."""
    cleared: set[int] = set()
    for source in sorted(rule_of):
        line: list[int] = []
        place: int | None = rule_of[source]
        while place is not None and links[place].source not in cleared:
            if links[place].source in line:
                return line[line.index(links[place].source) :]
            line.append(links[place].source)
            place = _next(tree, links, rule_of, place)
        cleared.update(line)
    return []


def _next(tree: Tree, links: Sequence[Link], rule_of: dict[int, int], place: int) -> int | None:
    """Give the rule for what a rule makes: that of its target, or of the nearest node above it that has one."""
    here = links[place]
    if here.source == here.target:
        return None
    for node in (here.target, *tree.above(here.target)):
        if node in rule_of:
            # Above the source too: it would have been there without this rule.
            return None if rule_of[node] == place else rule_of[node]
    return None
