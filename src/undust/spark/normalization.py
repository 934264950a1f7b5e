"""Rules at work on Spark: columns of URLs in, the URL to fetch and the key of each out."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import pyarrow as pa

from undust.rules.ruleset import RuleSet
from undust.spark.exchange import mapped
from undust.spark.wire import to_wire
from undust.urls.batch import normalize_many

MADE = pa.schema([pa.field("url", pa.string()), pa.field("normalized", pa.string()), pa.field("key", pa.string())])
"""A URL as it was, what is to be fetched instead, and what duplicates share; null where it cannot be parsed."""


def normalize(urls: Any, rules: RuleSet) -> Any:
    """Apply rules to the column `url` of a DataFrame."""
    return mapped(urls.select("url"), partial(_normalize, rules=rules), MADE)


def _normalize(batches: Iterator[pa.RecordBatch], rules: RuleSet) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        standard = normalize_many(batch["url"]).urls
        made = [rules.normalize_many(standard), rules.key_many(standard)]
        columns = [each.combine_chunks() if isinstance(each, pa.ChunkedArray) else each for each in made]
        cast = [column.cast(pa.string()) for column in columns]
        yield to_wire(pa.RecordBatch.from_arrays([batch["url"], *cast], schema=MADE))
