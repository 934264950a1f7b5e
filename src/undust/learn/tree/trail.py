"""Follows a URL through transforms when only parts of it are known: where each of its values came from."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from undust.learn.state import IGNORED
from undust.learn.tree.forms import LAST
from undust.learn.tree.transforms import DropSegment, NewPath, PathChange, SetLast, Source, Transform
from undust.rules.values import DROP, Copy, Drop, Ignore, Operation
from undust.urls.keys import Key


@dataclass(frozen=True, slots=True)
class Literal:
    """A value that is known."""

    text: str


@dataclass(frozen=True, slots=True)
class Original:
    """The value that a key had in the URL as it was given."""

    key: Key


@dataclass(frozen=True, slots=True)
class Ignored:
    """A value that does not matter; `usual` is what most URLs had in its place."""

    usual: str | None


@dataclass(frozen=True, slots=True)
class Gone:
    """No value."""


GONE = Gone()
Value = Literal | Original | Ignored | Gone
Spell = Callable[[int], str | None]
"""The text of a code."""
Usual = dict[Key, int]
"""The commonest code of keys that are ignored."""


@dataclass(slots=True)
class Trail:
    """The keys of a URL after some transforms, in terms of the URL as it was given.

    A path is known by what has left it, or, where it was put together anew, segment by segment.
    """

    spell: Spell
    values: dict[Key, Value] = field(default_factory=dict)
    dropped: list[int] = field(default_factory=list)
    """Original places of segments that are gone, counted from the start."""
    dropped_last: int = 0
    last: Value | None = None
    """What the last segment has become."""
    segments: list[Value] | None = None
    """The path, where it was put together anew."""

    def copy(self) -> "Trail":
        """Give one that can go another way."""
        segments = None if self.segments is None else list(self.segments)
        return Trail(self.spell, dict(self.values), list(self.dropped), self.dropped_last, self.last, segments)

    def read(self, key: Key) -> Value:
        """Tell what a key is now."""
        if key.part != "path" or not isinstance(key.name, int):
            return self.values.get(key, Original(key))
        if self.segments is not None:
            return self.segments[key.name] if -len(self.segments) <= key.name < len(self.segments) else GONE
        original = self.original(key)
        if key == LAST:
            return self.last or self.values.get(original, Original(original))
        return self.values.get(original, Original(original))

    def original(self, key: Key) -> Key:
        """Give the place that a segment had at first."""
        place = int(key.name)
        if place < 0:
            return Key("path", place - self.dropped_last)
        for gone in sorted(self.dropped):
            if gone <= place:
                place += 1
        return Key("path", place)

    def transform(self, transform: Transform, usual: Usual) -> None:
        """Carry out a transform."""
        values = {key: self._from(source) for key, source in transform.values}
        self._change_path(transform.path)
        self.values |= values
        for key in sorted(transform.ignored):
            self._ignore(key, usual)

    def operations(self, depth: int) -> dict[Key, Operation]:
        """Write what has happened as the operations of a rule. `depth` is that of the longest path that it is for."""
        made: dict[Key, Operation] = {}
        for key, value in sorted(self.values.items()):
            if value != Original(key) and not (key.part == "path" and self.segments is not None):
                made[key] = _operation(value)
        if self.segments is not None:
            for place in range(max(depth, len(self.segments))):
                key = Key("path", place)
                value = self.segments[place] if place < len(self.segments) else GONE
                if value != Original(key):
                    made[key] = _operation(value)
            return made
        made |= {Key("path", place): DROP for place in sorted(self.dropped)}
        made |= {Key("path", -1 - place): DROP for place in range(self.dropped_last)}
        if self.last is not None:
            made[self.original(LAST)] = _operation(self.last)
        return made

    def _from(self, source: Source) -> Value:
        if isinstance(source, Key):
            return self.read(source)
        text = self.spell(source) if source != IGNORED else None
        return GONE if text is None else Literal(text)

    def _change_path(self, change: PathChange) -> None:
        if isinstance(change, NewPath):
            made = [self._from(source) for source in change.segments]
            self.segments = [value for value in made if value != GONE]
        elif isinstance(change, SetLast):
            if self.segments is None:
                self.last = self._from(change.code)
            elif self.segments:
                self.segments[-1] = self._from(change.code)
        elif isinstance(change, DropSegment):
            if self.segments is not None:
                if change.place < len(self.segments):
                    del self.segments[change.place]
            elif change.place < 0:
                self.dropped_last += 1
                self.last = None
            else:
                self.dropped.append(int(self.original(Key("path", change.place)).name))

    def _ignore(self, key: Key, usual: Usual) -> None:
        if key.part in ("query", "param"):
            self.values[key] = GONE
            return
        if isinstance(self.read(key), Ignored):
            return
        star = Ignored(self.spell(usual.get(key, 0)) or "")
        if key.part != "path":
            # A port that most URLs do not have cannot be left empty.
            self.values[key] = GONE if key.part == "port" and not star.usual else star
        elif self.segments is not None:
            if -len(self.segments) <= int(key.name) < len(self.segments):
                self.segments[int(key.name)] = star
        elif key == LAST:
            self.last = star
        else:
            self.values[self.original(key)] = star


def copied_keys(operations: Mapping[Key, Operation]) -> list[Key]:
    """Give the keys that operations copy values from."""
    made = [operation for operation in operations.values() if not isinstance(operation, Drop)]
    return sorted({piece.source for pieces in made for piece in pieces if isinstance(piece, Copy)})


def _operation(value: Value) -> Operation:
    if isinstance(value, Gone):
        return DROP
    if isinstance(value, Literal):
        return (value.text,) if value.text else ()
    if isinstance(value, Original):
        return (Copy(value.key),)
    return (Ignore(value.usual),)
