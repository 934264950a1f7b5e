"""For which URLs a transformation holds: contexts of pairs, generalized by a bottom-up decision tree (algorithm 5).

Classes are transformations, attributes are keys. Key after key, the one with the most information gain first, the
nodes of the tree get the values that their pairs have, or a wildcard where those are many and none has a majority;
nodes with the same value become one. A path from the top to a class is a context.
"""

from collections.abc import Sequence, Set

import numpy as np
import numpy.typing as npt

from undust.learn.columns import Codes
from undust.learn.deep_columns import DeepColumn
from undust.learn.deep_gaps import tidy
from undust.learn.pairs.salience import Salience, is_id
from undust.learn.pairs.workspace import IGNORED, Rows, Workspace, numbered
from undust.rules.values import ANY, Match, Operation, Pattern, Slot
from undust.urls.keys import Key

MAX_VALUES = 4
"""Values of a key in one node; more become a wildcard."""
MAJORITY = 0.5
MAX_CONTEXTS = 6
"""Contexts of one transformation, those of the most clusters."""
FROM_START, FROM_END = 6, 3
"""Segments that contexts speak of, from both ends."""

_WILDCARD = np.int32(-1)


def generalize(
    work: Workspace,
    classes: Sequence[tuple[Rows, Set[Key]]],
    deep: dict[Key, DeepColumn],
    salience: Salience,
) -> list[list[dict[Key, Match]]]:
    """Give the contexts of each class of source rows: the one that all of its URLs share, then those of the tree.

    A class comes with the keys that its transformation works on.
    """
    columns = {key: work.column(key) for key in attributes(work)}
    rows = np.concatenate([*(each for each, _ in classes), np.zeros(0, np.int64)]).astype(np.int64)
    of_class = np.repeat(np.arange(len(classes)), [len(each) for each, _ in classes])
    values = tree({key: codes[rows] for key, codes in columns.items()}, of_class)
    found = []
    start = 0
    spell = _Speller(work, deep, salience, columns)
    for each, worked_on in classes:
        mine = {key: codes[start : start + len(each)] for key, codes in values.items()}
        start += len(each)
        contexts = [spell.context(each, worked_on, _shared({key: codes[each] for key, codes in columns.items()}))]
        for members, shared in _paths(mine, work.clusters[each]):
            context = spell.context(each[members], worked_on, shared)
            if context not in contexts:
                contexts.append(context)
        found.append(contexts)
    return found


def attributes(work: Workspace) -> list[Key]:
    """Give the keys that contexts may speak of."""
    from_start = [Key("path", place) for place in range(min(work.segments, FROM_START))]
    return [*work.keys, *from_start, *(Key("path", -1 - place) for place in range(min(work.segments, FROM_END)))]


def tree(columns: dict[Key, Codes], classes: npt.NDArray[np.int64]) -> dict[Key, Codes]:
    """Generalize the values of pairs, given by key, with their classes; -1 is a wildcard.

    The result is the tree, written as the path of each pair.
    """
    ordered = sorted(columns, key=lambda key: (_conditional_entropy(columns[key], classes), str(key)))
    nodes = classes.astype(np.int64)
    made: dict[Key, Codes] = {}
    for key in ordered:
        codes = columns[key]
        pairs, first, inverse, counts = np.unique(
            (nodes << 32) + codes, return_index=True, return_inverse=True, return_counts=True
        )
        inverse = inverse.ravel()
        _, of_node, values = np.unique(pairs >> 32, return_inverse=True, return_counts=True)
        sizes = np.bincount(of_node.ravel(), weights=counts)
        many = values[of_node.ravel()] > MAX_VALUES
        wild = many & (counts <= MAJORITY * sizes[of_node.ravel()])
        made[key] = np.where(wild[inverse], _WILDCARD, codes[first][inverse]).astype(np.int32)
        nodes = made[key].astype(np.int64) + 1
    return made


def _conditional_entropy(codes: Codes, classes: npt.NDArray[np.int64]) -> float:
    """Give the entropy of the classes when the value of a key is known: least where the information gain is most."""
    both, sizes = numbered((classes.astype(np.uint64) << np.uint64(32)) + codes.astype(np.uint64))
    _, alone = numbered(codes.astype(np.uint64))
    return round(float((alone * np.log(alone)).sum() - (sizes * np.log(sizes)).sum()) / max(len(both), 1), 9)


def _shared(columns: dict[Key, Codes]) -> dict[Key, int]:
    """Give the values that all rows have, -1 for a key where they differ."""
    return {key: int(codes[0]) if (codes == codes[0]).all() else -1 for key, codes in columns.items() if len(codes)}


