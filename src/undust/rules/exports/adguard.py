"""AdGuard and uBlock Origin: filters with `$removeparam`."""

import re
from collections.abc import Sequence

from undust.rules.exports.fates import Fate, Written
from undust.rules.exports.removal import Removal, removals
from undust.rules.rule import Rule
from undust.urls.site import is_server

_NAME = re.compile(r"[A-Za-z0-9\-_.%\[\]:@!+]++")
_PATH = re.compile(r"[A-Za-z0-9\-_.~%]*+")


def write(rules: Sequence[Rule]) -> Written:
    """Write rules as filters, one for each argument."""
    made, fates = removals(rules)
    lines = ["! Title: rules learned by undust\n"]
    odd: dict[int, str] = {}
    for removal in made:
        if is_server(removal.site) and ":" not in removal.site:
            odd[id(removal.rule)] = "its site is one port of a server, and filters reach all of them"
            continue
        bad = [name for name in removal.names if not _NAME.fullmatch(name)]
        if bad or not all(map(_PATH.fullmatch, removal.path)):
            odd[id(removal.rule)] = "its names or its path have characters that mean something in filters"
            continue
        lines += [
            f"{_place(removal)}removeparam={name}{',match-case' if removal.path else ''}\n" for name in removal.names
        ]
    fates = [Fate(fate.rule, "left out", odd[id(fate.rule)]) if id(fate.rule) in odd else fate for fate in fates]
    return Written("".join(lines), fates)


def _place(removal: Removal) -> str:
    path = "".join(f"/{segment}" for segment in removal.path)
    return f"||{removal.site}{path}{'?' if removal.closed else '^'}$"
