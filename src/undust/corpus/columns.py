"""Turns columns of rows (CDX, JSONL, CSV, TSV, Parquet) into pages by one set of rules."""

from collections.abc import Callable, Iterable, Iterator

import pyarrow as pa
import pyarrow.compute as pc

from undust import settings
from undust.corpus.batches import page_batch, strings, too_long
from undust.corpus.reading import Reading
from undust.corpus.tally import Tally
from undust.corpus.times import time_column
from undust.errors import InputError
from undust.urls.batch import decode_urls

Columns = dict[str, pa.Array]

Require = Callable[[str, Iterable[str], Iterable[str]], None]
"""Refuses a source (its name, our names of its columns, its own names) that lacks a column."""

CONTENT = ("html", "text", "digest", "cluster")

NAMES = {
    "url": "url",
    "html": "html",
    "text": "text",
    "digest": "digest",
    "cluster": "cluster",
    "status": "status",
    "status_code": "status",
    "content_type": "content_type",
    "content-type": "content_type",
    "mime": "content_type",
    "mime_type": "content_type",
    "time": "time",
    "timestamp": "time",
    "date": "time",
}
"""Column names as files have them, in lower case, and what they are called here."""

_TEXTS = (
    *(pa.string(), pa.large_string(), pa.string_view()),
    *(pa.binary(), pa.large_binary(), pa.binary_view()),
)

CLUSTER_NAMES = {"url": "url", "cluster": "cluster", "importance": "importance", "inlinks": "inlinks"}


def wanted(names: Iterable[str], known: dict[str, str]) -> dict[str, int]:
    """Which of a file's columns to read: our name and the first position that has it.

    >>> wanted(["ID", "URL", "mime", "Text"], NAMES)
    {'url': 1, 'content_type': 2, 'text': 3}
    """
    found: dict[str, int] = {}
    for position, name in enumerate(names):
        ours = known.get(name.strip().lower())
        if ours is not None:
            found.setdefault(ours, position)
    return found


def require_page_columns(source: str, found: Iterable[str], names: Iterable[str]) -> None:
    """Refuse a file that lacks what a page needs."""
    have, names = set(found), list(names)
    if "body_xxh3" in names:
        raise InputError(f"{source}: holds fingerprints, not pages; give it to undust cluster, as a file")
    if "url" not in have or have.isdisjoint(CONTENT):
        raise InputError(
            f"{source}: needs a column url and one of html, text, digest, cluster; it has {listing(names)}"
        )


def require_cluster_columns(source: str, found: Iterable[str], names: Iterable[str]) -> None:
    """Refuse a file that lacks what a table of clusters needs."""
    if not {"url", "cluster"} <= set(found):
        raise InputError(f"{source}: needs the columns url and cluster; it has {listing(names)}")


def listing(names: Iterable[str]) -> str:
    """Names for a message: few of them, short, printable."""
    shown = [name[:40] if name.isprintable() else ascii(name[:40]) for name in names]
    return ", ".join(shown[:12]) + (", …" if len(shown) > 12 else "") if shown else "none"


def pages(columns: Columns, source: str, reading: Reading) -> Iterator[pa.RecordBatch]:
    """Pages out of the rows of some columns; rows that are no pages are counted."""
    columns = _typed(usable_urls(columns, reading.tally))
    if "status" in columns and not reading.any_status:
        columns = _keep(columns, _status_200(columns["status"], reading))
    columns = _limit_bodies(columns, reading)
    contents = [pc.is_valid(columns[name]) for name in CONTENT if name in columns]
    has_content = contents[0]
    for content in contents[1:]:
        has_content = pc.or_(has_content, content)
    lost = len(has_content) - (pc.sum(has_content).as_py() or 0)
    if lost:
        reading.tally.skip("no content", lost)
        columns = _keep(columns, has_content)
    count = len(columns["url"])
    if count:
        batch = page_batch(columns, count, source)
        for start in range(0, count, settings.BATCH_ROWS):
            yield batch.slice(start, settings.BATCH_ROWS)


def usable_urls(columns: Columns, tally: Tally) -> Columns:
    """The rows that have a URL of bearable length, as text; the rest is counted."""
    columns = {name: _decoded(column) for name, column in columns.items()}
    # Lengths first: the bytes of a URL that is not UTF-8 are escaped one by one.
    url = pc.ascii_trim_whitespace(as_bytes(columns["url"]).cast(pa.string(), safe=False)).cast(pa.binary())
    lengths = pc.fill_null(pc.binary_length(url), 0)
    missing = pc.sum(pc.equal(lengths, 0)).as_py() or 0
    long = pc.sum(pc.greater(lengths, settings.MAX_URL_BYTES)).as_py() or 0
    tally.skip("no URL", missing)
    tally.skip(too_long("URL", settings.MAX_URL_BYTES), long)
    if missing or long:
        mask = pc.and_(pc.greater(lengths, 0), pc.less_equal(lengths, settings.MAX_URL_BYTES))
        columns = {name: column.filter(mask) for name, column in columns.items()}
        url = url.filter(mask)
    return columns | {"url": decode_urls(url)}


