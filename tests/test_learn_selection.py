"""Choosing rules that do not contradict each other: the cases of figure 7, the walk of figure 8, chains."""

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from undust.learn.tree.selection import Link, Tree, choose_naively, concatenated, find_circle
from undust.learn.tree.selection_graph import choose_by_graph, energies, stable, transitions

Choose = Callable[[Tree, Sequence[Link]], list[int]]
BOTH = pytest.mark.parametrize("choose", [choose_naively, choose_by_graph])


def tree(parents: Sequence[int], volumes: Sequence[int]) -> Tree:
    return Tree(np.array(parents, np.int64), np.array(volumes, np.int64))


def link(source: int, target: int, fpr: float = 0.0, support: int = 10, value: float | None = None) -> Link:
    return Link(source, target, fpr, support, support if value is None else value)


def chosen(choose: Choose, nodes: Tree, links: Sequence[Link]) -> list[tuple[int, int]]:
    return [(links[place].source, links[place].target) for place in choose(nodes, links)]


FLAT = tree([-1, 0, 0, 0], [90, 30, 30, 30])


@BOTH
def test_of_two_rules_for_one_node_one_is_kept(choose: Choose) -> None:  # figure 7 (a)
    links = [link(1, 2, fpr=0.01), link(1, 3, fpr=0.001)]
    assert chosen(choose, FLAT, links) == [(1, 3)]


def test_the_graph_sends_a_node_where_the_others_go() -> None:  # figure 7 (a), seen from further away
    links = [link(1, 2, fpr=0.001), link(1, 3, fpr=0.002), link(2, 3, fpr=0.001)]
    assert chosen(choose_by_graph, FLAT, links) == [(1, 3), (2, 3)]
    assert chosen(choose_naively, FLAT, links) == [(1, 2), (2, 3)]  # as a chain: the same in the end
    assert concatenated(FLAT, links, choose_naively(FLAT, links)) == [(0, 2), (2,)]


def test_naively_a_rule_covers_those_below_it() -> None:  # figure 7 (b)
    nodes = tree([-1, 0, 1, 0, 0], [100, 40, 30, 30, 30])
    links = [link(1, 3, support=40), link(2, 4, support=30, value=90.0)]
    assert chosen(choose_naively, nodes, links) == [(1, 3)]


def test_by_graph_the_rule_that_gains_more_stays() -> None:  # figure 7 (b)
    nodes = tree([-1, 0, 1, 0, 0], [100, 40, 30, 30, 30])
    assert chosen(choose_by_graph, nodes, [link(1, 3, value=40.0), link(2, 4, value=90.0)]) == [(2, 4)]
    assert chosen(choose_by_graph, nodes, [link(1, 3, value=90.0), link(2, 4, value=40.0)]) == [(1, 3)]


@BOTH
def test_a_circle_is_broken(choose: Choose) -> None:  # figure 7 (c)
    links = [link(1, 2, support=30), link(2, 3, support=20), link(3, 1, support=10)]
    found = choose(FLAT, links)
    assert len(found) == 2
    assert not find_circle(FLAT, links, {links[place].source: place for place in found})


def test_naively_the_rule_with_the_least_support_breaks_it() -> None:
    links = [link(1, 2, support=30), link(2, 3, support=20), link(3, 1, support=10)]
    assert chosen(choose_naively, FLAT, links) == [(1, 2), (2, 3)]


# Figure 8: below the root are A (1) with children B (2) and C (3), D (4) with child E (5), and F (6).
#   rules: B → C, C → E, E → F, F → E, C → B
FIGURE_8 = tree([-1, 0, 1, 1, 0, 4, 0], [200, 60, 30, 30, 80, 80, 60])
RULES_8 = [link(2, 3), link(3, 5), link(5, 6), link(6, 5), link(3, 2)]


