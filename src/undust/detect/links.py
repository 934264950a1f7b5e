"""Links of pages as a column: absolute URL, anchor text, window of words around it; and canonical URLs."""

from urllib.parse import urljoin

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from undust.detect.words import buffers
from undust.kernels.html_links import copy_spans, find_windows, resolve
from undust.kernels.html_state import ANCHOR, HREF
from undust.urls.batch import normalize_many

LINKS = pa.list_(
    pa.struct(
        [
            pa.field("url", pa.string()),  # absolute, in standard form, without fragment
            pa.field("anchor", pa.string()),  # text of the link; empty for an image without alternative text
            pa.field("window", pa.string()),  # the anchor text and some words on each side of it
        ]
    )
)

Bytes = npt.NDArray[np.uint8]
Spans = npt.NDArray[np.int64]

_BUDGET_FACTOR, _BUDGET_BYTES = 16, 4096  # what URLs and windows may have for each byte of a page, and each page


def strings(source: Bytes, spans: Spans) -> pa.StringArray:
    """Copy spans to a column of strings; null where a span is absent or empty."""
    sizes = np.where(spans[:, 0] >= 0, spans[:, 1] - spans[:, 0], 0)
    return _column(source, spans, sizes, sizes > 0)


def page_bases(urls: pa.Array | None, bases: pa.StringArray) -> pa.StringArray:
    """Give the URL that relative ones are resolved against: of the page, or what its `<base>` makes of that."""
    pages = pa.nulls(len(bases), pa.string()).fill_null("") if urls is None else urls.cast(pa.string()).fill_null("")
    if bases.null_count == len(bases):
        return pages
    values = pages.to_pylist()
    for row, base in enumerate(bases.to_pylist()):
        if base is not None:
            values[row] = _joined(values[row], base)
    return pa.array(values, pa.string())


def budgets(sizes: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Say how many bytes all URLs of a page may have, so that a page cannot become many times its size."""
    return sizes * _BUDGET_FACTOR + _BUDGET_BYTES


def absolute(aux: Bytes, spans: Spans, ends: Spans, bases: pa.StringArray, allowed: Spans) -> pa.StringArray:
    """Resolve the references of pages and write them in standard form; null where one names no page.

    The references of page i are the spans `ends[i - 1]` to `ends[i]`.
    """
    base_data, base_offsets = buffers(bases)
    most = (spans[:, 1] - spans[:, 0] + 1).clip(min=0).sum() + (np.diff(ends, prepend=0) * np.diff(base_offsets)).sum()
    out = np.empty(min(int(most), int(allowed.sum())), np.uint8)
    offsets = np.zeros(len(spans) + 1, np.int32)
    resolve(aux, spans, ends, base_data, base_offsets, allowed, out, offsets)
    whole = pa.StringArray.from_buffers(len(spans), pa.py_buffer(offsets), pa.py_buffer(out[: offsets[-1]].copy()))
    some = np.diff(offsets) > 0
    places = np.cumsum(some) - 1
    normal = normalize_many(whole.filter(pa.array(some))).urls.combine_chunks()
    return normal.take(pa.array(places, mask=~some))


def links_column(
    text: Bytes,
    offsets: Spans,
    aux: Bytes,
    links: Spans,
    ends: Spans,
    *,
    bases: pa.StringArray,
    allowed: Spans,
    window_words: int,
) -> pa.ListArray:
    """Make the column of links of pages; links that name no page are left out."""
    windows = np.empty((len(links), 2), np.int64)
    find_windows(text, offsets, ends, links, window_words, allowed, windows)
    urls = absolute(aux, links[:, HREF:], ends, bases, allowed)
    kept = np.asarray(urls.is_valid())
    anchors, windows = links[kept, ANCHOR : ANCHOR + 2], windows[kept]
    struct = pa.StructArray.from_arrays(
        [
            urls.filter(pa.array(kept)),
            _column(text, anchors, anchors[:, 1] - anchors[:, 0]),
            _column(text, windows, windows[:, 1] - windows[:, 0]),
        ],
        fields=list(LINKS.value_type),
    )
    list_offsets = np.concatenate([[0], np.cumsum(kept)])[np.concatenate([[0], ends])].astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(list_offsets), struct, type=LINKS)


def _column(
    source: Bytes, spans: Spans, sizes: npt.NDArray[np.int64], present: npt.NDArray[np.bool_] | None = None
) -> pa.StringArray:
    out = np.empty(int(sizes.sum()), np.uint8)
    offsets = np.empty(len(spans) + 1, np.int32)
    copy_spans(source, spans, out, offsets)
    valid = None if present is None or present.all() else pa.py_buffer(np.packbits(present, bitorder="little"))
    return pa.StringArray.from_buffers(len(spans), pa.py_buffer(offsets), pa.py_buffer(out), valid)


def _joined(url: str, base: str) -> str:
    try:
        joined = urljoin(url, base)
    except ValueError:  # brackets that are no address
        return url
    return joined if joined.startswith(("http://", "https://")) else url
