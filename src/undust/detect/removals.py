"""Which pages go and which stay: one keeper for each cluster, and for each page that goes, why."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from undust.detect.captures import BATCH_ROWS, Captures, Fingerprints
from undust.detect.evidence import Compare, Rows
from undust.detect.inlinks import WithInlinks
from undust.detect.keepers import POLICIES, choose_keepers, parse_policies
from undust.errors import UsageError
from undust.tables import REMOVED

URL = "url"
"""Why an older capture of a URL goes: a page is judged, and kept, by its latest one."""


@dataclass(frozen=True, slots=True)
class Removals:
    """For each row its keeper, and, where that is another page, how the two are alike."""

    captures: Captures
    keepers: Rows
    exact: npt.NDArray[np.bool_]  # whether the content is equal to that of the keeper
    similarities: npt.NDArray[np.float32]
    method: str

    def kept(self) -> npt.NDArray[np.bool_]:
        """Tell of each place in the input whether its page stays."""
        kept = np.zeros(len(self.captures.rows), dtype=np.bool_)
        rows = np.arange(len(self.keepers), dtype=np.uint32)
        kept[self.captures.places[self.keepers == rows]] = True
        return kept

    def batches(self) -> Iterator[pa.RecordBatch]:
        """List the pages that go, in the order of the input (`tables.REMOVED`)."""
        places = np.flatnonzero(~self.kept())
        for start in range(0, len(places), BATCH_ROWS):
            yield self._listed(places[start : start + BATCH_ROWS])

    def counts(self) -> dict[str, int]:
        """Count the pages that go by the reason why."""
        other = self.keepers != np.arange(len(self.keepers), dtype=np.uint32)
        exact = int((other & self.exact).sum())
        older = len(self.captures.rows) - len(self.captures)
        found = {self.method: int(other.sum()) - exact, "exact": exact, URL: older}
        return {name: count for name, count in found.items() if count}

    def least_similar(self) -> float | None:
        """Give the least similarity of a page that goes to its keeper, if any goes."""
        other = self.keepers != np.arange(len(self.keepers), dtype=np.uint32)
        return float(self.similarities[other].min()) if other.any() else None

    def _listed(self, places: npt.NDArray[np.int64]) -> pa.RecordBatch:
        rows = self.captures.rows[places]
        older = self.captures.places[rows] != places
        methods = np.where(older, URL, np.where(self.exact[rows], "exact", self.method))
        columns = [
            self.captures.urls.take(pa.array(rows)).cast(pa.string()),
            self.captures.urls.take(pa.array(self.keepers[rows])).cast(pa.string()),
            pa.array(methods.tolist(), pa.string()),
            pa.array(self.similarities[rows], pa.float32(), mask=older),
        ]
        return pa.RecordBatch.from_arrays(columns, schema=REMOVED)


def remove(
    fingerprints: Fingerprints,
    captures: Captures,
    clusters: Rows,
    *,
    equal: Rows,
    method: str,
    keep: str | Sequence[str],
    compare: Compare,
) -> Removals:
    """Choose the keeper of each cluster, and say of each other page how it is like it.

    `clusters` names the cluster of each row by a row, `equal` is the first row of equal content, `compare` tells how
    similar two rows are.
    """
    keepers = keepers_of(fingerprints, captures, clusters, keep)
    rows = np.arange(len(captures), dtype=np.uint32)
    exact = equal == equal[keepers]
    similarities = np.ones(len(rows), dtype=np.float32)
    near = rows[(keepers != rows) & ~exact]
    similarities[near] = compare(near, keepers[near])
    return Removals(captures, keepers, exact, similarities, method)


def keepers_of(fingerprints: Fingerprints, captures: Captures, clusters: Rows, keep: str | Sequence[str]) -> Rows:
    """Give for each row the row that is kept of its cluster. Reads of pages only what the policies ask for."""
    names = parse_policies(keep)
    wanted = sorted({column for name in names for column in POLICIES[name][0]} - {"center"})
    if "inlinks" in wanted and "links" in fingerprints.schema.names:
        fingerprints = WithInlinks(fingerprints, captures)
    for column in wanted:
        if column not in fingerprints.schema.names:
            raise UsageError(f"no column {column}, by which pages are to be kept; leave that policy out of --keep")
    sizes = np.bincount(clusters, minlength=1)
    several = np.flatnonzero(sizes[clusters] > 1) if len(clusters) else np.empty(0, np.int64)
    keepers = np.arange(len(captures), dtype=np.uint32)
    if not len(several):
        return keepers
    table = pa.table(
        {
            "url": captures.url_column(several),
            "cluster": pa.array(clusters[several]),
            "center": pa.array(clusters[several] == several),
        }
    )
    for column in wanted:
        table = table.append_column(column, _of_rows(fingerprints, captures, column, several))
    keepers[several] = several[choose_keepers(table, names)]
    return keepers


def _of_rows(
    fingerprints: Fingerprints, captures: Captures, column: str, rows: npt.NDArray[np.int64]
) -> pa.ChunkedArray:
    """Give a column of some rows, in their order, without holding that of the others."""
    wanted = np.zeros(len(captures), dtype=np.bool_)
    wanted[rows] = True
    found, order = [], []
    for here, batch in captures.batches(fingerprints, [column]):
        found.append(batch[column].filter(pa.array(wanted[here])))
        order.append(here[wanted[here]])
    return pa.chunked_array(found).take(pa.array(np.argsort(np.concatenate(order))))
