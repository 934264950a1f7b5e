"""Exchanges: what some arguments say together is said otherwise: `sort=downloads&asc=` as `sort=posted`.

Forums and file indexes write out what is the default anyway, several arguments at once (`start=0&postorder=asc`), and
sort short lists in ways that come to the same. No edit of one key makes such URLs equal; the pairs of URLs in clusters
show which values change together.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from undust.kernels.merges import add_hashes
from undust.learn.columns import REST, Codes
from undust.learn.edits import MIN_ROWS, Edit, salient
from undust.learn.state import Hashes, Mask, Rows, State, first_rows, numbered
from undust.urls.keys import Key

MAX_PARTS = 5
"""Arguments that change together at most."""
MAX_NEIGHBOURS = 12
"""URLs of a cluster that each is compared with, of those that differ in arguments only."""
MAX_PAIRS = 60_000
"""Pairs of URLs that are looked at: those of more clusters would not show more."""
MAX_EXCHANGES = 48
"""The exchanges that most clusters show."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """What becomes of several arguments that have certain values together."""

    parts: tuple[Edit, ...]
    """Each changes one value of a key."""

    @property
    def conditions(self) -> tuple[()]:
        """Give the conditions that it has by its nature, apart from its values: none."""
        return ()

    @property
    def keys(self) -> frozenset[Key]:
        """Give the keys that change."""
        return frozenset(part.key for part in self.parts)

    @property
    def loses(self) -> bool:
        """Tell whether no value of a key is left that could be asked for."""
        return False

    @property
    def most_doubt(self) -> float:
        """Give how much an exchange is doubted at most before a site is looked at."""
        return 1.0

    @property
    def family(self) -> str:
        """Name edits of the same kind."""
        return "exchange"

    def rows(self, state: State) -> Mask:
        """Tell which keys it would change."""
        return np.asarray(np.logical_and.reduce([part.rows(state) for part in self.parts]))

    def changes(self, state: State, rows: Rows) -> tuple[dict[Key, Codes], Codes | None]:
        """Give the columns that change, as they are afterwards in some rows; paths stay as deep as they are."""
        return {part.key: np.full(len(rows), part.to, np.int32) for part in self.parts}, None


def possible_exchanges(state: State) -> Iterator[Exchange]:
    """List the exchanges that clusters suggest, those that most of them show first."""
    names = [key for key in sorted(state.columns, key=str) if key.part in ("query", "param") and key != REST]
    words = {key: salient(state, key) for key in names}
    names = [key for key in names if words[key]]
    a, b = _pairs(state, names)
    if not len(a):
        return
    usable, hashes, count = np.ones(len(a), np.bool_), np.zeros(len(a), np.uint64), np.zeros(len(a), np.int32)
    for key in names:
        codes = state.column(key)
        one, other = codes[a], codes[b]
        differs = one != other
        known = np.zeros(int(codes.max(initial=0)) + 1, np.bool_)
        known[words[key]] = True
        # What is given up has to be there, and both values have to be words of the site.
        usable &= ~differs | (known[one] & (known[other] | (other == 0)))
        count += differs
        add_hashes(np.where(differs, one, 0).astype(np.int32), state.seeds[key], hashes)
        add_hashes(np.where(differs, other, 0).astype(np.int32), ~state.seeds[key], hashes)
    rows = np.flatnonzero(usable & (count > 0) & (count <= MAX_PARTS))
    for first in _most_shown(hashes[rows], state.clusters[state.rows[a[rows]]]):
        exchange = _exchange(state, names, int(a[rows[first]]), int(b[rows[first]]))
        if exchange is not None:
            yield exchange


def _pairs(state: State, names: list[Key]) -> tuple[Rows, Rows]:
    """Pair keys of the same cluster that differ in arguments only, each way."""
    rest = state.hashes.copy()
    for key in names:
        said = np.zeros(len(rest), np.uint64)
        add_hashes(np.ascontiguousarray(state.column(key)), state.seeds[key], said)
        rest -= said
    a, b = neighbours(rest + state.clusters[state.rows].astype(np.uint64) * np.uint64(0xD6E8FEB86659FD93))
    a, b = np.concatenate([a, b]), np.concatenate([b, a])
    step = len(a) // MAX_PAIRS + 1
    return a[::step], b[::step]


def neighbours(groups_of: Hashes) -> tuple[Rows, Rows]:
    """Pair keys of the same group with some of those that come after them."""
    groups, sizes = numbered(groups_of)
    order = np.argsort(groups, kind="stable")
    order = order[sizes[groups[order]] > 1]
    ours: list[npt.NDArray[np.int64]] = []
    theirs: list[npt.NDArray[np.int64]] = []
    for apart in range(1, MAX_NEIGHBOURS + 1):
        one, other = order[:-apart], order[apart:]
        same = groups[one] == groups[other]
        ours.append(one[same])
        theirs.append(other[same])
    return np.concatenate(ours), np.concatenate(theirs)


def _most_shown(hashes: Hashes, clusters: Codes) -> list[int]:
    """Give a pair for each of the exchanges that several clusters show, the most shown first."""
    kinds, _ = numbered(hashes)
    width = np.uint64(int(clusters.max(initial=0)) + 1)
    cells, _ = numbered(kinds.astype(np.uint64) * width + clusters.astype(np.uint64))
    shown = np.bincount(kinds[first_rows(cells)])
    first = first_rows(kinds)
    order = [each for each in np.argsort(-shown, kind="stable").tolist() if shown[each] >= MIN_ROWS]
    return [int(first[each]) for each in order[: 2 * MAX_EXCHANGES]]


def _exchange(state: State, names: list[Key], source: int, target: int) -> Exchange | None:
    """Write what one key becomes to be another; nothing if the other way is better, or an edit of one key says it."""
    parts: list[Edit] = []
    common: tuple[int, int] = (0, 0)
    texts: tuple[list[str], list[str]] = ([], [])
    for key in names:
        codes = state.column(key)
        one, other = int(codes[source]), int(codes[target])
        if one == other:
            continue
        parts.append(Edit(key, one, other))
        weights = [int(state.weights[codes == code].sum()) for code in (one, other)]
        common = common[0] + weights[0], common[1] + weights[1]
        texts[0].append(state.site.value(one) or "")
        texts[1].append(state.site.value(other) or "")
    if len(parts) == 1 and parts[0].to == 0:
        return None
    if all(part.to for part in parts) and (common[0], texts[1]) > (common[1], texts[0]):
        return None  # both ways are possible: towards what is more common, then by name
    return Exchange(tuple(parts))
