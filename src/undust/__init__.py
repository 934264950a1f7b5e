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
    __version__: str
    from undust.corpus import Tally, read_clusters, read_pages, write_table
    from undust.crawl.flow import crawl
    from undust.crawl.seen import Seen
    from undust.dedup import Deduplicated, dedup
    from undust.exchange import export_rules, import_rules
    from undust.index.online import Index
    from undust.pipeline import cluster, evaluate, fingerprint, learn
    from undust.related_pages import related
    from undust.rule_files import load_rules
    from undust.rules.ruleset import RuleSet
    from undust.run.flow import run
    from undust.synth.write import synth
    from undust.urls.batch import normalize_many, split_many
    from undust.urls.normalize import normalize
    from undust.urls.site import site

# Names are imported when they are used: normalizing one URL should not wait for Arrow and Numba.
_HOMES = {
    "Tally": "undust.corpus",
    "Deduplicated": "undust.dedup",
    "Index": "undust.index.online",
    "RuleSet": "undust.rules.ruleset",
    "Seen": "undust.crawl.seen",
    "cluster": "undust.pipeline",
    "crawl": "undust.crawl.flow",
    "dedup": "undust.dedup",
    "evaluate": "undust.pipeline",
    "export_rules": "undust.exchange",
    "import_rules": "undust.exchange",
    "fingerprint": "undust.pipeline",
    "learn": "undust.pipeline",
    "load_rules": "undust.rule_files",
    "normalize": "undust.urls.normalize",
    "normalize_many": "undust.urls.batch",
    "read_clusters": "undust.corpus",
    "read_pages": "undust.corpus",
    "run": "undust.run.flow",
    "related": "undust.related_pages",
    "site": "undust.urls.site",
    "split_many": "undust.urls.batch",
    "synth": "undust.synth.write",
    "write_table": "undust.corpus",
}

__all__ = [
    "Deduplicated",
    "Index",
    "RuleSet",
    "Seen",
    "Tally",
    "cluster",
    "crawl",
    "dedup",
    "evaluate",
    "export_rules",
    "fingerprint",
    "import_rules",
    "learn",
    "load_rules",
    "normalize",
    "normalize_many",
    "read_clusters",
    "read_pages",
    "related",
    "run",
    "site",
    "split_many",
    "synth",
    "write_table",
]


class _Package(ModuleType):
    """Keeps `undust.learn` and `undust.evaluate` the functions, though rooms of the package have the same names."""

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in _HOMES and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return _version()
    if name not in _HOMES:
        raise AttributeError(f"module 'undust' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def _version() -> str:
    from importlib import metadata  # which takes longer than all else here

    try:
        return metadata.version("undust")
    except metadata.PackageNotFoundError:  # sources that nobody installed
        return "0+unknown"


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
