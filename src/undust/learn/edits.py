"""Edits: one change each to the keys of URLs, which rules are put together from."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from undust.learn.columns import REST, Codes
from undust.learn.maps import Change, quoted
from undust.learn.state import IGNORED, Mask, Rows, State, first_rows, numbered
from undust.urls.keys import Key

MIN_ROWS = 3
"""A literal in an edit has to be the value of this many URLs, …"""
MIN_SHARE = 0.002
"""… and of this share of the site's. Less common values are ids, not words of the site."""
DELIMITERS = (":", "%3A", "%2F", "/", "_", "-", ".", ",", "|", "~", "+")
"""What sites put between the parts of a value; escaped ones as standard form writes them."""
_ID = re.compile("[0-9]{5}")
"""What looks like an id or a time is no word of the site, however common it is: the next page has another."""
_VISITOR = re.compile(
    "(utm_[a-z]+|fbclid|gclid|msclkid|mc_[ce]id|_ga|(php|j|asp)?sess(ion)?_?id|phpsessid|jsessionid|oscsid|zenid|cfid|cftoken)",
    re.IGNORECASE,
)
"""Names that tell the visitor or where they came from, on any site that has them."""
MIN_MIRRORS = 5
"""Labels in one place of the host that are mirrors of each other, among which others are thought to be mirrors, too."""
MAX_LITERALS = 24
"""The commonest values of a key that are tried one by one."""


@dataclass(frozen=True, slots=True)
class Edit:
    """What becomes of a key: any value of it (`value` None) or one becomes `to`: another, ⊥ (0) or `IGNORED`.

    A segment that becomes ⊥ leaves the path, and those after it move up.
    """

    key: Key
    value: int | None
    to: int
    change: Change | None = None
    """What becomes of each value, instead of `to`."""

    @property
    def conditions(self) -> tuple[()]:
        """Give the conditions that it has by its nature: none."""
        return ()

    @property
    def keys(self) -> frozenset[Key]:
        """Give the keys that change."""
        return frozenset((self.key,))

    @property
    def loses(self) -> bool:
        """Tell whether no value of the key is left that could be asked for."""
        return self.value is None

    @property
    def is_broad(self) -> bool:
        """Tell whether it is about a key as a whole, or about what is the same for most pages of a site."""
        return not self.change and (self.loses or self.key.part in ("scheme", "host"))

    @property
    def most_doubt(self) -> float:
        """Give how much an edit is doubted at most before a site is looked at: little, where most sites agree."""
        if self.key.part == "scheme" or (self.loses and not self.change and _VISITOR.fullmatch(str(self.key.name))):
            return 0.02
        return 1.0

    @property
    def family(self) -> str:
        """Name edits of the same kind, which tend to be right or wrong together on a site."""
        if self.change:
            return f"{self.key.part} {self.change.kind}"
        kind = "any" if self.value is None else "one"
        return f"{self.key.part} {kind} {'goes' if self.to == 0 else 'ignored' if self.to == IGNORED else 'becomes'}"

    def rows(self, state: State) -> Mask:
        """Tell which keys it would change."""
        codes = state.column(self.key)
        if self.change:
            found = state.mapped(self.change)[np.where(codes == IGNORED, 0, codes)] != 0
        elif self.value is not None:
            found = codes == self.value
        else:
            found = codes != self.to
            if self.key.part == "path":  # what does not matter in a segment says nothing of shorter paths
                found &= codes != 0
        return np.asarray(found)

    def changes(self, state: State, rows: Rows) -> tuple[dict[Key, Codes], Codes | None]:
        """Give the columns that change, as they are afterwards in some rows, and the depth of paths if that changes."""
        values = np.full(len(rows), self.to, np.int32)
        if self.change:
            codes = state.column(self.key)[rows]
            values = state.mapped(self.change)[np.where(codes == IGNORED, 0, codes)]
        if self.key.part != "path":
            return {self.key: values}, None
        assert isinstance(self.key.name, int)  # noqa: S101 - segments are counted
        depth = state.depth[rows]
        place = depth + self.key.name if self.key.name < 0 else np.full_like(depth, self.key.name)
        leaves = self.to == 0 and not self.change
        changed: dict[Key, Codes] = {}
        for key in [each for each in state.columns if each.part == "path"]:
            at = int(key.name)
            here = state.columns[key][rows]
            if leaves and (place <= at).any():
                changed[key] = np.where(at < place, here, state.column(Key("path", at + 1))[rows])
            elif not leaves and (place == at).any():
                changed[key] = np.where(at == place, values, here)
        return changed, depth - 1 if leaves else None


def possible_edits(state: State) -> Iterator[Edit]:
    """List the edits that are worth a try, in an order that does not depend on that of the URLs."""
    for key in sorted(state.columns, key=str):
        if key == REST:
            continue
        if key.part in ("query", "param"):
            yield Edit(key, None, 0)
            yield from (Edit(key, None, int(IGNORED), change) for change in changes(state, key))
            yield from (Edit(key, value, 0) for value in salient(state, key))
        elif key.part == "path":
            yield Edit(key, None, int(IGNORED))
        else:
            found = couples(state, key)
            # A host that shares no page with another may be no mirror, even if all the others are: it may be a language
            # of the site, or one of its users. Rare ones are left out of account only among many mirrors.
            mirrors = {value for value, _ in found}
            others = salient(state, key) if len(mirrors) >= MIN_MIRRORS else np.unique(state.column(key)).tolist()
            if mirrors >= set(others) - {0, int(IGNORED)}:
                yield Edit(key, None, int(IGNORED))
            yield from (Edit(key, value, to) for value, to in found)
    yield from _path_edits(state)


