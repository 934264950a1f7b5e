"""In-links: how many of the pages link to each of them, counted from the pages themselves."""

from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from undust.detect.captures import BATCH_ROWS, Captures, Fingerprints
from undust.detect.topical_anchors import find_targets
from undust.detect.topical_bags import counting_batches
from undust.urls.batch import normalize_many


def count_inlinks(fingerprints: Fingerprints, captures: Captures) -> npt.NDArray[np.int64]:
    """Count for each row the other pages that link to it, each once. Needs the column `links`."""
    targets = find_targets(fingerprints, captures)
    counts = np.zeros(len(captures), dtype=np.int64)
    for rows, batch in counting_batches(fingerprints, captures, ["links"]):
        links = batch["links"]
        own = targets.rows_of(normalize_many(captures.url_column(rows)).urls.combine_chunks())
        page = np.asarray(pc.list_parent_indices(links), dtype=np.int64)
        target = targets.rows_of(links.flatten().field("url"))
        known = (target >= 0) & (target != own[page])
        once = np.unique(page[known] << np.int64(32) | target[known])
        np.add.at(counts, once & np.int64(2**32 - 1), 1)
    return counts


class WithInlinks:
    """Fingerprints with one column more: `inlinks`, counted when it is first asked for."""

    def __init__(self, fingerprints: Fingerprints, captures: Captures) -> None:
        self._fingerprints = fingerprints
        self._captures = captures

    @property
    def schema(self) -> pa.Schema:
        """All columns."""
        return self._fingerprints.schema.append(pa.field("inlinks", pa.int64()))

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Give some columns; in-links by themselves."""
        if list(columns) != ["inlinks"]:
            yield from self._fingerprints.batches(columns)
            return
        counts = self._counts[self._captures.rows]
        for start in range(0, len(counts), BATCH_ROWS):
            yield pa.record_batch({"inlinks": counts[start : start + BATCH_ROWS]})

    @cached_property
    def _counts(self) -> npt.NDArray[np.int64]:
        return count_inlinks(self._fingerprints, self._captures)
