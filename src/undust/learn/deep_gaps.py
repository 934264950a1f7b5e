"""What anchors leave open of values: numbers, and parts between delimiters that all of them have."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from undust.rules.values import Pattern, Slot

MIN_SHARE = 0.9
"""Share of the texts of a gap that must have a delimiter, or be numbers, for it to be refined."""
MAX_SLOTS = 6
_ESCAPE = re.compile("%[0-9A-F]{2}")
Parts = tuple[str | Slot, ...]


def tidy(parts: Iterable[str | Slot]) -> Parts:
    """Put literals that follow one another together."""
    made: list[str | Slot] = []
    for part in parts:
        if isinstance(part, str) and made and isinstance(made[-1], str):
            made[-1] += part
        elif part != "":
            made.append(part)
    return tuple(made)


def refined(parts: Parts, gaps: Sequence[Sequence[str]]) -> Parts:
    """Refine the slots of a pattern by what they take of each value."""
    made: list[str | Slot] = []
    budget = MAX_SLOTS - sum(isinstance(part, Slot) for part in parts)
    place = 0
    for part in parts:
        if isinstance(part, str):
            made.append(part)
            continue
        fine = _refine([taken[place] for taken in gaps], budget)
        budget -= sum(isinstance(each, Slot) for each in fine) - 1
        made += fine
        place += 1
    return tidy(made)


def _refine(texts: Sequence[str], budget: int) -> list[str | Slot]:
    least = max(2, MIN_SHARE * len(texts))
    numbers = sum(text.isdigit() for text in texts)
    if numbers >= least:
        return [Slot("digits")]
    if budget > 0:
        for mark in _marks(texts, least):
            having = [text for text in texts if mark in text]
            heads, tails = [text.partition(mark)[0] for text in having], [text.partition(mark)[2] for text in having]
            head, tail = _refine(heads, 0), _refine(tails, budget - 1)
            return [*head, mark, *tail]
        # A number at the end or at the start, though the rest has the same delimiters: `a-nice-title-123`.
        for mark, count in sorted(_ends(texts).items(), key=lambda entry: (-entry[1], entry[0])):
            if count >= least:
                return [Slot(), mark, Slot("digits")]
        for mark, count in sorted(_starts(texts).items(), key=lambda entry: (-entry[1], entry[0])):
            if count >= least:
                return [Slot("digits"), mark, Slot()]
    return [Slot()]


def _marks(texts: Sequence[str], least: float) -> list[str]:
    """Give the delimiters that nearly all texts have exactly once, the first in the text first."""
    counts: Counter[str] = Counter()
    places: Counter[str] = Counter()
    for text in texts:
        seen = Counter(_delimiters(text))
        for mark, times in seen.items():
            if times == 1:
                counts[mark] += 1
                places[mark] += text.index(mark)
    return sorted(
        (mark for mark, count in counts.items() if count >= least), key=lambda mark: (places[mark] / counts[mark], mark)
    )


def _delimiters(text: str) -> list[str]:
    found = []
    at = 0
    while at < len(text):
        character = text[at]
        if character == "%" and at + 2 < len(text):
            if text[at + 1] in "01234567":
                found.append(text[at : at + 3])
            at += 3
            continue
        if character.isascii() and not character.isalnum():
            found.append(character)
        at += 1
    return found


def _ends(texts: Sequence[str]) -> Counter[str]:
    found: Counter[str] = Counter()
    for text in texts:
        head = text.rstrip("0123456789")
        if len(head) < len(text) and head and not head[-1].isalnum():
            found[head[-1]] += 1
    return found


def _starts(texts: Sequence[str]) -> Counter[str]:
    found: Counter[str] = Counter()
    for text in texts:
        tail = text.lstrip("0123456789")
        if len(tail) < len(text) and tail and not tail[0].isalnum() and tail[0] != "%":
            found[tail[0]] += 1
    return found


def merged(patterns: Sequence[Pattern]) -> Pattern | None:
    """Make one pattern out of several that differ in one literal, with a slot for what differs in it."""
    shapes = {tuple(part if isinstance(part, Slot) else None for part in pattern.parts) for pattern in patterns}
    if len(shapes) != 1 or len(patterns) < 2:
        return None
    columns = list(zip(*(pattern.parts for pattern in patterns), strict=True))
    differing = [place for place, column in enumerate(columns) if len(set(column)) > 1]
    if len(differing) != 1 or not all(isinstance(part, str) for part in columns[differing[0]]):
        return None
    place = differing[0]
    texts = [str(part) for part in columns[place]]
    head = _common(texts)
    tail = _common([text[len(head) :][::-1] for text in texts])[::-1]
    middles = [text[len(head) : len(text) - len(tail)] for text in texts]
    numbers = all(middle.isdigit() for middle in middles)
    while head and _in_word(head[-1], numbers) and not _ESCAPE.fullmatch(head[-3:]):
        head = head[:-1]
    while tail and _in_word(tail[0], numbers):
        tail = tail[1:]
    middles = [text[len(head) : len(text) - len(tail)] for text in texts]
    before = columns[place - 1][0] if place else ""
    after = columns[place + 1][0] if place + 1 < len(columns) else ""
    if not all(middles) or (not head and isinstance(before, Slot)) or (not tail and isinstance(after, Slot)):
        return None
    slot = Slot("digits") if all(middle.isdigit() for middle in middles) else Slot()
    parts = patterns[0].parts
    return Pattern(tidy([*parts[:place], head, slot, tail, *parts[place + 1 :]]))


def _in_word(character: str, numbers: bool) -> bool:
    """Tell whether a character beside what differs belongs to the same run; numbers end at a letter."""
    return character.isdigit() if numbers else character.isalnum() or character == "%"


def _common(texts: Sequence[str]) -> str:
    """Give the longest text that all begin with."""
    first, last = min(texts), max(texts)
    size = 0
    while size < min(len(first), len(last)) and first[size] == last[size]:
        size += 1
    return first[:size]
