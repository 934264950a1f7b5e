"""Draws sites: their software, their names, and the families of duplicates that are planted on them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from undust.synth.applications import SOFTWARE
from undust.synth.families import SITE_WIDE, Plant
from undust.synth.planting import WORDS, Place, draw_plant
from undust.synth.software import DECOYS, Form, Section, Software
from undust.synth.templates import FACETS, Template
from undust.synth.words import vocabulary

GIANTS = ("soft 404", "login", "calendar")
_SECOND = 0.3
"""Share of the sites with a second application, under a path of its own."""
_PREFIXES = ("/forum", "/wiki", "/blog", "/shop", "/old", "/en", "/site")


@dataclass(frozen=True, slots=True)
class Part:
    """A web application on a site."""

    software: str
    separator: str
    prefix: str
    sections: tuple[Section, ...]
    seed: int


@dataclass(frozen=True, slots=True)
class Site:
    """A site as it was drawn."""

    number: int
    domain: str
    host: str
    scheme: str
    urls: int
    """URLs that are wanted; the site gets about as many."""
    duplicates: float
    """Share of duplicates that is wanted."""
    seed: int
    parts: tuple[Part, ...]
    plants: tuple[Plant, ...]

    @property
    def sections(self) -> list[tuple[Part, Section]]:
        """List the kinds of pages of all applications; the place of one is its number."""
        return [(part, section) for part in self.parts for section in part.sections]

    def cluster(self, number: int, page: int = 0) -> str:
        """Name the cluster of a page; of a giant the only one."""
        return f"{self.number}.{number}.{page}"

    def giants(self) -> dict[str, str]:
        """Give the clusters that are errors and logins, and the family of each."""
        return {
            self.cluster(number): section.giant for number, (_, section) in enumerate(self.sections) if section.giant
        }

    def told(self) -> dict[str, object]:
        """Give the families of the site with their rules in plain words, for people and JSON."""
        found: dict[str, list[dict[str, object]]] = {}
        for plant in self.plants:
            told = {"words": plant.words, "share": plant.share, "values": plant.values}
            found.setdefault(plant.family, []).append(
                {**told, "sections": list(plant.sections)} if plant.sections else told
            )
        for family, forms in _forms(self.parts).items():
            found.setdefault(family, []).append({"words": WORDS[family].format(forms="; ".join(forms)), "forms": forms})
        return {
            "site": self.domain,
            "software": [{"name": part.software, "under": part.prefix or "/"} for part in self.parts],
            "sections": {
                f"{part.prefix}{section.plain.text}": section.name for part in self.parts for section in part.sections
            },
            "families": dict(sorted(found.items())),
        }


def _forms(parts: Sequence[Part]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for part in parts:
        for section in part.sections:
            plain = f"{part.prefix}{section.plain.text}"
            if section.giant:
                found.setdefault(section.giant, []).append(plain)
            for form in section.forms:
                found.setdefault(form.family, []).append(f"{part.prefix}{form.template.text} is {plain}")
            for extra in section.extras:
                found.setdefault(extra.family, []).append(f"{extra.name}={extra.value} on {plain}")
    return found


def draw_site(
    number: int, urls: int, duplicates: float, families: Sequence[str], seed: int, *, all_families: bool = False
) -> Site:
    """Draw a site with some of the families; with `all_families` all of them that its software can have."""
    chance = np.random.default_rng([seed, number])
    own_seed = int(chance.integers(10**6, 10**9))
    words = vocabulary()
    first, second = (str(words[int(place)]) for place in chance.integers(0, len(words), 2))
    domain = f"{first}{second}{number}.example"
    likely = 1.0 if all_families else 0.55
    known = [each for each in SOFTWARE if any(_able(each, family) for family in families)] or list(SOFTWARE)
    picked = [known[int(chance.integers(len(known)))]]
    if urls > 500 and chance.random() < _SECOND:
        picked.append(known[int(chance.integers(len(known)))])
    parts = []
    for place, software in enumerate(picked):
        prefix = str(chance.choice(_PREFIXES)) if place else ""
        sections = _drawn_sections(software, families, likely, urls, chance)
        parts.append(Part(software.name, software.separator, prefix, sections, own_seed + place * 1000))
    wanted = [family for each in picked for family in each.families if family in families]
    wide = [family for family in SITE_WIDE if any(chance.random() < likely for each in wanted if each == family)]
    if not wide and wanted and not any(section.forms or section.extras for part in parts for section in part.sections):
        wide = [str(chance.choice(wanted))]
    names = tuple(section.name for part in parts for section in part.sections)
    plants = tuple(draw_plant(family, Place(domain, urls, own_seed), names, chance) for family in wide)
    parts[0] = replace(parts[0], sections=(*parts[0].sections, *_decoys(parts[0], plants, urls, chance)))
    host = domain if chance.random() < 0.5 else f"www.{domain}"
    scheme = "http" if chance.random() < 0.5 else "https"
    return Site(number, domain, host, scheme, urls, duplicates, own_seed, tuple(parts), plants)


def _able(software: Software, family: str) -> bool:
    """Tell whether an application can have a family."""
    if family in software.families:
        return True
    return any(family == section.giant or family in section.families for section in software.sections)


def _drawn_sections(
    software: Software, families: Sequence[str], likely: float, urls: int, chance: np.random.Generator
) -> tuple[Section, ...]:
    """Draw the sections that a site has, and which of their ways to write a URL."""
    offered = {family for section in software.sections for family in section.families}
    kept = {family for family in sorted(offered & set(families)) if chance.random() < max(likely, 0.6)}
    found = []
    for place, section in enumerate(software.sections):
        if section.giant and (section.giant not in families or chance.random() > max(likely, 0.5)):
            continue
        if place and urls < 200 and chance.random() < 0.5:
            continue
        forms = tuple(form for form in section.forms if form.family in kept)
        extras = tuple(extra for extra in section.extras if extra.family in kept)
        weight = section.weight * float(chance.uniform(0.5, 1.5))
        found.append(replace(section, forms=forms, extras=extras, weight=weight))
    return tuple(found)


def _decoys(part: Part, plants: Sequence[Plant], urls: int, chance: np.random.Generator) -> list[Section]:
    """Add pages to which what looks like a planted family does matter."""
    if urls < 300:
        return []
    planted = {plant.family: plant for plant in plants}
    shown = {family for section in part.sections for family in section.families}
    found = []
    for family, section in DECOYS.items():
        if (family not in planted and family not in shown) or chance.random() < 0.4:
            continue
        text = section.plain.text
        if family == "mirror" and set(planted[family].values["labels"]) & set(FACETS["lang"]):
            continue
        if family == "session" and family in planted:
            text = text.replace("{session}", str(planted[family].values["name"]))
        elif family == "tracking" and family in planted:
            text = text.replace("{tracking}", next(iter(planted[family].values["arguments"])))
        if "{session}" not in text and "{tracking}" not in text:
            found.append(replace(section, plain=Template(text)))
    return found


def ways(section: Section) -> tuple[Form, ...]:
    """List all templates of a section, the plain one first."""
    return (Form("", section.plain), *section.forms)
