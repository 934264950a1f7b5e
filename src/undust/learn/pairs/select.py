"""Chooses drafts by what they gain and how precise they are, as the older methods do: no more is asked of them."""

from collections.abc import Iterable, Sequence

from undust.learn.pairs.belief import Draft, Judge, Merges, precision

MAX_DRAFTS = 150


def select(judge: Judge, drafts: Iterable[Draft], min_precision: float, min_coverage: int) -> list[Draft]:
    """Accept drafts, those that gain most first, each where it is still precise after those before."""
    usable: list[tuple[Draft, Merges]] = []
    for draft in drafts:
        merges = judge.measure(draft)
        if merges is not None and _is_good(merges, min_precision):
            usable.append((draft, merges.light()))
    ranked = sorted(usable, key=lambda each: (-each[1].gained, each[0].length, each[0].name))
    accepted: list[Draft] = []
    for draft, first in ranked:
        if first.coverage < min_coverage or len(accepted) == MAX_DRAFTS:
            continue
        merges = judge.measure(draft)
        if merges is not None and _is_good(merges, min_precision):
            judge.work.accept(merges.columns, merges.depth, merges.rows)
            judge.refresh()
            accepted.append(draft)
    return accepted


def _is_good(merges: Merges, min_precision: float) -> bool:
    return merges.gained > 0 and precision(merges) >= min_precision


def together(drafts: Sequence[Draft]) -> list[Draft]:
    """Give each draft once."""
    return list({draft.name: draft for draft in drafts}.values())