def _paths(values: dict[Key, Codes], clusters: Codes) -> list[tuple[Rows, dict[Key, int]]]:
    """Give the commonest paths of a class, by clusters: which of its rows take each, and its values."""
    if not values or not len(clusters):
        return []
    sums = np.zeros(len(clusters), np.uint64)
    for place, codes in enumerate(values.values(), 1):
        sums += (codes.astype(np.uint64) + np.uint64(7)) * np.uint64(0x9E3779B97F4A7C15 * (2 * place + 1) % 2**64)
        sums ^= sums >> np.uint64(31)
    groups, sizes = numbered(sums)
    shown_by = [len(np.unique(clusters[groups == group])) for group in range(min(len(sizes), 512))]
    best = sorted(range(len(shown_by)), key=lambda group: (-shown_by[group], -int(sizes[group]), group))
    found = []
    for group in best[:MAX_CONTEXTS]:
        members = np.flatnonzero(groups == group)
        found.append((members, {key: int(codes[members[0]]) for key, codes in values.items()}))
    return found


class _Speller:
    """Writes generalized values as contexts."""

    def __init__(
        self, work: Workspace, deep: dict[Key, DeepColumn], salience: Salience, columns: dict[Key, Codes]
    ) -> None:
        self._work, self._deep, self._salience, self._columns = work, deep, salience, columns
        self._telling: dict[tuple[Key, Pattern], bool] = {}

    def context(self, rows: Rows, worked_on: Set[Key], values: dict[Key, int]) -> dict[Key, Match]:
        """Write the values that rows share as a context; ⊥ is left free until something speaks against it."""
        depths = np.unique(self._work.depth[rows])
        made: dict[Key, Match] = {}
        for key, code in values.items():
            if (
                key.part == "path"
                and int(key.name) < 0
                and (len(depths) == 1 or (key.name != -1 and key not in worked_on))
            ):
                continue  # the same segment is named from the start, or it is at no certain place
            if code > 0 and code != IGNORED and self._salience.common(key)[code]:
                if key.part in ("scheme", "port") and (self._columns[key] == code).all():
                    continue  # what all URLs of the site have tells nothing
                text = self._work.lexicon.text(code)
                made[key] = Pattern((text,) if text else ())
            elif code != 0 and key in self._deep and key.part == "path":
                pattern = self._pattern(key, rows)
                if pattern is not None:
                    made[key] = pattern
        return made

    def _pattern(self, key: Key, rows: Rows) -> Pattern | None:
        """Give the deep pattern that the values of all rows fit, with the words that all have in its slots."""
        deep, codes = self._deep[key], self._columns[key][rows]
        fitting = deep.pattern_of(codes)
        if not len(rows) or fitting[0] == 0 or not (fitting == fitting[0]).all():
            return None
        place = int(fitting[0]) - 1
        words: dict[int, str] = {}
        for slot in range(len(deep.slots[place])):
            taken = deep.taken(place, slot, codes)
            text = self._work.lexicon.text(int(taken[0])) or ""
            if (taken == taken[0]).all() and not is_id(text):
                words[slot] = text
        pattern = _filled(deep.patterns[place], words)
        return pattern if self._tells(key, pattern) else None

    def _tells(self, key: Key, pattern: Pattern) -> bool:
        """Tell whether a pattern does not fit some URL of the site: only then is it worth asking for."""
        if (key, pattern) not in self._telling:
            there = self._columns[key][(self._columns[key] != 0) & (self._columns[key] != IGNORED)]
            self._telling[key, pattern] = not self._work.lexicon.fits(pattern, there).all()
        return self._telling[key, pattern]


def with_needs(
    context: dict[Key, Match], needs: dict[Key, Match], operations: dict[Key, Operation], depth: int | None
) -> dict[Key, Match]:
    """Add what operations take for granted: the patterns whose slots they copy, and segments to work on.

    Where all paths have the same `depth`, a segment that is worked on from the end is asked for from the end as well.
    """
    made = {**context, **needs}
    for key in operations:
        if key.part == "path" and key not in made:
            same = Key("path", depth + int(key.name)) if depth is not None and int(key.name) < 0 else None
            made[key] = made.pop(same) if same in made else ANY
    return made


def with_word(pattern: Pattern, slot: int, text: str) -> Pattern:
    """Put a literal into a slot of a pattern."""
    return _filled(pattern, {slot: text})


def _filled(pattern: Pattern, texts: dict[int, str]) -> Pattern:
    """Put literals into some slots of a pattern."""
    slot = -1
    parts: list[str | Slot] = []
    for part in pattern.parts:
        slot += isinstance(part, Slot)
        parts.append(texts.get(slot, part) if isinstance(part, Slot) else part)
    return Pattern(tidy(parts))
