"""The add-on in a real Scrapy project, made by `scrapy startproject`, against a server on loopback."""

import json
import re
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from scrapy.settings import Settings

from tests.crawl_servers import redis_server
from undust.crawl.scrapy import Addon, DupeFilter, DuplicatesPipeline, Fingerprinter
from undust.crawl.scrapy.firsts import COMMIT_TOGETHER, Firsts
from undust.crawl.store import open_store
from undust.errors import UndustError, UsageError
from undust.rules.line_reader import read_line
from undust.rules.ruleset import RuleSet

ADDON = 'ADDONS = {"undust.crawl.scrapy.Addon": 500}\n'
QUICK = "ROBOTSTXT_OBEY = False\nDOWNLOAD_DELAY = 0\nTELNETCONSOLE_ENABLED = False\nRETRY_ENABLED = False\n"
SPIDER = """
import json
import scrapy

class AllSpider(scrapy.Spider):
    name = "all"

    async def start(self):
        yield scrapy.Request(self.base + "/")
        yield scrapy.Request(self.base + "/search", method="POST", body="q=1", callback=self.nothing)
        yield scrapy.Request(self.base + "/search", method="POST", body="q=2", callback=self.nothing)

    def nothing(self, response):
        pass

    def parse(self, response):
        yield {"url": response.url, "body": response.text}
        for link in response.css("a"):
            yield response.follow(link, meta={"undust": not link.attrib.get("rel")})

    def closed(self, reason):
        with open(self.out, "w") as file:
            json.dump(self.crawler.stats.get_stats(), file, default=str)
"""


@dataclass
class Site:
    """Pages that link to each other with session ids, one of them in trouble, two of them the same."""

    asked: Counter[str] = field(default_factory=Counter)
    trouble: bool = False
    address: str = ""

    def page(self, path: str) -> bytes | None:
        page = path.partition("?")[0]
        if self.trouble and page == "/3":
            return None
        if page == "/":
            links = [f"/{n}?sid={s}" for n in range(6) for s in (1, 2)] + ["/"]
            return ("".join(f"<a href='{link}'>x</a>" for link in links) + "<a rel=x href='/1?sid=8'>x</a>").encode()
        return b"<p>same" if page in ("/4", "/5") else f"<p>page {page} <a href='/1?sid=9'>x</a>".encode()


@pytest.fixture
def site() -> Iterator[Site]:
    made = Site()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            made.asked[f"{self.command} {self.path}"] += 1
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            body = made.page(self.path)
            self.send_response(503 if body is None else 200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body or b"")))
            self.end_headers()
            self.wfile.write(body or b"")

        do_POST = do_GET  # noqa: N815 - the name that http.server looks for

        def log_message(self, *words: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    made.address = f"http://127.0.0.1:{server.server_port}"
    yield made
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def project(tmp_path: Path, site: Site) -> Path:
    """Make a project as people do, with one line of ours in its settings, and rules for the site."""
    folder = tmp_path / "shop"
    folder.mkdir()
    subprocess.run(
        [sys.executable, "-m", "scrapy", "startproject", "shop", str(folder)], check=True, capture_output=True
    )
    with (folder / "shop" / "settings.py").open("a") as settings:
        settings.write(ADDON + QUICK)
    (folder / "shop" / "spiders" / "all.py").write_text(SPIDER)
    host = site.address.removeprefix("http://")
    rules = RuleSet([read_line(f"{host}  //{host}/…?sid={{?}}  →  //{host}/…")])
    rules.save(str(folder / "rules.json"))
    return folder


def crawl(project: Path, site: Site, **settings: object) -> tuple[dict[str, Any], list[dict[str, str]], str]:
    """Run a crawl; gives its statistics, its items, and what it logged."""
    site.asked.clear()
    stats, items = project / "stats.json", project / "items.jsonl"
    command = [sys.executable, "-W", "error::DeprecationWarning:undust", "-m", "scrapy", "crawl", "all"]
    command += ["-a", f"base={site.address}", "-a", f"out={stats}", "-O", str(items)]
    command += [word for name, value in settings.items() for word in ("-s", f"{name}={value}")]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, check=False, timeout=900)
    assert done.returncode == 0, done.stderr
    return json.loads(stats.read_text()), [json.loads(line) for line in items.read_text().splitlines()], done.stderr


def paths(site: Site) -> list[str]:
    return sorted(path for path in site.asked if path.startswith("GET"))


