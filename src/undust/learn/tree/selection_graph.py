"""Chooses destinations by a random walk: energy flows along rules from node to node, and stays where none leads on."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from undust.learn.tree.selection import Link, Tree, without_covered

_TURNS = 10_000
_SETTLED = 1e-9

Energy = npt.NDArray[np.float64]


def choose_by_graph(tree: Tree, links: Sequence[Link]) -> list[int]:
    """Choose rules by where the URLs of a site want to go (Lei et al., 2010, equation 7).

    The node with the most energy becomes a destination: rules that leave it are dropped, and every node from which
    rules lead there keeps one rule, the first of a shortest way. Then the same with the nodes that are left.
    """
    left = sorted({node for link in links for node in (link.source, link.target)})
    kept: list[int] = []
    while left:
        inside = set(left)
        between = [
            place
            for place, link in enumerate(links)
            if link.source != link.target and {link.source, link.target} <= inside
        ]
        wanted = {links[place].target for place in between}
        if not wanted:
            break
        energy = dict(zip(left, energies(tree, links, left), strict=True))
        # Of equally popular nodes the larger one, then the one that is easier to reach.
        gain = {node: sum(links[place].value for place in between if links[place].target == node) for node in wanted}
        destination = max(wanted, key=lambda node: (round(energy[node], 6), int(tree.volume[node]), gain[node], -node))
        ways = _ways(links, between, destination)
        kept += [*ways.values(), *_own(links, destination)]
        left = [node for node in left if node != destination and node not in ways]
    for node in left:
        kept += _own(links, node)
    return without_covered(tree, links, kept)


def energies(tree: Tree, links: Sequence[Link], vertices: Sequence[int]) -> Energy:
    """Let the volume of each node flow along rules, and from nodes to those above them, until it rests."""
    return stable(transitions(tree, links, vertices), tree.volume[np.array(vertices, np.int64)].astype(float))


def transitions(tree: Tree, links: Sequence[Link], vertices: Sequence[int]) -> Energy:
    """Give the probability of each step: in proportion to 1 - fpr for a rule, to 1 for a step up the tree.

    A node without a way out keeps what it has.
    """
    place = {node: at for at, node in enumerate(vertices)}
    weights = np.zeros((len(place), len(place)))
    for link in links:
        if link.source in place and link.target in place:
            edge = place[link.source], place[link.target]
            weights[edge] = max(weights[edge], 1 - link.fpr)
    for node, at in place.items():
        for above in tree.above(node):
            if above in place:
                weights[at, place[above]] = 1.0
    leaving = weights.sum(axis=1)
    sinks = np.flatnonzero(leaving == 0)
    weights[sinks, sinks] = leaving[sinks] = 1.0
    return np.asarray(weights / leaving[:, None])


def stable(steps: Energy, energy: Energy) -> Energy:
    """Give the distribution in which a walk ends. Half of the energy rests at each turn, so that circles settle too."""
    most = max(float(energy.sum()), 1.0)
    for _ in range(_TURNS):
        after = 0.5 * energy + 0.5 * (energy @ steps)
        if float(np.abs(after - energy).max(initial=0.0)) <= _SETTLED * most:
            return np.asarray(after)
        energy = after
    return energy


def _ways(links: Sequence[Link], between: Sequence[int], destination: int) -> dict[int, int]:
    """Give for each node from which rules lead to the destination the first rule of a shortest way."""
    found: dict[int, int] = {}
    reached = {destination}
    while True:
        step: dict[int, int] = {}
        for place in sorted(between, key=lambda at: (links[at].fpr, -links[at].value, at)):
            link = links[place]
            if link.target in reached and link.source not in reached:
                step.setdefault(link.source, place)
        if not step:
            return found
        found |= step
        reached |= step.keys()


def _own(links: Sequence[Link], node: int) -> list[int]:
    """Give the best rule of a node to itself, which a destination keeps."""
    own = [place for place, link in enumerate(links) if link.source == link.target == node]
    return [min(own, key=lambda at: (-links[at].value, at))] if own else []
