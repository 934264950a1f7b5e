"""The deep tokens of a site's values, by key: which pattern each value fits, and what its slots take."""

from dataclasses import dataclass

import numpy as np

from undust.learn.columns import Codes
from undust.learn.deep import deep_patterns
from undust.learn.pairs.workspace import IGNORED, Workspace
from undust.rules.values import Pattern
from undust.urls.keys import Key

MAX_PLACES = 6
"""Segments from the start that are looked into, and the last one."""


@dataclass(frozen=True, slots=True)
class DeepColumn:
    """The patterns of a key, and for the code of each of its values the one that it fits."""

    patterns: tuple[Pattern, ...]
    fitting: Codes
    """By code: 0 for none, else 1 and the place of the pattern."""
    slots: tuple[tuple[Codes, ...], ...]
    """By pattern and slot: the code of what the slot takes, by code."""

    def pattern_of(self, codes: Codes) -> Codes:
        """Tell which pattern values fit: 0 for none, else 1 and its place."""
        return self.fitting[_within(codes, self.fitting)]

    def taken(self, place: int, slot: int, codes: Codes) -> Codes:
        """Give what a slot of a pattern takes of values."""
        table = self.slots[place][slot]
        return table[_within(codes, table)]


def deep_columns(work: Workspace) -> dict[Key, DeepColumn]:
    """Deep-tokenize the values of arguments and segments."""
    places = [Key("path", place) for place in [*range(min(work.segments, MAX_PLACES)), -1]]
    keys = [key for key in work.keys if key.part == "query"] + places
    found = {}
    for key in keys:
        column = _deep_column(work, key)
        if column is not None:
            found[key] = column
    return found


def _deep_column(work: Workspace, key: Key) -> DeepColumn | None:
    codes = np.unique(work.column(key))
    codes = codes[(codes != 0) & (codes != IGNORED)]
    patterns = deep_patterns(work.lexicon.texts(codes))
    if not patterns:
        return None
    size = int(codes.max()) + 1
    fitting = np.zeros(size, np.int32)
    slots = []
    for place, pattern in enumerate(patterns):
        fits, taken = work.lexicon.slots(pattern, codes)
        mine = fits & (fitting[codes] == 0)
        fitting[codes[mine]] = place + 1
        tables = []
        for values in taken:
            table = np.zeros(size, np.int32)
            table[codes[mine]] = values[mine]
            tables.append(table)
        slots.append(tuple(tables))
    return DeepColumn(patterns, fitting, tuple(slots))


def _within(codes: Codes, table: Codes) -> Codes:
    """Take ⊥ for codes that came later than the table."""
    return np.where(codes < len(table), codes, np.int32(0))
