"""Values that move: what a key of the target has, another key of the source has, whole or as a deep token.

Pairs are taken together whose URLs have the same *shapes*: the same keys, as many segments, values that fit the same
deep patterns. In such a group each value of the target is looked for among the values and tokens of the source.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from undust.learn.columns import MAX_SEGMENTS, Codes
from undust.learn.deep_columns import DeepColumn
from undust.learn.pairs.choose import Pairs
from undust.learn.pairs.differences import CONVERSIONS, Transformation
from undust.learn.pairs.limits import Limits
from undust.learn.pairs.salience import is_id
from undust.learn.pairs.workspace import Hashes, Mask, Rows, Workspace, first_rows, numbered
from undust.rules.values import ABSENT, ANY, DROP, Copy, Match, Operation, Piece, Slot, Through
from undust.urls.keys import Key

MAX_GROUPS = 24
MAX_PAIRS = 2000
"""Pairs of a group that are looked at."""
AGREEMENT = 0.8
"""Share of the pairs of a group in which a reference must hold."""


@dataclass(frozen=True, slots=True)
class _Atom:
    """A value of the source, or a deep token of one."""

    key: Key
    slot: int
    match: Match
    """What the context must ask of the key for the slot to mean this."""
    codes: Codes


@dataclass(slots=True)
class _Found:
    """What becomes of the keys of a group, and in which of its pairs that is so."""

    holds: Mask
    operations: dict[Key, Operation] = field(default_factory=dict)
    needs: dict[Key, Match] = field(default_factory=dict)

    def allows(self, atom: _Atom) -> bool:
        """Tell whether an atom can be copied together with those that are copied already."""
        return self.needs.get(atom.key, atom.match) == atom.match


def references(work: Workspace, pairs: Pairs, deep: dict[Key, DeepColumn], limits: Limits) -> Iterator[Transformation]:
    """Give transformations in which values move from one key to another, or to another place within one."""
    if not len(pairs.sources):
        return
    shapes = _shapes(work, deep)
    sources, targets = shapes[pairs.sources], shapes[pairs.targets]
    usable = np.flatnonzero(
        (sources != targets) & (work.depth[pairs.sources] < MAX_SEGMENTS) & (work.depth[pairs.targets] < MAX_SEGMENTS)
    )
    groups, _ = numbered(sources[usable] * np.uint64(3) + targets[usable])
    clusters = work.clusters[pairs.sources[usable]]
    both, _ = numbered((groups.astype(np.uint64) << np.uint64(32)) + clusters.astype(np.uint64))
    shown_by = np.bincount(groups[first_rows(both)])
    best = sorted(
        np.flatnonzero(shown_by >= limits.min_clusters).tolist(), key=lambda each: (-int(shown_by[each]), each)
    )
    for group in best[:MAX_GROUPS]:
        members = usable[groups == group]
        made = _transformation(work, pairs, deep, members, limits)
        if made is not None:
            yield made


def _shapes(work: Workspace, deep: dict[Key, DeepColumn]) -> Hashes:
    sums = work.depth.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    places = [Key("path", place) for place in range(work.segments)]
    for nth, key in enumerate([*work.keys, *places], 1):
        codes = work.column(key)
        value = (codes != 0).astype(np.uint64)
        if key in deep:
            value += deep[key].pattern_of(codes).astype(np.uint64)
        mixed = (value + np.uint64(1000 * nth)) * np.uint64(0xBF58476D1CE4E5B9)
        sums += mixed ^ (mixed >> np.uint64(31))
    return sums


def _transformation(
    work: Workspace, pairs: Pairs, deep: dict[Key, DeepColumn], members: Rows, limits: Limits
) -> Transformation | None:
    members = members[:MAX_PAIRS]
    sources, targets = pairs.sources[members], pairs.targets[members]
    depth, target_depth = int(work.depth[sources[0]]), int(work.depth[targets[0]])
    atoms = list(_atoms(work, deep, sources, depth))
    found = _Found(np.ones(len(members), np.bool_))
    wanted = [Key("path", place) for place in range(target_depth)] + work.keys
    for key in wanted:
        given, told = work.column(key)[sources], work.column(key)[targets]
        if not told.any():
            if given.any():
                found.operations[key] = DROP
        elif not np.array_equal(given, told):
            _resolve(work, deep.get(key), key, told, atoms, found)
    found.operations |= {Key("path", place): DROP for place in range(target_depth, depth)}
    chosen = np.flatnonzero(found.holds)
    if not _moves(found) or len(np.unique(work.clusters[sources[chosen]])) < limits.min_clusters:
        return None
    if any(key.part == "path" for key in found.operations):
        found.needs.setdefault(Key("path", depth), ABSENT)
        if depth:
            found.needs.setdefault(Key("path", depth - 1), ANY)
    return Transformation(found.operations, found.needs, members[chosen])


def _moves(found: _Found) -> bool:
    """Tell whether a value comes to another part of the URL, or a part of it; segments that move up are no news."""
    return any(
        isinstance(piece, Copy) and (len(made) > 1 or piece.source.part != key.part or found.needs[piece.source] != ANY)
        for key, made in found.operations.items()
        if isinstance(made, tuple)
        for piece in made
    )


def _atoms(work: Workspace, deep: dict[Key, DeepColumn], rows: Rows, depth: int) -> Iterator[_Atom]:
    """Give the values and deep tokens of sources that have the same shape."""
    for key in [*work.keys, *(Key("path", place) for place in range(depth))]:
        codes = work.column(key)[rows]
        if key.part in ("scheme", "host", "port") or not codes.any():
            continue
        yield _Atom(key, 0, ANY, codes)
        column = deep.get(key)
        place = int(column.pattern_of(codes)[0]) - 1 if column is not None else -1
        if column is not None and place >= 0:
            for slot in range(len(column.slots[place])):
                yield _Atom(key, slot, column.patterns[place], column.taken(place, slot, codes))


def _resolve(
    work: Workspace, deep: DeepColumn | None, key: Key, told: Codes, atoms: list[_Atom], found: _Found
) -> None:
    """Find out where the values of a key of the targets come from; if that cannot be known, no pair is left."""
    piece = _literal(work, told) or _reference(work, key, told, atoms, found)
    if piece is not None:
        found.operations[key] = (piece,) if piece else ()
        return
    place = int(deep.pattern_of(told)[0]) - 1 if deep is not None else -1
    if deep is None or place < 0:
        found.holds[:] = False
        return
    pieces: list[Piece] = []
    slot = 0
    for part in deep.patterns[place].parts:
        if not isinstance(part, Slot):
            pieces.append(part)
            continue
        codes = deep.taken(place, slot, told)
        taken = _literal(work, codes) or _reference(work, key, codes, atoms, found)
        if taken is None:
            found.holds[:] = False
            return
        pieces.append(taken)
        slot += 1
    found.operations[key] = tuple(pieces)


def _literal(work: Workspace, codes: Codes) -> str | None:
    """Give the text that all values are, if it is one."""
    text = work.lexicon.text(int(codes[0]))
    return text if text and (codes == codes[0]).all() and not is_id(text) else None


def _reference(work: Workspace, key: Key, told: Codes, atoms: list[_Atom], found: _Found) -> Piece | None:
    """Find the value or deep token of the source that values are, as it stands or through a conversion."""
    best: tuple[float, Mask, _Atom, Through] | None = None
    ways: tuple[Through, ...] = ("", *CONVERSIONS)
    for through in ways:
        for atom in atoms:
            if not found.allows(atom):
                continue
            codes = work.lexicon.converted(through, atom.codes) if through else atom.codes
            same = codes == told
            share = float(np.mean(same)) + (0.001 if atom.key == key else 0.0)
            if share >= AGREEMENT and (best is None or share > best[0]):
                best = (share, np.asarray(same), atom, through)
        if best is not None:
            break
    if best is None:
        return None
    _, same, atom, through = best
    found.holds &= same
    found.needs[atom.key] = atom.match
    return Copy(atom.key, atom.slot, through)
