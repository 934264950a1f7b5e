"""undust finds duplicate web pages and learns URL rules that keep crawlers from fetching them again.

>>> import undust
>>> undust.normalize("HTTP://Example.com:80/a/../b#top")
'http://example.com/b'
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from undust.corpus import Tally, read_clusters, read_pages, write_table
    from undust.pipeline import cluster, evaluate, fingerprint, learn, load_rules
    from undust.rules.ruleset import RuleSet
    from undust.urls.batch import normalize_many, split_many
    from undust.urls.normalize import normalize
    from undust.urls.site import site

__version__ = "0.1.0"

# Names are imported when they are used: normalizing one URL should not wait for Arrow and Numba.
_HOMES = {
    "Tally": "undust.corpus",
    "RuleSet": "undust.rules.ruleset",
    "cluster": "undust.pipeline",
    "evaluate": "undust.pipeline",
    "fingerprint": "undust.pipeline",
    "learn": "undust.pipeline",
    "load_rules": "undust.pipeline",
    "normalize": "undust.urls.normalize",
    "normalize_many": "undust.urls.batch",
    "read_clusters": "undust.corpus",
    "read_pages": "undust.corpus",
    "site": "undust.urls.site",
    "split_many": "undust.urls.batch",
    "write_table": "undust.corpus",
}

__all__ = [
    "RuleSet",
    "Tally",
    "cluster",
    "evaluate",
    "fingerprint",
    "learn",
    "load_rules",
    "normalize",
    "normalize_many",
    "read_clusters",
    "read_pages",
    "site",
    "split_many",
    "write_table",
]


class _Package(ModuleType):
    """Keeps `undust.learn` and `undust.evaluate` the functions, though rooms of the package have the same names."""

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in _HOMES and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'undust' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
