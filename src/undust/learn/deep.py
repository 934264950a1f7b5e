"""Deep tokens: the parts of a value, by delimiters and words that this site uses (Koppula et al., 3.1.2).

Starting from the pattern that fits everything, a pattern is refined by *anchors*: runs of letters or digits that many
values share at the same place. Values with other anchors go to other patterns, until no anchors are left that do not
take the values apart too much. What the anchors of a last pattern leave open are the slots of a `rules` pattern.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from undust.kernels.deep import END, START, UNIT_CHANGE, scan_anchors
from undust.learn.deep_gaps import merged, refined, tidy
from undust.rules.values import Pattern, Slot

MAX_VALUES = 2048
"""Distinct values that patterns are learned from; more show nothing new."""
MAX_BYTES = 256
"""Longer values are data, and have no words in common."""
MAX_DEPTH = 8
"""Levels of the tree of patterns (`d_max` of lemma 1)."""
MAX_PATTERNS = 12

CONSTANT_SHARE = 0.95
"""Share of the values that has an anchor for it to be taken for all of them."""
BRANCH_SHARE = 0.5
"""Share of the values that anchors cover which tell patterns apart."""
MAX_BRANCHES = 8
MIN_BRANCH = 3
"""Values of each such pattern, …"""
MIN_BRANCH_SHARE = 0.03
"""… and their share of what the anchors cover."""

_WORD = re.compile(r"%[0-9A-F]{2}|[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[A-Z]+|[0-9]+|.", re.DOTALL)

Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class _Anchors:
    """The candidate anchors of some values, ordered by value and place."""

    texts: Sequence[str]
    value: Ints
    start: Ints
    end: Ints
    group: Ints
    """Delimiters at both ends, and whether it is numeric: what candidates are clustered by."""
    before: Ints
    after: Ints
    hashes: npt.NDArray[np.uint64]


def deep_patterns(values: pa.StringArray) -> tuple[Pattern, ...]:
    """Give patterns with slots that fit values of a key, the more specific first; none where there is no structure.

    >>> titles = ["a-nice-title-12345.html", "another-title-777.html", "third-42.html"]
    >>> [pattern.parts for pattern in deep_patterns(pa.array(titles))]
    [(Slot(kind='any'), '-', Slot(kind='digits'), '.html')]
    """
    texts = _sample(values)
    if len(texts) < 2:
        return ()
    anchors = _scan(texts)
    found: Counter[Pattern] = Counter()
    for pattern, count in _tokenize(anchors, np.arange(len(texts)), np.zeros(len(anchors.value), np.bool_), 0):
        if any(isinstance(part, Slot) for part in pattern.parts) and pattern.parts != (Slot(),):
            found[pattern] += count
    best = sorted(found, key=lambda pattern: (-found[pattern], repr(pattern)))[:MAX_PATTERNS]
    return tuple(sorted(best, key=lambda pattern: (-_literal_size(pattern), repr(pattern))))


def deep_tokens(value: str, patterns: Sequence[Pattern]) -> tuple[str, ...]:
    """Cut a value into deep tokens by the first pattern that fits: words, delimiters, and what slots take.

    >>> deep_tokens("friends-lttU7d6kIuGq", [Pattern(("friends-", Slot()))])
    ('friends', '-', 'lttU7d6kIuGq')
    """
    for pattern in patterns:
        slots = pattern.fit(value)
        if slots is not None:
            taken = iter(slots)
            tokens = (_words(part) if isinstance(part, str) else [next(taken)] for part in pattern.parts)
            return tuple(token for several in tokens for token in several)
    return (value,)


def _sample(values: pa.StringArray) -> list[str]:
    """Give distinct values, evenly out of all in order, so that the order of rows does not matter."""
    distinct = sorted(text for text in values.unique().drop_null().to_pylist() if text and len(text) <= MAX_BYTES)
    if len(distinct) <= MAX_VALUES:
        return distinct
    return [distinct[place * len(distinct) // MAX_VALUES] for place in range(MAX_VALUES)]


def _scan(texts: Sequence[str]) -> _Anchors:
    encoded = [text.encode() for text in texts]
    data = np.frombuffer(b"".join(encoded), np.uint8)
    offsets = np.concatenate([[0], np.cumsum([len(text) for text in encoded])]).astype(np.int32)
    found = np.empty((len(data), 6), np.int32)
    hashes = np.empty(len(data), np.uint64)
    count = int(scan_anchors(data, offsets, found, hashes))
    value, start, end, numeric, before, after = (found[:count, place].astype(np.int64) for place in range(6))
    return _Anchors(
        [text.decode("latin-1") for text in encoded],  # one character a byte, so that places are the same
        value,
        start,
        end,
        (before << 20) + (after << 4) + numeric,
        before,
        after,
        hashes[:count],
    )


def _tokenize(anchors: _Anchors, values: Ints, chosen: Mask, depth: int) -> Iterator[tuple[Pattern, int]]:
    """Refine a pattern, given as the anchors chosen in each of its values (algorithm 1)."""
    children = [] if depth == MAX_DEPTH or len(values) < 2 else _children(anchors, values, chosen)
    if not children:
        yield from _leaves(anchors, values, chosen)
        return
    branches = [list(_tokenize(anchors, *child, depth + 1)) for child in children]
    # Patterns that differ in one word only are one pattern with a slot for it: rules can still ask for the word.
    single = [branch[0] for branch in branches[:-1] if len(branch) == 1]
    if len(branches) > 2 and len(single) == len(branches) - 1:
        together = merged([pattern for pattern, _ in single])
        if together is not None:
            yield together, sum(count for _, count in single)
            yield from branches[-1]
            return
    for branch in branches:
        yield from branch


def _children(anchors: _Anchors, values: Ints, chosen: Mask) -> list[tuple[Ints, Mask]]:
    """Select anchors (algorithm 2) and part values by them; the last child is what has none of them."""
    here = np.zeros(len(anchors.texts), np.bool_)
    here[values] = True
    rows = np.flatnonzero(here[anchors.value] & ~chosen)
    if not len(rows):
        return []
    gaps = _gaps(anchors, chosen)
    cells = _Cells(anchors, rows, gaps, by_text=True)
    constant = cells.constant(len(values))
    if len(constant):
        having = np.bincount(cells.value[constant], minlength=len(here)) == len(np.unique(cells.group[constant]))
        parts = [having & here]
        taken = [constant]
    else:
        cells = _Cells(anchors, rows, gaps, by_text=False)
        taken = cells.branches(len(values))
        parts = [np.bincount(cells.value[branch], minlength=len(here)) > 0 for branch in taken]
    if not taken:
        return []
    children = []
    for part, branch in zip(parts, taken, strict=True):
        refined_by = chosen.copy()
        refined_by[rows[np.isin(cells.of_row, branch) & part[anchors.value[rows]]]] = True
        children.append((np.flatnonzero(part), refined_by))
    rest = here & ~np.logical_or.reduce(parts)
    return [*children, (np.flatnonzero(rest), chosen)]


def _gaps(anchors: _Anchors, chosen: Mask) -> Ints:
    """Tell for each anchor how many chosen ones its value has before it."""
    before = np.concatenate([[0], np.cumsum(chosen)])
    first = np.searchsorted(anchors.value, anchors.value)
    return np.asarray(before[:-1] - before[first])


class _Cells:
    """The anchors of each value in each cluster of candidates, as one sequence.

    Clusters are of candidates between the same delimiters, in the same gap of the pattern; `by_text` also of the same
    text, whose sequence is how often it occurs.
    """

    def __init__(self, anchors: _Anchors, rows: Ints, gaps: Ints, *, by_text: bool) -> None:
        names = ((gaps[rows] << 32) + anchors.group[rows]).astype(np.uint64)
        if by_text:
            names = (names * np.uint64(0x9E3779B97F4A7C15)) ^ anchors.hashes[rows]
        self.groups, of_group = np.unique(names, return_inverse=True)
        wide = np.int64(len(anchors.texts))
        cells, self.of_row = np.unique(of_group.ravel() * wide + anchors.value[rows], return_inverse=True)
        self.of_row = self.of_row.ravel()
        self.group, self.value = cells // wide, cells % wide
        order = np.argsort(self.of_row, kind="stable")
        starts = np.concatenate([[0], np.cumsum(np.bincount(self.of_row))])
        rank = np.empty(len(rows), np.int64)
        rank[order] = np.arange(len(rows)) - starts[self.of_row[order]]
        self.sequence = np.zeros(len(cells), np.uint64)
        mixed = (anchors.hashes[rows] ^ (rank.astype(np.uint64) << np.uint64(7))) * np.uint64(0x9E3779B97F4A7C15)
        np.add.at(self.sequence, self.of_row, mixed ^ (mixed >> np.uint64(29)))
        _, self.kind, sizes = np.unique(
            np.stack([self.group.astype(np.uint64), self.sequence]), axis=1, return_inverse=True, return_counts=True
        )
        self.kind = self.kind.ravel()
        self.size = sizes[self.kind]
        """How many values have the same sequence in the same cluster."""

    def constant(self, count: int) -> Ints:
        """Give the cells of anchors that nearly all values share, together."""
        common = np.flatnonzero(self.size >= CONSTANT_SHARE * count)
        taken: list[Ints] = []
        together: Mask | None = None
        for kind in sorted(np.unique(self.kind[common]).tolist(), key=lambda kind: -int((self.kind == kind).sum())):
            cells = np.flatnonzero(self.kind == kind)
            having = np.bincount(self.value[cells], minlength=int(self.value.max()) + 1) > 0
            both = having if together is None else having & together
            if both.sum() >= CONSTANT_SHARE**2 * count:
                together = both
                taken.append(cells)
        return np.concatenate(taken) if taken else np.zeros(0, np.int64)

    def branches(self, count: int) -> list[Ints]:
        """Give the cells of the cluster that parts values best, one array for each of its sequences.

        Good are high coverage, few sequences, and frequencies that vary little.
        """
        best: tuple[float, list[Ints]] = (0.0, [])
        for group in range(len(self.groups)):
            cells = np.flatnonzero(self.group == group)
            covered = len(cells)
            if covered < BRANCH_SHARE * count or self.groups[group] & np.uint64(1):
                continue  # numbers are for slots
            least = max(MIN_BRANCH, MIN_BRANCH_SHARE * covered)
            kinds, sizes = np.unique(self.kind[cells], return_counts=True)
            common = sizes >= least
            held = int(sizes[common].sum())
            if not 0 < common.sum() <= MAX_BRANCHES or held < 0.9 * covered or held < BRANCH_SHARE * count:
                continue
            variance = float(np.std(sizes[common]) / np.mean(sizes[common]))
            score = held / count - 0.05 * float(common.sum()) - 0.05 * variance + 1
            if score > best[0]:
                ordered = sorted(kinds[common].tolist(), key=lambda kind: int(cells[self.kind[cells] == kind][0]))
                best = (score, [cells[self.kind[cells] == kind] for kind in ordered])
        return best[1]


def _leaves(anchors: _Anchors, values: Ints, chosen: Mask) -> Iterator[tuple[Pattern, int]]:
    """Write the pattern that the chosen anchors of some values make, and refine what they leave open."""
    bounds = np.searchsorted(anchors.value, np.arange(len(anchors.texts) + 1))
    gaps: dict[tuple[Any, ...], list[list[str]]] = {}
    for value in values.tolist():
        rows = np.arange(bounds[value], bounds[value + 1])
        parts, open_ = _spell(anchors, value, rows[chosen[rows]].tolist())
        gaps.setdefault(parts, []).append(open_)
    for parts, several in sorted(gaps.items(), key=lambda entry: (-len(entry[1]), repr(entry[0]))):
        if len(several) > 1:
            fine = refined(parts, several)
            yield Pattern(tidy(part if isinstance(part, Slot) else _decoded(part) for part in fine)), len(several)


def _spell(anchors: _Anchors, value: int, rows: list[int]) -> tuple[tuple[Any, ...], list[str]]:
    """Write a value as literal parts, anchors with their delimiters, and what is between."""
    text = anchors.texts[value]
    parts: list[str | Slot] = []
    between: list[str] = []
    at = 0
    for row in rows:
        start = max(at, int(anchors.start[row]) - _size(int(anchors.before[row])))
        end = int(anchors.end[row]) + _size(int(anchors.after[row]))
        if start > at:
            parts.append(Slot())
            between.append(text[at:start])
        parts.append(text[start:end])
        at = end
    if at < len(text):
        parts.append(Slot())
        between.append(text[at:])
    return tidy(parts), between


def _size(delimiter: int) -> int:
    return 0 if delimiter in (START, END, UNIT_CHANGE) else 3 if delimiter >= 256 else 1


def _decoded(text: str) -> str:
    return text.encode("latin-1").decode(errors="replace")


def _literal_size(pattern: Pattern) -> int:
    return sum(len(part) for part in pattern.parts if isinstance(part, str))


def _words(text: str) -> list[str]:
    """Cut a literal at its delimiters, which are tokens too, and at unit changes."""
    return _WORD.findall(text)