def test_one_line_in_the_settings_of_a_project_is_all(project: Path, site: Site) -> None:
    stats, items, log = crawl(project, site)
    assert "ERROR" not in log
    assert "undust" not in "".join(line for line in log.splitlines() if "Warning" in line)
    assert {site.asked[path] for path in paths(site)} == {1}
    assert len(paths(site)) == 15  # the start page, six pages with two session ids, page 1 with 8 and 9
    assert len(items) == 6  # of equal content one only: the start page, pages 0 to 3, and 4 or 5
    assert stats["item_dropped_count"] == stats["undust/items/duplicates"] == 9
    assert stats["undust/items/unique"] == 6
    assert stats["dupefilter/filtered"] == stats["undust/requests/skipped"]
    assert stats["undust/requests/new"] == 17


def test_rules_keep_duplicates_from_being_fetched(project: Path, site: Site) -> None:
    stats, items, log = crawl(
        project, site, UNDUST_RULES="rules.json", UNDUST_DUPLICATES="mark", UNDUST_STORE=project / "seen.store"
    )
    assert "ERROR" not in log
    fetched = Counter(path.partition("?")[0] for path in paths(site))
    # Page 1 twice, as one link to it says `meta={"undust": False}`; what is posted is told apart by its body.
    assert fetched == {"GET /": 1, **{f"GET /{n}": 1 + (n == 1) for n in range(6)}}
    assert site.asked["POST /search"] == 2
    assert stats["undust/requests/opted_out"] == 1
    assert sum(count for name, count in stats.items() if name.startswith("undust/skipped_by/")) >= 6
    assert any(re.fullmatch(r"undust/skipped_by/127.*\?sid=.*→.*", name) for name in stats)
    marked = {item["url"].partition("?")[0][-1]: item.get("duplicate_of") for item in items}
    assert {page for page, first in marked.items() if first} <= {"4", "5", "1"}
    assert (marked["4"] is None) != (marked["5"] is None)

    stats, items, _ = crawl(project, site, UNDUST_RULES="rules.json", UNDUST_STORE=project / "seen.store")
    assert (paths(site), items) == ([], [])  # everything was fetched by the crawl before
    assert stats["undust/requests/skipped"] == 3


def test_what_had_no_answer_is_asked_for_again_by_the_next_crawl(project: Path, site: Site) -> None:
    options = {"UNDUST_RULES": "rules.json", "UNDUST_STORE": project / "seen.store", "HTTPERROR_ALLOW_ALL": True}
    site.trouble = True
    crawl(project, site, **options)
    assert len([path for path in paths(site) if "/3?" in path]) == 1  # not a second time in the same crawl
    site.trouble = False
    spider = project / "shop" / "spiders" / "all.py"
    spider.write_text(SPIDER.replace('self.base + "/")', 'self.base + "/", dont_filter=True)'))
    crawl(project, site, **options)
    assert [path.partition("?")[0] for path in paths(site)] == ["GET /", "GET /3"]


def test_a_job_goes_on_where_it_was_stopped(project: Path, site: Site) -> None:
    options = {"JOBDIR": project / "job", "CONCURRENT_REQUESTS": 1, "UNDUST_RULES": "rules.json"}
    crawl(project, site, CLOSESPIDER_PAGECOUNT=4, **options)
    assert (project / "job" / "undust.store").exists()
    first = Counter(site.asked)
    assert 0 < first.total() < 10
    crawl(project, site, **options)
    both = first + site.asked
    assert max(both[path] for path in both if path.startswith("GET")) == 1
    assert Counter(path.partition("?")[0] for path in both) == {
        "GET /": 1, "POST /search": 1, **{f"GET /{n}": 1 + (n == 1) for n in range(6)}
    }  # fmt: skip
    assert not (project / "job" / "undust.waiting").exists()


@pytest.mark.redis
def test_crawls_on_a_shared_store_share_the_work(project: Path, site: Site) -> None:
    options = {"CONCURRENT_REQUESTS": 1, "UNDUST_RULES": "rules.json"}
    spider = project / "shop" / "spiders" / "all.py"
    spider.write_text(SPIDER.replace('self.base + "/")', 'self.base + "/", dont_filter=True)'))
    with redis_server() as address:
        crawl(project, site, CLOSESPIDER_PAGECOUNT=6, UNDUST_STORE=address, **options)
        first = Counter(site.asked)
        crawl(project, site, UNDUST_STORE=address, **options)  # what the first had queued has gone back
    both = first + site.asked
    assert sum(first.values()) < 10
    del both["GET /"]  # each begins there, without asking
    fetched = Counter(path.partition("?")[0] for path in both.elements())
    assert fetched == {"POST /search": 2, **{f"GET /{n}": 1 + (n == 1) for n in range(6)}}


