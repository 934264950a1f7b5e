"""Writes a generated web into a folder: clusters, truth, and pages if they are asked for."""

import contextlib
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa

from undust.corpus.write import TableWriter
from undust.errors import OutputError
from undust.outputs import write_whole
from undust.synth.archive import Archive
from undust.synth.pages import Pages
from undust.synth.sizes import SPREAD
from undust.synth.web import Count, Web

_GROUP_ROWS = 131_072
"""Rows that are written at once: sites may be small, row groups should not be."""


def synth(
    output: str | os.PathLike[str],
    *,
    sites: int = 200,
    urls: int = 1_000_000,
    seed: int = 0,
    noise: float = 0.0,
    families: Sequence[str] = (),
    spread: float = SPREAD,
    pages: str | None = None,
    edits: float = 0.0,
    canonical: bool = False,
    progress: Callable[[int], None] = lambda urls: None,
) -> dict[str, Any]:
    """Write a generated web into a folder, and give the truth about it.

    `clusters.parquet` has the columns `url`, `cluster`, `site`, `families`, and `true_cluster` where `noise` puts a
    share of the URLs into wrong clusters; `truth.json` says what was planted where. With `pages` (`warc` or `jsonl`)
    each URL gets a page; the share `edits` of them differs a little from the others of its cluster.
    """
    web = Web(sites, urls, seed, noise, tuple(families), spread)
    folder = Path(output)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{folder}: cannot be made: {error.strerror}; choose another folder") from error
    count = Count()
    made = Pages(seed, edits, canonical)
    with contextlib.ExitStack() as closing:
        archive = closing.enter_context(Archive(folder, pages)) if pages else None
        table = closing.enter_context(TableWriter(folder / "clusters.parquet", web.schema))
        waiting: list[pa.RecordBatch] = []
        for site, batch in web.batches():
            count.add(site, batch)
            waiting.append(batch)
            if sum(map(len, waiting)) >= _GROUP_ROWS:
                table.write(pa.Table.from_batches(waiting).combine_chunks())
                waiting = []
            if archive is not None:
                for url, body in made.of(site, batch):
                    archive.add(url, body)
            progress(batch.num_rows)
        if waiting:
            table.write(pa.Table.from_batches(waiting).combine_chunks())
    truth = count.told(web)
    write_whole(folder / "truth.json", orjson.dumps(truth, option=orjson.OPT_INDENT_2))
    return truth
