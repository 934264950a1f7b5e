"""Files to pages, and tables to files: every input format, one table of pages."""

import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

import pyarrow as pa

from undust import settings
from undust.corpus.fingerprints import is_fingerprints, read_fingerprints
from undust.corpus.reading import Reading
from undust.corpus.streams import STDIN, Source, open_source, shown
from undust.corpus.tally import Damage, Tally
from undust.corpus.write import TableWriter, write_table
from undust.errors import InputError

__all__ = [
    "Damage",
    "TableWriter",
    "Tally",
    "is_fingerprints",
    "list_inputs",
    "parts_of",
    "read_clusters",
    "read_fingerprints",
    "read_one",
    "read_pages",
    "write_table",
]

Input = str | os.PathLike[str]


def list_inputs(inputs: Iterable[Input]) -> list[str]:
    """The inputs as paths, each of which exists and can be opened; `InputError` names the first that cannot.

    Nothing is read, so that pipes keep their bytes.
    """
    listed = [os.fspath(path) for path in inputs]
    if not listed:
        raise InputError("no input; give files, folders, or - for stdin")
    if listed.count(STDIN) > 1:
        raise InputError("-: stdin can be read only once; give it once")
    for path in listed:
        if path != STDIN:
            _require_readable(path)
    return listed


def read_pages(
    inputs: Iterable[Input],
    *,
    tally: Tally,
    max_body_bytes: int = settings.MAX_BODY_BYTES,
    any_status: bool = False,
    base_url: str | None = None,
) -> Iterator[pa.RecordBatch]:
    """Pages of all inputs, one after the other, in batches of the schema `tables.PAGES`.

    What is no page is counted in `tally`. Memory stays flat whatever the size of the inputs.
    """
    for path in list_inputs(inputs):
        yield from read_one(path, tally=tally, max_body_bytes=max_body_bytes, any_status=any_status, base_url=base_url)


def read_one(
    path: Input,
    *,
    tally: Tally,
    max_body_bytes: int = settings.MAX_BODY_BYTES,
    any_status: bool = False,
    base_url: str | None = None,
) -> Iterator[pa.RecordBatch]:
    """Pages of one input. For several processes: give each some of `list_inputs`, and merge their tallies."""
    reading = Reading(tally, max_body_bytes, any_status, base_url)
    path = os.fspath(path)
    if path != STDIN:
        _require_readable(path)
    for batch in _batches(path, reading):
        tally.pages += batch.num_rows
        yield batch


def read_clusters(path: Input, *, tally: Tally | None = None) -> pa.Table:
    """The table of clusters in a Parquet, JSONL, CSV or TSV file: `url`, `cluster`, maybe `importance`, `inlinks`.

    Also of a folder of Parquet parts, as Spark writes it.
    """
    from undust.corpus.clusters import read_clusters as read

    path = os.fspath(path)
    if path != STDIN:
        _require_readable(path)
    tables = [read(part, tally=tally) for part in parts_of(path)]
    return tables[0] if len(tables) == 1 else pa.concat_tables(tables, promote_options="default")


def parts_of(path: str) -> list[str]:
    """Give the parts of a folder that Spark has written, in order; of anything else the path itself."""
    parts = sorted(map(str, Path(path).glob("part-*.parquet"))) if path != STDIN and Path(path).is_dir() else []
    return parts or [path]


def _batches(path: str, reading: Reading) -> Iterator[pa.RecordBatch]:
    # Each format is imported where it is met: one of them is all that a run needs.
    if path != STDIN and os.path.isdir(path):  # noqa: PTH112 - a path as the user gave it
        from undust.corpus import folder

        yield from folder.read_folder(path, reading)
        return
    with open_source(path, reading.tally) as source:
        yield from _source_batches(source, reading)


def _source_batches(source: Source, reading: Reading) -> Iterator[pa.RecordBatch]:
    from undust.corpus.formats import format_of

    form = format_of(source)
    match form.name:
        case "warc":
            from undust.corpus import warc

            return warc.read(source, form.compression, reading)
        case "wacz":
            from undust.corpus import wacz

            return wacz.read(source, reading)
        case "parquet":
            from undust.corpus import parquet

            return parquet.read(source, form.compression, reading)
        case "jsonl":
            from undust.corpus import jsonl

            return jsonl.read(source, form.compression, reading)
        case "csv" | "tsv":
            from undust.corpus import delimited

            return delimited.read(source, form.compression, reading, "," if form.name == "csv" else "\t")
        case "cdx" | "cdxj":
            from undust.corpus import cdx

            read = cdx.read if form.name == "cdx" else cdx.read_cdxj
            return read(source, form.compression, reading)
        case _:
            from undust.corpus import folder

            return folder.read_file(source, form.compression, reading)


def _require_readable(path: str) -> None:
    name = shown(path) or "''"
    try:
        found = os.stat(path)  # noqa: PTH116 - a path as the user gave it
    except FileNotFoundError as error:
        raise InputError(f"{name}: no such file or folder; check the name") from error
    except (OSError, ValueError) as error:
        raise InputError(f"{name}: cannot be found: {getattr(error, 'strerror', error)}; check the name") from error
    if stat.S_ISSOCK(found.st_mode) or stat.S_ISBLK(found.st_mode):
        raise InputError(f"{name}: a socket or a device, not a file; give a file, a folder, or - for stdin")
    if not os.access(path, os.R_OK | (os.X_OK if stat.S_ISDIR(found.st_mode) else 0)):
        raise InputError(f"{name}: no right to read it; change its rights or run as its owner")
    if stat.S_ISREG(found.st_mode) and found.st_size == 0:
        raise InputError(f"{name}: is empty; give a file with pages in it")
