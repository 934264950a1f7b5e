"""Clean-param: lines for robots.txt, as Yandex reads them; what a site itself says about its arguments."""

import re
from collections.abc import Sequence

from undust.rules.exports.fates import Fate, Written
from undust.rules.exports.removal import Removal, removals
from undust.rules.rule import Rule

MAX_LINE = 500
_NAME = re.compile(r"[A-Za-z0-9\-_.\[\]%]++")
_PATH = re.compile(r"[A-Za-z0-9\-_.]++")


def write(rules: Sequence[Rule]) -> Written:
    """Write rules as directives, those of a site under its name: a robots.txt is for one host."""
    made, fates = removals(rules)
    lines: list[str] = []
    odd: dict[int, str] = {}
    site = None
    for removal in made:
        path = _path(removal)
        if path is None or not all(map(_NAME.fullmatch, removal.names)):
            odd[id(removal.rule)] = "a path is a prefix here, and has few characters: it would reach other pages"
            continue
        if removal.site != site:
            site = removal.site
            lines.append(f"# Site: {site}\nUser-agent: *\n")
        lines += [f"Clean-param: {names}{path}\n" for names in _joined(removal.names, MAX_LINE - 20 - len(path))]
    fates = [Fate(fate.rule, "left out", odd[id(fate.rule)]) if id(fate.rule) in odd else fate for fate in fates]
    return Written("".join(lines), fates)


def _path(removal: Removal) -> str | None:
    """Give the prefix; nothing where other paths begin with it as well."""
    if not removal.path:
        return ""
    text = "/".join(("", *removal.path))
    if not all(map(_PATH.fullmatch, removal.path)):
        return None
    if "." in removal.path[-1]:
        return f" {text}"  # a file: nothing goes on behind its ending
    return None if removal.closed else f" {text}/"


def _joined(names: Sequence[str], room: int) -> list[str]:
    made: list[str] = []
    for name in names:
        if made and len(made[-1]) + len(name) < room:
            made[-1] += f"&{name}"
        else:
            made.append(name)
    return made
