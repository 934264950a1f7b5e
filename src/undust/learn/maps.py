"""What an edit makes of the values of a key: each distinct value of a site is looked at once, not each URL."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from undust.rules.values import ANY, Copy, Ignore, Operation, Pattern, Slot
from undust.urls.keys import Key

Codes = npt.NDArray[np.int32]

Kind = Literal["head", "tail", "cut", "swap", "strip", "lower"]
"""How a value is changed: `head` keeps what is before the first mark and ignores the rest, `tail` keeps the number
behind the last mark and ignores what is before, `cut` takes mark and rest away, `swap` puts an ending in the place of a
mark and the number behind it, `strip` takes an ending away, `lower` makes letters small."""


@dataclass(frozen=True, slots=True)
class Change:
    """A way in which values are changed."""

    kind: Kind
    mark: str = ""
    ending: str = ""
    """What stands behind the number of a `tail`, such as `.html`; what `swap` puts and `strip` takes away."""
    last: str = ""
    """What stands behind the number of a `swap`, and stays: `.html` of `33.msg5.html` and `33.0.html`."""

    @property
    def ignores(self) -> bool:
        """Tell whether a part of the value is left that does not matter."""
        return self.kind in ("head", "tail")

    def pattern(self) -> Pattern:
        """Write what the values look like that it changes, as a pattern of a rule."""
        ending = (self.ending,) if self.ending else ()
        last = (self.last,) if self.last else ()
        match self.kind:
            case "lower":
                return ANY
            case "strip":
                return Pattern((Slot(), *ending))
            case "swap":
                return Pattern((Slot(), self.mark, Slot("digits"), *last))
            case "tail":
                return Pattern((Slot(), self.mark, Slot("digits"), *ending))
        return Pattern((Slot(), self.mark, Slot()))

    def operation(self, key: Key, usual: str | None) -> Operation:
        """Write the change as an operation of a rule; `usual` is what most URLs have where it does not matter."""
        ending = (self.ending,) if self.ending else ()
        match self.kind:
            case "lower":
                return (Copy(key, 0, "lower"),)
            case "cut" | "strip":
                return (Copy(key, 0),)
            case "swap":
                behind = self.ending + self.last
                return (Copy(key, 0), behind) if behind else (Copy(key, 0),)
            case "head":
                return (Copy(key, 0), self.mark, Ignore(usual))
        return (Ignore(usual), self.mark, Copy(key, 1), *ending)

    def ignored(self, value: str) -> str | None:
        """Give the part of a value that does not matter; none if the value does not look as it should."""
        taken = self.pattern().fit(value) if self.ignores else None
        return None if taken is None else taken[1 if self.kind == "head" else 0]

    def looks(self) -> str:
        """Write what the values look like as a regular expression, which has no repetition inside another.

        >>> Change("tail", "-", ".html").looks()
        '^.+[-][0-9]+[.]html$'
        """
        mark, ending, last = (quoted(text) for text in (self.mark, self.ending, self.last))
        return {
            "head": mark,
            "cut": f"^.+{mark}",
            "tail": f"^.+{mark}[0-9]+{ending}$",
            "swap": f"^.+{mark}[0-9]+{last}$",
            "strip": f"^.+{ending}$",
            "lower": "[A-Z]",
        }[self.kind]


def quoted(text: str) -> str:
    """Write text so that a regular expression takes it as it is."""
    return "".join(letter if letter.isalnum() else f"[{letter}]" for letter in text)


class Maps:
    """Maps from codes of values to codes of what they become; 0 for values that stay as they are.

    A value that becomes another value gets the code of that one, so that both are the same key afterwards. What no URL
    has gets a code of its own, beyond those of the values.
    """

    def __init__(self, values: pa.StringArray) -> None:
        self.values = values
        self._beyond = len(values) + 1
        self._new: dict[str, int] = {}
        self._made: dict[Change, Codes] = {}

    def get(self, change: Change, size: int) -> Codes:
        """Give the map of a change for codes below `size`."""
        if change not in self._made:
            self._made[change] = self._make(change)
        known = self._made[change]
        return known if size <= len(known) else np.concatenate([known, np.zeros(size - len(known), np.int32)])

    def _make(self, change: Change) -> Codes:
        changed = pc.match_substring_regex(self.values, change.looks())
        made = _texts(change, self.values.filter(changed)).dictionary_encode()
        codes = np.arange(len(made.dictionary), dtype=np.int32) + np.int32(self._beyond)
        self._beyond += len(codes)
        if not change.ignores:  # half-ignored values are none: `a:*` is another key than `a`
            codes = self._known(made.dictionary, codes)
        found = np.zeros(len(self.values) + 1, np.int32)
        found[1 + np.flatnonzero(changed.to_numpy(zero_copy_only=False))] = codes[made.indices.to_numpy()]
        return found

    def _known(self, texts: pa.StringArray, codes: Codes) -> Codes:
        """Give the codes of texts that are values already, or became ones by another change."""
        known = pc.index_in(texts, value_set=self.values).fill_null(-1).to_numpy() + 1
        for place in np.flatnonzero(known == 0).tolist():
            known[place] = self._new.setdefault(texts[place].as_py(), int(codes[place]))
        return np.asarray(known, np.int32)


def _texts(change: Change, values: pa.StringArray) -> pa.StringArray:
    """Change values that look as they should."""
    if change.kind == "lower":
        return pc.utf8_lower(values)
    if change.kind == "tail":
        return pc.list_element(pc.split_pattern(values, change.mark, max_splits=1, reverse=True), 1)
    if change.kind == "strip":
        return pc.binary_slice(values.cast(pa.binary()), 0, -len(change.ending.encode())).cast(pa.string())
    if change.kind == "swap":
        heads = pc.list_element(pc.split_pattern(values, change.mark, max_splits=1, reverse=True), 0)
        return pc.binary_join_element_wise(heads, change.ending + change.last, "")
    return pc.list_element(pc.split_pattern(values, change.mark, max_splits=1), 0)
