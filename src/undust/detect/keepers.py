"""Keepers: the one page of each cluster that stays, by an ordered list of policies."""

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from undust.errors import UsageError
from undust.urls.batch import normalize_many

_Ranks = npt.NDArray[np.int64]


def choose_keepers(clusters: pa.Table, policies: str | Sequence[str] = "canonical,https,shortest") -> _Ranks:
    """Give for each row the row of its cluster's keeper.

    `clusters` has `url` and `cluster`, and the columns that the policies ask for (`POLICIES`). Policies come in order
    of weight; each decides what those before it left open, and the URL decides the rest, so the keeper is the same
    in every run and for every order of rows.

    >>> table = pa.table({"url": ["http://a.de/", "https://a.de/x", "http://b.de/"], "cluster": ["1", "1", "2"]})
    >>> choose_keepers(table, "https").tolist(), choose_keepers(table, ["shortest"]).tolist()
    ([1, 1, 2], [0, 0, 2])
    """
    names = parse_policies(policies)
    for name in names:
        if missing := [column for column in POLICIES[name][0] if column not in clusters.column_names]:
            raise UsageError(f"policy {name!r} needs the column {missing[0]!r}, which the pages do not have")
    codes = np.asarray(_codes(clusters["cluster"]), dtype=np.int64)
    keepers = np.arange(len(codes))
    # Only clusters of several pages have anything to choose.
    several = np.flatnonzero(np.bincount(codes, minlength=1)[codes] > 1) if len(codes) else keepers
    if not len(several):
        return keepers
    rows = clusters.take(pa.array(several))
    mine = codes[several]
    ranks = [POLICIES[name][1](rows, mine) for name in names]
    by_url = np.empty(len(several), dtype=np.int64)
    by_url[np.asarray(pc.array_sort_indices(rows["url"].combine_chunks()))] = np.arange(len(several))
    order = np.lexsort([by_url, *reversed(ranks), mine])
    leads = np.ones(len(order), dtype=np.bool_)
    leads[1:] = mine[order][1:] != mine[order][:-1]
    keepers[several[order]] = several[order[leads]][np.cumsum(leads) - 1]
    return keepers


def parse_policies(policies: str | Sequence[str]) -> list[str]:
    """Read policies, as a list or as names between commas.

    >>> parse_policies("https, shortest")
    ['https', 'shortest']
    """
    listed = policies.split(",") if isinstance(policies, str) else policies
    names = [name.strip() for name in listed if name.strip()]
    for name in names:
        if name not in POLICIES:
            raise UsageError(
                f"unknown policy {name!r} to keep pages by; any of {', '.join(POLICIES)}, in order of weight"
            )
    return names


def _codes(column: pa.ChunkedArray) -> pa.Array:
    return pc.dictionary_encode(column.combine_chunks()).indices


def _numbers(rows: pa.Table, column: str, missing: int) -> _Ranks:
    values = rows[column].combine_chunks()
    if pa.types.is_timestamp(values.type):
        values = values.cast(pa.int64())
    return np.asarray(pc.fill_null(values.cast(pa.int64()), missing), dtype=np.int64)


def _canonical(rows: pa.Table, clusters: _Ranks) -> _Ranks:
    """Most named first: how many pages of the cluster declare this URL as theirs, itself included."""
    urls, declared = normalize_many(rows["url"]).urls, normalize_many(rows["canonical"].fill_null("")).urls
    known = _codes(pa.chunked_array([*urls.chunks, *declared.chunks], pa.string()))
    both = np.asarray(pc.fill_null(known, -1), dtype=np.int64)
    mine, named = both[: len(clusters)], both[len(clusters) :]
    width = int(both.max(initial=0)) + 2
    votes, counts = np.unique((clusters * width + named + 1)[named >= 0], return_counts=True)
    if not len(votes):
        return np.zeros(len(clusters), dtype=np.int64)
    wanted = clusters * width + mine + 1
    at = np.minimum(np.searchsorted(votes, wanted), len(votes) - 1)
    return -np.where((votes[at] == wanted) & (mine >= 0), counts[at], 0)


def _https(rows: pa.Table, _: _Ranks) -> _Ranks:
    return np.asarray(pc.invert(pc.starts_with(rows["url"], "https:", ignore_case=True)), dtype=np.int64)


def _shortest(rows: pa.Table, _: _Ranks) -> _Ranks:
    return np.asarray(pc.utf8_length(rows["url"]), dtype=np.int64)


def _first(rows: pa.Table, _: _Ranks) -> _Ranks:
    return _numbers(rows, "time", np.iinfo(np.int64).max)


def _newest(rows: pa.Table, _: _Ranks) -> _Ranks:
    return -_numbers(rows, "time", -np.iinfo(np.int64).max)


def _inlinks(rows: pa.Table, _: _Ranks) -> _Ranks:
    return -_numbers(rows, "inlinks", 0)


def _center(rows: pa.Table, _: _Ranks) -> _Ranks:
    return np.asarray(pc.invert(rows["center"]), dtype=np.int64)


def _longest(rows: pa.Table, _: _Ranks) -> _Ranks:
    return -_numbers(rows, "length", 0)


POLICIES: dict[str, tuple[tuple[str, ...], Callable[[pa.Table, _Ranks], _Ranks]]] = {
    "canonical": (("canonical",), _canonical),  # the URL that most pages of the cluster declare (`rel=canonical`)
    "https": ((), _https),  # before other schemes
    "shortest": ((), _shortest),  # URL, in characters
    "first": (("time",), _first),  # capture; pages without a time come last
    "newest": (("time",), _newest),
    "inlinks": (("inlinks",), _inlinks),  # the most links to it
    "longest": (("length",), _longest),  # content
    "center": (("center",), _center),  # the page that the others of its cluster were found to be like
}
"""Names of the policies, the columns that each needs, and the rank it gives to each row: the least is kept."""
