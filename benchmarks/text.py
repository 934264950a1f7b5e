"""HTML to text, beside the parsers people use: same documents, same process, one core, megabytes of HTML a second."""

import importlib
import os
import random
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
from fastwarc.warc import ArchiveIterator, WarcRecordType

from benchmarks.timing import best_seconds, row
from undust.detect.fingerprints import fingerprints, make_lexicon
from undust.detect.fingerprints_parameters import SignatureParameters
from undust.detect.text import extract

DOCUMENTS, FEW = 800, 60  # trafilatura would take minutes for all
Page = tuple[str, str, bytes]
Row = dict[str, Any]

_HIDDEN = ["script", "style", "noscript", "template"]


def documents() -> list[Page]:
    """Give URL, Content-Type and body of real pages, or of made ones where the shared crawls are missing."""
    folder = Path(os.environ.get("UNDUST_SHARED", Path(__file__).parents[2] / "shared" / "data")) / "webapps"
    pages = [page for file in sorted(folder.glob("*.warc.gz")) for page in _html_pages(file)]
    chance = random.Random(1)  # noqa: S311 - no secret
    if pages:
        return chance.sample(pages, DOCUMENTS)
    return [(f"http://h.com/{i}", "text/html; charset=utf-8", _made(chance)) for i in range(DOCUMENTS)]


def run() -> list[Row]:
    """Time every job. The last two rows are times: all signatures over the parse alone, read both ways."""
    pages = documents()
    return [
        _text("text", "selectolax", _selectolax, pages),
        _text("text", "resiliparse", _resiliparse, pages),
        _text("text", "lxml", _lxml, pages),
        _text("text and links", "selectolax", _selectolax_links, pages, links=True),
        _text("main content", "resiliparse", partial(_resiliparse, main=True), pages, content="main"),
        _text("main content", "trafilatura", _trafilatura, pages[:FEW], content="main"),
        *_signatures(pages),
    ]


def _text(job: str, name: str, peer: Callable[[list[bytes]], object], pages: list[Page], **options: Any) -> Row:
    batch, bodies = _batch(pages), [body for _, _, body in pages]
    ours, theirs = best_seconds(partial(extract, batch, **options), partial(peer, bodies), clock=time.process_time)
    size = sum(map(len, bodies)) / 1e6
    return row(f"HTML to {job} : {name}", f"{size / ours:.0f} MB/s", f"{size / theirs:.0f} MB/s", theirs / ours, 1)


def _signatures(pages: list[Page]) -> list[Row]:
    batch, parameters = _batch(pages), SignatureParameters()
    lexicon = make_lexicon(parameters)
    parser = importlib.import_module("selectolax.lexbor").LexborHTMLParser

    def signed() -> None:
        texts = extract(batch)
        fingerprints(texts["text"], parameters, languages=texts["language"], lexicon=lexicon)

    def parsed() -> None:
        for _, _, body in pages:
            parser(body)

    ours, theirs, text = best_seconds(signed, parsed, partial(extract, batch), clock=time.process_time)
    return [
        row(
            f"HTML to all signatures : {name}",
            f"{1e3 * ours:.0f} ms",
            f"{1e3 * peer:.0f} ms",
            ours / peer,
            1.5,
            at_most=True,
        )
        for name, peer in (("Lexbor's parse alone", theirs), ("our own text alone", text))
    ]


def _batch(pages: list[Page]) -> pa.RecordBatch:
    urls, types, bodies = zip(*pages, strict=True)
    return pa.record_batch({"url": list(urls), "content_type": list(types), "html": list(bodies)})


def _html_pages(file: Path) -> Iterator[Page]:
    with file.open("rb") as stream:
        for record in ArchiveIterator(stream, record_types=WarcRecordType.response, parse_http=True):
            content_type = record.http_headers.get("Content-Type") or ""
            if content_type.startswith("text/html") and record.http_headers.status_code == 200:
                yield record.headers["WARC-Target-URI"], content_type, record.reader.read()


def _made(chance: random.Random) -> bytes:
    words = ["".join(chance.choices("etaoinshrdlu", k=chance.randint(2, 9))) for _ in range(500)]
    items = "".join(f'<li class="item"><a href="/{word}">{word}</a></li>' for word in words[:60])
    prose = "".join(f"<p>{' '.join(chance.choices(words, k=60))}.</p>\n" for _ in range(12))
    return f"<!doctype html><html lang=en><title>x</title><nav><ul>{items}</ul></nav><main>{prose}</main>".encode()


def _selectolax(bodies: list[bytes]) -> None:
    parser = importlib.import_module("selectolax.lexbor").LexborHTMLParser
    for body in bodies:
        tree = parser(body)
        tree.strip_tags(_HIDDEN)
        tree.text(separator=" ")


def _selectolax_links(bodies: list[bytes]) -> list[Any]:
    parser = importlib.import_module("selectolax.lexbor").LexborHTMLParser
    links = []
    for body in bodies:
        tree = parser(body)
        tree.strip_tags(_HIDDEN)
        tree.text(separator=" ")
        links.append([(link.attributes.get("href"), link.text()) for link in tree.css("a")])
    return links


def _resiliparse(bodies: list[bytes], main: bool = False) -> None:
    tree = importlib.import_module("resiliparse.parse.html").HTMLTree
    to_text = importlib.import_module("resiliparse.extract.html2text").extract_plain_text
    for body in bodies:
        to_text(tree.parse_from_bytes(body, "utf-8"), main_content=main, alt_texts=True)


def _lxml(bodies: list[bytes]) -> None:
    html = importlib.import_module("lxml.html")
    for body in bodies:
        tree = html.document_fromstring(body)
        for element in list(tree.iter(*_HIDDEN)):
            element.drop_tree()
        " ".join(tree.itertext())


def _trafilatura(bodies: list[bytes]) -> None:
    extract_main = importlib.import_module("trafilatura").extract
    for body in bodies:
        extract_main(body.decode("utf-8", "replace"))


if __name__ == "__main__":
    for line in run():
        print(line)
