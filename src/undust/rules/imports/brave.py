"""Brave: `clean-urls.json`, names of arguments for match patterns of URLs."""

from undust.rules.imports.entries import EVERYWHERE, Entry, Place, Read, host_place
from undust.rules.imports.lists import load_json, require, standard_name, standard_path, texts


def read(text: str, source: str) -> Read:
    """Read `clean-urls.json`."""
    made = Read()
    for number, item in enumerate(require(load_json(text, source), list, source, "the file"), 1):
        where = f"{source}: rule {number}"
        require(item, dict, where, "it")
        names = frozenset(
            name for each in texts(item.get("params", []), where, "params") if (name := standard_name(each))
        )
        exclude = [(each, _place(each)) for each in texts(item.get("exclude", []), where, "exclude")]
        for pattern in texts(item.get("include", []), where, "include"):
            place = _place(pattern)
            if place is None or any(other is None for _, other in exclude):
                made.skip(f"{number}: {pattern}", "where it holds is more than a host and the start of a path")
                continue
            made.entries.append(Entry(*place, names, line=f"{number}: {pattern}"))
        made.entries += [Entry(*other, names, stays=True) for _, other in exclude if other is not None]
    return made


def _place(pattern: str) -> tuple[str, Place] | None:
    _, mark, rest = pattern.partition("://")
    host, slash, path = rest.partition("/")
    if not mark or not slash:
        return None
    if host == "*":
        return (EVERYWHERE, Place()) if path == "*" else None
    closed = path.endswith("?*")
    path = path.removesuffix("*").removesuffix("?")
    host = host.removeprefix("*.")
    known = standard_path(f"/{path}".rstrip("/")) if path else ()
    # `/ab*` begins `/abc`, too, which whole segments cannot say: all below `/ab` is less, and is what is taken.
    if known is None or "*" in host + path:
        return None
    return host_place(host, known, closed=closed)
