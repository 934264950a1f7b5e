"""What one server knows: the folder, the rules in force, the catalog, the pages; all that handlers ask."""

import threading
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from undust.detect.related import RelatedIndex
from undust.errors import UndustError
from undust.related_pages import open_related
from undust.serve.answers import refuse
from undust.serve.catalog import Catalog
from undust.serve.folder import RunFolder
from undust.serve.live_rules import LiveRules, Loaded
from undust.serve.metrics import Metrics
from undust.serve.site_tree import SiteTrees
from undust.serve.two_pages import Pages


@dataclass(slots=True)
class Related:
    """The index of related pages. It is made when somebody asks the first time, which may take a while."""

    folder: RunFolder
    _index: RelatedIndex | None = None
    _problem: str | None = None
    _worker: threading.Thread | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def index(self) -> RelatedIndex:
        """Give the index, or refuse while there is none yet."""
        if self._index is not None:
            return self._index
        with self._lock:
            if self._worker is None:
                self._worker = threading.Thread(target=self._open, daemon=True, name="related")
                self._worker.start()
        self._worker.join(2.0)
        if self._index is None:
            if self._problem:
                refuse(404, "no_index", f"no index of related pages: {self._problem}")
            refuse(409, "not_ready", "the index of related pages is being made; ask again in a moment")
        return self._index

    def _open(self) -> None:
        try:
            self._index = open_related(self.folder.pages, memory="2GB")
        except (UndustError, OSError) as error:
            self._problem = str(error)


@dataclass(frozen=True, slots=True)
class State:
    """Everything. Only the rules in force change."""

    folder: RunFolder
    rules: LiveRules
    catalog: Catalog | None
    pages: Pages
    trees: SiteTrees | None
    related: Related
    metrics: Metrics
    evaluation: dict[str, Any]
    steps: dict[str, Any]
    kept: dict[int, dict[str, dict[str, Any]]] = field(default_factory=dict)
    """The sites, by which reading of the rules they were made with."""

    def need_catalog(self) -> Catalog:
        """Give the catalog, or refuse where the run has neither pages nor clusters."""
        if self.catalog is None:
            refuse(404, "no_pages", "this run has neither pages.parquet nor clusters.parquet")
        return self.catalog

    def sites(self) -> dict[str, dict[str, Any]]:
        """Give the sites of the catalog and of the rules, with what rules are worth on each."""
        now = self.rules.current
        found = self.kept.get(now.number)
        if found is None:
            found = self._sites(now)
            self.kept.clear()
            self.kept[now.number] = found
        return found

    def _sites(self, now: Loaded) -> dict[str, dict[str, Any]]:
        rules = Counter(rule.site for _, rule in now.by_id.values())
        known = {row["site"]: row for row in self.catalog.site_rows()} if self.catalog else {}
        known.pop("", None)  # URLs that cannot be parsed
        for site in rules:
            known.setdefault(site, {"site": site, "pages": 0, "clusters": 0, "largest": 0})
        measured = (self.evaluation.get("by_cluster") or {}).get("sites") or {}
        learned = (self.evaluation.get("learned_from") or {}).get("sites") or {}
        return {
            site: row | _worth(row, rules[site], measured.get(site), learned.get(site)) for site, row in known.items()
        }


def _worth(
    row: dict[str, Any], rules: int, measured: dict[str, Any] | None, learned: dict[str, Any] | None
) -> dict[str, Any]:
    pages = row["pages"]
    one, other = measured or {}, learned or {}
    return {
        "duplicates": pages - row["clusters"],
        "duplicate_rate": (pages - row["clusters"]) / pages if pages else 0.0,
        "rules": rules,
        "saved": one.get("compression"),
        "possible": one.get("duplicate_rate"),
        "lost": one.get("pages_lost"),
        "fpr": one.get("fpr"),
        "saved_all": other.get("compression"),
    }
