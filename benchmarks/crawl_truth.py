"""What a page of the web applications says, by the application's own main element: the truth that crawls are held to.

From content, never from the URL: the main element without what is not the page (navigation, forms to reply or edit,
footers), without what changes by itself, as sorted lines.
"""

import hashlib
import re

from lxml import html  # type: ignore[import-untyped] # lxml has no stubs

_MAIN = {
    "doku": ('//*[@id="dokuwiki__content"]', '//div[contains(@class,"dokuwiki")]', "//body"),
    "blog": ("//main", '//*[@id="main"]', "//body"),
    "files": ("//table", "//body"),
    "docs": ('//div[@class="body"]', "//body"),
}
_GONE = {
    "doku": (
        './/form[contains(@class,"edit") or contains(@class,"btn")]',
        './/*[@id="dw__toc" or contains(@class,"docInfo") or contains(@class,"pageId")]',
        './/*[contains(@class,"breadcrumbs")]',
        './/div[contains(@class,"secedit") or contains(@class,"editBox")]',
    ),
    "blog": ('.//*[@id="respond"]', ".//nav", ".//footer"),
    "files": (),
    "docs": ('.//*[contains(@class,"headerlink")]',),
}
_VOLATILE = re.compile(
    r"\b\d+ (?:second|minute|hour|day|week|month|year)s? ago\b|\b\d{1,2}:\d{2}(?::\d{2})?\b|\b[0-9a-z]{26}\b"
)
_FEED = re.compile(rb"<(?:pubDate|lastBuildDate|dc:date|date|updated|published|link)[^>]*>[^<]*</[^>]*>|<[^>]*>")


def content(host: str, kind: str, body: bytes) -> str:
    """Give the name of what a page says."""
    application = next((one for one in _MAIN if one in host), "docs")
    if "html" not in kind:
        if "xml" in kind:
            body = b"\n".join(sorted(_FEED.sub(b"\n", body).split(b"\n")))
        return hashlib.sha1(body, usedforsecurity=False).hexdigest()
    try:
        tree = html.document_fromstring(body)
    except (ValueError, html.etree.ParserError):
        return hashlib.sha1(body, usedforsecurity=False).hexdigest()
    for path in ("//script", "//style", *_GONE[application]):
        for element in tree.xpath(path):
            element.drop_tree()
    main = next((found[0] for path in _MAIN[application] if (found := tree.xpath(path))), tree)
    for element in main.iter("li", "tr", "p", "div", "h1", "h2", "h3", "br", "dt", "dd"):
        element.tail = "\n" + (element.tail or "")
        element.text = "\n" + (element.text or "")
    text = _VOLATILE.sub("", str(main.text_content()))
    lines = sorted(" ".join(line.split()) for line in text.splitlines() if line.strip())
    return hashlib.sha1("\n".join(lines).encode("utf-8", "replace"), usedforsecurity=False).hexdigest()
