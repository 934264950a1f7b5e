"""Makes the catalog of a run: its URLs in the order of clusters, its clusters and sites, as files that are mapped."""

import contextlib
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import orjson
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import xxhash

from undust import corpus
from undust.asides import aside_folder, put_folder
from undust.corpus.fingerprints import FingerprintFiles
from undust.detect.exact import cluster_exact
from undust.errors import InputError
from undust.serve.folder import RunFolder
from undust.tables import one_row_each
from undust.urls.batch import normalize_many, split_many

VERSION = 1
ABOUT = "about.json"
URLS, GROUPS, SITES = "urls.arrow", "clusters.arrow", "sites.arrow"

_ROWS = 65_536


def stamp(folder: RunFolder) -> dict[str, Any]:
    """Tell the state of the files that a catalog is made of."""
    found: dict[str, Any] = {"version": VERSION}
    for file in (folder.pages, folder.clusters):
        with contextlib.suppress(OSError):
            state = file.stat()
            found[file.name] = [state.st_size, state.st_mtime_ns]
    return found


def build(folder: RunFolder, target: Path) -> None:
    """Write the catalog into a folder beside its place, and put it there when it is complete."""
    about = stamp(folder)
    clusters = one_row_each(_clusters(folder))
    urls = clusters["url"].combine_chunks()
    normal = normalize_many(urls).urls.combine_chunks()
    sites = split_many(normal.fill_null("")).sites().fill_null("").dictionary_encode()
    names = clusters["cluster"].combine_chunks().dictionary_encode()
    order, groups = _by_cluster(names)
    site = sites.indices.to_numpy()
    renumbered, site_table = _sites(sites, names.indices.to_numpy())
    site = renumbered[site]
    table = pa.table(
        {
            "url": urls.take(pa.array(order)),
            "hash": _hashes(normal)[order],
            "site": site[order],
            "page": _pages(folder, urls)[order],
            "similarity": _similarities(folder, urls).take(pa.array(order)),
            "cluster": np.repeat(np.arange(len(groups["size"]), dtype=np.int32), groups["size"]),
        }
    )
    starts = groups["first"].to_numpy()
    sample = _samples(table["url"].chunk(0), starts)
    groups = groups.append_column("site", pa.array(site[order][starts]))
    groups = groups.append_column("url", table["url"].chunk(0).take(pa.array(sample)))
    with aside_folder(target) as aside:
        for name, each in ((URLS, table), (GROUPS, groups), (SITES, site_table)):
            with pa.OSFile(str(aside / name), "wb") as file, pa.ipc.new_file(file, each.schema) as writer:
                writer.write_table(each, max_chunksize=_ROWS)
        (aside / ABOUT).write_bytes(orjson.dumps({**about, "exact": not folder.clusters.is_file()}))
        put_folder(aside, target)


def _clusters(folder: RunFolder) -> pa.Table:
    """Read the clusters; of a run that has only pages, those of equal pages."""
    if folder.clusters.is_file():
        return corpus.read_clusters(folder.clusters)
    if not folder.pages.is_file():
        raise InputError(f"{folder.path}: neither {folder.pages.name} nor {folder.clusters.name}; run undust run again")
    return cluster_exact(FingerprintFiles((str(folder.pages),)))


def _by_cluster(names: pa.DictionaryArray) -> tuple[npt.NDArray[np.int64], pa.Table]:
    """Order rows by cluster, the largest first, and list the clusters in that order. Within one, URLs stay sorted."""
    codes = names.indices.to_numpy()
    sizes = np.bincount(codes, minlength=len(names.dictionary))
    by_name = pc.sort_indices(names.dictionary).to_numpy()
    place = np.empty(len(sizes), np.int64)
    place[by_name] = np.arange(len(sizes))
    largest = np.lexsort((place, -sizes))
    rank = np.empty(len(sizes), np.int64)
    rank[largest] = np.arange(len(sizes))
    size = sizes[largest].astype(np.int64)
    table = pa.table(
        {"name": names.dictionary.take(pa.array(largest)), "size": size, "first": np.cumsum(size) - size}
    ).combine_chunks()
    return np.argsort(rank[codes], kind="stable"), table


def _sites(sites: pa.DictionaryArray, clusters: npt.NDArray[Any]) -> tuple[npt.NDArray[np.int32], pa.Table]:
    """List the sites, the largest first; also give the number of each that had another one before."""
    codes = sites.indices.to_numpy().astype(np.int64)
    count = len(sites.dictionary)
    pages = np.bincount(codes, minlength=count)
    pairs, sizes = np.unique(codes * (int(clusters.max(initial=0)) + 1) + clusters, return_counts=True)
    owner = pairs // (int(clusters.max(initial=0)) + 1)
    groups = np.bincount(owner, minlength=count)
    largest = np.zeros(count, np.int64)
    np.maximum.at(largest, owner, sizes)
    order = np.argsort(-pages, kind="stable")
    number = np.empty(count, np.int32)
    number[order] = np.arange(count, dtype=np.int32)
    table = pa.table(
        {
            "site": sites.dictionary.take(pa.array(order)),
            "pages": pages[order],
            "clusters": groups[order],
            "largest": largest[order],
        }
    )
    return number, table


def _hashes(normal: pa.Array) -> npt.NDArray[np.uint64]:
    """Give a number for each URL, in standard form, to find it by; 0 where it has none."""
    found = np.zeros(len(normal), np.uint64)
    for start in range(0, len(normal), _ROWS):
        piece = normal.slice(start, _ROWS).to_pylist()
        found[start : start + len(piece)] = [0 if url is None else hash_of(url) for url in piece]
    return found


def hash_of(url: str) -> int:
    """Give the number of a URL in standard form."""
    return xxhash.xxh3_64_intdigest(url.encode()) or 1


def _pages(folder: RunFolder, urls: pa.Array) -> npt.NDArray[np.int64]:
    """Give the row of each URL in the file of pages: its latest capture, as far as the file tells; -1 for none."""
    if not folder.pages.is_file():
        return np.full(len(urls), -1, np.int64)
    try:
        known = pq.read_table(folder.pages, columns=["url", "time"])
    except (pa.ArrowException, OSError, ValueError) as error:
        raise InputError(f"{folder.pages}: not a whole table of fingerprints; run undust run again") from error
    times = known["time"].cast(pa.int64()).fill_null(-(2**62)).to_numpy()
    latest = np.argsort(-times, kind="stable")
    found = pc.index_in(urls, known["url"].combine_chunks().take(pa.array(latest))).fill_null(-1).to_numpy()
    return np.where(found < 0, -1, latest[found]).astype(np.int64)


def _similarities(folder: RunFolder, urls: pa.Array) -> pa.Array:
    """Give how similar each page is to the centre of its cluster, where the method told it."""
    if folder.clusters.is_file():
        with contextlib.suppress(pa.ArrowException, OSError, ValueError):  # given clusters need not be Parquet
            if "similarity" in pq.read_schema(folder.clusters).names:
                known = pq.read_table(folder.clusters, columns=["url", "similarity"])
                at = pc.index_in(urls, known["url"].combine_chunks())
                return known["similarity"].combine_chunks().take(at).cast(pa.float32())
    return pa.nulls(len(urls), pa.float32())


def _samples(urls: pa.Array, starts: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Give the row of the shortest URL of each cluster; of equally short ones the first."""
    lengths = pc.binary_length(urls).to_numpy().astype(np.int64)
    row = np.arange(len(lengths), dtype=np.int64)
    return np.minimum.reduceat(lengths << 32 | row, starts) & 0xFFFFFFFF if len(starts) else starts