def test_a_crawl_with_wrong_settings_does_not_begin(project: Path, site: Site) -> None:
    command = [sys.executable, "-m", "scrapy", "crawl", "all", "-a", f"base={site.address}", "-a", "out=x"]
    done = subprocess.run(
        [*command, "-s", "UNDUST_STORE=/nowhere/seen.store"], cwd=project, capture_output=True, text=True, check=False
    )
    assert done.returncode != 0
    assert "/nowhere/seen.store: cannot be opened or written" in done.stderr.splitlines()[-1]
    assert not site.asked


def test_contents_are_written_together_and_none_is_forgotten(tmp_path: Path) -> None:
    place = tmp_path / "seen.store"
    with open_store(place) as store, open_store(place) as other:
        firsts = Firsts(store, at_once=False)
        given = [n.to_bytes(16, "big") for n in range(COMMIT_TOGETHER + 1)]
        assert {firsts.of(one, f"http://a.test/{n}") for n, one in enumerate(given)} == {None}
        assert firsts.of(given[-1], "http://b.test/") == f"http://a.test/{COMMIT_TOGETHER}"  # before it is written
        assert firsts.of(given[-1], f"http://a.test/{COMMIT_TOGETHER}") is None  # fetched again
        assert other.first_page(given[0]) == "http://a.test/0"
        firsts.write()
        assert other.first_page(given[-1]) == f"http://a.test/{COMMIT_TOGETHER}"
        assert firsts.of(given[0], "http://b.test/") == "http://a.test/0"  # after it
        assert Firsts(store, at_once=True).of(b"x" * 16, "http://a.test/x") is None
        assert other.first_page(b"x" * 16) == "http://a.test/x"


WRONG = [
    ({"UNDUST_RULES": "none.json"}, "UNDUST_RULES: there is no file none.json; give one that undust learn has written"),
    ({"UNDUST_DUPLICATES": "delete"}, "UNDUST_DUPLICATES: 'delete' is none of drop, mark, off"),
    ({"UNDUST_REMEMBER": "never"}, "UNDUST_REMEMBER: 'never' is none of fetched, asked"),
    ({"UNDUST_CONTENT": "html"}, "UNDUST_CONTENT: 'html' is none of body, text, main"),
    ({"UNDUST_STROE": "x"}, "unknown setting UNDUST_STROE; one of UNDUST_RULES, UNDUST_STORE"),
]


@pytest.mark.parametrize(("settings", "message"), WRONG)
def test_a_wrong_setting_is_named(settings: dict[str, str], message: str) -> None:
    with pytest.raises(UsageError, match=re.escape(message)):
        Addon().update_settings(Settings(settings))


class Theirs:
    """A fingerprinter, dupe filter and pipeline that a project may have chosen."""


THEIRS = f"{__name__}.Theirs"


def test_what_the_project_has_chosen_stays_in_use() -> None:
    settings = Settings(
        {"REQUEST_FINGERPRINTER_CLASS": THEIRS, "DUPEFILTER_CLASS": THEIRS, "ITEM_PIPELINES": {THEIRS: 300}}
    )
    Addon().update_settings(settings)
    Addon().update_settings(settings)  # twice is once
    assert settings["REQUEST_FINGERPRINTER_CLASS"] is Fingerprinter
    assert settings["UNDUST_FALLBACK_REQUEST_FINGERPRINTER_CLASS"] == THEIRS
    assert settings["DUPEFILTER_CLASS"] == THEIRS
    assert dict(settings.getdict("ITEM_PIPELINES")) == {THEIRS: 300, DuplicatesPipeline: 100}


def test_the_defaults_make_way() -> None:
    settings = Settings({"UNDUST_DUPLICATES": "off"})
    Addon().update_settings(settings)
    assert settings["DUPEFILTER_CLASS"] is DupeFilter
    assert not settings.getdict("ITEM_PIPELINES")


def test_a_missing_extra_is_named() -> None:
    code = "import sys; sys.modules['scrapy'] = None; import undust.crawl.scrapy"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "needs Scrapy: pip install 'undust[scrapy]'" in done.stderr
    assert issubclass(UsageError, UndustError)
