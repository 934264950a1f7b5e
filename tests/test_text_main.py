"""Main content: hand-made pages, and a floor under the quality on real ones."""

import re
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pytest

from tests.test_text_peers import _decoded, _html_pages, _tree_text
from undust.detect.text import extract

PROSE = "This sentence is long enough to be read as text, for it has many words and no link at all. " * 3
LINKS = "".join(f"<li><a href=/{i}>Item {i}</a>" for i in range(12))


def main(html: str) -> str:
    found: str = extract(pa.record_batch({"html": [html.encode()]}), content="main")["text"].to_pylist()[0]
    return found


@pytest.mark.parametrize(
    ("html", "why"),
    [
        (f"<nav>{LINKS}</nav><main>{PROSE}</main><footer>Imprint</footer>", "elements named for their part"),
        (f"<div role=navigation>{LINKS}</div><div role=main>{PROSE}</div>", "roles"),
        (f"<header>Site</header><article>{PROSE}</article><aside>{LINKS}</aside>", "an article"),
        (f"<div class=navbar>{LINKS}</div><div>{PROSE}</div><div id=footer>x</div>", "classes and ids"),
        (f"<ul>{LINKS}</ul><p>{PROSE}</p><ul>{LINKS}</ul>", "nothing but the density of links"),
        (f"<main><nav>{LINKS}</nav>{PROSE}</main>", "navigation inside the main element"),
        (f"<div class='sidebar'><div>{LINKS}</div>x</div>{PROSE}", "elements inside of an edge"),
        (f"<nav>{LINKS}<main>{PROSE}</main>", "an edge that was never closed"),
        (f"<div hidden>{LINKS}</div><main>{PROSE}</main>", "hidden parts"),
        (f"<div style='DISPLAY : none'>{LINKS}</div><main>{PROSE}</main>", "parts hidden by style"),
    ],
)
def test_what_is_around_the_content_is_left_out(html: str, why: str) -> None:
    assert main(html).split() == PROSE.split(), why


@pytest.mark.parametrize(
    ("html", "why"),
    [
        (f"<ul>{LINKS}</ul>", "a page that is a list of links"),
        (f"<nav>{LINKS}</nav>", "a page that is navigation only"),
        (f"<main></main><ul>{LINKS}</ul>", "an empty main element, as scripts fill it"),
        ("<p>Short.", "a page with a word"),
        ("", "an empty page"),
    ],
)
def test_a_page_without_main_content_is_kept_whole(html: str, why: str) -> None:
    assert main(html) == extract(pa.record_batch({"html": [html.encode()]}))["text"].to_pylist()[0], why


def test_feeds_and_plain_texts_are_their_own_content() -> None:
    pages = pa.record_batch(
        {
            "html": [b"<rss><a>x</a><b>y</b></rss>", b"one\n\ntwo"],
            "content_type": ["application/rss+xml", "text/plain"],
        }
    )
    assert extract(pages, content="main")["text"].to_pylist() == ["x\ny", "one\n\ntwo"]


# Mean word F1 against the application's main element. These go up only; docs/text.md has the figures of the peers.
FLOORS = {"dokuwiki": ("div.page", 0.83), "wordpress": ("main", 0.90), "docs": ("[role=main]", 0.98)}


@pytest.mark.parametrize("crawl", FLOORS)
def test_main_content_is_the_main_element_of_real_pages(crawl: str, shared_data: Path) -> None:
    lexbor = pytest.importorskip("selectolax.lexbor")
    selector, floor = FLOORS[crawl]
    scores = []
    pages = list(_html_pages(shared_data / "webapps" / f"{crawl}.warc.gz"))[::10]
    types, bodies = zip(*pages, strict=True)
    batch = pa.record_batch({"html": list(bodies), "content_type": list(types)})
    for (content_type, body), text in zip(pages, extract(batch, content="main")["text"].to_pylist(), strict=True):
        element = lexbor.LexborHTMLParser(_decoded(content_type, body)).css_first(selector)
        if element is None:
            continue
        for navigation in element.css("nav"):
            navigation.decompose()
        out: list[str] = []
        _tree_text(element, out)
        want, got = (Counter(re.findall(r"\w+", words)) for words in ("".join(out), text))
        scores.append(2 * (want & got).total() / max(want.total() + got.total(), 1))
    assert sum(scores) / len(scores) >= floor
