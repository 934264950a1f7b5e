"""The families of duplicates that hold for a whole site: each spells some of its URLs in another way.

What a family plants is fixed for a site (`Plant`); which URLs show it, chance decides.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from undust.synth.spelling import Rows, Urls
from undust.synth.words import IDENTITIES, chosen, joined

Chance = np.random.Generator

_FILE = r"\.[a-z0-9]{1,5}$"
_CASED = r"^[a-z0-9/._-]*[a-z][a-z0-9/._-]*$"


@dataclass(frozen=True, slots=True)
class Plant:
    """A family as a site has it."""

    family: str
    share: float
    """Share of the URLs that could show it and do."""
    words: str
    """The rule in plain words."""
    values: dict[str, Any] = field(default_factory=dict)
    sections: tuple[str, ...] = ()
    """Sections that it holds for; none named: all that are open to it."""


def vary(urls: Urls, plant: Plant, chance: Chance) -> None:
    """Spell some of the URLs as a family does."""
    if plant.family in _WAYS:
        _WAYS[plant.family](urls, plant, chance.random(len(urls)) < plant.share, chance)


def _session(urls: Urls, plant: Plant, rows: Rows, chance: Chance) -> None:
    urls.add(plant.values["name"], _visits(len(urls), plant, chance), rows)
    urls.mark(plant.family, rows)


def _path_session(urls: Urls, plant: Plant, rows: Rows, chance: Chance) -> None:
    behind = joined(f";{plant.values['name']}=", pc.utf8_upper(_visits(len(urls), plant, chance)))
    urls.params = pc.if_else(pa.array(rows), behind, urls.params)
    urls.mark(plant.family, rows)


def _visits(count: int, plant: Plant, chance: Chance) -> pa.StringArray:
    """Give each URL the session that it was seen in; many URLs share one."""
    visits = chance.integers(0, plant.values["visits"], count).astype(np.uint64)
    return IDENTITIES["hex"](visits, plant.values["seed"])


def _index_file(urls: Urls, plant: Plant, rows: Rows, chance: Chance) -> None:
    rows = rows & _true(pc.ends_with(urls.path, "/"))
    urls.set_path(rows, joined(urls.path, plant.values["file"]))
    urls.mark(plant.family, rows)


def _trailing_slash(urls: Urls, plant: Plant, rows: Rows, chance: Chance) -> None:
    bare = ~_true(pc.match_substring_regex(urls.path, _FILE)) & ~_true(pc.ends_with(urls.path, "/"))
    ends = _true(pc.ends_with(urls.path, "/")) & _true(pc.greater(pc.utf8_length(urls.path), 1))
    urls.set_path(rows & bare, joined(urls.path, "/"))
    urls.set_path(rows & ends, pc.utf8_slice_codeunits(urls.path, 0, -1) if ends.any() else urls.path)
    urls.mark(plant.family, rows & (bare | ends))


def _www(urls: Urls, plant: Plant, rows: Rows, chance: Chance) -> None:
    has = _true(pc.starts_with(urls.host, "www."))
    plain = rows & ~has & _true(pc.equal(urls.host, plant.values["domain"]))
    urls.host = pc.if_else(pa.array(plain), joined("www.", urls.host), urls.host)
    urls.host = pc.if_else(pa.array(rows & has), plant.values["domain"], urls.host)
    urls.mark(plant.family, plain | (rows & has))


def _scheme(urls: Urls, plant: Plant, rows: Rows, chance: Chance) -> None:
    other = pc.if_else(pc.equal(urls.scheme, "http"), "https", "http")
    urls.scheme = pc.if_else(pa.array(rows), other, urls.scheme)
    urls.mark(plant.family, rows)


def _mirror(urls: Urls, plant: Plant, rows: Rows, chance: Chance) -> None:
    hosts = tuple(f"{label}.{plant.values['domain']}" for label in plant.values["labels"])
    rows = rows & _true(pc.is_in(urls.host, pa.array([plant.values["domain"], f"www.{plant.values['domain']}"])))
    drawn = pa.array(hosts).take(pa.array(chance.integers(0, len(hosts), len(urls))))
    urls.host = pc.if_else(pa.array(rows), drawn, urls.host)
    urls.mark(plant.family, rows)


def _order(urls: Urls, plant: Plant, rows: Rows, chance: Chance) -> None:
    rows = rows & urls.has_arguments(2)
    urls.shuffled = urls.shuffled | rows
    urls.mark(plant.family, rows)


def _repeated(urls: Urls, plant: Plant, rows: Rows, chance: Chance) -> None:
    if urls.arguments:
        name, values = urls.arguments[0]
        rows = rows & _true(values.is_valid())
        urls.add(name, values, rows)
        urls.mark(plant.family, rows)


def _tracking(urls: Urls, plant: Plant, rows: Rows, chance: Chance) -> None:
    for name, values in plant.values["arguments"].items():
        drawn = chance.integers(0, 10**6, len(urls)).astype(np.uint64)
        texts = chosen(drawn, 1, tuple(values)) if values else IDENTITIES["token"](drawn, 7)
        urls.add(name, texts, rows)
    urls.mark(plant.family, rows)


def _case(urls: Urls, plant: Plant, rows: Rows, chance: Chance) -> None:
    # Only where all is in lower case already: elsewhere the case may be what tells pages apart.
    rows = rows & _true(pc.match_substring_regex(urls.path, _CASED))
    way = pc.utf8_title if plant.values["way"] == "title" else pc.utf8_upper
    urls.set_path(rows, way(urls.path))
    urls.mark(plant.family, rows)


def _escape(urls: Urls, plant: Plant, rows: Rows, chance: Chance) -> None:
    for place, (name, values) in enumerate(urls.arguments):
        here = rows & _true(pc.match_substring(values, ":").fill_null(False))
        urls.arguments[place] = (name, pc.if_else(pa.array(here), pc.replace_substring(values, ":", "%3A"), values))
        urls.mark(plant.family, here)


def _extension(urls: Urls, plant: Plant, rows: Rows, chance: Chance) -> None:
    # Behind a word or an id, and not where the template already has an ending.
    bare = _true(pc.match_substring_regex(urls.path, r"[a-zA-Z0-9]$")) & ~_true(
        pc.match_substring_regex(urls.path, _FILE)
    )
    urls.set_path(rows & bare, joined(urls.path, plant.values["ending"]))
    urls.mark(plant.family, rows & bare)


def _alias(urls: Urls, plant: Plant, rows: Rows, chance: Chance) -> None:
    said = f"/{plant.values['version']}/"
    rows = rows & _true(pc.match_substring(urls.path, said))
    urls.set_path(rows, pc.replace_substring(urls.path, said, f"/{plant.values['alias']}/"))
    urls.mark(plant.family, rows)


def _double_slash(urls: Urls, plant: Plant, rows: Rows, chance: Chance) -> None:
    deep = _true(pc.match_substring_regex(urls.path, "^/[^/]+/."))
    rows = rows & deep
    urls.set_path(rows, pc.replace_substring_regex(urls.path, "^(/[^/]+)/", r"\1//", max_replacements=1))
    urls.mark(plant.family, rows)


_WAYS: dict[str, Callable[[Urls, Plant, Rows, Chance], None]] = {
    "alias": _alias,
    "double slash": _double_slash,
    "case": _case,
    "extension": _extension,
    "index file": _index_file,
    "trailing slash": _trailing_slash,
    "escape": _escape,
    "mirror": _mirror,
    "www": _www,
    "scheme": _scheme,
    "repeated": _repeated,
    "session": _session,
    "tracking": _tracking,
    "path session": _path_session,
    "order": _order,
}
"""In the order in which they are applied: what looks at a path as it was comes before what adds to it."""

SITE_WIDE = tuple(_WAYS)


def _true(column: pa.BooleanArray) -> npt.NDArray[np.bool_]:
    return np.asarray(column.to_numpy(zero_copy_only=False), np.bool_)
