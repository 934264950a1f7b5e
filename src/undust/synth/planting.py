"""Draws what a family of duplicates plants on a site: names, values, and how often they show."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from undust.synth.families import Plant

SESSIONS = ("sid", "PHPSESSID", "s", "osCsid", "zenid", "session_id")
PATH_SESSIONS = ("jsessionid", "sid", "PHPSESSID")
INDEX_FILES = ("index.html", "index.php", "index.htm", "default.aspx")
MIRRORS = (
    ("us", "de", "fr"),
    ("mirror1", "mirror2"),
    ("www2",),
    ("m",),
    ("ftp", "mirror"),
    ("web1", "web2", "web3", "web4"),
)
TRACKERS: tuple[dict[str, list[str]], ...] = (
    {"utm_source": ["feed", "mail", "twitter"], "utm_medium": ["rss", "social", "mail"]},
    {"gclid": []},
    {"ref": ["home", "menu", "footer", "related"]},
    {"utm_campaign": ["spring", "sale", "launch"]},
    {"fbclid": []},
    {"from": ["top", "side"]},
)


@dataclass(frozen=True, slots=True)
class Place:
    """What a plant has to know about its site."""

    domain: str
    urls: int
    seed: int


def draw_plant(family: str, place: Place, sections: tuple[str, ...], chance: np.random.Generator) -> Plant:
    """Draw how a site has a family."""
    words, values = _DRAWN[family](place, chance)
    share = float(chance.uniform(0.2, 0.6))
    few = len(sections) > 2 and family not in ("www", "scheme", "mirror") and chance.random() < 0.25
    chosen = sorted(chance.choice(sections, (len(sections) + 1) // 2, replace=False).tolist()) if few else []
    if chosen:
        words += f", on these pages: {', '.join(chosen)}"
    return Plant(family, round(share, 3), words, values, tuple(chosen))


Drawn = tuple[str, dict[str, Any]]


def _one(chance: np.random.Generator, texts: "tuple[Any, ...]") -> Any:
    return texts[int(chance.integers(len(texts)))]


def _session(place: Place, chance: np.random.Generator) -> Drawn:
    name = _one(chance, SESSIONS)
    return f"the argument {name} is a session and does not matter", {"name": name, **_visits(place)}


def _path_session(place: Place, chance: np.random.Generator) -> Drawn:
    name = _one(chance, PATH_SESSIONS)
    return f"the path parameter ;{name}= is a session and does not matter", {"name": name, **_visits(place)}


def _visits(place: Place) -> dict[str, int]:
    return {"visits": max(4, place.urls // 40), "seed": place.seed % 10**6}


def _index_file(place: Place, chance: np.random.Generator) -> Drawn:
    file = _one(chance, INDEX_FILES)
    return f"/{file} is /", {"file": file}


def _mirror(place: Place, chance: np.random.Generator) -> Drawn:
    labels = _one(chance, MIRRORS)
    hosts = ", ".join(f"{label}.{place.domain}" for label in labels)
    return f"{hosts} are mirrors of {place.domain}", {"labels": list(labels), "domain": place.domain}


def _tracking(place: Place, chance: np.random.Generator) -> Drawn:
    arguments = _one(chance, TRACKERS)
    return f"{' and '.join(arguments)} only track visitors", {"arguments": arguments}


def _extension(place: Place, chance: np.random.Generator) -> Drawn:
    ending = _one(chance, (".html", ".php", ".htm"))
    return f"a page is the same with {ending} behind its path", {"ending": ending}


def _alias(place: Place, chance: np.random.Generator) -> Drawn:
    alias = _one(chance, ("latest", "stable", "current"))
    return f"/{alias}/ is version 3.2", {"version": "3.2", "alias": alias}


def _said(words: str, **values: Any) -> Callable[[Place, np.random.Generator], Drawn]:
    return lambda place, chance: (words, values)


_DRAWN: dict[str, Callable[[Place, np.random.Generator], Drawn]] = {
    "session": _session,
    "path session": _path_session,
    "index file": _index_file,
    "trailing slash": _said("a path is the same with and without a slash at its end"),
    "www": lambda place, chance: (f"www.{place.domain} is {place.domain}", {"domain": place.domain}),
    "scheme": _said("https is http"),
    "mirror": _mirror,
    "order": _said("the order of arguments does not matter"),
    "repeated": _said("an argument that comes twice with one value is one"),
    "tracking": _tracking,
    "case": lambda place, chance: ("the case of a path does not matter", {"way": _one(chance, ("title", "upper"))}),
    "escape": _said("%3A is : in the value of an argument"),
    "extension": _extension,
    "alias": _alias,
    "double slash": _said("two slashes behind the first segment are one"),
}

WORDS = {
    "moved value": "the same page by several templates: {forms}",
    "default": "a default value is the same as none: {forms}",
    "segment": "a segment does not matter: {forms}",
    "deep token": "a part of a value does not matter: {forms}",
    "print": "the view for printing has the same text: {forms}",
    "redundant": "an argument that follows from another does not matter: {forms}",
    "irrelevant": "an argument does not matter: {forms}",
    "empty": "an argument without a value is the same as none: {forms}",
    "sort": "the order of a list on one page does not matter: {forms}",
    "order": "arguments come in another order: {forms}",
    "tracking": "an argument only tracks visitors: {forms}",
    "unknowable": "no rule can know that these are the same: {forms}",
    "soft 404": "URLs of pages that do not exist, all with one text: {forms}",
    "login": "URLs that all ask for a login: {forms}",
    "calendar": "months without an event, all with one text: {forms}",
}
"""What families that templates have mean, in plain words."""
