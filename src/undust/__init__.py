"""undust finds duplicate web pages and learns URL rules that keep crawlers from fetching them again.

>>> import undust
>>> undust.normalize("HTTP://Example.com:80/a/../b#top")
'http://example.com/b'
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from undust.corpus import Tally, read_clusters, read_pages, write_table
    from undust.pipeline import cluster, fingerprint
    from undust.urls.batch import normalize_many, split_many
    from undust.urls.normalize import normalize
    from undust.urls.site import site

__version__ = "0.1.0"

# Names are imported when they are used: normalizing one URL should not wait for Arrow and Numba.
_HOMES = {
    "Tally": "undust.corpus",
    "cluster": "undust.pipeline",
    "fingerprint": "undust.pipeline",
    "normalize": "undust.urls.normalize",
    "normalize_many": "undust.urls.batch",
    "read_clusters": "undust.corpus",
    "read_pages": "undust.corpus",
    "site": "undust.urls.site",
    "split_many": "undust.urls.batch",
    "write_table": "undust.corpus",
}

__all__ = [
    "Tally",
    "cluster",
    "fingerprint",
    "normalize",
    "normalize_many",
    "read_clusters",
    "read_pages",
    "site",
    "split_many",
    "write_table",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'undust' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
