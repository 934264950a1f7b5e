"""Edits: one change each to the keys of URLs, which rules are put together from."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from undust.learn.columns import REST, Codes
from undust.learn.state import IGNORED, Mask, State
from undust.urls.keys import Key

MIN_ROWS = 3
"""A literal in an edit has to be the value of this many URLs, …"""
MIN_SHARE = 0.002
"""… and of this share of the site's. Less common values are ids, not words of the site."""
DELIMITERS = (":", "%3A", "%2F", "/", "_", "-", ".", ",", "|", "~", "+")
"""What sites put between the parts of a value; escaped ones as standard form writes them."""
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
    token: str = ""
    """A delimiter: only what comes after its first occurrence in the value is ignored."""

    @property
    def family(self) -> str:
        """Name edits of the same kind, which tend to be right or wrong together on a site."""
        kind = "token" if self.token else "any" if self.value is None else "one"
        return f"{self.key.part} {kind} {'goes' if self.to == 0 else 'ignored' if self.to == IGNORED else 'becomes'}"

    def rows(self, state: State) -> Mask:
        """Tell which URLs it would change."""
        codes = state.column(self.key)
        if self.token:
            found = state.heads(self.token)[np.where(codes == IGNORED, 0, codes)] != 0
        elif self.value is not None:
            found = codes == self.value
        else:
            found = codes != self.to
        return np.asarray(found)

    def changes(self, state: State, rows: Mask) -> tuple[dict[Key, Codes], Codes | None]:
        """Give the columns that change in some rows, and the new depth of paths if that does."""
        if self.token:
            codes = state.column(self.key)
            return {self.key: state.heads(self.token)[np.where(codes == IGNORED, 0, codes)]}, None
        if self.key.part != "path":
            return {self.key: np.full(len(state.site), self.to, np.int32)}, None
        assert isinstance(self.key.name, int)  # noqa: S101 - segments are counted
        place = state.depth + self.key.name if self.key.name < 0 else np.full_like(state.depth, self.key.name)
        paths = sorted(int(key.name) for key in state.columns if key.part == "path")
        changed: dict[Key, Codes] = {}
        for at in paths:
            here = state.columns[Key("path", at)]
            if self.to == 0:
                after = state.column(Key("path", at + 1))
                changed[Key("path", at)] = np.where(at < place, here, after)
            else:
                changed[Key("path", at)] = np.where(at == place, np.int32(self.to), here)
        return changed, state.depth - 1 if self.to == 0 else None


def possible_edits(state: State) -> Iterator[Edit]:
    """List the edits that are worth a try, in an order that does not depend on that of the URLs."""
    for key in sorted(state.columns, key=str):
        if key == REST:
            continue
        if key.part in ("query", "param"):
            yield Edit(key, None, 0)
            yield from (Edit(key, None, int(IGNORED), mark) for mark in delimiters(state, key))
            yield from (Edit(key, value, 0) for value in salient(state, key))
        elif key.part == "path":
            yield Edit(key, None, int(IGNORED))
        else:
            yield Edit(key, None, int(IGNORED))
            values = salient(state, key)
            if (state.columns[key] == 0).any():
                values.append(0)
            yield from (Edit(key, value, to) for value in values for to in values if value and to != value)
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


def salient(state: State, key: Key) -> list[int]:
    """Give the values of a key that are words of the site, the commonest first."""
    codes = state.column(key)
    counts = np.bincount(codes[(codes > 0) & (codes <= len(state.site.values))])
    least = max(MIN_ROWS, MIN_SHARE * len(state.site))
    common = np.flatnonzero(counts >= least)
    texts = state.site.values
    ordered = sorted(common.tolist(), key=lambda code: (-int(counts[code]), str(texts[code - 1])))
    return ordered[:MAX_LITERALS]


def delimiters(state: State, key: Key) -> list[str]:
    """Give the characters that divide most values of a key into a head, of which there are few, and a tail."""
    codes = state.column(key)
    codes = codes[(codes > 0) & (codes <= len(state.site.values))]
    found = []
    for mark in DELIMITERS:
        heads = state.heads(mark)[codes]
        divided = np.count_nonzero(heads)
        if divided >= MIN_ROWS and 2 * divided >= len(codes) and 2 * len(np.unique(heads)) <= len(np.unique(codes)):
            found.append(mark)
    return found
