"""Compiles rules for formats that can only drop arguments by name, on a site or below a path."""

from collections.abc import Sequence
from typing import NamedTuple

from undust.rules.exports.conditions import InexpressibleError, disjoint, require_standard, require_whole_site
from undust.rules.exports.fates import Fate, by_site
from undust.rules.exports.pieces import rest_of
from undust.rules.exports.settled import disturbances, is_dropped
from undust.rules.rule import Rule
from undust.rules.values import ABSENT, Copy, Drop, Pattern
from undust.urls.keys import Key
from undust.urls.parse import split
from undust.urls.site import site_of


class Removal(NamedTuple):
    """Arguments that go on a site, below a path if there is one."""

    rule: Rule
    site: str
    path: tuple[str, ...]
    """The first segments that a path must have."""
    closed: bool
    """It must have no more than these."""
    names: tuple[str, ...]
    ports: tuple[str, ...]
    """Ports of the site that the examples of its rules show."""


def removals(rules: Sequence[Rule]) -> tuple[list[Removal], list[Fate]]:
    """Compile rules, and say what became of each: what is not about dropping arguments cannot be said."""
    sites = by_site(rules)
    made: list[Removal] = []
    fates: dict[int, Fate] = {}
    for site, places in sites.items():
        here = [rules[place] for place in places]
        own: dict[int, Removal] = {}
        why: dict[int, str] = {}
        for at in range(len(here)):
            try:
                if any(other.partition(":")[0].endswith(f".{site}") for other in sites):
                    raise InexpressibleError("hosts of the site have rules of their own")
                own[at] = _removal(here, at)
            except InexpressibleError as error:
                why[at] = str(error)
        everywhere = {name for removal in own.values() if not removal.path for name in removal.names}
        made += own.values()
        for at, place in enumerate(places):
            fates[place] = _fate(here[at], own.get(at), why.get(at, ""), everywhere)
    return made, [fates[place] for place in range(len(rules))]


def _fate(rule: Rule, removal: Removal | None, why: str, everywhere: set[str]) -> Fate:
    gone = set(removal.names) if removal else everywhere & set(_dropped(rule))
    if not gone:
        return Fate(rule, "left out", why)
    more = sorted(str(key) for key in rest_of(rule) if key.part != "query" or str(key.name) not in gone)
    if removal is None:
        return Fate(rule, "in part", f"only {_listed(gone)} can go: {why}")
    if more:
        return Fate(rule, "in part", f"only {_listed(gone)} can go; {', '.join(more)} cannot be changed")
    if rule.sort_query:
        return Fate(rule, "in part", "arguments are not put in order")
    return Fate(rule)


def _listed(names: set[str]) -> str:
    return ", ".join(f"?{name}" for name in sorted(names))


def _dropped(rule: Rule) -> list[str]:
    return [
        str(key.name)
        for key, operation in rule.operations.items()
        if key.part == "query" and key.name and key.nth == 1 and is_dropped(key, operation)
    ]


def _removal(rules: Sequence[Rule], place: int) -> Removal:
    """Compile a rule. What goes must go whatever other rules say: programs of this kind do all that they know."""
    rule = rules[place]
    dropped = _dropped(rule)
    if not dropped:
        raise InexpressibleError("it is not about dropping arguments")
    require_standard(rule)
    require_whole_site(rule.site)
    if "." in rule.site and site_of(rule.site, None) != rule.site and ":" not in rule.site:
        raise InexpressibleError("it is for one host, and hosts below it are taken in")
    path, closed = _path(rule)
    before = [other for other in rules[:place] if not disjoint(other, rule)]
    if _has_semicolons(rules):
        raise InexpressibleError("arguments of the site are separated by ;")
    asked = {str(key.name) for other in rules for key in (*other.context, *_sources(other)) if key.part == "query"}
    involved = [at for at, other in enumerate(rules) if at <= place and not (at < place and disjoint(other, rule))]
    # Where rules get into each other's way URLs stay as they are, unless what goes is what all of them let go.
    if any(disturbances(rules, at) for at in involved):
        before = [other for other in rules if other is not rule and not disjoint(other, rule)]
    names = tuple(name for name in dropped if name not in asked and all(name in _dropped(other) for other in before))
    if not names:
        raise InexpressibleError(
            f"whether {_listed(set(dropped))} can go depends on its value, or on other rules of the site"
        )
    return Removal(rule, rule.site, path, closed, names, _ports(rules))


def _path(rule: Rule) -> tuple[tuple[str, ...], bool]:
    path: list[str] = []
    context = dict(rule.context)
    while isinstance(match := context.get(Key("path", len(path))), Pattern) and match.literal:
        path.append(match.literal)
        del context[Key("path", len(path) - 1)]
    closed = bool(path) and context.pop(Key("path", len(path)), None) == ABSENT
    if context:
        raise InexpressibleError(f"it asks for {', '.join(sorted(map(str, context)))}")
    return tuple(path), closed


def _sources(rule: Rule) -> list[Key]:
    operations = [operation for operation in rule.operations.values() if not isinstance(operation, Drop)]
    return [piece.source for operation in operations for piece in operation if isinstance(piece, Copy)]


def _examples(rules: Sequence[Rule]) -> list[str]:
    return [url for rule in rules for pair in rule.statistics.examples for url in pair if "://" in url]


def _has_semicolons(rules: Sequence[Rule]) -> bool:
    return any(";" in (split(url).query or "") for url in _examples(rules))


def _ports(rules: Sequence[Rule]) -> tuple[str, ...]:
    return tuple(sorted({port for url in _examples(rules) if (port := split(url).port)}))
