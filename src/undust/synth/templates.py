"""URL templates of web software, such as `/{slug}/dp/{code}?tab={view}`, and their values by the column.

A slot is an identity (`{title}`, one-to-one from the number of the page), a facet (`{page}`, `{sort}`: with few values,
and another page for each), an attribute (`{category}`: goes with the page), or free (`{*slug}`: may be anything).
"""

import re
import zlib
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from undust.synth.words import ATTRIBUTES, IDENTITIES, Numbers, decimal, joined, mix

FACETS: dict[str, tuple[str, ...]] = {
    "page": tuple(str(number) for number in range(2, 14)),
    "start": tuple(str(number) for number in range(15, 195, 15)),
    "sort": ("price", "name", "date", "rating"),
    "view": ("month", "week", "gallery", "list"),
    "lang": ("en", "de", "fr", "es", "pl"),
    "version": ("3.2", "2.7", "2.0", "1.4"),
    "board": tuple(str(number) for number in range(1, 19)),
    "size": ("large", "thumb", "orig"),
    "year": tuple(str(year) for year in range(2006, 2014)),
    "month": tuple(f"{month:02}" for month in range(1, 13)),
    "color": ("red", "blue", "black", "green", "white"),
    "order": ("N;O=A", "N;O=D", "M;O=A", "M;O=D", "S;O=A", "S;O=D", "D;O=A", "D;O=D"),
}
"""Values that each make another page of a list, in the order in which sites offer them."""

FEW = 4
"""Titles that a page has had: what is free in its URL takes as many values, where it is words."""

_SLOT = re.compile(r"\{(\*?)([a-z]+)\}")


@dataclass(frozen=True, slots=True)
class Slot:
    """A place in a template."""

    kind: str
    free: bool = False


Piece = str | Slot


@dataclass(frozen=True)
class Template:
    """How a URL is written, behind its host; `//{lang}/path` is on a host of its own, under the site's domain."""

    text: str

    @cached_property
    def host(self) -> tuple[Piece, ...]:
        """Give the pieces of the host's first label, if the template has one."""
        return pieces(self.text[2:].partition("/")[0]) if self.text.startswith("//") else ()

    @cached_property
    def path(self) -> tuple[Piece, ...]:
        """Give the pieces of the path."""
        text = self.text.partition("?")[0]
        return pieces("/" + text[2:].partition("/")[2] if self.host else text)

    @cached_property
    def arguments(self) -> tuple[tuple[str, tuple[Piece, ...]], ...]:
        """Give the arguments of the query by their names."""
        query = self.text.partition("?")[2]
        pairs = (argument.partition("=") for argument in query.split("&") if argument)
        return tuple((name, pieces(value)) for name, _, value in pairs)

    @cached_property
    def slots(self) -> tuple[Slot, ...]:
        """List the slots, each once."""
        found = [*self.host, *self.path, *(piece for _, value in self.arguments for piece in value)]
        return tuple(dict.fromkeys(piece for piece in found if isinstance(piece, Slot)))


def pieces(text: str) -> tuple[Piece, ...]:
    """Cut a text into constants and slots.

    >>> pieces("/{slug}-{id}.html")
    ('/', Slot(kind='slug', free=False), '-', Slot(kind='id', free=False), '.html')
    """
    found: list[Piece] = []
    place = 0
    for match in _SLOT.finditer(text):
        if match.start() > place:
            found.append(text[place : match.start()])
        found.append(Slot(match[2], bool(match[1])))
        place = match.end()
    if place < len(text):
        found.append(text[place:])
    return tuple(found)


def facets(template: Template) -> tuple[str, ...]:
    """Name the facets that the plain template of a section has, each once."""
    return tuple(dict.fromkeys(slot.kind for slot in template.slots if slot.kind in FACETS and not slot.free))


def capacity(template: Template) -> int:
    """Tell how many pages the plain template of a section can name."""
    if any(slot.kind in IDENTITIES and not slot.free for slot in template.slots):
        return 10**8
    return int(np.prod([len(FACETS[kind]) for kind in facets(template)], dtype=np.int64))


@dataclass(frozen=True)
class Values:
    """The values of slots for some pages of a section, and for rows that are URLs of these pages."""

    plain: Template
    pages: Numbers
    rows: npt.NDArray[np.intp]
    """For each URL the place of its page in `pages`."""
    seed: int
    chance: np.random.Generator

    @cached_property
    def _digits(self) -> tuple[dict[str, Numbers], Numbers]:
        """Part each page's number into its facets and what is left for the identity."""
        left, found = self.pages, {}
        for kind in facets(self.plain):
            base = np.uint64(len(FACETS[kind]))
            found[kind] = left % base
            left = left // base
        return found, left

    @cached_property
    def _known(self) -> dict[str, pa.StringArray]:
        return {}

    def text(self, slot: Slot, rows: npt.NDArray[np.intp]) -> pa.StringArray:
        """Give the values of a slot for some of the rows."""
        places = self.rows[rows]
        if slot.free:
            return self._free(slot.kind, places)
        if slot.kind not in self._known:
            self._known[slot.kind] = self._of_pages(slot.kind)
        return self._known[slot.kind].take(pa.array(places))

    def render(self, found: tuple[Piece, ...], rows: npt.NDArray[np.intp]) -> pa.StringArray:
        """Write pieces out for some of the rows."""
        if not any(isinstance(piece, Slot) for piece in found):
            return pa.repeat("".join(map(str, found)), len(rows))
        return joined(*(self.text(piece, rows) if isinstance(piece, Slot) else piece for piece in found))

    def _of_pages(self, kind: str) -> pa.StringArray:
        digits, left = self._digits
        seed = self.seed + zlib.crc32(kind.encode()) % 100_000
        if kind in digits:
            return pa.array(FACETS[kind]).take(pa.array(digits[kind]))
        if kind in IDENTITIES:
            return IDENTITIES[kind](left, seed)
        return ATTRIBUTES[kind](left, seed)

    def _free(self, kind: str, places: npt.NDArray[np.intp]) -> pa.StringArray:
        seed = self.seed + zlib.crc32(kind.encode()) % 100_000 + 1
        if kind in FACETS:
            return pa.array(FACETS[kind]).take(pa.array(self.chance.integers(0, len(FACETS[kind]), len(places))))
        if kind == "future":
            return decimal(self.chance.integers(2020, 2420, len(places)))
        if kind == "number":
            return decimal(self.chance.integers(1, 1000, len(places)))
        if kind in ("slug", "title"):
            which = self.pages[places] * np.uint64(FEW) + self.chance.integers(0, FEW, len(places)).astype(np.uint64)
            return IDENTITIES[kind](mix(which, seed) >> np.uint64(24), seed)
        return {**IDENTITIES, **ATTRIBUTES}[kind](self.chance.integers(0, 10**7, len(places)).astype(np.uint64), seed)
