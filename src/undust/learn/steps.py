"""Accepted edits, exchanges and moves, spelled out: texts for codes, as rules need them."""

from collections.abc import Sequence
from dataclasses import dataclass

from undust.learn.edits import Edit
from undust.learn.exchanges import Exchange
from undust.learn.maps import Change
from undust.learn.moves import Move
from undust.learn.scopes import Condition
from undust.learn.state import IGNORED
from undust.urls.keys import Key


@dataclass(frozen=True, slots=True)
class Step:
    """An accepted edit, spelled out: texts for codes, and what most URLs had where a value is ignored."""

    key: Key
    value: str | None
    """The value that it changes; None for any."""
    to: str | None
    """What the value becomes; None for ⊥."""
    ignored: bool
    usual: str | None
    conditions: tuple[Condition, ...]
    change: Change | None = None
    """What becomes of each value, instead of `to`."""


@dataclass(frozen=True, slots=True)
class MoveStep:
    """An accepted move, spelled out: each key gets a text, the value of another key, or ⊥."""

    targets: tuple[tuple[Key, str | Key | None], ...]
    conditions: tuple[Condition, ...]
    deepest: Key
    """The first segment that URLs of the template do not have."""


@dataclass(frozen=True, slots=True)
class ExchangeStep:
    """An accepted exchange, spelled out: keys that have certain values together get others, or ⊥."""

    parts: tuple[tuple[Key, str, str | None], ...]
    conditions: tuple[Condition, ...]


AnyStep = Step | ExchangeStep | MoveStep


def spell(edit: Edit, conditions: tuple[Condition, ...], values: Sequence[str | None], usual: str | None) -> Step:
    """Spell an edit out; `values` has the text of each code, the first of which is ⊥."""
    value = None if edit.value is None else values[edit.value]
    ignored = edit.to == IGNORED
    to = None if ignored else values[edit.to]
    return Step(edit.key, value, to, ignored, usual, conditions, edit.change)


def spell_exchange(exchange: Exchange, conditions: tuple[Condition, ...], values: Sequence[str | None]) -> ExchangeStep:
    """Spell an exchange out."""
    parts = tuple((part.key, values[part.value or 0] or "", values[part.to]) for part in exchange.parts)
    return ExchangeStep(parts, conditions)


def spell_move(move: Move, conditions: tuple[Condition, ...], values: Sequence[str | None]) -> MoveStep:
    """Spell a move out."""
    targets = tuple((key, to if isinstance(to, Key) else values[to]) for key, to in move.targets)
    return MoveStep(targets, move.conditions + conditions, move.deepest)
