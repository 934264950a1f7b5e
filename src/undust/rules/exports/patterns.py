"""Compiles all rules of a set for the formats that are lists of regular expressions."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from undust.rules.exports.conditions import InexpressibleError
from undust.rules.exports.fates import Fate, by_site
from undust.rules.exports.rewrite import Rewrite, rewrites
from undust.rules.exports.variants import Variant, variants
from undust.rules.rule import Rule

MAX_PATTERN = 4_000
"""Characters of a regular expression; longer ones are no use to anybody, and some programs refuse them."""

UNORDERED = "arguments are not put in order"


class Patterns(NamedTuple):
    """What a rule is as regular expressions; a URL fits at most one of them."""

    rule: Rule
    variants: tuple[Variant, ...]


def compile_all(rules: Sequence[Rule]) -> tuple[list[tuple[Rule, list[Rewrite]]], list[Fate]]:
    """Compile rules to rewritings, and say what became of each."""
    sites = by_site(rules)
    hosts = frozenset(sites)
    fates: dict[int, Fate] = {}
    made: list[tuple[Rule, list[Rewrite]]] = []
    for places in sites.values():
        here = [rules[place] for place in places]
        for at, place in enumerate(places):
            rule = here[at]
            try:
                made.append((rule, rewrites(here, at, hosts)))
                fates[place] = Fate(rule, "in part", UNORDERED) if rule.sort_query else Fate(rule)
            except InexpressibleError as error:
                fates[place] = Fate(rule, "left out", str(error))
    return made, [fates[place] for place in range(len(rules))]


def write_patterns(
    rules: Sequence[Rule], write: Callable[[Rule, Variant], str], *, guarded: bool = False, marked: bool = False
) -> tuple[list[str], list[Fate]]:
    """Write the regular expressions of each rule by a function that may refuse one; say what became of each rule."""
    made, fates = compile_all(rules)
    place_of = {id(rule): place for place, rule in enumerate(rules)}
    lines: list[str] = []
    for rule, steps in made:
        try:
            own = [variant for step in steps for variant in variants(step, guarded=guarded, marked=marked)]
            if any(len(variant.regex) > MAX_PATTERN for variant in own):
                raise InexpressibleError("its regular expressions would be too long")
            lines += [write(rule, variant) for variant in own]
        except InexpressibleError as error:
            fates[place_of[id(rule)]] = Fate(rule, "left out", str(error))
    return lines, fates
