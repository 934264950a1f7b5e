"""Entries of hand-made lists, of which all that fit are carried out, as rules, of which the first that fits decides."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from undust.errors import UrlError
from undust.rules.rule import Rule, Statistics
from undust.rules.values import ABSENT, ANY, DROP, Match, Operation, Pattern
from undust.urls.host import is_address
from undust.urls.keys import Key
from undust.urls.normalize import normalize
from undust.urls.parse import split
from undust.urls.site import labels, site_of

MAX_PLACES = 64
"""Places of one site, a place being a host and the start of a path, that entries may name."""
MAX_RULES = 1_000_000
EVERYWHERE = "*"
"""The site of entries that are meant for all; `amazon.*` is for a name under any suffix."""


class Place(NamedTuple):
    """Where an entry holds: below a label of the site, and below a path; None is any segment."""

    labels: tuple[str, ...] = ()
    path: tuple[str | None, ...] = ()
    closed: bool = False
    """The path has no more segments than these."""


class Entry(NamedTuple):
    """What a list says about a place of a site: which arguments and segments go, or, with `stays`, that they do not."""

    site: str
    place: Place = Place()
    names: frozenset[str] = frozenset()
    expressions: frozenset[str] = frozenset()
    """Regular expressions for names; for sites whose arguments are known."""
    segments: frozenset[int] = frozenset()
    stays: bool = False
    """All arguments of a place stay, or those that are named."""
    line: str = ""
    """As the list writes it."""
    excluded: frozenset[str] = frozenset()
    """Sites that an entry for every site is not for."""


class Skipped(NamedTuple):
    """Part of a list that could not be taken over."""

    what: str
    why: str


@dataclass(frozen=True, slots=True)
class Imported:
    """Rules out of a hand-made list, and what of it could not be taken over."""

    format: str
    rules: tuple[Rule, ...]
    skipped: tuple[Skipped, ...]
    entries: int = 0
    """Entries that were understood."""

    def reasons(self) -> dict[str, list[str]]:
        """Group what was left out by the reason, the most frequent first."""
        made: dict[str, list[str]] = {}
        for what, why in self.skipped:
            made.setdefault(why, []).append(what)
        return dict(sorted(made.items(), key=lambda item: -len(item[1])))

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "format": self.format,
            "entries": self.entries,
            "rules": len(self.rules),
            "sites": len({rule.site for rule in self.rules}),
            "skipped": len(self.skipped),
            "not_imported": [{"what": what, "why": why} for what, why in self.skipped],
        }


@dataclass(slots=True)
class Read:
    """What a reader of a list found; readers append to it."""

    entries: list[Entry] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)

    def skip(self, what: str, why: str) -> None:
        """Note a part that cannot be taken over."""
        self.skipped.append(Skipped(what[:200], why))


Sites = Mapping[str, frozenset[str]]
"""Sites that a list is to be used for, and the names of arguments that occur on each."""


def host_place(host: str, path: Sequence[str | None] = (), *, closed: bool = False) -> tuple[str, Place] | None:
    """Give the site of a host and the place on it; nothing if it is no host."""
    try:
        parts = split(normalize(f"http://{host}/"))
    except UrlError:
        return None
    if "." not in parts.host and parts.host != "localhost" and parts.port is None and not is_address(parts.host):
        return None
    own = tuple(labels(parts.host))
    site = site_of(parts.host, parts.port)
    return site, Place(own, tuple(path), closed)


def sites_of(urls: Iterable[str]) -> dict[str, frozenset[str]]:
    """Give the sites of URLs, with the names of their arguments."""
    from undust.urls.keys import keys

    names: dict[str, set[str]] = {}
    for url in urls:
        try:
            parts = split(normalize(url))
        except UrlError:
            continue
        found = names.setdefault(site_of(parts.host, parts.port), set())
        found.update(str(key.name) for key in keys(parts) if key.part == "query" and key.name)
    return {site: frozenset(found) for site, found in names.items()}


def build(read: Read, sites: Sites, learner: str) -> tuple[list[Rule], list[Skipped]]:
    """Make rules of entries; those for every site become rules of the sites that are named."""
    skipped = list(read.skipped)
    by_site: dict[str, list[Entry]] = {}
    for entry in read.entries:
        if not entry.site.endswith(EVERYWHERE):
            by_site.setdefault(entry.site, []).append(entry)
            continue
        if not sites and not entry.stays:
            skipped.append(Skipped(entry.line, "it is for many sites: name yours with --sites"))
        start = entry.site.removesuffix(EVERYWHERE)
        for site in sites.keys() - entry.excluded:
            if site.startswith(start):
                by_site.setdefault(site, []).append(entry._replace(site=site))
    rules: list[Rule] = []
    for site, entries in sorted(by_site.items()):
        entries = [_known(entry, sites.get(site), skipped) for entry in entries]
        rules += _rules(site, entries, learner, skipped)
        if len(rules) > MAX_RULES:
            skipped.append(Skipped(site, f"more than {MAX_RULES:,} rules"))
            break
    return rules, list(dict.fromkeys(skipped))


def _known(entry: Entry, names: frozenset[str] | None, skipped: list[Skipped]) -> Entry:
    """Replace expressions by the names that they stand for on a site."""
    if not entry.expressions:
        return entry
    if names is None:
        for expression in sorted(entry.expressions):
            skipped.append(Skipped(expression, "it stands for many names: name URLs with --sites to see which"))
        return entry._replace(expressions=frozenset())
    found = set(entry.names)
    for expression in sorted(entry.expressions):
        matched = _matching(expression, sorted(names))
        if matched is None:
            skipped.append(Skipped(expression, "its regular expression is not one of linear time (RE2)"))
        found.update(matched or ())
    return entry._replace(names=frozenset(found), expressions=frozenset())


def _matching(expression: str, names: Sequence[str]) -> list[str] | None:
    """Give the names that an expression fits as a whole, in time linear in them: whatever a list says, it ends."""
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        fits = pc.match_substring_regex(pa.array(names, pa.string()), f"^(?:{expression})$", ignore_case=True)
    except pa.ArrowInvalid:
        return None
    return [name for name, does in zip(names, fits.to_pylist(), strict=True) if does]


def _rules(site: str, entries: Sequence[Entry], learner: str, skipped: list[Skipped]) -> Iterator[Rule]:
    places = _closed_under_meeting({entry.place for entry in entries})
    if places is None:
        skipped.append(Skipped(site, f"more than {MAX_PLACES} places of one site are named"))
        return
    made: list[tuple[Place, frozenset[str], frozenset[int]]] = []
    for place in sorted(places, key=_depth, reverse=True):
        holding = [entry for entry in entries if _implies(place, entry.place)]
        names = frozenset(name for entry in holding if not entry.stays for name in entry.names)
        segments = frozenset(at for entry in holding if not entry.stays for at in entry.segments)
        for entry in holding:
            if entry.stays:
                names = (names - entry.names) if entry.names else frozenset()
                segments = segments if entry.names else frozenset()
        made.append((place, names, segments))
    for at, (place, names, segments) in enumerate(made):
        # A place where nothing goes is named only if something goes around it.
        if (names or segments or any(more or gone for _, more, gone in made[at + 1 :])) and not _is_said(made, at):
            yield _rule(site, place, names, segments, learner)


def _is_said(made: Sequence[tuple[Place, frozenset[str], frozenset[int]]], at: int) -> bool:
    """Tell whether the rule after a place says the same for all of its URLs."""
    place, *what = made[at]
    for other, *also in made[at + 1 :]:
        if _meeting(place, other) is not None:
            return _implies(place, other) and what == also
    return False


def _rule(site: str, place: Place, names: frozenset[str], segments: frozenset[int], learner: str) -> Rule:
    context: dict[Key, Match] = {Key("host", at): Pattern((label,)) for at, label in enumerate(place.labels, 1)}
    for at, segment in enumerate(place.path):
        context[Key("path", at)] = ANY if segment is None else Pattern((segment,) if segment else ())
    if place.closed:
        context[Key("path", len(place.path))] = ABSENT
    operations: dict[Key, Operation] = {Key("query", name): DROP for name in sorted(names)}
    operations |= {Key("path", at): DROP for at in sorted(segments)}
    return Rule(site, context, operations, statistics=Statistics(learner=learner))


def _depth(place: Place) -> tuple[int, int, int, str]:
    named = sum(segment is not None for segment in place.path)
    return len(place.labels) + len(place.path) + place.closed, named, place.closed, str(place)


def _implies(place: Place, other: Place) -> bool:
    """Tell whether all URLs of one place are of the other."""
    if place.labels[: len(other.labels)] != other.labels or len(place.path) < len(other.path):
        return False
    if other.closed and not (place.closed and len(place.path) == len(other.path)):
        return False
    return all(mine == theirs or theirs is None for mine, theirs in zip(place.path, other.path, strict=False))


def _meeting(a: Place, b: Place) -> Place | None:
    """Give the place of the URLs that are of both, if there can be any."""
    short, long = sorted((a.labels, b.labels), key=len)
    if long[: len(short)] != short:
        return None
    path: list[str | None] = []
    for at in range(max(len(a.path), len(b.path))):
        mine = a.path[at] if at < len(a.path) else None
        theirs = b.path[at] if at < len(b.path) else None
        if mine is not None and theirs is not None and mine != theirs:
            return None
        path.append(theirs if mine is None else mine)
    if any(place.closed and len(path) > len(place.path) for place in (a, b)):
        return None
    return Place(long, tuple(path), a.closed or b.closed)


def _closed_under_meeting(places: set[Place]) -> set[Place] | None:
    """Add the places where two of the places meet, until none is missing; nothing if there are too many."""
    made = set(places)
    new = list(places)
    while new:
        if len(made) > MAX_PLACES:
            return None
        place = new.pop()
        for other in list(made):
            met = _meeting(place, other)
            if met is not None and met not in made:
                made.add(met)
                new.append(met)
                if len(made) > MAX_PLACES:
                    return None
    return made
