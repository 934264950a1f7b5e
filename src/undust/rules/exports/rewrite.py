"""Compiles a rule into a rewriting that other programs can do: conditions, and pieces to keep, drop or write."""

from collections.abc import Sequence
from typing import NamedTuple

from undust.rules.exports.conditions import (
    Condition,
    Conditions,
    InexpressibleError,
    at_least,
    disjoint,
    exactly,
    once,
    quoted,
    require_standard,
    require_whole_site,
)
from undust.rules.exports.head import head
from undust.rules.exports.pieces import Piece, made_pieces, rest_of
from undust.rules.exports.settled import disturbances, is_dropped
from undust.rules.rule import Rule
from undust.rules.values import ABSENT
from undust.urls.keys import Key

MAX_EARLIER = 40
"""Rules of a site that may stand before one and have to be ruled out by it; more make patterns nobody can use."""

TOGETHER = 6
"""Arguments that one rewriting drops: each is a place where text goes, and engines count only to nine."""


class Setting(NamedTuple):
    """An argument that gets another value."""

    name: str
    pieces: tuple[Piece, ...]


class Rewrite(NamedTuple):
    """What becomes of the URLs of a site that fit some conditions."""

    conditions: Conditions
    """All must hold."""
    earlier: tuple[Conditions, ...]
    """Where all conditions of one of these hold, another rule may decide, and this one must not be used."""
    head: tuple[Piece, ...]
    """Everything before the query."""
    drops: tuple[str, ...]
    """Arguments that go; none of them occurs twice."""
    setting: Setting | None
    strict: bool
    """Only for queries in which each argument has a `=`."""


def rewrites(rules: Sequence[Rule], place: int, hosts: frozenset[str] = frozenset()) -> list[Rewrite]:
    """Compile a rule as it stands among those of its site: rewritings to be done in turn, each where it fits.

    `hosts` are the hosts and sites that have rules of their own.
    """
    if len({rule.sort_query for rule in rules}) > 1:
        raise InexpressibleError("some rules of the site put arguments in order, others do not")
    made = _compile(rules, place, hosts)
    asked = {str(key.name) for rule in rules for key in rule.context if key.part == "query"}
    if len(made.drops) <= TOGETHER or made.setting or asked.intersection(made.drops):
        return [made]
    # No rule asks about them, so it makes no difference whether they go at once or some after others.
    still = tuple(Piece(piece.regex) for piece in made.head)
    cut = [made.drops[at : at + TOGETHER] for at in range(0, len(made.drops), TOGETHER)]
    return [made._replace(drops=names, head=made.head if not turn else still) for turn, names in enumerate(cut)]


def site_conditions(site: str, hosts: frozenset[str]) -> tuple[Conditions, ...]:
    """Give the hosts of a site that have rules of their own."""
    below = sorted(host for host in hosts if host.partition(":")[0].endswith(f".{site}"))
    if len(below) > MAX_EARLIER:
        raise InexpressibleError("too many hosts of the site have rules of their own")
    return tuple((Condition(f"^[^/]*//{quoted(host.partition(':')[0])}[:/]"),) for host in below)


def _compile(rules: Sequence[Rule], place: int, hosts: frozenset[str]) -> Rewrite:
    rule = rules[place]
    if not rest_of(rule):
        raise InexpressibleError("it only puts arguments in order" if rule.sort_query else "it changes nothing")
    for each in rules:  # others of the site may have to be ruled out
        require_standard(each)
    require_whole_site(rule.site)
    drops, setting = _query(rule)
    before_query = head(rule)
    below = site_conditions(rule.site, hosts)
    if below and Key("host", 1) in rule.operations:
        raise InexpressibleError("it changes hosts, and hosts of the site have rules of their own")
    earlier = [other for other in rules[:place] if not disjoint(other, rule)]
    if len(earlier) > MAX_EARLIER:
        raise InexpressibleError("too many rules of the site come before it")
    ruled_out = [at_least(other.context.items(), rule.site) for other in earlier]
    if () in ruled_out:
        raise InexpressibleError("regular expressions cannot tell where an earlier rule of the site holds")
    disturbed = [at_least(context, rule.site) for context in disturbances(rules, place)]
    if () in disturbed:
        raise InexpressibleError("another rule of the site may have a say in what it makes")
    ruled_out = list(dict.fromkeys([*ruled_out, *disturbed]))
    asked = [(key, match) for key, match in rule.context.items() if key.part == "query"]
    names = dict.fromkeys([*(str(key.name) for key, _ in asked), *drops, *([setting.name] if setting else [])])
    own = {setting.name} if setting else set()
    conditions = [exactly(key, match) for key, match in asked if key.name not in own]
    conditions += [once(name) for name in names]
    return Rewrite(
        tuple(conditions),
        (*below, *ruled_out),
        before_query,
        drops,
        setting,
        strict=any(key.part == "query" for other in rules for key in other.context),
    )


def _query(rule: Rule) -> tuple[tuple[str, ...], Setting | None]:
    drops, setting = [], None
    for key, operation in rest_of(rule).items():
        if key.part != "query":
            continue
        if key.nth > 1 or not key.name:
            raise InexpressibleError(f"it changes {key}")
        if is_dropped(key, operation):
            if rule.context.get(key) != ABSENT:
                drops.append(str(key.name))
            continue
        if setting is not None:
            raise InexpressibleError("it changes the values of several arguments")
        setting = Setting(str(key.name), made_pieces(rule, key, operation))
    return tuple(drops), setting
