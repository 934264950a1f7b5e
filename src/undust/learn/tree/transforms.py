"""Transforms: what a rule from one node to another makes of forms, key by key."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from undust.learn.columns import Codes
from undust.learn.state import IGNORED
from undust.learn.tree.forms import LAST, Forms, Hashes, Rows, contribution, ignored, last_segments
from undust.urls.keys import Key

Source = int | Key
"""Where a value comes from: a code (keep; 0 is ⊥), or a key (replace)."""


@dataclass(frozen=True, slots=True)
class SetLast:
    """The last segment becomes another."""

    code: int


@dataclass(frozen=True, slots=True)
class DropSegment:
    """A segment leaves the path, and those after it move up. -1 is the last one."""

    place: int


@dataclass(frozen=True, slots=True)
class NewPath:
    """The path is put together anew."""

    segments: tuple[Source, ...]


PathChange = SetLast | DropSegment | NewPath | None


@dataclass(frozen=True, slots=True)
class Transform:
    """The operations of a rule: keep and replace for some keys, a change of the path, and keys that are ignored.

    Values are taken from the form as it was; what is ignored is ignored afterwards, in the result.
    """

    values: tuple[tuple[Key, Source], ...] = ()
    path: PathChange = None
    ignored: frozenset[Key] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.values or self.path is not None or self.ignored)

    def ignoring(self, keys: Iterable[Key]) -> "Transform":
        """The same, and more keys ignored."""
        return replace(self, ignored=self.ignored | frozenset(keys))

    @property
    def complexity(self) -> int:
        """How many keys it changes."""
        segments = len(self.path.segments) if isinstance(self.path, NewPath) else int(self.path is not None)
        return len(self.values) + len(self.ignored) + segments


@dataclass(frozen=True, slots=True)
class Sheet:
    """Some forms as they are after a transform."""

    forms: Forms
    rows: Rows
    depth: Codes
    changed: Mapping[Key, Codes] = field(default_factory=dict)

    @classmethod
    def of(cls, forms: Forms, rows: Rows) -> "Sheet":
        """Take forms as they are."""
        return cls(forms, rows, forms.depth[rows])

    def codes(self, key: Key) -> Codes:
        """Give the codes of a key; of the last segment too."""
        if key == LAST:
            paths = {each: self.codes(each) for each in self.path_keys()}
            return last_segments(paths, self.depth)
        found = self.changed.get(key)
        return self.forms.codes(key, self.rows) if found is None else found

    def path_keys(self) -> list[Key]:
        """Give the keys of segments, in their order."""
        return sorted({key for key in (*self.forms.columns, *self.changed) if key.part == "path"})

    def transformed(self, transform: Transform) -> "Sheet":
        """Carry out a transform."""
        changed, depth = self._new_path(transform.path)
        for key, source in transform.values:
            changed[key] = self._values(source)
        made = Sheet(self.forms, self.rows, depth, {**self.changed, **changed})
        return made.ignoring(transform.ignored)

    def ignoring(self, keys: Iterable[Key]) -> "Sheet":
        """Ignore keys."""
        changed = dict(self.changed)
        for key in keys:
            if key == LAST:
                for each in self.path_keys():
                    last = self.depth - 1 == each.name
                    changed[each] = np.where(last, IGNORED, changed.get(each, self.codes(each)))
            else:
                changed[key] = ignored(key, changed.get(key, self.codes(key)))
        return Sheet(self.forms, self.rows, self.depth, changed)

    def hashes(self) -> Hashes:
        """Give the hashes of the forms, which change only by what has been changed."""
        found = self.forms.hashes[self.rows]
        for key, codes in self.changed.items():
            found = found + contribution(key, codes) - contribution(key, self.forms.codes(key, self.rows))
        return found

    def part_of_hash(self, key: Key) -> Hashes:
        """Give what would be taken from the hashes if a key were ignored."""
        if key != LAST:
            codes = self.codes(key)
            return contribution(key, codes) - contribution(key, ignored(key, codes))
        found = np.zeros(len(self.rows), np.uint64)
        for each in self.path_keys():
            codes = np.where(self.depth - 1 == each.name, self.codes(each), 0)
            found += contribution(each, codes) - contribution(each, ignored(each, codes))
        return found

    def _values(self, source: Source) -> Codes:
        return self.codes(source) if isinstance(source, Key) else np.full(len(self.rows), source, np.int32)

    def _new_path(self, change: PathChange) -> tuple[dict[Key, Codes], Codes]:
        keys = self.path_keys()
        if change is None:
            return {}, self.depth
        if isinstance(change, SetLast):
            return {
                key: np.where(self.depth - 1 == key.name, np.int32(change.code), self.codes(key)) for key in keys
            }, self.depth
        if isinstance(change, DropSegment):
            gone = self.depth - 1 if change.place < 0 else np.full_like(self.depth, change.place)
            made = {
                key: np.where(gone > int(key.name), self.codes(key), self.codes(Key("path", int(key.name) + 1)))
                for key in keys
            }
            return made, self.depth - (gone < self.depth)
        found = {key: np.zeros(len(self.rows), np.int32) for key in keys}
        depth = np.zeros_like(self.depth)
        for place, source in enumerate(change.segments):
            found[Key("path", place)] = self._values(source)
            depth += found[Key("path", place)] != 0
        return found, depth
