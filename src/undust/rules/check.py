"""Rules that contradict each other or go in circles: found before they are used, and refused where they come in a file.

Circles are proved, never guessed: for each rule that writes something a URL is made that it holds for, and followed.
What escapes that does no harm, as no URL is ever changed twice (`RuleSet`).
"""

from collections.abc import Mapping, Sequence
from itertools import count
from typing import NamedTuple

from undust.errors import UrlError
from undust.rules.line import has_labels
from undust.rules.listed import ListedRules
from undust.rules.matcher import group_rules
from undust.rules.rule import Rule
from undust.rules.ruleset import RuleSet
from undust.rules.values import Absent, Copy, Drop, Ignore, Match, Operation, Pattern
from undust.settings import MAX_TRIES
from undust.urls.keys import Key
from undust.urls.normalize import normalize

MAX_STEPS = 20
"""Rules of a row that are followed; a row that is longer is taken for one without end."""

_SAMPLES = {"digits": "7", "hex": "7f", "uuid": "00000000-0000-4000-8000-000000000000", "date": "2024-05-06"}


class Fault(NamedTuple):
    """What is wrong with the rules of a site."""

    rules: tuple[int, ...]
    """Places of the rules in the list that was looked at; the last of them would have to go."""
    why: str


def find_fault(rules: Sequence[Rule]) -> Fault | None:
    """Find what is wrong with the rules of one site, which are in order; nothing if they are sound.

    >>> from undust.rules.line_reader import read_line
    >>> lines = ("h.com  //….h.com/a  →  //….h.com/b", "h.com  //….h.com/b  →  //….h.com/a")
    >>> find_fault([read_line(line) for line in lines])
    Fault(rules=(0, 1), why='go in circles: http://h.com/a → http://h.com/b → http://h.com/a')
    """
    return _repeated(rules) or _too_many(rules) or _circle(rules)


def sound(rules: Sequence[Rule]) -> list[Rule]:
    """Leave out what `find_fault` finds; a rule that goes in circles stays as a guard for the URLs that it held for."""
    made = list(rules)
    while (fault := _repeated(made)) is not None:
        del made[fault.rules[-1]]
    while (fault := _circle(made)) is not None:
        rule = made[fault.rules[-1]]
        made[fault.rules[-1]] = Rule(rule.site, rule.context, statistics=rule.statistics)
    return made


def _repeated(rules: Sequence[Rule]) -> Fault | None:
    """Find a rule that can never decide, as one before it has the same context."""
    seen: dict[frozenset[tuple[Key, Match]], int] = {}
    for place, rule in enumerate(rules):
        first = seen.setdefault(frozenset(rule.context.items()), place)
        if first != place:
            return Fault((first, place), "hold for the same URLs, so the second can never be used")
    return None


def _too_many(rules: Sequence[Rule]) -> Fault | None:
    """Find sites whose URLs would have to be held against pattern after pattern."""
    if len(rules) <= MAX_TRIES:  # there is at most one try for each
        return None
    groups = group_rules(rules)
    tries = sum(1 + max(len(bucket) for bucket in group.buckets.values()) for group in groups)
    if tries <= MAX_TRIES:
        return None
    return Fault((0, len(rules) - 1), f"may need {tries:,} tries for one URL; at most {MAX_TRIES:,} are allowed")


def _circle(rules: Sequence[Rule]) -> Fault | None:
    """Find rules that change what they made, again and again."""
    writing = [place for place, rule in enumerate(rules) if _writes(rule)]
    if not writing:
        return None  # what only takes away comes to an end
    rule_set = RuleSet(ListedRules(rules))
    for place in writing:
        url = example(rules[place])
        fault = None if url is None else _follow(rule_set, url, place)
        if fault is not None:
            return fault
    return None


def _follow(rules: RuleSet, url: str, first: int) -> Fault | None:
    urls, places = [url], list[int]()
    while len(urls) <= MAX_STEPS:
        applied, place = rules.apply_once(urls[-1])
        if place < 0 or applied.url == urls[-1] or (not places and place != first):
            return None
        places.append(place)
        try:
            if normalize(applied.url) != applied.url:
                return None  # no form to go on from
        except UrlError:
            return None
        if applied.url in urls:
            start = urls.index(applied.url)
            return Fault(_once_each(places[start:]), f"go in circles: {' → '.join([*urls[start:], applied.url])}")
        urls.append(applied.url)
    return Fault(_once_each(places), f"never come to an end: {' → '.join(urls[:3])} → …")


def _once_each(places: Sequence[int]) -> tuple[int, ...]:
    return tuple(sorted(set(places)))


def _writes(rule: Rule) -> bool:
    return any(not _takes_away(key, operation) for key, operation in rule.operations.items())


def _takes_away(key: Key, operation: Operation) -> bool:
    if isinstance(operation, Drop):
        return True
    return key.part in ("query", "param") and len(operation) == 1 and isinstance(operation[0], Ignore)


def example(rule: Rule) -> str | None:
    """Give a URL that the rule should hold for, with all that it looks at; None if there seems to be none."""
    number = count(1)
    sources = {
        piece.source
        for operation in rule.operations.values()
        if not isinstance(operation, Drop)
        for piece in operation
        if isinstance(piece, Copy)
    }
    values: dict[Key, str] = {}
    for key in dict.fromkeys([*rule.context, *sources, *rule.operations]):
        match = rule.context.get(key)
        if not isinstance(match, Absent):
            values[key] = f"w{next(number)}" if match is None else _sample(match, number)
    try:
        return normalize(_spelled(rule, values))
    except (UrlError, ValueError):
        return None


def _sample(match: Pattern, number: "count[int]") -> str:
    return "".join(
        part if isinstance(part, str) else _SAMPLES.get(part.kind) or f"w{next(number)}" for part in match.parts
    )


def _spelled(rule: Rule, values: Mapping[Key, str]) -> str:
    by_part: dict[str, dict[int, str]] = {"host": {}, "path": {}}
    named: dict[str, list[str]] = {"param": [], "query": []}
    for key, value in values.items():
        if isinstance(key.name, int):
            by_part[key.part][key.name] = value
        elif key.part in named:
            named[key.part].append(f"{key.name}={value}" if key.name else value)
    segments = by_part["path"]
    length = max([place + 1 for place in segments if place >= 0], default=0)
    if segments and min(segments) < 0 and length - min(segments) <= _most_segments(rule):
        length -= min(segments)  # those from the end come after those from the start
    length = max(length, -min([0, *segments]))
    path = [segments.get(place, segments.get(place - length, "w")) for place in range(length)]
    labels = by_part["host"] if has_labels(rule.site) else {}
    host = "".join(f"{labels.get(place, 'w')}." for place in range(max(labels, default=0), 0, -1))
    scheme = values.get(Key("scheme"), "http")
    port = values.get(Key("port"), "")
    port = f":{port if port.isdigit() else 8080}" if port and ":" not in rule.site else ""
    params = "".join(f";{param}" for param in named["param"])
    query = "&".join(named["query"])
    scheme = scheme if scheme in ("http", "https", "ftp") else "http"
    return f"{scheme}://{host}{rule.site}{port}/{'/'.join(path)}{params}{'?' if query else ''}{query}"


def _most_segments(rule: Rule) -> int:
    return min(
        (
            key.name if key.name >= 0 else -key.name - 1
            for key, match in rule.context.items()
            if key.part == "path" and isinstance(key.name, int) and isinstance(match, Absent)
        ),
        default=2**31,
    )
