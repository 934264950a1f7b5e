"""What the add-on costs Scrapy: processor time for each request with both checks, and without, on the same pages."""

import asyncio
import json
import multiprocessing
import os
import subprocess
import sys
import tempfile
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from benchmarks.timing import row
from undust.rules.line_reader import read_line
from undust.rules.ruleset import RuleSet

PAGES = 1000
LINKS = 10
BODY_BYTES = 20_000
ROUNDS = 4
_NAMES = ("plain", "with the add-on")


def run() -> list[dict[str, Any]]:
    """Let both crawl the same site in turns, each in a process of its own; the least time counts."""
    ours, theirs = multiprocessing.Pipe()
    server = multiprocessing.get_context("spawn").Process(target=_serve, args=(theirs,), daemon=True)
    server.start()
    address = ours.recv()
    least = dict.fromkeys(_NAMES, float("inf"))
    try:
        for _ in range(ROUNDS):
            for name in _NAMES:
                least[name] = min(least[name], _crawl(address, add_on=name != "plain"))
    finally:
        server.kill()
        server.join()
    plain, checked = least.values()
    return [
        row("both checks : 5 % of Scrapy's time a request", f"{1e3 * checked:.2f} ms", f"{1e3 * plain:.2f} ms",
            (checked - plain) / plain, 0.05, at_most=True)
    ]  # fmt: skip


def _crawl(address: str, *, add_on: bool) -> float:
    """Crawl the site in a new process; gives its processor seconds for each request, without those to start."""
    with tempfile.TemporaryDirectory(prefix="undust-scrapy-") as folder:
        host = address.removeprefix("http://")
        lines = [f"{host}  //{host}/old{n}/{{a}}?sid={{?}}  →  //{host}/{{a}}" for n in range(20)]
        RuleSet([read_line(line) for line in lines]).save(str(Path(folder, "rules.json")))
        command = [sys.executable, "-m", "benchmarks.scrapy_overhead", address, str(add_on), folder]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        result = json.loads(done.stdout.splitlines()[-1])
        assert result["requests"] == PAGES, done.stderr[-2000:]
        return float(result["seconds"]) / PAGES


def _child(address: str, add_on: bool, folder: str) -> None:
    import time

    import scrapy
    from scrapy.crawler import AsyncCrawlerProcess

    class AllSpider(scrapy.Spider):
        name = "all"
        begun: float | None = None

        async def start(self) -> Any:
            yield scrapy.Request(f"{address}/0")

        def parse(self, response: Any) -> Any:
            if self.begun is None:  # both have loaded what they need
                self.begun = time.process_time()
            yield {"url": response.url, "body": response.body}
            for link in response.css("a::attr(href)").getall():
                yield response.follow(link)

    settings: dict[str, Any] = {"LOG_LEVEL": "WARNING", "TELNETCONSOLE_ENABLED": False, "CONCURRENT_REQUESTS": 16,
                                "CONCURRENT_REQUESTS_PER_DOMAIN": 16, "DOWNLOAD_DELAY": 0}  # fmt: skip
    if add_on:
        # Kernels for rules load after a number of URLs; a crawl of millions pays for that once.
        from undust.rule_files import load_rules

        rules = load_rules(Path(folder, "rules.json"))
        for n in range(200):
            rules.key(f"{address}/{n}")
        settings |= {
            "ADDONS": {"undust.crawl.scrapy.Addon": 500},
            "UNDUST_RULES": str(Path(folder, "rules.json")),
            "UNDUST_STORE": str(Path(folder, "seen.store")),
        }
    process = AsyncCrawlerProcess(settings)
    crawler = process.create_crawler(AllSpider)
    process.crawl(crawler)
    process.start()
    assert isinstance(crawler.spider, AllSpider)
    assert crawler.spider.begun is not None
    used = time.process_time() - crawler.spider.begun
    print(json.dumps({"seconds": used, "requests": crawler.stats.get_value("response_received_count")}))


def _serve(told: Connection) -> None:
    """A site whose page n links to ten others, with as little work as can be."""
    filler = b"<p>" + b"word " * (BODY_BYTES // 5)

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while request := await reader.readline():
            while await reader.readline() not in (b"\r\n", b""):
                pass
            number = int(request.split()[1].strip(b"/") or 0)
            links = [(number * LINKS // 2 + n) % PAGES for n in range(1, LINKS + 1)]
            body = b"<title>%d</title>" % number + b"".join(b"<a href=/%d>x</a>" % link for link in links) + filler
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
            await writer.drain()
        writer.close()

    async def main() -> None:
        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        told.send(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}")
        await server.serve_forever()

    asyncio.run(main())


if __name__ == "__main__":
    os.environ.setdefault("PYTHONHASHSEED", "0")
    _child(sys.argv[1], sys.argv[2] == "True", sys.argv[3])
