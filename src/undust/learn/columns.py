"""The URLs of one site as columns of codes, one for each key, with the clusters they are in."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from undust.kernels import spans
from undust.tables import one_row_each
from undust.urls.batch import SplitUrls, normalize_many, split_many
from undust.urls.keys import Key

Codes = npt.NDArray[np.int32]

MAX_SEGMENTS = 12
"""Segments that are looked at one by one from the start of a path; what lies deeper is one value."""

MAX_NAMES = 96
"""Names of arguments and parameters that are looked at one by one, the commonest; the others are one value."""

WEIGHTS = ("importance", "inlinks")
"""Columns of clusters that say which URLs matter more; of repeated rows the largest counts."""

REST = Key("fragment")
"""The column of all that is not looked at; standard form has no fragment, so the key is free for it."""


@dataclass(frozen=True, slots=True)
class SiteUrls:
    """Distinct URLs of a site in standard form, their keys as codes of `values`, and their clusters.

    Code 0 is ⊥; code n is `values[n - 1]`. All keys share one dictionary, so that equal codes are equal values.
    Segments are kept by their place from the start; `depth` tells how many there are.
    """

    site: str
    urls: pa.StringArray
    clusters: Codes
    columns: dict[Key, Codes]
    depth: Codes
    values: pa.StringArray
    importance: npt.NDArray[np.float64] | None = None
    """How important each URL is, where the input says so, …"""
    inlinks: npt.NDArray[np.float64] | None = None
    """… and how many links lead to it."""

    def __len__(self) -> int:
        return len(self.clusters)

    def take(self, rows: npt.NDArray[np.int64]) -> "SiteUrls":
        """Give some of the URLs; codes stay what they are."""
        return replace(
            self,
            urls=self.urls.take(pa.array(rows)),
            clusters=self.clusters[rows],
            columns={key: codes[rows] for key, codes in self.columns.items()},
            depth=self.depth[rows],
            importance=None if self.importance is None else self.importance[rows],
            inlinks=None if self.inlinks is None else self.inlinks[rows],
        )

    def value(self, code: int) -> str | None:
        """Spell a code out."""
        return None if code == 0 else str(self.values[code - 1].as_py())


def by_site(clusters: pa.Table, *, hosts: bool = False) -> Iterator[SiteUrls]:
    """Cut a table of clusters (`url`, `cluster`) into sites, in the order of their names.

    URLs that cannot be parsed are left out. A URL that stands in several clusters is taken for the one that names it
    most often, then for the first by name: the order of the rows must not matter.
    """
    for name, rows in site_tables(clusters, hosts=hosts):
        yield encode_table(name, rows)


def site_tables(clusters: pa.Table, *, hosts: bool = False) -> Iterator[tuple[str, pa.Table]]:
    """Give the same as tables: each URL of a site once, in standard form and in order, with its cluster and weights."""
    usable = _usable(clusters)
    if not usable.num_rows:
        return
    urls = usable["url"].combine_chunks()
    split = split_many(urls)
    sites = split.sites(hosts=hosts)
    order = pc.sort_indices(pa.table({"site": sites, "url": urls}), [("site", "ascending"), ("url", "ascending")])
    known = {name: usable[name].combine_chunks() for name in usable.schema.names if name in WEIGHTS}
    ordered = pa.table({"site": sites, "url": urls, "cluster": usable["cluster"].combine_chunks(), **known}).take(order)
    names = ordered["site"].combine_chunks().dictionary_encode()
    ends = np.flatnonzero(np.diff(names.indices.to_numpy(), append=-1)) + 1
    for name, start, end in zip(names.dictionary.to_pylist(), [0, *ends.tolist()], ends.tolist(), strict=False):
        yield name, ordered.slice(start, end - start).combine_chunks()


def encode_table(name: str, rows: pa.Table) -> SiteUrls:
    """Split the URLs of one of these tables into columns of codes."""
    site = encode(name, rows["url"].chunk(0), rows["cluster"].chunk(0).dictionary_encode().indices.to_numpy())
    known = [each for each in rows.schema.names if each in WEIGHTS]
    return replace(site, **{each: rows[each].chunk(0).to_numpy() for each in known}) if known else site


def _usable(clusters: pa.Table) -> pa.Table:
    normal = normalize_many(clusters["url"])
    table = one_row_each(pa.table({"url": normal.urls, "cluster": clusters["cluster"]}))
    for name in WEIGHTS:
        if name in clusters.schema.names:
            weights = pa.table({"url": normal.urls, "weight": clusters[name].cast(pa.float64())}).drop_null()
            most = weights.group_by("url").aggregate([("weight", "max")])
            at = pc.index_in(table["url"], most["url"].combine_chunks())
            table = table.append_column(name, most["weight_max"].combine_chunks().take(at).fill_null(0.0))
    return table


def encode(site: str, urls: pa.StringArray, clusters: npt.NDArray[Any]) -> SiteUrls:
    """Split the URLs of a site, in standard form and distinct, into columns of codes."""
    split = split_many(urls)
    keys = [Key("scheme"), Key("port"), *_hosts(split), *_names(split)]
    depth = _depths(split)
    segments = range(min(int(depth.max(initial=0)), MAX_SEGMENTS))
    keys += [Key("path", place) for place in segments]
    texts = [split.values(key) for key in keys] + [_rest(split, keys)]
    coded = pa.chunked_array(texts).dictionary_encode().unify_dictionaries()
    codes = [chunk.indices.fill_null(-1).to_numpy().astype(np.int32) + np.int32(1) for chunk in coded.chunks]
    columns = {
        key: column for key, column in zip([*keys, REST], codes, strict=True) if key.part == "scheme" or column.any()
    }
    return SiteUrls(site, urls, clusters.astype(np.int32), columns, depth, coded.chunk(0).dictionary)


def _depths(split: SplitUrls) -> Codes:
    is_segment = np.concatenate([[0], np.cumsum(split.tokens[:, 0] == spans.SEGMENT)])
    return np.diff(is_segment[split.token_offsets]).astype(np.int32)


def _hosts(split: SplitUrls) -> list[Key]:
    found = []
    for place in range(1, 5):
        labels = split.values(Key("host", place))
        if labels.null_count == len(labels):
            break
        found.append(Key("host", place))
    return found


def _names(split: SplitUrls) -> list[Key]:
    """Give the keys of the commonest arguments and parameters."""
    found: list[tuple[int, Key]] = []
    for kind, part in ((spans.ARGUMENT, "query"), (spans.PARAM, "param")):
        tokens = split.tokens[split.tokens[:, 0] == kind]
        for nth in (1, 2):
            some = tokens[tokens[:, 1] == nth]
            names = split.gather(some[:, 2].copy(), some[:, 3].copy()).fill_null("")
            for entry in pc.value_counts(names).to_pylist():
                found.append((-entry["counts"], Key(part, entry["values"], nth)))  # type: ignore[arg-type]
    return [key for _, key in sorted(found)[:MAX_NAMES]]


def _rest(split: SplitUrls, keys: Sequence[Key]) -> pa.StringArray:
    """Give what the keys do not say: deep segments and rare arguments, spelled out; null for most URLs."""
    known = {(spans.ARGUMENT if key.part == "query" else spans.PARAM, key.name, key.nth) for key in keys}
    tokens, offsets = split.tokens, split.token_offsets
    kinds = tokens[:, 0]
    named = np.flatnonzero(kinds != spans.SEGMENT)
    names = split.gather(tokens[named, 2].copy(), tokens[named, 3].copy()).fill_null("").dictionary_encode()
    listed = names.dictionary.to_pylist()
    # Each distinct (kind, name, nth) is looked up once.
    triples = np.stack([kinds[named], names.indices.to_numpy(), tokens[named, 1]], axis=1)
    distinct, at = np.unique(triples, axis=0, return_inverse=True)
    rare = np.array([(kind, listed[name], nth) not in known for kind, name, nth in distinct.tolist()], bool)
    left = named[rare[at.ravel()]] if len(distinct) else named[:0]
    starts = np.where(np.isin(np.arange(len(tokens)), left), tokens[:, 2], 0)
    ends = np.where(starts > 0, np.maximum(tokens[:, 3], tokens[:, 5]), 0)
    rows = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    is_segment = kinds == spans.SEGMENT
    before = np.concatenate([[0], np.cumsum(is_segment)])
    place = before[:-1] - before[offsets[:-1]][rows]
    deep = is_segment & (place >= MAX_SEGMENTS)
    starts, ends = np.where(deep, tokens[:, 4], starts), np.where(deep, tokens[:, 5], ends)
    chosen = np.flatnonzero(ends > 0)
    result = np.full(len(offsets) - 1, None, object)
    data = split.data.tobytes() if len(chosen) else b""
    for row, start, end in zip(rows[chosen].tolist(), starts[chosen].tolist(), ends[chosen].tolist(), strict=True):
        result[row] = (result[row] or "") + "\n" + data[start:end].decode()
    return pa.array(result, pa.string())