def _path_edits(state: State) -> Iterator[Edit]:
    last = Key("path", -1)
    empty = next((code + 1 for code, value in enumerate(state.site.values.to_pylist()) if value == ""), None)
    values = salient(state, last)
    for value in values:
        if value != empty:
            yield Edit(last, value, 0)
            if empty is not None:
                yield Edit(last, value, empty)
    if empty is not None:
        yield Edit(last, empty, 0)
    for place in (0, 1, 2, -2):
        yield from (Edit(Key("path", place), value, 0) for value in salient(state, Key("path", place)))
    yield from (Edit(Key("path", place), None, int(IGNORED)) for place in (-1, -2, -3))
    for place in (0, 1, 2, -1, -2):
        key = Key("path", place)
        yield from (Edit(key, None, int(IGNORED), change) for change in changes(state, key))


def possible_names(state: State) -> Iterator[Edit]:
    """List the segments that may be two names of one thing: `/3.2/` and `/stable/`."""
    for place in (0, 1, 2):
        key = Key("path", place)
        yield from (Edit(key, value, to) for value, to in couples(state, key) if to)


def salient(state: State, key: Key) -> list[int]:
    """Give the values of a key that are words of the site, the commonest first."""
    codes = state.column(key)
    known = (codes > 0) & (codes <= len(state.site.values))
    counts = np.bincount(codes[known], weights=state.weights[known])
    least = max(MIN_ROWS, MIN_SHARE * len(state.site))
    texts = state.site.values
    common = [code for code in np.flatnonzero(counts >= least).tolist() if not _ID.search(str(texts[code - 1]))]
    ordered = sorted(common, key=lambda code: (-int(counts[code]), str(texts[code - 1])))
    return ordered[:MAX_LITERALS]


def couples(state: State, key: Key) -> list[tuple[int, int]]:
    """Give the pairs of salient values of a key, or of one and ⊥, that clusters have in common."""
    values = [*salient(state, key), 0]
    codes = np.where(state.column(key) == IGNORED, -1, state.column(key))
    place = np.full(int(codes.max(initial=0)) + 2, -1)
    place[values] = np.arange(len(values))
    found = place[codes][state.numbers]
    rows = np.flatnonzero(found >= 0)
    cells, _ = numbered(state.clusters[rows].astype(np.uint64) * np.uint64(len(values)) + found[rows].astype(np.uint64))
    rows = rows[first_rows(cells)]
    clusters, sizes = numbered(state.clusters[rows].astype(np.uint64))
    several = sizes[clusters] > 1
    there = np.zeros((len(sizes), len(values)), np.float32)
    there[clusters[several], found[rows[several]]] = 1
    common = there.T @ there
    return [
        (values[a], values[b])
        for a in range(len(values))
        for b in range(len(values))
        if a != b and values[a] and common[a, b] >= MIN_ROWS
    ]


def changes(state: State, key: Key) -> list[Change]:
    """Give the ways to change the values of a key that would make some of them equal."""
    codes = state.column(key)
    codes = codes[(codes > 0) & (codes <= len(state.site.values))]
    distinct = np.unique(codes)
    if len(distinct) < 2:
        return []
    texts = state.site.values.take(pa.array(distinct - 1))
    found = [Change("lower")]
    endings = common_parts(texts, "[0-9](?P<part>(?:[.][A-Za-z]{1,5})?)$")
    for mark in DELIMITERS:
        if not pc.any(pc.match_substring(texts, mark)).as_py():
            continue
        # Few heads: what is before the mark is what a page is about.
        heads = state.mapped(Change("head", mark))[codes]
        if 2 * np.count_nonzero(heads) >= len(codes) and 2 * len(np.unique(heads)) <= len(distinct):
            found.append(Change("head", mark))
        found.append(Change("cut", mark))
        found += [Change("tail", mark, end) for end in endings]
    suffixes = common_parts(texts, "[A-Za-z0-9](?P<part>[-.,:_~][A-Za-z0-9]{1,6})$")
    found += [Change("strip", "", end) for end in suffixes]
    for last in dict.fromkeys(["", *endings]):
        before = f"{quoted(last)}$"
        parts = (
            suffixes if not last else common_parts(texts, f"[A-Za-z0-9](?P<part>[-.,:_~][A-Za-z0-9]{{1,6}}){before}")
        )
        for mark in common_parts(texts, f"(?P<part>[-.,:_~][A-Za-z]{{1,8}})[0-9]+{before}"):
            found += [Change("swap", mark, end, last) for end in ("", *parts)]
    return [change for change in dict.fromkeys(found) if _folds(state, change, distinct)]


def _folds(state: State, change: Change, distinct: Codes) -> bool:
    """Tell whether some values become equal, or half-ignored ones do."""
    made = state.mapped(change)[distinct]
    after = np.where(made > 0, made, distinct)
    return len(distinct) - len(np.unique(after)) >= MIN_ROWS


def common_parts(values: pa.StringArray, pattern: str, most: int = 3) -> list[str]:
    """Give the commonest texts that a pattern's group `part` takes of values."""
    parts = pc.struct_field(pc.extract_regex(values, pattern), "part").drop_null()
    counts = sorted((-each["counts"], each["values"]) for each in pc.value_counts(parts).to_pylist())
    return [part for count, part in counts[:most] if -count >= MIN_ROWS]
