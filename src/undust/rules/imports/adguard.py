"""AdGuard and uBlock Origin: filters with `$removeparam`."""

import re

from undust.rules.imports.entries import EVERYWHERE, Entry, Place, Read, host_place
from undust.rules.imports.lists import standard_name, standard_path
from undust.rules.imports.names import EndlessError, expanded

_HARMLESS = {"document", "doc", "match-case", "important", "all", "main_frame", "1p", "~third-party"}


def read(text: str, source: str) -> Read:
    """Read a list of filters; those without `removeparam` are passed over."""
    made = Read()
    for number, line in enumerate(text.splitlines(), 1):
        line = line.strip()
        if not line or line.startswith(("!", "[")) or "removeparam" not in line:
            continue
        why = _line(line, made)
        if why:
            made.skip(f"{number}: {line}", why)
    return made


def _line(line: str, made: Read) -> str:
    """Take a filter over; give the reason where that cannot be."""
    stays = line.startswith("@@")
    where, _, options = line.removeprefix("@@").partition("$")
    names: frozenset[str] = frozenset()
    expression = ""
    domains: list[str] = []
    for option in _options(options):
        name, mark, value = option.partition("=")
        if name in ("removeparam", "queryprune"):
            if not mark and not stays:
                return "it removes all arguments"
            if value.startswith("~"):
                return "it says what stays"
            try:
                known = _names(value)
            except EndlessError:
                expression = _whole(value)
                if not expression:
                    return "its regular expression is about more than a name"
                known = []
            names = frozenset(known)
        elif name in ("domain", "from", "to"):
            domains = value.split("|")
        elif name not in _HARMLESS:
            return f"it depends on ${name}"
    places = _places(where, domains)
    if isinstance(places, str):
        return places
    if not names and not expression and not stays:
        return "a name that no argument can have"
    excluded = frozenset(found[0] for each in domains if each.startswith("~") and (found := host_place(each[1:])))
    expressions = frozenset({expression} - {""})
    for site, place in places:
        made.entries.append(Entry(site, place, names, expressions, stays=stays, line=line, excluded=excluded))
    return ""


def _options(text: str) -> list[str]:
    """Cut options at commas, but not those that are escaped."""
    return [option.replace("\\,", ",") for option in re.split(r"(?<!\\),", text)]


def _names(value: str) -> list[str]:
    if value.startswith("/"):
        inside, _, flags = value[1:].rpartition("/")
        if flags not in ("", "i") or not inside.startswith("^") or not inside.endswith(("$", "=")):
            raise EndlessError("it goes on")
        found = expanded(inside[1:].removesuffix("$").removesuffix("="))
    else:
        found = [value]
    return [name for name in map(standard_name, found) if name]


def _whole(value: str) -> str:
    """Give a regular expression for whole names, out of one for `name=value`."""
    inside, _, flags = value[1:].rpartition("/")
    if not value.startswith("/") or flags not in ("", "i") or not inside.startswith("^"):
        return ""
    name = inside[1:]
    name, mark, rest = name.partition("=")
    if mark and rest not in ("", ".*", ".+"):
        return ""
    return name.removesuffix("$") if mark or name.endswith("$") else f"(?:{name}).*"


def _places(where: str, domains: list[str]) -> list[tuple[str, Place]] | str:
    if where in ("", "*", "||*"):
        named = [each for each in domains if not each.startswith("~")]
        found = [host_place(each) for each in named]
        if any(each is None for each in found):
            return "a domain that is none"
        return [each for each in found if each] or [(EVERYWHERE, Place())]
    if domains or not where.startswith("||"):
        return "where it holds is more than a host and the start of a path"
    host, slash, path = where[2:].partition("/")
    closed = path.endswith("?")
    path = path.rstrip("^").removesuffix("?")
    known = standard_path(slash + path) if slash else ()
    if known is None or any(letter in host.rstrip("^") + path for letter in "*^|?"):
        return "where it holds is more than a host and the start of a path"
    place = host_place(host.rstrip("^"), known, closed=closed)
    return "its host is none" if place is None else [place]
