"""ClearURLs: a provider for each site, in the form of `data.min.json`."""

import json
import re
from collections.abc import Sequence

from undust.rules.exports.conditions import quoted
from undust.rules.exports.fates import Written
from undust.rules.exports.removal import removals
from undust.rules.rule import Rule
from undust.urls.site import is_server

_SLASH = re.compile("/")


def write(rules: Sequence[Rule]) -> Written:
    """Write rules for ClearURLs."""
    made, fates = removals(rules)
    grouped: dict[tuple[str, tuple[str, ...], bool], list[str]] = {}
    for removal in made:
        names = grouped.setdefault((removal.site, removal.path, removal.closed), [])
        names += [name for name in removal.names if name not in names]
    providers = {
        "/".join((site, *path)): {
            "urlPattern": _pattern(site, path, closed),
            "completeProvider": False,
            "rules": [quoted(name) for name in names],
            "rawRules": [],
            "referralMarketing": [],
            "exceptions": [],
            "redirections": [],
            "forceRedirection": False,
        }
        for (site, path, closed), names in grouped.items()
    }
    return Written(json.dumps({"providers": providers}, indent=1) + "\n", fates)


def _pattern(site: str, path: tuple[str, ...], closed: bool) -> str:
    labels = "" if is_server(site) else r"(?:[a-z0-9_-]+\.)*?"
    port = "" if is_server(site) else r"(?::\d+)?"
    text = "".join(f"/{quoted(segment)}" for segment in path)
    end = r"(?:\?|$)" if closed else r"(?:[/?]|$)"
    return _SLASH.sub(r"\\/", f"^https?://{labels}{quoted(site)}{port}{text}{end}")
