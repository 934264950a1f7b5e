"""Candidate rules (Lei et al., 2010, section 5.2): one for each pair of duplicate nodes, proofed."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from undust.learn.columns import REST, Codes
from undust.learn.state import IGNORED
from undust.learn.tree.evidence import Belief, Evidence, merges, proof
from undust.learn.tree.forms import LAST, Forms, Rows
from undust.learn.tree.nodes import duplicate_nodes, overlaps
from undust.learn.tree.operations import find_operations
from undust.learn.tree.pattern_tree import Constraint, PatternTree, fitting
from undust.learn.tree.transforms import Sheet, Transform
from undust.learn.tree.trial import Trial
from undust.urls.keys import Key

MIN_VARYING = 0.02
"""Share of the clusters in which a key has several values, from which on it may be one that does not matter."""
MAX_IGNORED = 12
"""Keys that are tried together, those that vary most."""
WRONG_WEIGHT = 1000
"""What a wrong merge costs, in right ones, when it is tried which keys to ignore: as rarely as that it is forgiven."""

_NUMBER = re.compile("[0-9]{5}")
_TOKEN = re.compile("[0-9A-Za-z]{16}")
_CLUSTERS = 1024  # looked at to see which keys vary
_EACH = 8  # forms of a cluster
_TELLING = 0.95  # share of the clusters in which a key that tells pages apart has one value
_MIN_TELLING = 8  # clusters from which on it is believed to


@dataclass(frozen=True, slots=True)
class Candidate:
    """A rule from node `source` to node `target`, which may be the same, and what speaks for it."""

    source: int
    target: int
    constraints: tuple[Constraint, ...]
    """What the source node asks of a form."""
    transform: Transform
    evidence: Evidence
    gained: int
    """Forms fewer because of the source: without what ignoring the same keys in the target alone would save."""


def find_candidates(tree: PatternTree, belief: Belief, closed: Collection[Key] = ()) -> list[Candidate]:
    """Give a proofed rule for each pair of duplicate nodes that has one. Keys that are `closed` are not ignored."""
    found: list[Candidate] = []
    pairs = duplicate_nodes(tree, overlaps(tree), min_urls=belief.min_gained)
    for s, t in pairs:
        if any(_covers(tree, known, s, t) for known in found):
            continue
        candidate = find_candidate(tree, s, t, closed)
        if candidate is not None and believed(tree, candidate, belief, len(pairs)):
            found.append(candidate)
    return found


def all_candidates(tree: PatternTree) -> Iterator[Candidate]:
    """Give a rule for each pair of duplicate nodes that has one, whatever speaks against it."""
    for s, t in duplicate_nodes(tree, overlaps(tree), min_urls=1):
        candidate = find_candidate(tree, s, t)
        if candidate is not None:
            yield candidate


def believed(tree: PatternTree, candidate: Candidate, belief: Belief, tried: int) -> bool:
    """Tell whether there is enough evidence for a rule, given that it was found among many."""
    asks = candidate.constraints
    values = [code for each in asks if each.test == "is" for code in each.values if code != IGNORED]
    if any(_is_id(tree.forms.site.value(code)) for code in values):
        return False
    changes = candidate.transform.complexity
    if not belief.holds(candidate.evidence, asks_value=asks_value(asks), changes=changes, among=tree.forms.count):
        return False
    return belief.significant(candidate.evidence, _elsewhere(tree, candidate), tried)


def _is_id(value: str | None) -> bool:
    """Tell whether a value is a number of something, which says nothing about other pages."""
    if value is None or len(value) < 5:
        return False
    return _NUMBER.search(value) is not None or (_TOKEN.search(value) is not None and sum(map(str.isdigit, value)) > 2)


def _elsewhere(tree: PatternTree, candidate: Candidate) -> Evidence:
    """Give the evidence for what a rule does where nothing is asked but the values that it changes."""
    changed = {key for key, _ in candidate.transform.values}
    path = candidate.transform.path is not None

    def widened(constraints: Sequence[Constraint]) -> Rows:
        return fitting(
            tree.forms, (each for each in constraints if each.key in changed or (path and each.key.part == "path"))
        )

    nodes = [widened(candidate.constraints)]
    if candidate.source != candidate.target:
        there = widened(tree.constraints(candidate.target))
        nodes.append(np.setdiff1d(there, nodes[0], assume_unique=True))
    return Trial.of(_sheets(tree, nodes, candidate.transform), ()).merges(())


def find_candidate(tree: PatternTree, s: int, t: int, closed: Collection[Key] = ()) -> Candidate | None:
    """Find the rule from one node to another; None where nothing is to be done."""
    transform = Transform() if s == t else find_operations(tree, s, t)
    if transform is None or (s != t and not transform):
        return None
    nodes = [tree.members(s)] if s == t else [tree.members(s), tree.members(t)]
    transform = transform.ignoring(_ignorable(tree, nodes, transform, closed))
    if not transform:
        return None
    sheets = _sheets(tree, nodes, transform)
    found = proof(sheets)
    there = merges(sheets[1].hashes(), tree.forms.clusters[nodes[1]]).gained if s != t and transform.ignored else 0
    return Candidate(s, t, tree.constraints(s), transform, found, found.gained - there)


def _covers(tree: PatternTree, known: Candidate, s: int, t: int) -> bool:
    """Tell whether a rule that nothing contradicts is for two nodes that are below its own.

    Whatever it leaves of them is looked at again, in the next tree.
    """
    return known.evidence.wrong == 0 and tree.is_ancestor(s, known.source) and tree.is_ancestor(t, known.target)


def asks_value(constraints: Sequence[Constraint]) -> bool:
    """Tell whether some value, or some argument, sets the forms of a node apart."""
    return any(each.test in ("is", "present") for each in constraints)


def _sheets(tree: PatternTree, nodes: Sequence[Rows], transform: Transform) -> list[Sheet]:
    """Give the forms of the source transformed, and those of the target without what is ignored."""
    sheets = [Sheet.of(tree.forms, nodes[0]).transformed(transform)]
    return sheets + [Sheet.of(tree.forms, rows).ignoring(transform.ignored) for rows in nodes[1:]]


def _ignorable(tree: PatternTree, nodes: Sequence[Rows], transform: Transform, closed: Collection[Key]) -> list[Key]:
    """Find the keys whose values do not matter, though their values correspond (a "fake" replace).

    Keys that vary within clusters are first all ignored; then those are given back without which less goes wrong. That
    does not need URLs that differ in one key only.
    """
    tried = _varying(tree, nodes, transform, closed)
    if not tried:
        return []
    trial = Trial.of(_sheets(tree, nodes, transform), tried)
    known: dict[frozenset[Key], tuple[int, int]] = {}

    def value(keys: frozenset[Key]) -> tuple[int, int]:
        if keys not in known:
            found = trial.merges(keys)
            known[keys] = (found.capped - WRONG_WEIGHT * found.wrong, found.gained)
        return known[keys]

    chosen = frozenset(tried)
    while chosen:
        best = max((chosen - {key} for key in reversed(tried) if key in chosen), key=value)
        if value(best) < value(chosen):
            break
        chosen = best
    for key in tried:
        if key not in chosen and value(chosen | {key}) > value(chosen):
            chosen |= {key}
    return sorted(key for key in chosen if trial.shows(key, chosen))


def _varying(tree: PatternTree, nodes: Sequence[Rows], transform: Transform, closed: Collection[Key]) -> list[Key]:
    """List the keys that have several values within clusters, those first that have in most.

    A key that tells pages apart in some pattern is not among them.
    """
    forms = tree.forms
    rows, source = _of_clusters(forms, nodes)
    if not len(rows):
        return []
    sheet = Sheet.of(forms, rows)
    keys = [key for key in sorted(forms.columns) if key != REST and key not in closed and key not in transform.ignored]
    if sheet.depth.min() != sheet.depth.max():
        keys.append(LAST)
    if not keys:
        return []
    codes = np.array([sheet.codes(key) for key in keys])
    if len(nodes) > 1:
        changed = sheet.transformed(Transform(transform.values, transform.path))
        codes = np.where(source, np.array([changed.codes(key) for key in keys]), codes)
    several = codes.reshape(len(keys), -1, _EACH)
    shares = (several != several[:, :, :1]).any(axis=2).mean(axis=1)
    order = np.argsort(-shares, kind="stable")[: 2 * MAX_IGNORED]
    order = order[shares[order] >= MIN_VARYING]
    telling = _telling(codes[order], forms.clusters[rows], tree.leaf_of[rows])
    return [keys[place] for place in order[~telling].tolist()][:MAX_IGNORED]


def _of_clusters(forms: Forms, nodes: Sequence[Rows]) -> tuple[Rows, npt.NDArray[np.bool_]]:
    """Give some forms of clusters that have several, as many of each; and which of them are of the first node."""
    rows = np.concatenate(nodes)
    source = np.concatenate([np.full(len(each), place == 0) for place, each in enumerate(nodes)])
    if len(nodes) > 1:
        order = np.argsort(rows, kind="stable")
        rows, source = rows[order], source[order]
    starts = np.flatnonzero(np.diff(forms.clusters[rows], prepend=-1))
    sizes = np.diff(np.append(starts, len(rows)))
    starts, sizes = starts[sizes > 1], sizes[sizes > 1]
    some = np.unique(np.linspace(0, len(starts) - 1, min(len(starts), _CLUSTERS)).astype(np.int64))
    places = (starts[some, None] + np.arange(_EACH)[None, :] * sizes[some, None] // _EACH).ravel()
    return rows[places], source[places]


def _telling(codes: npt.NDArray[np.int32], clusters: Codes, leaves: Codes) -> npt.NDArray[np.bool_]:
    """Tell which keys, a line of codes each, tell pages apart in the pattern of some leaf.

    Those are the same in all forms of a cluster, and differ between clusters.
    """
    order = np.lexsort((clusters, leaves))
    codes, clusters, leaves = codes[:, order], clusters[order], leaves[order]
    starts = np.flatnonzero((np.diff(clusters, prepend=-1) != 0) | (np.diff(leaves, prepend=-1) != 0))
    sizes = np.diff(np.append(starts, len(order)))
    same = np.maximum.reduceat(codes, starts, axis=1) == np.minimum.reduceat(codes, starts, axis=1)
    first, leaf = codes[:, starts], leaves[starts]
    counted = np.flatnonzero(sizes > 1)
    first, same, leaf = first[:, counted], same[:, counted], leaf[counted]
    differs = np.concatenate([first[:, 1:] != first[:, :-1], np.zeros((len(first), 1), np.bool_)], axis=1)
    ends = np.flatnonzero(np.diff(leaf, append=-1))
    if not len(ends):
        return np.zeros(len(codes), np.bool_)
    differs[:, ends] = False
    begins = np.concatenate([[0], ends[:-1] + 1])
    count = ends - begins + 1
    stays = np.add.reduceat(same, begins, axis=1) >= _TELLING * count
    varies = 2 * np.add.reduceat(differs, begins, axis=1) >= count - 1
    return np.asarray((stays & varies & (count >= _MIN_TELLING)).any(axis=1))
