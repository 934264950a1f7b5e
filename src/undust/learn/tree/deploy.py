"""Deploys chosen rules, one after the other: says which forms each is for, proofs it once more, and carries it out."""

from collections.abc import Sequence

import numpy as np

from undust.learn.columns import Codes
from undust.learn.state import IGNORED
from undust.learn.tree.candidates import Candidate, asks_value
from undust.learn.tree.evidence import Belief, Evidence, proof
from undust.learn.tree.forms import LAST, Forms, Rows
from undust.learn.tree.pattern_tree import Constraint, PatternTree, fitting
from undust.learn.tree.rules import Chosen, Round
from undust.learn.tree.selection import Link, Tree, choose_naively, concatenated
from undust.learn.tree.selection_graph import choose_by_graph
from undust.learn.tree.transforms import Sheet, Transform
from undust.urls.keys import Key

MIN_AGREEING = 0.3
"""Forms fewer, for each form more that a rule would be for, so that it is made for them too."""

_ORDER = {"absent": 0, "other": 1, "present": 2, "is": 3}  # what tells least first


def deploy(
    tree: PatternTree, candidates: Sequence[Candidate], belief: Belief, *, naive: bool = False
) -> tuple[list[Round], Forms]:
    """Choose among candidates and carry the chosen ones out, the most valuable first; give what is left of the forms.

    Each is proofed on what those before it have left: what is right alone may be wrong after another.
    """
    links = [
        Link(
            source=each.source,
            target=each.target,
            fpr=each.evidence.fpr,
            support=int(tree.end[each.source] - tree.start[each.source]),
            value=_value(each),
        )
        for each in candidates
    ]
    nodes = Tree(tree.parent, tree.end - tree.start)
    chosen = choose_naively(nodes, links) if naive else choose_by_graph(nodes, links)
    chains = concatenated(nodes, links, chosen)
    chains.sort(key=lambda chain: (-links[chain[0]].value, chain))
    done: list[Round] = []
    forms = tree.forms
    for chain in chains:
        made = _round(tree, forms, [candidates[place] for place in chain], belief)
        if made:
            done.append(made)
            forms = carried_out(forms, made)
    return done, forms


def _value(candidate: Candidate) -> float:
    """What a rule gains; of equal ones the simpler is better."""
    return (candidate.gained - 10 * candidate.evidence.wrong) / (1 + 0.01 * candidate.transform.complexity)


def _round(tree: PatternTree, forms: Forms, chain: Sequence[Candidate], belief: Belief) -> Round:
    """Say for which forms a chain is, and that the target is without what is ignored; nothing if that is not right."""
    first, last = chain[0], chain[-1]
    transforms = tuple(each.transform for each in chain)
    others: list[Chosen] = []
    sheets: list[Sheet] = []
    ignored = last.transform.ignored
    if first.source != last.target and ignored:
        others.append(_chosen(forms, tree.constraints(last.target), (Transform(ignored=ignored),)))
        sheets.append(_sheet(forms, others[0].constraints, others[0].transforms))
    constraints = _relaxed(forms, first.constraints, transforms, sheets)
    rows = _without(fitting(forms, constraints), sheets)
    found = proof([_transformed(forms, rows, transforms), *sheets])
    changes = sum(transform.complexity for transform in transforms)
    if not belief.holds(found, asks_value=asks_value(first.constraints), changes=changes, among=forms.count):
        return ()
    return (*others, _chosen(forms, constraints, transforms))


def _chosen(forms: Forms, constraints: tuple[Constraint, ...], transforms: tuple[Transform, ...]) -> Chosen:
    rows = fitting(forms, constraints)
    usual = {key: _commonest(forms, key, rows) for transform in transforms for key in transform.ignored}
    return Chosen(constraints, transforms, usual)


def _relaxed(
    forms: Forms, constraints: tuple[Constraint, ...], transforms: Sequence[Transform], others: Sequence[Sheet]
) -> tuple[Constraint, ...]:
    """Leave out constraints that tell nothing apart: without which no other forms fit, or such that agree as well."""
    kept = list(constraints)
    rows = _without(fitting(forms, constraints), others)
    before: Evidence | None = None
    for constraint in sorted(constraints, key=lambda each: _ORDER[each.test]):
        less = [each for each in kept if each != constraint]
        wider = _without(fitting(forms, less), others)
        if len(wider) > len(rows):
            before = before or proof([_transformed(forms, rows, transforms), *others])
            after = proof([_transformed(forms, wider, transforms), *others])
            if after.wrong > before.wrong or after.false_positives > before.false_positives:
                continue
            if after.gained - before.gained < MIN_AGREEING * (len(wider) - len(rows)):
                continue
            before = after
        kept, rows = less, wider
    return tuple(kept)


def carried_out(forms: Forms, chosen: Round) -> Forms:
    """Give what is left of forms after a round."""
    columns: dict[Key, Codes] = dict(forms.columns)
    depth = forms.depth.copy()
    free = np.ones(len(forms), np.bool_)
    for each in chosen:
        rows = fitting(forms, each.constraints, np.flatnonzero(free))
        sheet = _transformed(forms, rows, each.transforms)
        for key, codes in sheet.changed.items():
            if columns.get(key) is forms.columns.get(key):
                columns[key] = forms.codes(key).copy()
            columns[key][rows] = codes
        depth[rows] = sheet.depth
        free[rows] = False
    return forms.changed(columns, depth)


def _sheet(forms: Forms, constraints: Sequence[Constraint], transforms: Sequence[Transform]) -> Sheet:
    return _transformed(forms, fitting(forms, constraints), transforms)


def _transformed(forms: Forms, rows: Rows, transforms: Sequence[Transform]) -> Sheet:
    sheet = Sheet.of(forms, rows)
    for transform in transforms:
        sheet = sheet.transformed(transform)
    return sheet


def _without(rows: Rows, others: Sequence[Sheet]) -> Rows:
    for sheet in others:
        rows = np.setdiff1d(rows, sheet.rows, assume_unique=True)
    return rows


def _commonest(forms: Forms, key: Key, rows: Rows) -> int:
    """Give the commonest value of a key; a segment has to be there."""
    codes = forms.codes(key, rows)
    known = codes != IGNORED
    if key.part == "path" or key == LAST:
        known &= codes != 0
    counts = np.bincount(codes[known], weights=forms.weights[rows[known]], minlength=1)
    return int(counts.argmax())
