"""Agreement with parsers of others on real pages: the same words in the same order as the tree of a browser's parser.

Tolerance: none for Lexbor, which follows the HTML standard, over all pages of all crawls. libxml2 (lxml) repairs
broken HTML by rules of its own, so that there words are compared as bags, and one in a hundred may differ.
"""

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from fastwarc.warc import ArchiveIterator, WarcRecordType

from undust.detect.encodings import charset_of
from undust.detect.text import extract
from undust.kernels.html_tables import APART, BLOCK, ELEMENT_FLAGS, ELEMENT_KEYS, name_hash

CRAWLS = ("autoindex", "docs", "dokuwiki", "dokuwiki_sid", "wordpress")
_NOT_SHOWN = {"script", "style", "noscript", "template", "iframe", "noembed", "noframes", "title"}
_WORD = re.compile(r"\w+")
_INVISIBLE = {**dict.fromkeys(range(127, 160)), 0xAD: None, 0xA0: " "}
_FLAGS = dict(zip(ELEMENT_KEYS.tolist(), ELEMENT_FLAGS.tolist(), strict=True))


def _html_pages(file: Path) -> Iterator[tuple[str, bytes]]:
    with file.open("rb") as stream:
        for record in ArchiveIterator(stream, record_types=WarcRecordType.response, parse_http=True):
            content_type = record.http_headers.get("Content-Type") or ""
            if content_type.startswith("text/html"):
                yield content_type, record.reader.read()


def _decoded(content_type: str, body: bytes) -> str:
    return body.decode({"windows-1252": "cp1252"}.get(charset_of(content_type.encode()) or "", "utf-8"), "replace")


def _separator(tag: str) -> str:
    flags = _FLAGS.get(int(name_hash(tag)), 0)
    return "\n" if flags & BLOCK else " " if flags & APART else ""


def _tree_text(node: Any, out: list[str]) -> None:
    """Write the text below a node: the ten lines that the kernel must agree with."""
    child = node.child
    while child is not None:
        tag = child.tag
        if tag == "-text":
            out.append(child.text_content or "")
        elif tag and tag[0].isalpha() and tag not in _NOT_SHOWN:
            out.append(_separator(tag))
            if tag in ("img", "area"):
                out.append(child.attributes.get("alt") or "")
            _tree_text(child, out)
            out.append(_separator(tag))
        child = child.next


@pytest.mark.parametrize("crawl", CRAWLS)
def test_words_and_titles_are_those_of_lexbor_on_every_page(crawl: str, shared_data: Path) -> None:
    lexbor = pytest.importorskip("selectolax.lexbor")
    pages = list(_html_pages(shared_data / "webapps" / f"{crawl}.warc.gz"))
    types, bodies = zip(*pages, strict=True)
    found = extract(pa.record_batch({"html": list(bodies), "content_type": list(types)}))
    assert len(pages) > 500
    for (content_type, body), text, title in zip(
        pages, found["text"].to_pylist(), found["title"].to_pylist(), strict=True
    ):
        tree = lexbor.LexborHTMLParser(_decoded(content_type, body))
        out: list[str] = []
        _tree_text(tree.root, out)
        assert _WORD.findall(text) == _WORD.findall("".join(out).translate(_INVISIBLE))
        named = tree.css_first("title")
        assert (title or "") == (" ".join(named.text().split()) if named else "")


@pytest.mark.parametrize("crawl", CRAWLS)
def test_words_are_nearly_those_of_lxml(crawl: str, shared_data: Path) -> None:
    lxml_html = pytest.importorskip("lxml.html")
    pages = list(_html_pages(shared_data / "webapps" / f"{crawl}.warc.gz"))[::20]
    types, bodies = zip(*pages, strict=True)
    found = extract(pa.record_batch({"html": list(bodies), "content_type": list(types)}))["text"].to_pylist()
    ours: Counter[str] = Counter()
    theirs: Counter[str] = Counter()
    for (content_type, body), text in zip(pages, found, strict=True):
        if not body.strip():
            continue
        tree = lxml_html.document_fromstring(
            _decoded(content_type, body).encode(), lxml_html.HTMLParser(encoding="utf-8")
        )
        for element in list(tree.iter("script", "style", "noscript", "template", "title")):
            element.drop_tree()
        for image in tree.iter("img"):
            image.tail = " ".join(["", image.get("alt") or "", image.tail or ""])
        for element in tree.iter():
            if isinstance(element.tag, str) and (separator := _separator(element.tag)):
                element.text, element.tail = separator + (element.text or ""), separator + (element.tail or "")
        ours.update(_WORD.findall(text))
        theirs.update(_WORD.findall(tree.text_content().translate(_INVISIBLE)))
    assert (ours & theirs).total() > 0.99 * max(ours.total(), theirs.total())
