"""The catalog of a run at work: lists and finds its URLs, clusters and sites, in files that are mapped, not read."""

import contextlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import orjson
import pyarrow as pa
import pyarrow.compute as pc

from undust.asides import scratch_folder, sweep_beside
from undust.errors import UrlError
from undust.serve.catalog_build import ABOUT, GROUPS, SITES, URLS, build, hash_of, stamp
from undust.serve.folder import RunFolder
from undust.serve.limits import SEARCH_SECONDS
from undust.urls.normalize import normalize

FOLDER = "serve.index"

Rows = list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a list: some rows from a place on, how many there are in all, if that is known, and if more follow."""

    rows: Rows
    total: int | None
    more: bool


class Catalog:
    """Answers from the mapped files. What it keeps in memory are the sites and a few numbers for each cluster."""

    def __init__(self, folder: Path) -> None:
        self.exact = bool(orjson.loads((folder / ABOUT).read_bytes()).get("exact"))
        self._urls, self._groups, self._sites = (_mapped(folder / name) for name in (URLS, GROUPS, SITES))
        self._group_site = _numbers(self._groups["site"])
        self._group_size = _numbers(self._groups["size"])
        self._url_site = _numbers(self._urls["site"])
        self._hashes = _numbers(self._urls["hash"])
        self._names = {name: place for place, name in enumerate(self._sites["site"].to_pylist())}

    @property
    def urls(self) -> int:
        """Count the URLs."""
        return int(self._urls.num_rows)

    @property
    def clusters(self) -> int:
        """Count the clusters."""
        return int(self._groups.num_rows)

    @property
    def sites(self) -> int:
        """Count the sites."""
        return int(self._sites.num_rows)

    def sizes(self) -> list[tuple[int, int]]:
        """Count the clusters of each size."""
        sizes, counts = np.unique(self._group_size, return_counts=True)
        return list(zip(sizes.tolist(), counts.tolist(), strict=True))

    def site_rows(self) -> Rows:
        """Give all sites, the largest first: `site`, `pages`, `clusters`, `largest`."""
        rows: Rows = self._sites.to_pylist()
        return rows

    def site(self, name: str) -> dict[str, Any] | None:
        """Give one site."""
        place = self._names.get(name)
        return None if place is None else dict(self._sites.slice(place, 1).to_pylist()[0])

    def list_clusters(self, *, site: str | None, text: str, least: int, start: int, limit: int) -> Part:
        """Give clusters, the largest first; of a site, with a text in their name or shortest URL, of a size."""
        end = int(np.searchsorted(-self._group_size, -least, side="right"))  # the largest come first
        places = np.arange(end)
        if site is not None:
            place = self._names.get(site, -1)
            places = np.flatnonzero(self._group_site[:end] == place)
        if text:
            return self._filtered(places, text, start, limit)
        shown = places[start : start + limit]
        return Part([self._cluster(int(each)) for each in shown], len(places), start + limit < len(places))

    def _filtered(self, places: npt.NDArray[np.int64], text: str, start: int, limit: int) -> Part:
        found: list[int] = []
        until = time.monotonic() + SEARCH_SECONDS
        for at in range(0, len(places), _CHUNK):
            rows = pa.array(places[at : at + _CHUNK])
            piece = self._groups.select(["name", "url"]).take(rows)
            hits = pc.or_(_contains(piece["url"], text), pc.equal(piece["name"], text))
            found += rows.filter(hits.combine_chunks()).to_pylist()
            if len(found) > start + limit or time.monotonic() > until:
                more = len(found) > start + limit
                return Part([self._cluster(each) for each in found[start : start + limit]], None, more)
        return Part([self._cluster(each) for each in found[start : start + limit]], len(found), False)

    def cluster(self, name: str) -> dict[str, Any] | None:
        """Give a cluster by its name."""
        place = _index(self._groups["name"], name)
        return None if place < 0 else self._cluster(place)

    def members(self, cluster: dict[str, Any], start: int, limit: int) -> Rows:
        """Give some URLs of a cluster."""
        size = max(0, min(limit, cluster["size"] - start))
        rows: Rows = self._urls.slice(cluster["first"] + start, size).select(["url", "similarity"]).to_pylist()
        return rows

    def find(self, url: str) -> dict[str, Any] | None:
        """Find a URL, as it is spelled, else by its standard form: with its site, cluster and row of pages."""
        try:
            wanted = np.uint64(hash_of(normalize(url)))
        except UrlError:
            return None
        rows = np.flatnonzero(self._hashes == wanted).tolist()
        found = [self._urls.slice(row, 1).to_pylist()[0] for row in rows[:64]]
        best = next((each for each in found if each["url"] == url), found[0] if found else None)
        if best is None:
            return None
        return {
            "url": best["url"],
            "site": self._sites["site"][best["site"]].as_py(),
            "page": best["page"],
            "similarity": best["similarity"],
            "cluster": self._cluster(best["cluster"]),
        }

    def search(self, text: str, limit: int) -> tuple[list[str], bool]:
        """Give URLs with a text in them, in the order of the catalog; also whether all were looked at."""
        found: list[str] = []
        until = time.monotonic() + SEARCH_SECONDS
        for batch in self._urls.select(["url"]).to_batches():
            urls = batch.column(0)
            found += urls.filter(_contains(urls, text)).slice(0, limit).to_pylist()
            if len(found) >= limit or time.monotonic() > until:
                return found[:limit], False
        return found, True

    def urls_of(self, site: str, most: int) -> tuple[pa.Table, int]:
        """Give URLs of a site with the number of their clusters, whole clusters; also how many URLs it has.

        Which clusters is decided by their names, so that it is the same each time.
        """
        rows = np.flatnonzero(self._url_site == self._names.get(site, -1))
        codes = _numbers(self._urls["cluster"])[rows] if len(rows) <= most else _taken(self._urls["cluster"], rows)
        if len(rows) > most:
            mixed = codes.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
            kept = mixed < np.uint64(most / len(rows) * 2**64)
            kept[np.flatnonzero(kept)[most:]] = False
            chosen, codes = rows[kept], codes[kept]
        else:
            chosen = rows
        urls = self._urls["url"].take(pa.array(chosen))
        return pa.table({"url": urls, "cluster": pa.array(codes).cast(pa.string())}), len(rows)

    def _cluster(self, place: int) -> dict[str, Any]:
        row = dict(self._groups.slice(place, 1).to_pylist()[0])
        row["site"] = self._sites["site"][row["site"]].as_py()
        return row


_CHUNK = 65_536


def _mapped(file: Path) -> pa.Table:
    return pa.ipc.open_file(pa.memory_map(str(file))).read_all()


def _numbers(column: pa.ChunkedArray) -> npt.NDArray[Any]:
    return np.asarray(column.to_numpy())


def _taken(column: pa.ChunkedArray, rows: npt.NDArray[np.int64]) -> npt.NDArray[Any]:
    return _numbers(column)[rows]


def _contains(column: Any, text: str) -> Any:
    """Tell where a text stands in a column, whatever the case of its letters."""
    return pc.match_substring(column, text, ignore_case=True)


def _index(column: pa.ChunkedArray, value: str) -> int:
    return int(pc.index(column, pa.scalar(value, column.type)).as_py())


@contextlib.contextmanager
def open_catalog(folder: RunFolder, tell: Callable[[str], None]) -> Iterator[Catalog | None]:
    """Open the catalog of a run; make it if there is none of this state of the files. None if there is nothing in it.

    It is kept in the folder of the run; where that cannot be written, for as long as it is open.
    """
    if not (folder.pages.is_file() or folder.clusters.is_file()):
        yield None
        return
    place = folder.path / FOLDER
    sweep_beside(place)
    with contextlib.ExitStack() as kept:
        if not _fits(folder, place):
            tell("making the index of pages, once …")
            try:
                build(folder, place)
            except OSError:
                place = kept.enter_context(scratch_folder()) / FOLDER
                build(folder, place)
        yield Catalog(place)


def _fits(folder: RunFolder, place: Path) -> bool:
    try:
        found = orjson.loads((place / ABOUT).read_bytes())
        known = {name: value for name, value in found.items() if name != "exact"}
        return known == stamp(folder) and all((place / name).is_file() for name in (URLS, GROUPS, SITES))
    except (OSError, ValueError, AttributeError):
        return False
