"""pywb: fuzzy rules for `rules.yaml`, which say what must be the same in a capture that is shown for another URL.

pywb looks at SURT keys: lower case, arguments in order, without `www.`. A rule lists the arguments that matter; so it
can only be written for sets of arguments that are known, those of the examples of the rules of the site.
"""

import json
import re
from collections.abc import Iterator, Sequence

from undust.rules.exports.conditions import quoted
from undust.rules.exports.fates import Written
from undust.rules.exports.removal import Removal, removals
from undust.rules.rule import Rule
from undust.urls.keys import split_query
from undust.urls.parse import split
from undust.urls.site import is_server

MAX_SETS = 50
"""Sets of arguments that are written for one rule, the most frequent first."""

HEAD = """# Written by undust. Rules for pywb: append the entries to those of your rules.yaml, or use it as it is.
default_filters:
  fuzzy_search_limit: "100"
  not_exts: []
  mimes: []
  url_normalize: []
rules:
"""
_VALUE = "[a-z0-9_%~:,!@/-]+"  # no letters that mean something in a regular expression: the value becomes part of one


def write(rules: Sequence[Rule]) -> Written:
    """Write rules for pywb."""
    made, fates = removals(rules)
    lines = [line for removal in sorted(made, key=lambda each: -len(each.path)) for line in _entries(removal, rules)]
    return Written(HEAD.replace("rules:\n", "rules: []\n") if not lines else HEAD + "".join(lines), fates)


def _entries(removal: Removal, rules: Sequence[Rule]) -> Iterator[str]:
    gone = sorted({name.lower() for name in removal.names})
    for kept in _kept_sets(removal, rules, frozenset(gone)):
        alone = f"(?:(?:{'|'.join(map(quoted, [*gone, *kept]))})=[^&]*(?:&|$))*$"
        start = rf"^[^)]*\){''.join('/' + quoted(segment.lower()) for segment in removal.path)}"
        start += "" if not removal.path else "" if removal.closed else r"(?=[/?])"
        regex = rf"{start}{'' if removal.closed else '[^?]*'}\?(?={alone})" + (
            "".join(rf"(?:.*&)?({quoted(name)}={_VALUE})(?:&|$)" for name in kept) or "()"
        )
        filters = [rf"~urlkey:[^?]*\?{alone}"]
        if kept:
            filters.insert(0, r"~urlkey:[^?]*\?(?:[^&]*&)*{0}(?:&|$)")
        yield (
            f"  - url_prefix: {json.dumps(_prefixes(removal.site))}\n"
            f"    fuzzy_lookup:\n      match: {json.dumps(regex)}\n      filter: {json.dumps(filters)}\n"
        )


def _prefixes(site: str) -> list[str]:
    """Give the starts of the SURT keys of a site: labels from the right, of addresses, too; no brackets."""
    found = re.fullmatch(r"\[?([^\]]*?)\]?(?::([0-9]+))?", site)
    name, port = found.groups() if found else (site, None)
    start = ",".join(name.split(".")[::-1])
    return [f"{start}:{port})"] if port else [f"{start}{end}" for end in (")" if is_server(site) else "),:")]


def _kept_sets(removal: Removal, rules: Sequence[Rule], gone: frozenset[str]) -> list[tuple[str, ...]]:
    """Give the sets of arguments that matter, as far as examples show them; a name that comes twice makes none."""
    found: dict[tuple[str, ...], int] = {(): 0}
    for rule in rules:
        if rule.site != removal.site:
            continue
        for url in (url for pair in rule.statistics.examples for url in pair if "://" in url):
            query = split(url).query
            if query is None or "=" not in query:
                continue
            names = [(argument.name or "").lower() for argument in split_query(query)]
            kept = tuple(sorted(name for name in names if name not in gone))
            if len(set(kept)) == len(kept) and all(kept):
                found[kept] = found.get(kept, 0) + 1
    return sorted(found, key=lambda kept: (-found[kept], kept))[:MAX_SETS]