def text_column(column: pa.Array) -> pa.Array:
    """Any column that can be spelled out, as text; an empty cell is a missing one."""
    if is_text(column.type):
        column = strings(as_bytes(column))
    elif pa.types.is_floating(column.type):
        # 3.0 is how tables without null integers write 3.
        whole = pc.and_(pc.equal(column, pc.floor(column)), pc.less(pc.abs(column), 2.0**53))
        integers = pc.if_else(whole, column, pa.scalar(None, column.type)).cast(pa.int64())
        column = pc.coalesce(integers.cast(pa.string()), column.cast(pa.string()))
    else:
        column = column.cast(pa.string())
    return _empty_to_null(column)


def is_text(kind: pa.DataType) -> bool:
    """Whether a column of a type, or of dictionaries of it, holds text or bytes."""
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return kind in _TEXTS or bool(pa.types.is_fixed_size_binary(kind))


def as_bytes(column: pa.Array) -> pa.Array:
    """A column of text or bytes as bytes."""
    return column if pa.types.is_binary(column.type) else column.cast(pa.binary())


def _decoded(column: pa.Array) -> pa.Array:
    """The same without dictionaries and views, which not all functions of Arrow know."""
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if pa.types.is_string_view(column.type):
        return column.cast(pa.string())
    return column.cast(pa.binary()) if pa.types.is_binary_view(column.type) else column


def _typed(columns: Columns) -> Columns:
    made: Columns = {}
    for name, column in columns.items():
        if name == "url":
            made[name] = column
        elif name == "html":
            made[name] = _empty_to_null(as_bytes(column))
        elif name == "status":
            made[name] = _status_column(column)
        elif name == "time":
            made[name] = time_column(column)
        else:
            made[name] = text_column(column)
    return made


def _status_column(column: pa.Array) -> pa.Array:
    """HTTP status; null where a cell says nothing, 0 where it has a number that is none."""
    text = text_column(column)
    number = pc.replace_substring_regex(text, r"^\s*([-+]?[0-9]+)(\.0*)?\s*$", r"\1")
    is_number = pc.match_substring_regex(number, r"^[-+]?[0-9]+$")
    is_status = pc.match_substring_regex(number, r"^[0-9]{1,3}$")
    status = pc.if_else(is_status, number, pc.if_else(is_number, "0", pa.scalar(None, pa.string())))
    return status.cast(pa.int16())


def _empty_to_null(column: pa.Array) -> pa.Array:
    lengths = pc.binary_length(column)
    if (pc.min(lengths).as_py() or 0) > 0:
        return column
    return pc.if_else(pc.equal(lengths, 0), pa.scalar(None, column.type), column)


def _keep(columns: Columns, mask: pa.Array) -> Columns:
    if pc.all(mask).as_py():
        return columns
    return {name: column.filter(mask) for name, column in columns.items()}


def _status_200(column: pa.Array, reading: Reading) -> pa.Array:
    keep = pc.fill_null(pc.equal(column, 200), True)
    for counted in pc.value_counts(column.filter(pc.invert(keep))):
        reading.tally.skip(f"status {counted['values']}", counted["counts"].as_py())
    return keep


def _limit_bodies(columns: Columns, reading: Reading) -> Columns:
    """Null for bodies over the limit; such a row stays a page where its digest or cluster says what it is."""
    fallback = [pc.is_valid(columns[name]) for name in ("digest", "cluster") if name in columns]
    for name in ("html", "text"):
        if name not in columns:
            continue
        large = pc.fill_null(pc.greater(pc.binary_length(columns[name]), reading.max_body_bytes), False)
        if not pc.any(large).as_py():
            continue
        columns = columns | {name: pc.if_else(large, pa.scalar(None, columns[name].type), columns[name])}
        kept = pc.and_(large, fallback[0]) if fallback else pc.and_(large, False)
        for more in fallback[1:]:
            kept = pc.or_(kept, pc.and_(large, more))
        reading.tally.limit(reading.body_over, pc.sum(kept).as_py() or 0)
        lost = (pc.sum(large).as_py() or 0) - (pc.sum(kept).as_py() or 0)
        reading.tally.skip(reading.body_over, lost)
        mask = pc.or_(pc.invert(large), kept)
        fallback = [valid.filter(mask) for valid in fallback]
        columns = _keep(columns, mask)
    return columns
