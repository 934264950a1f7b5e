"""One crawl of one site, in a process of its own: writes for each answer how many requests it took, and what it said.

python -m benchmarks.crawl_runs WHO OUT MAX_REQUESTS URL...      WHO: scrapy, discarder, undust, undust-learn
"""

import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any
from urllib.parse import urlsplit

from benchmarks.crawl_truth import content
from undust.urls.site import site

# What people put into rules for the discarder when they know nothing of a site.
GENERIC = [
    "utm_source", "utm_medium", "utm_campaign", "utm_term", "utm_content", "gclid", "fbclid", "PHPSESSID", "jsessionid",
    "sid", "sessionid", "session_id", "replytocom", "ref",
]  # fmt: skip


def _note(out: IO[str], requests: int, url: str, status: int, kind: str, body: bytes) -> None:
    what = content(urlsplit(url).netloc, kind, body) if status == 200 else None
    out.write(json.dumps([requests, url, status, what]) + "\n")
    out.flush()


def with_scrapy(who: str, out: IO[str], most: int, urls: list[str]) -> None:
    """Crawl with Scrapy as it comes, with or without the discarder."""
    import scrapy
    from scrapy.crawler import AsyncCrawlerProcess
    from scrapy.linkextractors import LinkExtractor

    hosts = sorted({site(url) for url in urls})

    class Plain(scrapy.Spider):
        name = "plain"
        start_urls = urls
        allowed_domains = hosts
        links = LinkExtractor(deny_extensions=())

        def parse(self, response: Any) -> Iterator[Any]:
            requests = self.crawler.stats.get_value("downloader/request_count", 0)
            kind = (response.headers.get("Content-Type") or b"").decode("latin-1")
            _note(out, requests, response.url, response.status, kind, response.body)
            if "html" in kind:
                for link in self.links.extract_links(response):
                    yield scrapy.Request(link.url)

    settings: dict[str, Any] = {
        "CONCURRENT_REQUESTS": 8,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 8,
        "COOKIES_ENABLED": False,
        "ROBOTSTXT_OBEY": False,
        "CLOSESPIDER_PAGECOUNT": most,
        "LOG_ENABLED": False,
        "TELNETCONSOLE_ENABLED": False,
    }
    if who == "discarder":
        rules = Path(tempfile.mkdtemp()) / "rules.json"
        rules.write_text(
            json.dumps([{"args": GENERIC, "order": 100, "processor": "queryRemoval", "urlPattern": {"include": []}}])
        )
        settings["ADDONS"] = {"duplicate_url_discarder.Addon": 600}
        settings["DUD_LOAD_RULE_PATHS"] = [str(rules)]
    process = AsyncCrawlerProcess(settings)
    process.crawl(Plain)
    process.start()


def with_undust(who: str, out: IO[str], most: int, urls: list[str]) -> None:
    """Crawl with undust, with or without learning."""
    from undust.crawl.flow import crawl_here
    from undust.crawl.loop import Loop

    watched: list[Loop] = []

    def watch(loop: Loop) -> None:
        if watched:
            return
        watched.append(loop)
        fetched = loop.fetched

        def noted(link: Any, answer: Any, now: float) -> None:
            _note(out, loop.counts.requests, link.url, answer.status, answer.content_type, answer.body)
            fetched(link, answer, now)

        loop.fetched = noted  # type: ignore[method-assign] # to look on, not to change anything

    options: dict[str, Any] = {
        "learn": who == "undust-learn", "allow_private": True, "throttle": False, "robots": False, "per_host": 8,
        "concurrency": 8, "max_pages": most,
    }  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        found = crawl_here(urls, Path(folder) / "crawl", options, progress=watch)
    told = found.to_dict()
    out.write(json.dumps({"summary": told}) + "\n")


def main() -> None:
    """Run as the command line says."""
    who, path, most, *urls = sys.argv[1:]
    with Path(path).open("w") as out:
        (with_undust if who.startswith("undust") else with_scrapy)(who, out, int(most), urls)


if __name__ == "__main__":
    main()
