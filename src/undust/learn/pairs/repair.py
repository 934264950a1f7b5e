"""Conditions under which a draft holds that does not hold everywhere: the top of the decision tree, grown on demand."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from undust.learn.deep_columns import DeepColumn
from undust.learn.pairs.belief import Draft, Judge, Merges
from undust.learn.pairs.contexts import attributes, with_word
from undust.learn.pairs.differences import commonest
from undust.learn.pairs.salience import Salience, is_id
from undust.learn.pairs.workspace import IGNORED, Rows, Workspace
from undust.rules.values import ABSENT, ANY, Copy, Match, Operation, Pattern, Piece
from undust.urls.keys import Key

TRIED = 10
"""Conditions that are tried for a draft, the most promising."""
DEEPER = 3
"""How many of them get another."""
WRONG_WEIGHT = 5


def repaired(
    judge: Judge,
    draft: Draft,
    merges: Merges,
    deep: dict[Key, DeepColumn],
    salience: Salience,
    closed: frozenset[Key],
    levels: int = 2,
) -> Iterator[tuple[Draft, Merges, int]]:
    """Give drafts with further conditions, what they make one, and how many conditions were added."""
    waiting = [(draft, merges, 0)]
    while waiting:
        now, found, added = waiting.pop(0)
        deeper = []
        for scoped in _promising(judge.work, now, found, deep, salience, closed):
            measured = judge.measure(scoped)
            if measured is None or measured.gained == 0:
                continue
            yield scoped, measured, added + 1
            if measured.wrong:
                deeper.append((scoped, measured, added + 1))
        if added + 1 < levels:
            deeper.sort(key=lambda each: (WRONG_WEIGHT * each[1].wrong - each[1].gained, each[0].name))
            waiting += deeper[:DEEPER]


def _promising(
    work: Workspace,
    draft: Draft,
    merges: Merges,
    deep: dict[Key, DeepColumn],
    salience: Salience,
    closed: frozenset[Key],
) -> list[Draft]:
    """Give the draft with the conditions that part right merges from wrong ones best."""
    right, wrong = merges.changed[merges.right_rows[merges.changed]], merges.changed[merges.wrong_rows[merges.changed]]
    only_right = np.setdiff1d(right, wrong, assume_unique=True)
    ranked: list[tuple[float, Draft]] = []
    copied = _copied(draft)
    for key in attributes(work):
        match = draft.context.get(key)
        if match is not None and match != ANY:
            if isinstance(match, Pattern) and match.literal is None:
                ranked += _words_in_slots(work, draft, key, match, only_right, wrong, salience)
            continue
        if key in closed:
            continue
        for score, found in _conditions(work, key, only_right, wrong, deep, salience):
            partial = isinstance(found, Pattern) and found.literal is None and found != ANY
            if found != match and not (partial and key in copied):
                ranked.append((score, Draft({**draft.context, key: found}, draft.operations)))
    ranked.sort(key=lambda each: (-each[0], each[1].name))
    return [scoped for _, scoped in ranked[:TRIED]]


def _copied(draft: Draft) -> set[Key]:
    """Give the keys whose values are copied: what their slots mean must not change."""
    tuples = [made for made in draft.operations.values() if isinstance(made, tuple)]
    return {piece.source for made in tuples for piece in made if isinstance(piece, Copy)}


def _words_in_slots(
    work: Workspace, draft: Draft, key: Key, pattern: Pattern, right: Rows, wrong: Rows, salience: Salience
) -> Iterator[tuple[float, Draft]]:
    """Give the draft with a word in place of a slot that a key's pattern has."""
    codes = work.column(key)
    _, taken = work.lexicon.slots(pattern, np.where(codes == IGNORED, np.int32(0), codes))
    for slot, texts in enumerate(taken):
        code = commonest(texts[right])
        text = work.lexicon.text(code)
        count, against = np.count_nonzero(texts[right] == code), np.count_nonzero(texts[wrong] == code)
        if text and not is_id(text) and count >= salience.least and against < len(wrong):
            narrow = Draft(
                {**draft.context, key: with_word(pattern, slot, text)},
                {name: _renumbered(made, key, slot, text) for name, made in draft.operations.items()},
            )
            yield float(count - WRONG_WEIGHT * against), narrow


def _renumbered(operation: Operation, key: Key, slot: int, text: str) -> Operation:
    """Write a word for the slot that it took the place of; the slots after it come one earlier."""
    if not isinstance(operation, tuple):
        return operation
    made: list[Piece] = []
    for piece in operation:
        if isinstance(piece, Copy) and piece.source == key and piece.slot >= slot:
            made.append(piece.convert(text) if piece.slot == slot else replace(piece, slot=piece.slot - 1))
        else:
            made.append(piece)
    joined: list[Piece] = []
    for piece in made:
        if isinstance(piece, str) and joined and isinstance(joined[-1], str):
            joined[-1] += piece
        else:
            joined.append(piece)
    return tuple(joined)


def _conditions(
    work: Workspace,
    key: Key,
    right: Rows,
    wrong: Rows,
    deep: dict[Key, DeepColumn],
    salience: Salience,
) -> Iterator[tuple[float, Match]]:
    codes, least = work.column(key), salience.least
    rights, wrongs = codes[right], codes[wrong]
    if not len(rights) or ((rights == rights[0]).all() and (wrongs == rights[0]).all()):
        return
    absent, wrongly_absent = int(np.count_nonzero(rights == 0)), int(np.count_nonzero(wrongs == 0))
    if absent >= least and wrongly_absent < len(wrongs):
        yield absent - WRONG_WEIGHT * wrongly_absent, ABSENT
    if len(rights) - absent >= least and wrongly_absent:
        yield (len(rights) - absent) - WRONG_WEIGHT * (len(wrongs) - wrongly_absent), ANY
    values, counts = np.unique(rights[(rights != 0) & (rights != IGNORED)], return_counts=True)
    common = salience.common(key)
    for code, count in zip(values.tolist(), counts.tolist(), strict=True):
        if count >= least and code < len(common) and common[code]:
            text = work.lexicon.text(code)
            against = int(np.count_nonzero(wrongs == code))
            if against < len(wrongs):
                yield count - WRONG_WEIGHT * against, Pattern((text,) if text else ())
    column = deep.get(key)
    if column is not None:
        fitting, failing = column.pattern_of(rights), column.pattern_of(wrongs)
        for place, pattern in enumerate(column.patterns, 1):
            count, against = int(np.count_nonzero(fitting == place)), int(np.count_nonzero(failing == place))
            if count >= least and against < len(wrongs):
                yield count - WRONG_WEIGHT * against, pattern
