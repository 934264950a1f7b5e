"""What turns the source of each pair into its target, key by key (algorithm 3); pairs alike in that make a class.

Each difference can be written in several *styles*: as it stands (another literal, a key that goes), finely (through a
conversion, or in one deep token), or loosely (the value does not matter). Which one holds elsewhere is not for a pair
to know, so classes of all styles are made.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from undust.learn.columns import Codes
from undust.learn.deep_columns import DeepColumn
from undust.learn.pairs.alignment import Alignment, align, segment
from undust.learn.pairs.choose import Pairs
from undust.learn.pairs.salience import Salience, is_index
from undust.learn.pairs.workspace import IGNORED, Rows, Workspace, numbered
from undust.rules.values import ABSENT, ANY, DROP, Copy, Ignore, Match, Operation, Piece, Slot, Through
from undust.urls.keys import Key

Style = Literal["plain", "fine", "loose"]
STYLES: tuple[Style, ...] = ("plain", "fine", "loose")
CONVERSIONS: tuple[Through, ...] = ("lower", "upper", "decode", "encode")
MAX_MIDDLE = 2
"""Segments that may differ in a pair, one after the other."""
MIN_PAIRS = 20
"""A class is looked at if several clusters show it, or this many pairs of one."""
MAX_CLASSES = 64
MIN_WORD = 3
"""Letters of a pattern that make it more than chance if none of its slots matters."""

_GOES, _BECOMES, _MATTERS_NOT, _CONVERTED, _DEEP, _CANNOT = (np.int64(kind) << 40 for kind in range(1, 7))
_KIND = np.int64(0x7F) << 40
_PATH = np.uint64(0x1234567)

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Transformation:
    """Operations that turn sources into targets, what they take for granted, and the pairs that show it."""

    operations: dict[Key, Operation]
    needs: dict[Key, Match]
    pairs: Rows


def transformations(
    work: Workspace, pairs: Pairs, deep: dict[Key, DeepColumn], salience: Salience, min_clusters: int
) -> list[Transformation]:
    """Give the transformations that several clusters show, those of the most clusters first."""
    if not len(pairs.sources):
        return []
    describe = _Differences(work, pairs, deep, salience, min_clusters)
    found: dict[tuple[object, ...], Transformation] = {}
    for made in describe.classes():
        name = tuple(sorted((str(key), repr(made.operations[key])) for key in made.operations))
        known = found.get(name)
        if known is None or len(known.pairs) < len(made.pairs):
            found[name] = made
    clusters = work.clusters[pairs.sources]
    ordered = sorted(
        found.items(), key=lambda each: (-len(np.unique(clusters[each[1].pairs])), -len(each[1].pairs), each[0])
    )
    return [made for _, made in ordered[:MAX_CLASSES]]


class _Differences:
    def __init__(
        self, work: Workspace, pairs: Pairs, deep: dict[Key, DeepColumn], salience: Salience, min_clusters: int
    ) -> None:
        self.work, self.pairs, self.deep = work, pairs, deep
        self.salience, self.min_clusters = salience, min_clusters
        self.alignment: Alignment = align(work, pairs)
        starts = [self.alignment.before + nth for nth in range(MAX_MIDDLE)]
        inside = [(nth < self.alignment.source, nth < self.alignment.target) for nth in range(MAX_MIDDLE)]
        self.middle = [
            (
                np.where(source, segment(work, pairs.sources, at), np.int32(0)),
                np.where(target, segment(work, pairs.targets, at), np.int32(0)),
            )
            for at, (source, target) in zip(starts, inside, strict=True)
        ]

    def classes(self) -> Iterator[Transformation]:
        for style in STYLES:
            codes = {key: self._codes(key, style) for key in self.work.keys}
            differing = {key: kinds for key, kinds in codes.items() if kinds.any()}
            for from_end in (False, True):
                path = self._path(style, from_end=from_end)
                rows = np.flatnonzero(path != 0) if from_end else np.arange(len(path))
                yield from self._group(differing, path, rows, style, from_end=from_end)

    def _group(
        self, codes: dict[Key, Ints], path: Ints, rows: Rows, style: Style, *, from_end: bool
    ) -> Iterator[Transformation]:
        sums = np.where(path[rows] != 0, _mixed(path[rows].astype(np.uint64) ^ _PATH), np.uint64(0))
        cannot = path[rows] == _CANNOT
        for place, kinds in enumerate(codes.values(), 1):
            mine = kinds[rows]
            cannot |= mine == _CANNOT
            sums += np.where(mine != 0, _mixed(mine.astype(np.uint64) * np.uint64(2 * place + 1)), np.uint64(0))
        usable = np.flatnonzero(~cannot & (sums != 0))
        if not len(usable):
            return
        groups, sizes = numbered(sums[usable])
        clusters = self.work.clusters[self.pairs.sources[rows[usable]]].astype(np.uint64)
        both, _ = numbered((groups.astype(np.uint64) << np.uint64(32)) + clusters)
        first = np.unique(both, return_index=True)[1]
        shown_by = np.bincount(groups[first], minlength=len(sizes))
        wanted = np.flatnonzero((shown_by >= self.min_clusters) | (sizes >= MIN_PAIRS))
        best = sorted(wanted.tolist(), key=lambda group: (-int(shown_by[group]), -int(sizes[group]), group))
        for group in best[:MAX_CLASSES]:
            members = rows[usable[groups == group]]
            if not path[members[0]] or self._counts_from_end(members) in (None, from_end):
                yield self._transformation(members, codes, path, style, from_end=from_end)

    def _counts_from_end(self, members: Rows) -> bool | None:
        """Tell from which end the place of a segment is best counted; None where both are to be tried.

        Where all paths are as long, from the start, but for index files and trailing slashes.
        """
        depths = self.work.depth[self.pairs.sources[members]]
        if (depths != depths[0]).any():
            return None
        gone = self.middle[0][0][members]
        name = self.work.lexicon.text(int(gone[0])) or ""
        return bool((self.alignment.after[members] == 0).all() and (gone == gone[0]).all() and is_index(name))

    def _codes(self, key: Key, style: Style) -> Ints:
        """Write what becomes of a key in each pair as a number."""
        column = self.work.columns[key]
        source, target = column[self.pairs.sources], column[self.pairs.targets]
        return self._kinds(key, source, target, style, self.deep.get(key))

    def _kinds(self, key: Key, source: Codes, target: Codes, style: Style, deep: DeepColumn | None) -> Ints:
        differs = source != target
        if not differs.any():
            return np.zeros(len(source), np.int64)
        if style == "loose":
            loose = differs if key.part != "path" else differs & (source != 0) & (target != 0)
            cannot = differs & ~loose
            return np.where(loose, _MATTERS_NOT, np.where(cannot, _CANNOT, np.int64(0)))
        known = self.salience.of(key)
        word = known[np.where(target < len(known), target, 0)]
        value = np.where(source != 0, _MATTERS_NOT, _CANNOT)
        value = np.where(word, _BECOMES | target.astype(np.int64), value)
        value = np.where(target == 0, _GOES, value)
        value = np.where((source == IGNORED) | (target == IGNORED), _CANNOT, value)
        made = np.where(differs, value, np.int64(0))
        if style == "fine":
            both = np.flatnonzero(differs & (source != 0) & (target != 0) & (made != _CANNOT))
            if deep is not None:
                _fill(made, both, _deep(deep, source[both], target[both]))
            _fill(made, both, self._converted(source[both], target[both]))
        return made

    def _converted(self, source: Codes, target: Codes) -> Ints:
        found = np.zeros(len(source), np.int64)
        for which, through in enumerate(CONVERSIONS):
            same = self.work.lexicon.converted(through, source) == target
            found = np.where((found == 0) & same, _CONVERTED | np.int64(which), found)
        return found

    def _path(self, style: Style, *, from_end: bool) -> Ints:
        """Write what becomes of the path in each pair as a number; places count from one of the ends."""
        where = self.alignment
        if not where.differs.any():
            return np.zeros(len(where.before), np.int64)
        (source, target), (second_source, second_target) = self.middle
        address = where.after if from_end else where.before
        first = self._segment_kinds(source, target, style, from_end=from_end)
        second = self._kinds(Key("path", 0), second_source, second_target, style, None)
        sizes = where.source * 8 + where.target
        mixed = _mixed(_mixed(first) + _mixed(second * 3) + (sizes * 64 + address).astype(np.uint64))
        value = (mixed >> np.uint64(8)).astype(np.int64) | np.int64(1)
        appended = (where.source == 0) & (where.after == 0) & (not from_end)
        possible = where.usable & (where.source <= MAX_MIDDLE) & (where.target <= MAX_MIDDLE)
        possible &= (where.target <= where.source) | appended
        possible &= (first != _CANNOT) & (second != _CANNOT)
        return np.where(where.differs, np.where(possible, value, _CANNOT), np.int64(0))

    def _segment_kinds(self, source: Codes, target: Codes, style: Style, *, from_end: bool) -> Ints:
        place = Key("path", -1 if from_end else 0)
        made = self._kinds(place, source, target, style, None)
        if style != "fine":
            return made
        single = (self.alignment.source == 1) & (self.alignment.target == 1)
        for key, deep in self.deep.items():
            if key.part != "path" or (int(key.name) < 0) != from_end:
                continue
            at = self.alignment.after == 0 if from_end else self.alignment.before == key.name
            rows = np.flatnonzero(single & at)
            _fill(made, rows, _deep(deep, source[rows], target[rows]))
        return made

    def _transformation(
        self, members: Rows, codes: dict[Key, Ints], path: Ints, style: Style, *, from_end: bool
    ) -> Transformation:
        """Spell a class out, by the first of its pairs."""
        row = int(members[0])
        operations: dict[Key, Operation] = {}
        needs: dict[Key, Match] = {}
        for key, kinds in codes.items():
            if kinds[row]:
                values = self.work.columns[key][self.pairs.targets[members]]
                operations[key] = self._operation(key, int(kinds[row]), values, self.deep.get(key), needs)
        if path[row]:
            self._spell_path(members, style, from_end, operations, needs)
        return Transformation(operations, needs, members)

    def _spell_path(
        self, members: Rows, style: Style, from_end: bool, operations: dict[Key, Operation], needs: dict[Key, Match]
    ) -> None:
        row = int(members[0])
        where = self.alignment
        size, target_size = int(where.source[row]), int(where.target[row])
        first = int(where.before[row]) if not from_end else -int(where.after[row]) - size
        if not size:  # segments are put behind the last
            needs |= {Key("path", first): ABSENT} | ({Key("path", first - 1): ANY} if first else {})
        for nth in range(max(size, target_size)):
            key = Key("path", first + nth)
            if nth >= target_size:
                operations[key] = DROP
                continue
            sources, targets = (codes[members] for codes in self.middle[nth])
            if nth == 0:
                kinds = self._segment_kinds(*self.middle[0], style, from_end=from_end)[row]
            else:
                kinds = self._kinds(Key("path", 0), sources[:1], targets[:1], style, None)[0]
            if kinds:
                deep = self.deep.get(Key("path", -1) if from_end else key)
                operations[key] = self._operation(key, int(kinds), targets, deep, needs)

    def _operation(
        self, key: Key, kind: int, targets: Codes, deep: DeepColumn | None, needs: dict[Key, Match]
    ) -> Operation:
        which, detail = kind & _KIND, kind & 0xFFFFFFFF
        lexicon = self.work.lexicon
        if which == _GOES:
            return DROP
        if which == _BECOMES:
            text = lexicon.text(detail)
            return (text,) if text else ()
        if which == _CONVERTED:
            needs[key] = ANY  # a site that takes one word in any case takes all
            return (Copy(key, 0, CONVERSIONS[detail]),)
        if which == _DEEP and deep is not None:
            place, mask = detail >> 16, detail & 0xFFFF
            needs[key] = deep.patterns[place]
            pieces: list[Piece] = []
            slot = 0
            for part in deep.patterns[place].parts:
                if not isinstance(part, Slot):
                    pieces.append(part)
                    continue
                usual = lexicon.text(commonest(deep.taken(place, slot, targets)))
                pieces.append(Ignore(usual) if mask >> slot & 1 else Copy(key, slot))
                slot += 1
            return tuple(pieces)
        if key.part in ("query", "param"):
            return DROP  # an argument that does not matter is left out
        return (Ignore(lexicon.text(commonest(targets)) or ""),)


def commonest(codes: Codes) -> int:
    """Give the code that occurs most often, of equals the first; ⊥ only if there is nothing else."""
    some = codes[(codes != 0) & (codes != IGNORED)]
    if not len(some):
        return 0
    values, counts = np.unique(some, return_counts=True)
    return int(values[counts.argmax()])


def _deep(deep: DeepColumn, source: Codes, target: Codes) -> Ints:
    """Tell in which deep tokens values differ that fit the same pattern; 0 where that says nothing."""
    found = np.zeros(len(source), np.int64)
    fitting = deep.pattern_of(source)
    alike = (fitting != 0) & (fitting == deep.pattern_of(target))
    for place, pattern in enumerate(deep.patterns):
        rows = np.flatnonzero(alike & (fitting == place + 1))
        if not len(rows):
            continue
        count = sum(isinstance(part, Slot) for part in pattern.parts)
        mask = np.zeros(len(rows), np.int64)
        for slot in range(count):
            differs = deep.taken(place, slot, source[rows]) != deep.taken(place, slot, target[rows])
            mask |= differs.astype(np.int64) << slot
        words = any(isinstance(part, str) and sum(map(str.isalpha, part)) >= MIN_WORD for part in pattern.parts)
        some = mask != 0 if words else (mask != 0) & (mask != (1 << count) - 1)
        found[rows[some]] = _DEEP | np.int64(place << 16) | mask[some]
    return found


def _fill(made: Ints, rows: Rows, values: Ints) -> None:
    """Put values that say something into rows."""
    said = values != 0
    made[rows[said]] = values[said]


def _mixed(values: npt.NDArray[np.int64] | npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    x = values.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))
