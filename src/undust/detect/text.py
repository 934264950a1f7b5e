"""Pages to texts: what a reader sees, with title, language, canonical URL and links, in one pass over the bytes."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from undust.detect.languages import detect_languages, language_code
from undust.detect.links import LINKS, absolute, budgets, links_column, page_bases, strings
from undust.detect.markup import Markup, read_markup
from undust.errors import UsageError
from undust.kernels import html_state as fields
from undust.kernels.html import read_pages
from undust.kernels.html_blocks import keep_main

TEXT_MODEL = "1"
"""Goes up when the same page gives another text. Recorded with signatures, which compare only within a model."""

CONTENTS = ("all", "main")

MAX_TEXT_BYTES = 4 * 2**20
"""Longer texts are cut. A novel has 1 MiB; beyond are logs and dumps, alike or not long before this."""

MIN_TEXT_BYTES = 256

MAX_LINKS = 20_000
"""Links of a page that are kept, from its start."""

WINDOW_WORDS = 8
"""Words on each side of a link that describe its target (paper 002, section 2)."""

_PIECE_BYTES = 4 * 2**20  # bodies worked on at once: bounds the scratch memory, which is a few times as much


def schema(*, links: bool = False) -> pa.Schema:
    """Columns that `extract` makes."""
    columns = [
        pa.field("text", pa.string()),  # null without content or where the content is no text
        pa.field("title", pa.string()),
        pa.field("language", pa.string()),  # ISO 639-1, declared or detected
        pa.field("canonical", pa.string()),  # absolute URL of rel=canonical
        pa.field("cut", pa.bool_(), nullable=False),  # the text reached max_text_bytes, or the body was too long
        pa.field("undecodable", pa.bool_(), nullable=False),  # bytes that are not of the page's encoding
        pa.field("binary", pa.bool_(), nullable=False),  # a body that is no text
    ]
    return pa.schema([*columns, pa.field("links", LINKS)] if links else columns)


def extract(
    pages: pa.RecordBatch | pa.Table,
    *,
    content: str = "all",
    links: bool = False,
    detect_language: bool = True,
    max_text_bytes: int = MAX_TEXT_BYTES,
    window_words: int = WINDOW_WORDS,
) -> pa.RecordBatch:
    """Give the texts of pages, a row for each, in order (`schema`).

    Reads the columns `html` (binary), `text`, `content_type` and `url`, of which each may be missing. A page with
    `text` and no `html` keeps its text. A row depends on its page and the options only, and no page is an error.
    Threads: call it on different batches at once; most of its time it runs outside the interpreter lock.

    >>> pages = pa.record_batch({"html": [b"<title>T</title><p lang=en>One<p>t&ouml;"]})
    >>> extract(pages).select(["text", "title"]).to_pylist()
    [{'text': 'One\\ntö', 'title': 'T'}]
    """
    if content not in CONTENTS:
        raise UsageError(f"unknown content {content!r}; one of {', '.join(CONTENTS)}")
    if max_text_bytes < MIN_TEXT_BYTES or window_words < 0:
        raise UsageError(f"max_text_bytes must be {MIN_TEXT_BYTES} or more, window_words 0 or more")
    made = schema(links=links)
    batches = []
    for piece in _pieces(pages):
        columns = _extract_piece(piece, content, links, max_text_bytes, window_words)
        if detect_language:
            columns["language"] = _detected(columns["language"], columns["text"])
        batches.append(pa.record_batch([columns[name] for name in made.names], schema=made))
    if len(batches) == 1:
        return batches[0]
    return pa.concat_batches(batches) if batches else pa.RecordBatch.from_pylist([], schema=made)


def count_problems(texts: pa.RecordBatch) -> dict[str, int]:
    """Count the rows that were cut, had undecodable bytes, or were no text.

    >>> bodies = [b"<meta charset=utf-8><p>\\xff", b"%PDF-1.7\\n\\x00\\xff"]
    >>> count_problems(extract(pa.record_batch({"html": bodies})))
    {'cut': 0, 'undecodable': 1, 'binary': 1}
    """
    return {name: pc.sum(texts[name]).as_py() or 0 for name in ("cut", "undecodable", "binary")}


def _extract_piece(
    pages: pa.RecordBatch, content: str, links: bool, max_text_bytes: int, window_words: int
) -> dict[str, pa.Array]:
    bodies = _of(pages, "html")
    if bodies is None or bodies.null_count == len(bodies):
        return _given(pages, max_text_bytes)
    if not (pa.types.is_binary(bodies.type) or pa.types.is_large_binary(bodies.type)):
        bodies = bodies.cast(pa.binary())
    markup = read_markup(bodies, _of(pages, "content_type"))
    read = _Read(markup, links=links, main=content == "main", max_text_bytes=max_text_bytes)
    bases = page_bases(_of(pages, "url"), read.fact(fields.BASE))
    allowed = budgets(markup.ends - markup.starts)
    each = np.arange(1, len(bodies) + 1)
    columns = {
        "title": read.fact(fields.TITLE),
        "language": _languages(read.fact(fields.LANGUAGE), read.fact(fields.PRAGMA)),
        "canonical": absolute(read.aux, read.meta[:, fields.CANONICAL :], each, bases, allowed),
        "cut": pa.array(markup.cut | (read.meta[:, fields.CUT] != 0)),
        "undecodable": pa.array(markup.undecodable),
        "binary": pa.array(markup.binary),
    }
    if links:
        columns["links"] = links_column(
            read.out, read.offsets, read.aux, read.links, read.meta[:, fields.LINKS_END].copy(),
            bases=bases, allowed=allowed, window_words=window_words,
        )  # fmt: skip
    columns["text"] = read.text(~markup.binary & np.asarray(bodies.is_valid()))
    if bodies.null_count and (given := _of(pages, "text")) is not None and given.null_count < len(given):
        passed = _given(pages, max_text_bytes)
        missing = bodies.is_null()
        for name in ("text", "cut"):
            columns[name] = pc.if_else(missing, passed[name], columns[name])
    return columns


class _Read:
    """What the kernels wrote for a batch of bodies."""

    def __init__(self, markup: Markup, *, links: bool, main: bool, max_text_bytes: int) -> None:
        sizes = markup.ends - markup.starts
        total, count = int(sizes.sum()), len(sizes)
        limit = max_text_bytes - fields.SLACK
        self._markup, self._main = markup, main
        self.out = np.empty(int((np.minimum(sizes * 6 // 5, max_text_bytes) + fields.SLACK).sum()), np.uint8)
        self.offsets = np.empty(count + 1, np.int64)
        self.aux = np.empty(total * 6 // 5 + fields.SLACK * (count + 1), np.uint8)
        self.meta = np.empty((count, int(fields.META_SIZE)), np.int64)
        most_links = int(np.minimum(sizes // 8, MAX_LINKS).sum()) + 2 * count
        most_blocks = int(np.minimum(sizes // 4, max_text_bytes // 2).sum()) + 2 * count  # two bytes of text for each
        rows = np.empty((most_links if links else 0, fields.LINK_SIZE), np.int64)
        self._blocks = np.empty((most_blocks if main else 0, fields.BLOCK_SIZE), np.int64)
        state = np.zeros(fields.STATE_SIZE, np.int64)
        state[fields.WANT_LINKS], state[fields.WANT_BLOCKS], state[fields.MAX_LINKS] = links, main, MAX_LINKS
        read_pages(
            markup.data, markup.starts, markup.ends, markup.hows, limit, self.out, self.offsets, self.aux, state,
            np.zeros(2, np.uint64), self.meta, rows, self._blocks,
        )  # fmt: skip
        self.links = rows[: state[fields.LINKS]]

    def fact(self, field: np.int64) -> pa.StringArray:
        """Give what the pages say of themselves, null where they do not."""
        return strings(self.aux, self.meta[:, field : field + 2])

    def text(self, present: npt.NDArray[np.bool_]) -> pa.StringArray:
        """Give the texts, null where there is none."""
        out, offsets = self.out, self.offsets
        if self._main:
            out, offsets = np.empty(int(offsets[-1]), np.uint8), np.empty_like(offsets)
            ends = self.meta[:, fields.BLOCKS_END]
            keep_main(self.out, self.offsets, ends, self._blocks, self._markup.hows, out, offsets)
        valid = None if present.all() else pa.py_buffer(np.packbits(present, bitorder="little"))
        places, data = pa.py_buffer(offsets.astype(np.int32)), pa.py_buffer(out[: offsets[-1]].copy())
        return pa.StringArray.from_buffers(len(present), places, data, valid)


def _given(pages: pa.RecordBatch, max_text_bytes: int) -> dict[str, pa.Array]:
    """Make the columns of pages that come as text."""
    nulls, no = pa.nulls(len(pages), pa.string()), pa.array(np.zeros(len(pages), np.bool_))
    text = _of(pages, "text")
    columns = {"title": nulls, "language": nulls, "canonical": nulls, "undecodable": no, "binary": no}
    columns["links"] = pa.array([[]] * len(pages), LINKS)
    if text is None:
        return columns | {"text": nulls, "cut": no}
    text = text.cast(pa.string())
    cut = pc.greater(pc.binary_length(text), max_text_bytes).fill_null(False)
    if pc.any(cut).as_py():
        short = [value.encode()[:max_text_bytes].decode("utf-8", "ignore") for value in text.filter(cut).to_pylist()]
        text = pc.replace_with_mask(text, cut, pa.array(short, pa.string()))
    return columns | {"text": text, "cut": cut}


def _languages(declared: pa.StringArray, pragma: pa.StringArray) -> pa.StringArray:
    """Give the codes of what pages declare: `<html lang>` before `<meta http-equiv=content-language>`."""
    return pc.coalesce(*(_codes(tags) for tags in (declared, pragma)))


def _codes(tags: pa.StringArray) -> pa.StringArray:
    coded = tags.dictionary_encode()
    codes = pa.array([language_code(tag) for tag in coded.dictionary.to_pylist()], pa.string())
    return codes.take(coded.indices)


def _detected(languages: pa.StringArray, texts: pa.StringArray) -> pa.StringArray:
    """Fill in the language of texts that declare none."""
    unknown = pc.and_(languages.is_null(), texts.is_valid())
    if not pc.any(unknown).as_py():
        return languages
    return pc.replace_with_mask(languages, unknown, detect_languages(texts.filter(unknown)))


def _of(pages: pa.RecordBatch, name: str) -> pa.Array | None:
    return pages[name] if name in pages.schema.names else None


def _pieces(pages: pa.RecordBatch | pa.Table) -> Iterator[pa.RecordBatch]:
    """Cut pages into batches of about `_PIECE_BYTES` of bodies; a longer body is a batch of its own."""
    for batch in pages.to_batches() if isinstance(pages, pa.Table) else [pages]:
        bodies = _of(batch, "html")
        sizes = np.ones(len(batch), np.int64)
        if bodies is not None:
            sizes += np.asarray(pc.binary_length(bodies).fill_null(0), np.int64)
        ends = np.cumsum(sizes)
        start = 0
        while start < len(batch):
            before = int(ends[start - 1]) if start else 0
            stop = max(int(np.searchsorted(ends, before + _PIECE_BYTES, side="right")), start + 1)
            yield batch.slice(start, stop - start)
            start = stop
