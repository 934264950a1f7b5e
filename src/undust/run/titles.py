"""The titles of some pages, looked up in their fingerprints."""

from collections.abc import Iterable

import pyarrow as pa
import pyarrow.compute as pc

from undust.detect.captures import Fingerprints
from undust.urls.batch import normalize_many

MAX_LENGTH = 200


def find_titles(source: Fingerprints, urls: Iterable[str]) -> dict[str, str]:
    """Give the titles of pages by their URLs in standard form; of several captures the last one read."""
    wanted = pa.array(sorted(set(urls)), pa.string())
    found: dict[str, str] = {}
    if not len(wanted) or "title" not in source.schema.names:
        return found
    for batch in source.batches(["url", "title"]):
        normal = normalize_many(batch["url"]).urls
        here = pc.is_in(normal, value_set=wanted).combine_chunks()
        titles = batch["title"].filter(here).to_pylist()
        for url, title in zip(normal.filter(here).to_pylist(), titles, strict=True):
            if title:
                found[url] = title[:MAX_LENGTH]
    return found
