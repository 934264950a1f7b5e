"""Tells what the inputs of a run hold: pages, fingerprints of pages, or clusters."""

import contextlib
import os
from dataclasses import dataclass

import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from undust import corpus
from undust.corpus.columns import NAMES, wanted
from undust.corpus.decompress import head_of
from undust.corpus.formats import HEAD_BYTES, PEEK_BYTES, format_of
from undust.corpus.streams import open_source
from undust.errors import UsageError


@dataclass(frozen=True, slots=True)
class Inputs:
    """Inputs by what they hold; either clusters, or pages and their fingerprints."""

    pages: tuple[str, ...]
    fingerprints: tuple[str, ...]
    clusters: tuple[str, ...]

    @property
    def all(self) -> tuple[str, ...]:
        """All of them, by kind."""
        return (*self.pages, *self.fingerprints, *self.clusters)


def sort_inputs(inputs: list[str]) -> Inputs:
    """Sort inputs by what they hold, which a look at their first bytes tells."""
    for each in inputs:
        if all(os.path.isfile(os.path.join(each, name)) for name in ("run.json", "clusters.parquet")):  # noqa: PTH113, PTH118
            raise UsageError(f"{each} is what a run wrote, no pages; give {each}/pages.parquet or clusters.parquet")
    clusters = tuple(file for file in inputs if holds_clusters(file))
    if clusters and len(clusters) < len(inputs):
        other = next(file for file in inputs if file not in clusters)
        raise UsageError(f"{clusters[0]} holds clusters, {other} does not; give the one or the other")
    ready = () if clusters else tuple(file for file in inputs if corpus.is_fingerprints(file))
    return Inputs(tuple(file for file in inputs if file not in (*ready, *clusters)), ready, clusters)


def holds_clusters(file: str) -> bool:
    """Tell whether a file is a table of URLs and clusters, and nothing of the pages."""
    if not os.path.isfile(file):  # noqa: PTH113 - a path as the user gave it
        return False
    names = _column_names(file)
    found = set(wanted(names, NAMES))
    return {"url", "cluster"} <= found and not found & {"html", "text", "digest"} and "body_xxh3" not in names


def _column_names(file: str) -> list[str]:
    """Give the names of the columns of a table; none where a file is no table."""
    with open_source(file, corpus.Tally()) as source:
        form = format_of(source)
        if form.name == "parquet":
            if form.compression is None:
                with contextlib.suppress(pa.ArrowException, OSError):
                    return [str(name) for name in pq.read_schema(file).names]
            return []
        line = head_of(source.peek(PEEK_BYTES), form.compression, HEAD_BYTES).partition(b"\n")[0]
    if form.name == "jsonl":
        with contextlib.suppress(ValueError):
            row = orjson.loads(line.removeprefix(b"\xef\xbb\xbf"))
            return [str(name) for name in row] if isinstance(row, dict) else []
    if form.name in ("csv", "tsv"):
        delimiter = "," if form.name == "csv" else "\t"
        text = line.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")
        return [name.strip('" \r') for name in text.split(delimiter)]
    return []
