"""duplicate-url-discarder: JSON rules with URL patterns and a processor."""

from typing import Any

from undust.rules.imports.entries import EVERYWHERE, Entry, Place, Read, host_place
from undust.rules.imports.lists import load_json, require, standard_name, standard_path, texts


def read(text: str, source: str) -> Read:
    """Read the rules of duplicate-url-discarder."""
    made = Read()
    for number, item in enumerate(require(load_json(text, source), list, source, "the file"), 1):
        _item(require(item, dict, f"{source}: rule {number}", "it"), f"{source}: rule {number}", made)
    # Where a rule for a site fits, those for every site do not count, there.
    special = {entry.site for entry in made.entries} - {EVERYWHERE}
    made.entries.sort(key=lambda entry: entry.site == EVERYWHERE)
    made.entries[:] = [
        entry._replace(excluded=frozenset(special)) if entry.site == EVERYWHERE else entry for entry in made.entries
    ]
    return made


def _item(item: dict[str, Any], where: str, made: Read) -> None:
    pattern = require(item.get("urlPattern"), dict, where, "urlPattern")
    include = texts(pattern.get("include", []), where, "include")
    exclude = texts(pattern.get("exclude", []), where, "exclude")
    args = require(item.get("args") or [], list, where, "args")
    processor = require(item.get("processor"), str, where, "processor")
    line = f"{processor} {', '.join(map(str, args[:5]))} on {', '.join(include[:3]) or 'all'}"
    names: frozenset[str] = frozenset()
    segments: frozenset[int] = frozenset()
    if processor == "queryRemoval":
        known = [standard_name(name) for name in texts(args, where, "args")]
        names = frozenset(name for name in known if name)
        if len(names) < len(set(args)):
            made.skip(line, "a name that no argument can have")
    elif processor == "subpathRemoval" and all(isinstance(at, int) and 0 <= at < 100 for at in args):
        segments = frozenset(args)
    else:
        made.skip(line, f"{processor}: it does not name what goes")
        return
    if not names and not segments:
        return
    if not any(include):
        made.entries.append(Entry(EVERYWHERE, names=names, segments=segments, line=line))
    for one in filter(None, include):
        found = _place(one)
        if found is None:
            made.skip(f"{line}: {one}", "its pattern is more than a host and the start of a path")
            continue
        stays = [_place(other) for other in exclude]
        if any(other is None for other in stays):
            made.skip(f"{line}: {one}", "what it excludes is more than a host and the start of a path")
            continue
        made.entries.append(Entry(found[0], found[1], names, segments=segments, line=line))
        made.entries += [Entry(*other, stays=True) for other in stays if other is not None]


def _place(pattern: str) -> tuple[str, Place] | None:
    """Read a pattern of url-matcher. A path is the start of one there; here it is whole segments, which is less."""
    rest = pattern.partition("://")[2] or pattern
    host, slash, path = rest.partition("/")
    closed = path.endswith("|")
    path = path.removesuffix("|")
    if path.endswith("/*"):
        path, closed = path.removesuffix("/*"), False
    path = path.rstrip("/") if not closed else path
    if any(letter in rest.removesuffix("|") for letter in "?#|") or "*" in host:
        return None
    segments: list[str | None] = []
    for segment in path.split("/") if slash and path else []:
        known = None if segment == "*" else standard_path(f"/{segment}")
        if ("*" in segment and segment != "*") or known == ():
            return None
        segments.append(known[0] if known else None)
    return host_place(host, segments, closed=closed)
