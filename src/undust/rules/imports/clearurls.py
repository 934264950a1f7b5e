"""ClearURLs: providers with a regular expression for URLs, and regular expressions for names of arguments."""

import re
from typing import Any

from undust.rules.imports.entries import EVERYWHERE, Entry, Place, Read, host_place
from undust.rules.imports.lists import load_json, require, standard_name, standard_path, texts
from undust.rules.imports.names import EndlessError, expanded

_START = re.compile(r"\^?(?:https?|wss?)\??:(?:\\?/){2}")
_LABELS = re.compile(r"(?:\(\?:\[[^\]]*\][+*]\\\.\)(?:\*\??|\?)|\(\[a-z0-9-\\?\.\]\)\*)?")
_ASKED = re.compile(r"&\?([A-Za-z_?]{1,40})=[^=]*$")
_SUFFIX = r"(?:\.[a-z]{2,}){1,}"
_PORT = r"(?::\d+)?"
_ENDS = {"": False, r"(?:[\/?]|$)": False, r"(?:\/|\?|$)": False, "$": True, r"(?:\?|$)": True}


def read(text: str, source: str) -> Read:
    """Read `data.min.json`."""
    document = require(load_json(text, source), dict, source, "the file")
    providers = require(document.get("providers"), dict, source, "providers")
    made = Read()
    for name, provider in providers.items():
        _provider(name, require(provider, dict, f"{source}: {name}", "a provider"), f"{source}: {name}", made)
    return made


def _provider(name: str, provider: dict[str, Any], where: str, made: Read) -> None:
    pattern = require(provider.get("urlPattern"), str, where, "urlPattern")
    rules = texts(provider.get("rules", []), where, "rules")
    for kind in ("rawRules", "referralMarketing"):
        for rule in texts(provider.get(kind, []), where, kind):
            made.skip(
                f"{name}: {rule}",
                f"{kind}: it is about more than arguments" if kind == "rawRules" else f"{kind}: off by default",
            )
    if provider.get("completeProvider"):
        made.skip(name, "completeProvider: it blocks, and does not rewrite")
        return
    if not rules:
        return
    try:
        places = [(EVERYWHERE, Place())] if pattern in (".*", "^.*") else _places(pattern)
        kept, withheld = _exceptions(texts(provider.get("exceptions", []), where, "exceptions"))
    except EndlessError as error:
        made.skip(f"{name}: {pattern}", f"where it holds: {error}")
        return
    names, expressions = _names(name, rules, made)
    for known in sorted(names & withheld):
        made.skip(f"{name}: {known}", "it has exceptions that cannot be said")
    names -= withheld
    for site, place in places:
        made.entries.append(Entry(site, place, names, expressions, line=f"{name}: {', '.join(rules[:3])}"))
    made.entries += [Entry(site, place, names, expressions, stays=True) for site, place in kept]


def _exceptions(patterns: list[str]) -> tuple[list[tuple[str, Place]], frozenset[str]]:
    """Give the places where nothing goes, and the arguments that must stay because their exceptions have no place."""
    places: list[tuple[str, Place]] = []
    withheld: set[str] = set()
    for pattern in patterns:
        try:
            places += _places(pattern, loose=True)
        except EndlessError:
            asked = _ASKED.search(pattern)
            if asked is None:
                raise
            withheld.update(expanded(asked[1]))
    return places, frozenset(withheld)


def _names(provider: str, rules: list[str], made: Read) -> tuple[frozenset[str], frozenset[str]]:
    names: set[str] = set()
    expressions: set[str] = set()
    for rule in rules:
        try:
            known = [standard_name(name) for name in expanded(rule)]
        except EndlessError:
            expressions.add(rule)
            continue
        names.update(name for name in known if name)
        if not all(known):
            made.skip(f"{provider}: {rule}", "a name that no argument can have")
    return frozenset(names), frozenset(expressions)


def _places(pattern: str, *, loose: bool = False) -> list[tuple[str, Place]]:
    """Read a regular expression for URLs: host and start of a path, as far as they are literal.

    With `loose`, what comes after the literal part may be anything: the place is then larger than what was meant.
    """
    text = pattern.replace(r"\/", "/")
    if loose and text.startswith("^https?://(?:[a-z0-9-]+\\.)*?(?:") and text.endswith(")"):
        # Several hosts in one: each on its own.
        inside = text.removeprefix("^https?://(?:[a-z0-9-]+\\.)*?(?:").removesuffix(")")
        if not set(inside) & set("()/"):
            return [place for one in inside.split("|") for place in _places(f"^https?://{one}", loose=True)]
    start = _START.match(text)
    if start is None:
        raise EndlessError("it does not begin with a scheme")
    text = text[start.end() :]
    text = text[_LABELS.match(text).end() :]  # type: ignore[union-attr] # it fits everything
    if loose:
        text = re.split(r"\.\*|\[\^", text, maxsplit=1)[0]
    host, path, end = _cut(text)
    made = []
    any_suffix = host.endswith(_SUFFIX)
    for one in expanded(host.removesuffix(_SUFFIX), dot="."):
        found = host_place(f"{one}.com" if any_suffix else one.rstrip("."))
        if found is None:
            raise EndlessError(f"{one!r} is no host")
        if any_suffix:
            found = (f"{found[0].removesuffix('.com')}.{EVERYWHERE}", found[1])
        made += [
            (found[0], found[1]._replace(path=segments, closed=closed)) for segments, closed in _paths(path, end, loose)
        ]
    return made


def _cut(text: str) -> tuple[str, str, str]:
    """Cut an expression behind its host, and what ends it off."""
    end = ""
    for known in sorted(_ENDS, key=len, reverse=True):
        spelled = known.replace(r"\/", "/")
        if known and text.endswith(spelled) and not text.endswith(f"\\{spelled}"):
            text, end = text.removesuffix(spelled), known
            break
    host, slash, path = text.partition("/")
    return host.removesuffix(_PORT), slash + path, end


def _paths(path: str, end: str, loose: bool) -> list[tuple[tuple[str, ...], bool]]:
    if not path:
        return [((), False)]
    group = re.fullmatch(r"([^()]*)\(\?:([^()]+)\)", path)
    if group:
        return [made for each in group[2].split("|") for made in _paths(group[1] + each, end, loose)]
    if path.endswith(r"\?"):
        return [(segments, True) for segments, _ in _paths(path.removesuffix(r"\?"), end, loose)]
    whole = path if not path.endswith("/") else path[:-1]
    try:
        made = [standard_path(one) for one in expanded(whole, dot=".")]
        if all(one is not None for one in made):
            return [(one or (), _ENDS[end]) for one in made]
    except EndlessError:
        if not loose:
            raise
    if not loose:
        raise EndlessError("it is about more than the start of a path")
    kept: list[str] = []
    for segment in path.split("/")[1:-1]:  # the last may go on
        if not re.fullmatch(r"[A-Za-z0-9_\-]+", segment):
            break
        kept.append(segment)
    return [(tuple(kept), False)]
