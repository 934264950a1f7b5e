"""Tables that can be sorted and searched, if there is a script; without one they are tables all the same."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from undust.run.html.markup import Html, join, tag, text


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its heading, whether it holds numbers, and what the numbers mean."""

    name: str
    number: bool = False
    about: str = ""
    wide: bool = False
    """It holds long text, which takes the room that there is."""
    site: bool = False
    """It holds names of sites, which are broken only where there is no room at all."""


@dataclass(frozen=True, slots=True)
class Cell:
    """What a cell shows, and the value that it is sorted by, if that is not what it shows."""

    shown: Html
    value: float | str | None = None


def table(
    name: str,
    caption: str,
    columns: Sequence[Column],
    rows: Iterable[Sequence[Cell]],
    *,
    search: str = "",
    first: int = 0,
    caption_shown: bool = True,
) -> Html:
    """Write a table. With `search`, what to write in the field, it can be searched; `first` rows are shown first."""
    head = tag("tr", *(_heading(column) for column in columns))
    body = [
        tag("tr", *(_cell(column, cell, place) for place, (column, cell) in enumerate(zip(columns, row, strict=True))))
        for row in rows
    ]
    made = tag(
        "table",
        tag("caption", text(caption, most=None), class_=None if caption_shown else "hide"),
        tag("thead", head),
        tag("tbody", join(body)),
        id=f"{name}-table",
        class_="sortable",
        data_search=search or None,
        data_first=first or None,
    )
    return tag("div", made, class_="scroll", role="region", aria_label=caption, tabindex=0)


def _heading(column: Column) -> Html:
    if not column.name:  # bars, which say again what stands beside them
        return tag("td", class_=_kind(column), title=column.about or None)
    return tag(
        "th",
        text(column.name),
        scope="col",
        class_=_kind(column),
        title=column.about or None,
    )


def _cell(column: Column, cell: Cell, place: int) -> Html:
    value = f"{cell.value:.6g}" if isinstance(cell.value, float) else cell.value
    if place == 0:
        return tag("th", cell.shown, scope="row", class_=_kind(column), data_v=value)
    return tag("td", cell.shown, class_=_kind(column), data_v=value, data_label=column.name)


def _kind(column: Column) -> str | None:
    return (
        " ".join(name for name, holds in (("n", column.number), ("w", column.wide), ("s", column.site)) if holds)
        or None
    )


def says(value: object) -> Cell:
    """Give a cell of text."""
    return Cell(text(value))


def number(value: float, shown: str) -> Cell:
    """Give a cell of a number, and how it is written."""
    return Cell(text(shown), value)
