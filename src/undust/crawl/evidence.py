"""What a page says: its links, and its lines, by which pages are told apart.

Two pages are the same if they have the same lines of main text, in whatever order (a list that is sorted differently
is the same list), when the lines that many different pages of the site share are left out: menus, and what changes
by itself. docs/crawl.md says why.
"""

import contextlib
import html
import re
import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import xxhash

from undust.detect.text import extract
from undust.errors import UrlError
from undust.urls.normalize import normalize

MAX_LINES = 512
"""Lines of a page that are kept, for the most: of a longer page, those with the smallest hashes."""

MIN_CHARS = 160
"""A page of which less than this is left without the lines of the site is compared by all its lines."""

SITE_SHARE = 0.02
"""Lines that this share of the different pages have are the site's, not the page's …"""

SITE_PAGES = 5
"""… if they are so many pages."""

GZIP = b"\x1f\x8b"
MAX_SITEMAP_BYTES = 50 * 2**20
MAX_LOCATIONS = 50_000
"""What sitemaps.org allows a file to have."""

_LOCATION = re.compile(rb"<loc>\s*([^<\s]{1,4096})")
_SITEMAP = re.compile(rb"(?im)^[ \t]*sitemap[ \t]*:[ \t]*(\S{1,4096})")

LINES = np.dtype([("hash", "<u8"), ("chars", "<u2")])

Lines = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class PageContent:
    """What was found in a body."""

    links: tuple[str, ...]
    canonical: str | None
    text: bytes | None
    """Signature of the text; None where there is none."""
    lines: Lines
    cut: bool = False


NO_LINES: Lines = np.empty(0, LINES)


def read_content(url: str, body: bytes, content_type: str) -> PageContent:
    """Read a body that may be a page of text."""
    batch = pa.record_batch({"url": [url], "html": pa.array([body], pa.binary()), "content_type": [content_type]})
    found = extract(batch, content="main", links=True, detect_language=False)
    links = found["links"][0].values.field("url").to_pylist() if found["links"][0].values is not None else []
    text = found["text"][0].as_py()
    lines = NO_LINES if not text or found["binary"][0].as_py() else lines_of(text)
    content = None if not len(lines) else content_of(lines)
    return PageContent(tuple(dict.fromkeys(links)), found["canonical"][0].as_py(), content, lines)


def sitemap_links(body: bytes) -> tuple[str, ...]:
    """Give the URLs that a sitemap, an index of sitemaps or robots.txt names.

    >>> sitemap_links(b"<urlset><url><loc>http://a.test/?a=1&amp;b=2</loc></url></urlset>")
    ('http://a.test/?a=1&b=2',)
    """
    if body.startswith(GZIP):
        try:
            body = zlib.decompressobj(47).decompress(body, MAX_SITEMAP_BYTES)
        except zlib.error:
            return ()
    named = _LOCATION.findall(body) if b"<" in body[:1000] else _SITEMAP.findall(body)
    found = []
    for raw in named[:MAX_LOCATIONS]:
        with contextlib.suppress(UrlError):
            found.append(normalize(html.unescape(raw.decode("utf-8", "replace"))))
    return tuple(dict.fromkeys(found))


def lines_of(text: str) -> Lines:
    """Give the lines of a text as hashes with their lengths, in the order of the hashes.

    >>> bool((lines_of("One two\\nthree") == lines_of("three\\n one  TWO")).all())
    True
    """
    found = [" ".join(line.split()) for line in text.lower().splitlines()]
    rows = [(xxhash.xxh3_64_intdigest(line.encode()), min(len(line), 65535)) for line in found if line]
    made = np.array(rows, LINES) if rows else NO_LINES
    return made[np.argsort(made["hash"])][:MAX_LINES]


def content_of(lines: Lines, common: npt.NDArray[np.uint64] | None = None) -> bytes:
    """Give the signature of lines, without those that are the site's if enough is left."""
    if common is not None and len(common):
        places = np.searchsorted(common, lines["hash"])
        rest = lines[common[np.minimum(places, len(common) - 1)] != lines["hash"]]
        if int(rest["chars"].sum()) >= MIN_CHARS:
            lines = rest
    return xxhash.xxh3_128_digest(np.ascontiguousarray(lines["hash"]).tobytes())


def common_lines(pages: list[Lines]) -> npt.NDArray[np.uint64]:
    """Give the hashes of lines that many different pages have, sorted.

    Pages count as different if their longest lines differ: the versions of one page do not make its lines the site's.
    """
    some = [lines for lines in pages if len(lines)]
    if not some:
        return np.empty(0, np.uint64)
    anchors = np.array([lines["hash"][np.lexsort((lines["hash"], lines["chars"]))[-1]] for lines in some], np.uint64)
    sizes = np.array([len(lines) for lines in some])
    pairs = np.stack([np.concatenate([lines["hash"] for lines in some]), np.repeat(anchors, sizes)], axis=1)
    hashes, counts = np.unique(np.unique(pairs, axis=0)[:, 0], return_counts=True)
    least = max(SITE_PAGES, SITE_SHARE * len(np.unique(anchors)))
    return hashes[counts >= least]
