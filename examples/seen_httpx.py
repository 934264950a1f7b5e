"""A small crawler with httpx that fetches no page twice, not even when it is started again.

    python examples/seen_httpx.py http://www.example.com/ [--store seen.store] [--rules rules.json]

It keeps the links that are still to be followed in memory; one that should go on after a crash keeps them in a file.
"""

import argparse
from collections import deque
from html.parser import HTMLParser
from urllib.parse import urljoin, urlsplit

import httpx

import undust
from undust.errors import UrlError


class Links(HTMLParser):
    """The links of a page."""

    def __init__(self, base: str) -> None:
        super().__init__()
        self.base = base
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take the links of anchors."""
        if tag == "a" and (link := dict(attrs).get("href")):
            self.found.append(urljoin(self.base, link))


def crawl(start: str, seen: undust.Seen, client: httpx.Client) -> list[str]:
    """Fetch the pages of a host, and give the URLs of those whose content is new."""
    pages: list[str] = []
    waiting = deque([start])
    while waiting:
        url = waiting.popleft()
        try:
            # The first check, before the fetch. The URL is remembered when its page has come, not before: so a page
            # whose server is in trouble is tried again by the next crawl.
            if urlsplit(url).hostname != urlsplit(start).hostname or (url != start and seen.known_url(url)):
                continue
            answer = client.get(url)
        except (UrlError, ValueError, httpx.HTTPError) as error:
            print(f"{url}: {error}")
            continue
        if answer.is_server_error:  # tried again next time
            continue
        seen.seen_url(url)
        first = seen.seen_page(url, answer.content)  # the second check, after the fetch
        if first is not None:
            print(f"{url}: the same as {first}")
            continue
        print(url)
        pages.append(url)
        page = Links(str(answer.url))
        page.feed(answer.text)
        waiting.extend(page.found)
    return pages


def main() -> None:
    """Crawl, and tell."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("url")
    parser.add_argument("--store", default="seen.store")
    parser.add_argument("--rules", help="what undust learn has written")
    options = parser.parse_args()
    with undust.Seen(options.store, options.rules) as seen, httpx.Client(follow_redirects=True, timeout=30) as client:
        found = crawl(options.url, seen, client)
    print(f"{len(found)} new pages")


if __name__ == "__main__":
    main()