def test_the_most_popular_node_becomes_a_destination() -> None:  # figure 8 (b) and (c)
    vertices = [2, 3, 5, 6]
    found = dict(zip(vertices, energies(FIGURE_8, RULES_8, vertices), strict=True))
    assert found[2] == pytest.approx(0, abs=1e-3)  # has gone on to 3, and from there to 5
    assert found[3] == pytest.approx(0, abs=1e-3)
    assert found[5] + found[6] == pytest.approx(200)  # nothing is lost
    assert found[5] == pytest.approx(found[6])  # they pass it to and fro


def test_rules_that_leave_a_destination_are_dropped_and_chains_become_one_rule() -> None:  # figure 8 (c) to (e)
    places = choose_by_graph(FIGURE_8, RULES_8)
    assert [(RULES_8[place].source, RULES_8[place].target) for place in places] == [(2, 3), (3, 5), (6, 5)]
    assert concatenated(FIGURE_8, RULES_8, places) == [(0, 1), (1,), (3,)]


def test_a_chain_goes_on_with_the_rule_of_the_node_above() -> None:
    nodes = tree([-1, 0, 0, 2], [100, 20, 80, 40])
    links = [link(1, 3), link(2, 2)]
    assert concatenated(nodes, links, [0, 1]) == [(0, 1), (1,)]


def test_a_rule_of_a_node_to_itself_stays_with_its_destination() -> None:
    links = [link(1, 2), link(2, 2), link(2, 1, fpr=0.5)]
    nodes = tree([-1, 0, 0], [70, 30, 40])
    assert chosen(choose_by_graph, nodes, links) == [(1, 2), (2, 2)]


def test_steps_are_taken_in_proportion_to_what_is_right_about_rules() -> None:  # equation 7
    nodes = tree([-1, 0, 0], [10, 10, 10])
    steps = transitions(nodes, [link(1, 2, fpr=0.5)], [0, 1, 2])
    assert steps[1].tolist() == pytest.approx([1 / 1.5, 0, 0.5 / 1.5])  # up the tree with 1, along the rule with 0.5
    assert steps[2].tolist() == [1, 0, 0]
    assert steps[0].tolist() == [1, 0, 0]  # a sink keeps what it has


def test_a_circle_comes_to_rest() -> None:
    assert stable(np.array([[0.0, 1.0], [1.0, 0.0]]), np.array([3.0, 1.0])).tolist() == pytest.approx([2.0, 2.0])


@st.composite
def candidates(draw: st.DrawFn) -> tuple[Tree, list[Link]]:
    size = draw(st.integers(2, 12))
    parents = [-1, *(draw(st.integers(0, node - 1)) for node in range(1, size))]
    volumes = draw(st.lists(st.integers(1, 50), min_size=size, max_size=size))
    nodes = tree(parents, volumes)
    pairs = draw(st.lists(st.tuples(st.integers(0, size - 1), st.integers(0, size - 1)), max_size=20, unique=True))
    apart = [(s, t) for s, t in pairs if s == t or not nodes.related(s, t)]
    return nodes, [
        link(s, t, draw(st.sampled_from([0.0, 0.01, 0.3])), draw(st.integers(1, 50)), draw(st.integers(1, 50)))
        for s, t in apart
    ]


@BOTH
@given(data=candidates())
def test_whatever_the_candidates_what_is_chosen_can_be_deployed(choose: Choose, data: tuple[Tree, list[Link]]) -> None:
    nodes, links = data
    places = choose(nodes, links)
    sources = [links[place].source for place in places]
    assert not any(nodes.related(a, b) for at, a in enumerate(sources) for b in sources[:at])
    chains = concatenated(nodes, links, places)
    assert len({links[chain[0]].source for chain in chains}) == len(chains)
    for chain in chains:
        assert len(set(chain)) == len(chain)  # nothing comes round
    assert bool(places) == bool(links)


@given(candidates())
def test_energy_is_neither_made_nor_lost(data: tuple[Tree, list[Link]]) -> None:
    nodes, links = data
    vertices = sorted({node for each in links for node in (each.source, each.target)})
    if vertices:
        assert energies(nodes, links, vertices).sum() == pytest.approx(nodes.volume[vertices].sum(), rel=1e-6)
