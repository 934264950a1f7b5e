"""Writes what a crawl found as tables: pages, which `undust cluster` and `undust learn` read, and all URLs."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

from undust.corpus.write import TableWriter
from undust.crawl.frontier import Frontier
from undust.tables import FINGERPRINTS

PAGES = "pages.parquet"
URLS = "urls.parquet"

PAGES_SCHEMA = pa.schema(
    [
        *FINGERPRINTS,
        pa.field("canonical", pa.string()),
        pa.field("depth", pa.int32()),
        pa.field("found_on", pa.string()),  # URL of the page with the first link to it
        pa.field("record", pa.string()),  # file of the archive, and where in it
    ]
)

URLS_SCHEMA = pa.schema(
    [
        pa.field("url", pa.string(), nullable=False),
        pa.field("state", pa.string(), nullable=False),  # waiting, fetched, failed, skipped
        pa.field("status", pa.int16()),
        pa.field("why", pa.string()),  # what failed, or the rule that skips it
        pa.field("redirect", pa.string()),
        pa.field("depth", pa.int32()),
        pa.field("found_on", pa.string()),
    ]
)

_PAGES = """SELECT u.url, p.digest body_xxh3, NULL digest, lower(hex(p.cluster)) cluster, p.bytes length, p.status,
 p.mime content_type, p.time, substr(p.record, 1, instr(p.record, ':') - 1) source, p.canonical, u.depth,
 s.url found_on, p.record FROM pages p JOIN urls u ON u.id = p.id LEFT JOIN urls s ON s.id = u.source
 WHERE p.status = 200 ORDER BY u.id"""

_URLS = """SELECT u.url, CASE u.state WHEN 0 THEN 'waiting' WHEN 1 THEN 'fetched' WHEN 2 THEN 'failed' ELSE
 'skipped' END state, p.status, coalesce(p.error, r.line) why, p.location redirect, u.depth,
 s.url found_on FROM urls u LEFT JOIN pages p ON p.id = u.id LEFT JOIN urls s ON s.id = u.source
 LEFT JOIN rules r ON r.number = u.rule AND u.state = 3 ORDER BY u.id"""

_ROWS = 8192


def write_tables(frontier: Frontier, folder: Path) -> None:
    """Write both tables into a folder."""
    for name, schema, question in ((PAGES, PAGES_SCHEMA, _PAGES), (URLS, URLS_SCHEMA, _URLS)):
        with TableWriter(folder / name, schema) as writer:
            for batch in _batches(frontier, schema, question):
                writer.write(batch)


def _batches(frontier: Frontier, schema: pa.Schema, question: str) -> Iterator[pa.RecordBatch]:
    cursor = frontier.execute(question)
    while rows := cursor.fetchmany(_ROWS):
        columns: list[tuple[Any, ...]] = list(zip(*rows, strict=True))
        yield pa.record_batch(
            [pa.array(values, field.type) for values, field in zip(columns, schema, strict=True)], schema=schema
        )
