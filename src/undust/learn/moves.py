"""Moves: URLs of one template become URLs of another, as `/index.php?title=X` becomes `/wiki/X`.

A template is what URLs of a kind have in common: how many segments, which arguments, and the values that are words of
the site. Two templates that clusters have in common may be two spellings of the same pages; which value goes where is
read off the pairs of URLs in those clusters.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from undust.kernels.merges import add_hashes
from undust.learn.columns import REST, Codes
from undust.learn.edits import MIN_ROWS
from undust.learn.scopes import Condition
from undust.learn.state import IGNORED, Mask, Rows, State, numbered
from undust.urls.keys import Key

MAX_TEMPLATES = 48
WORD_SHARE = 0.02
"""A value is a word of the site if this share of the URLs has it."""
MIN_AGREEMENT = 0.9
"""Share of the pairs in which a value must be the same on both sides to be taken for moved."""


@dataclass(frozen=True, slots=True)
class Move:
    """What becomes of the URLs of a template: each key gets a literal (a code), a copy of another key, or ⊥ (0)."""

    conditions: tuple[Condition, ...]
    """What the URLs of the template look like."""
    targets: tuple[tuple[Key, int | Key], ...]
    depth: int
    """How many segments the path has afterwards."""
    deepest: Key
    """The first segment that URLs of the template do not have."""

    @property
    def loses(self) -> bool:
        """Tell whether no value is left that could be asked for: what stood there stands elsewhere now."""
        return True

    @property
    def most_doubt(self) -> float:
        """Give how much a move is doubted at most before a site is looked at."""
        return 1.0

    @property
    def family(self) -> str:
        """Name edits of the same kind."""
        return "move"

    @property
    def keys(self) -> frozenset[Key]:
        """Give the keys that change."""
        return frozenset(key for key, _ in self.targets)

    def rows(self, state: State) -> Mask:
        """Tell which keys it would change: its conditions say that."""
        return np.ones(len(state), np.bool_)

    def changes(self, state: State, rows: Rows) -> tuple[dict[Key, Codes], Codes | None]:
        """Give the columns that change, as they are afterwards in some rows, and the new depth of paths."""
        made = {
            key: state.column(to)[rows] if isinstance(to, Key) else np.full(len(rows), to, np.int32)
            for key, to in self.targets
        }
        return made, np.full(len(rows), self.depth, np.int32)


@dataclass(frozen=True, slots=True)
class _Template:
    rows: Rows
    literals: dict[Key, int]
    wild: tuple[Key, ...]
    depth: int

    @property
    def has_query(self) -> bool:
        return any(key.part == "query" for key in (*self.literals, *self.wild))


def possible_moves(state: State) -> Iterator[Move]:
    """List the moves that clusters suggest, in an order that does not depend on that of the URLs."""
    numbers, templates = _templates(state)
    if len(templates) < 2:
        return
    first = _first_keys(state, numbers, len(templates))
    there = (first >= 0).astype(np.float32)
    common = there.T @ there
    # Of two directions the first is taken: towards paths without a query, then to what is more common.
    pairs = [(a, b) for a, b in np.argwhere(common >= MIN_ROWS).tolist() if a != b]
    for a, b in sorted(pairs, key=lambda pair: (templates[pair[1]].has_query, pair[1], pair[0])):
        both = np.flatnonzero((first[:, a] >= 0) & (first[:, b] >= 0))
        move = _move(state, templates[a], templates[b], first[both, a], first[both, b])
        if move is not None:
            yield move


def _templates(state: State) -> tuple[Codes, list[_Template]]:
    """Number the templates of URLs, the commonest first; -1 for the rest."""
    words, hashes = _words(state), np.zeros(len(state), np.uint64)
    shapes: dict[Key, Codes] = {}
    for key, codes in state.columns.items():
        if key.part in ("path", "query", "param") and key != REST:
            shapes[key] = np.where(codes == 0, 0, np.where(words[key], codes, IGNORED)).astype(np.int32)
            add_hashes(shapes[key], state.seeds[key], hashes)
    add_hashes(state.depth + np.int32(1), np.uint64(1), hashes)
    known, sizes = numbered(hashes)
    # Templates of equal size are told apart by their first URL, which sorting has put in order.
    order = [each for each in np.argsort(-sizes, kind="stable").tolist() if sizes[each] >= MIN_ROWS][:MAX_TEMPLATES]
    place = np.full(len(sizes), -1, np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    numbers = place[known]
    return numbers, [_template(state, np.flatnonzero(numbers == each), shapes) for each in range(len(order))]


def _template(state: State, rows: Rows, shapes: dict[Key, Codes]) -> _Template:
    here = {key: int(codes[rows[0]]) for key, codes in shapes.items() if codes[rows[0]]}
    literals = {key: code for key, code in here.items() if code != IGNORED}
    return _Template(rows, literals, tuple(sorted(here.keys() - literals.keys(), key=str)), int(state.depth[rows[0]]))


def _words(state: State) -> dict[Key, Mask]:
    """Tell for each key in which URLs its value is a word of the site."""
    least = max(MIN_ROWS, WORD_SHARE * len(state))
    found = {}
    for key, codes in state.columns.items():
        known = np.where(codes == IGNORED, 0, codes)
        counts = np.bincount(known)
        counts[0] = 0
        found[key] = (counts >= least)[known] & (known <= len(state.site.values))
    return found


def _first_keys(state: State, numbers: Codes, templates: int) -> Rows:
    """Give for each cluster the first key of each template; -1 where it has none."""
    first = np.full((int(state.clusters.max(initial=0)) + 1, templates), -1, np.int64)
    rows = np.flatnonzero(numbers[state.numbers] >= 0)[::-1]
    keys = state.numbers[rows]
    first[state.clusters[rows], numbers[keys]] = keys
    return first


def _move(state: State, source: _Template, target: _Template, ours: Rows, theirs: Rows) -> Move | None:
    """Read off pairs of URLs what becomes of the keys of a template; nothing if some value comes from nowhere."""
    targets: list[tuple[Key, int | Key]] = []
    for key in sorted({*source.literals, *source.wild, *target.literals, *target.wild}, key=str):
        if key in target.literals:
            if source.literals.get(key) != target.literals[key]:
                targets.append((key, target.literals[key]))
        elif key in target.wild:
            wanted = state.column(key)[theirs]
            best = max(
                source.wild, key=lambda each: (np.mean(state.column(each)[ours] == wanted), str(each)), default=None
            )
            if best is None or np.mean(state.column(best)[ours] == wanted) < MIN_AGREEMENT:
                return None
            if best != key:
                targets.append((key, best))
        else:
            targets.append((key, 0))
    # Other words in the query are no move; edits of one key tell more of those.
    if not any(isinstance(to, Key) or key.part == "path" for key, to in targets):
        return None
    return Move(tuple(_conditions(state, source)), tuple(targets), target.depth, Key("path", source.depth))


def _conditions(state: State, template: _Template) -> Iterator[Condition]:
    """Write what the URLs of a template looked like as they were given, apart from what no other URL looks like anyway.

    A key that edits have changed may have had several values then, and is not asked about.
    """
    site = state.site
    ours = state.rows[template.rows]
    left = np.ones(len(site), np.bool_)
    keys = [key for key in site.columns if key.part in ("path", "query", "param") and key != REST]
    for key in [*template.literals, *template.wild]:
        codes = site.columns.get(key)
        if codes is None:
            continue
        there = np.unique(codes[ours])
        if len(there) == 1 and there[0]:
            yield Condition(key, "is", site.value(int(there[0])) or "")
            left &= codes == there[0]
        elif there[0]:
            yield Condition(key, "present")
            left &= codes != 0
    for key in keys:
        codes = site.columns[key]
        if not codes[ours].any() and codes[left].any():
            yield Condition(key, "present", holds=False)
            left &= codes == 0
