"""Crawls of real servers on loopback that answer well, badly or not at all, and crawls that are killed."""

import contextlib
import json
import os
import random
import resource
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import undust
from tests.crawl_site import Handler, Request, Site, article_site, faulty_site, links, prose, serving
from undust.crawl.loop import STATE
from undust.errors import InputError, UsageError

pytest.importorskip("scrapy")

KILLS = int(os.environ.get("UNDUST_KILLS", "8"))
FAST: dict[str, Any] = {"throttle": False, "allow_private": True, "per_host": 8}
FLAGS = ["--allow-private", "--no-throttle", "--per-host", "8"]


def pages(folder: Path) -> set[str]:
    """Give the paths of the pages of a crawl, without host and port."""
    urls = pq.read_table(folder / "pages.parquet")["url"].to_pylist()
    assert len(urls) == len(set(urls))
    return {url.split("/", 3)[3] for url in urls}


def archived(folder: Path) -> tuple[int, int, int]:
    """Count records of pages, those that are no revisits, and damaged ones."""
    tally = undust.Tally()
    batches = list(undust.read_pages(sorted((folder / "archive").glob("*.gz")), tally=tally))
    return (
        sum(len(batch) for batch in batches),
        sum(len(batch) - batch["html"].null_count for batch in batches),
        tally.damaged,
    )


def states(folder: Path) -> dict[str, tuple[str, str | None]]:
    rows = pq.read_table(folder / "urls.parquet").to_pylist()
    return {row["url"].split("/", 3)[3]: (row["state"], row["why"]) for row in rows}


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "undust", "crawl", *arguments]


@pytest.fixture(scope="module")
def articles() -> Iterator[Site]:
    with serving(article_site(40)) as site:
        yield site


@pytest.fixture(scope="module")
def undisturbed(articles: Site, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("crawl") / "whole"
    done = subprocess.run(
        command(f"{articles.url}/", "-o", str(folder), "--json", *FLAGS), capture_output=True, check=True
    )
    told = json.loads(done.stdout)
    assert {"requests", "unique", "duplicates", "skipped", "seconds"} <= set(told)
    assert told["unique"] == 41
    assert told["duplicates"] == 80
    return folder


def test_every_page_is_fetched_once_and_saved_once(undisturbed: Path, articles: Site) -> None:
    assert len(pages(undisturbed)) == 121
    assert max(count for path, count in articles.requests.items() if path != "/robots.txt") == 1
    assert archived(undisturbed) == (121, 41, 0)


def test_what_was_crawled_can_be_clustered_and_learned_from(undisturbed: Path) -> None:
    clusters = undust.read_clusters(str(undisturbed / "pages.parquet"))
    rules = undust.learn(clusters)
    assert rules.key("http://127.0.0.1/a?id=3&sid=9") is not None
    assert len(set(clusters["cluster"].to_pylist())) == 41


@contextlib.contextmanager
def forks() -> Iterator["subprocess.Popen[str]"]:
    command = [sys.executable, "-m", "tests.crawl_forks"]
    with subprocess.Popen(
        command, cwd=Path(__file__).parents[1], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as helper:
        yield helper


def begin(helper: "subprocess.Popen[str]", urls: list[str], folder: Path, *, resume: bool) -> int:
    """Begin a crawl; give the number of its process."""
    asked = {"urls": urls, "folder": str(folder), "options": FAST, "resume": resume}
    print(json.dumps(asked), file=helper.stdin, flush=True)
    assert helper.stdout is not None
    return int(helper.stdout.readline())


def is_running(process: int) -> bool:
    """Tell whether a process has not ended yet, though nobody has asked how it did."""
    return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"


def test_a_crawl_that_is_killed_again_and_again_ends_with_the_same_pages(
    articles: Site, undisturbed: Path, tmp_path: Path
) -> None:
    folder, chance = tmp_path / "killed", random.Random(KILLS)
    seen = articles.requests.copy()
    killed = 0
    with forks() as helper:
        for _ in range(KILLS):
            going = (folder / STATE).exists()
            before = articles.requests.total()
            target = before + 1 + chance.randrange(max(2, 2 * 121 // KILLS))
            articles.hold_at(target + 30)  # so that a slow test finds it at work, and not at the end
            child = begin(helper, [] if going else [f"{articles.url}/"], folder, resume=going)
            while is_running(child) and not articles.wait_for(target, 0.05):
                pass
            killed += is_running(child)
            os.kill(child, signal.SIGKILL)
            print("", file=helper.stdin, flush=True)
            articles.hold_at(float("inf"))
    assert killed
    found = undust.crawl(output=folder, resume=True, **FAST)
    assert pages(folder) == pages(undisturbed)
    assert found.unique == 41
    assert archived(folder) == (121, 41, 0)
    again = articles.requests - seen
    del again["/robots.txt"]
    assert sum(count - 1 for count in again.values()) <= killed * (64 + 16), "more than what was in flight came twice"


def test_a_full_disk_is_one_clear_line_and_the_crawl_goes_on_when_there_is_room(
    articles: Site, undisturbed: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "full"
    limit = 120_000

    def little_room() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))

    done = subprocess.run(
        command(f"{articles.url}/", "-o", str(folder), "--quiet", *FLAGS),
        preexec_fn=little_room, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1, done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert "--resume" in done.stderr or "room" in done.stderr
    undust.crawl(f"{articles.url}/", output=folder, resume=True, **FAST)
    assert pages(folder) == pages(undisturbed)


@pytest.fixture(scope="module")
def troubled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Site, Path, object]]:
    with serving(faulty_site()) as site:
        folder = tmp_path_factory.mktemp("crawl") / "faults"
        found = undust.crawl(f"{site.url}/", output=folder, timeout=2, retries=1, max_bytes=2**23, **FAST)
        yield site, folder, found


@pytest.mark.parametrize(
    ("path", "state", "why"),
    [
        ("hang", "failed", "imeout"),
        ("reset", "failed", "Connection"),
        ("flaky", "fetched", None),  # a burst of 503, then well
        ("broken", "fetched", None),  # answered, with 500
        ("endless", "failed", "longer"),
        ("short", "fetched", "cut"),
        ("bomb", "failed", ""),
        ("many", "fetched", None),
        ("odd", "fetched", None),
        ("good", "fetched", None),
        ("secret", "failed", "robots.txt"),
        ("metadata", "fetched", None),  # the redirect itself; where it leads is another site
    ],
)
def test_trouble_is_told_and_does_not_end_a_crawl(
    troubled: tuple[Site, Path, object], path: str, state: str, why: str | None
) -> None:
    found = states(troubled[1])[path]
    assert found[0] == state
    assert why is None or why in (found[1] or "")


def test_what_is_troubled_is_tried_again_and_what_is_forbidden_is_not_tried(
    troubled: tuple[Site, Path, object],
) -> None:
    site = troubled[0]
    assert site.requests["/hang"] == site.requests["/broken"] == 2
    assert site.requests["/secret"] == 0
    assert sum(count for path, count in site.requests.items() if path.startswith("/circle")) <= 12
    assert not any(path.startswith("/deep/deep") for path in site.requests)


def test_private_addresses_are_not_asked_unless_allowed(tmp_path: Path) -> None:
    with serving({"/": lambda request: request.page("private")}) as site:
        by_number = undust.crawl(f"{site.url}/", output=tmp_path / "number", throttle=False)
        by_name = undust.crawl(f"http://localhost:{site.port}/", output=tmp_path / "name", throttle=False, retries=0)
        assert site.requests.total() == 0
        assert by_number.unique == by_name.unique == 0
        assert any("--allow-private" in why for why in by_number.failures)
        assert any("--allow-private" in why for why in by_name.failures)


@pytest.mark.parametrize(
    ("pages", "why"),
    [
        ({}, "status 404"),
        ({"/robots.txt": lambda request: request.page("User-agent: *\nDisallow: /\n")}, "robots.txt"),
        ({"/": lambda request: request.redirect("http://elsewhere.test/")}, "other site"),
    ],
)
def test_a_crawl_without_any_page_fails_and_says_why(tmp_path: Path, pages: dict[str, Handler], why: str) -> None:
    with serving(pages) as site:
        done = subprocess.run(
            command(f"{site.url}/", "-o", str(tmp_path / "none"), "--json", *FLAGS), capture_output=True, check=False
        )
    assert done.returncode == 1
    assert json.loads(done.stdout)["unique"] == 0
    assert f"not one page could be fetched ({why})" in done.stderr.decode().splitlines()[-1]


def test_a_crawl_that_is_interrupted_writes_what_it_has_and_goes_on(tmp_path: Path, undisturbed: Path) -> None:
    pages_of_site, gate = article_site(40), threading.Event()

    def article(request: Request) -> None:
        assert request.site.requests.total() < 30 or gate.wait(120)
        pages_of_site["/a"](request)

    with serving({**pages_of_site, "/a": article}) as site:
        process = subprocess.Popen(command(f"{site.url}/", "-o", str(tmp_path / "cut"), *FLAGS), stderr=subprocess.PIPE)
        assert site.wait_for(30)
        process.send_signal(signal.SIGINT)
        gate.set()
        assert "--resume" in process.communicate()[1].decode()
        assert process.returncode == 130
        assert 0 < len(pages(tmp_path / "cut")) < 121
        assert undust.crawl(output=tmp_path / "cut", resume=True, **FAST).unique == 41
    assert pages(tmp_path / "cut") == pages(undisturbed)


def slow_until_rules(site: dict[str, Handler], state: Path) -> dict[str, Handler]:
    """Answer 300 requests at once, and the rest when rules are in force, as a server with more pages would."""
    article = site["/a"]

    def patient(request: Request) -> None:
        while request.site.requests.total() > 300 and not rules_in_force(state):
            assert not request.site.released.wait(0.1)
        article(request)

    return {**site, "/a": patient}


def rules_in_force(state: Path) -> bool:
    with contextlib.closing(sqlite3.connect(f"file:{state}?mode=ro", uri=True)) as base:
        return bool(base.execute("SELECT count(*) FROM rules WHERE state = 'in force'").fetchone()[0])


def test_a_crawl_that_learns_skips_duplicates_and_loses_nothing(tmp_path: Path) -> None:
    with serving(slow_until_rules(article_site(150), tmp_path / "learned" / STATE)) as site:
        found = undust.crawl(f"{site.url}/", output=tmp_path / "learned", learn=True, timeout=1500, **FAST)
    texts = {path for path in pages(tmp_path / "learned") if path.startswith("a?id=")}
    assert {one.split("&")[0] for one in texts} == {f"a?id={n}" for n in range(150)}
    assert found.rules
    assert found.skipped > 0
    assert found.requests + found.skipped == found.links


def test_a_trap_without_end_ends(tmp_path: Path) -> None:
    def day(request: Request) -> None:
        number = int(request.path.rsplit("/", 1)[1])
        rows = "".join(f"<p>hour {hour}: no event</p>" for hour in range(24))
        request.page(f"<h1>day {number}</h1>{rows}" + links([f"/day/{number + 1}"]))

    with serving({"/": lambda request: request.page(links(["/day/1"], prose(1))), "/day/*": day}) as site:
        found = undust.crawl(f"{site.url}/", output=tmp_path / "trap", max_pages=500, **FAST)
    assert found.requests < 100
    assert found.waiting == 0
    assert any(why.startswith("trap") for why in found.refused)


def test_a_folder_that_holds_a_crawl_is_not_begun_in_again(undisturbed: Path) -> None:
    with pytest.raises(UsageError, match="--resume"):
        undust.crawl("http://a.test/", output=undisturbed)
    with pytest.raises(InputError, match="no crawl"):
        undust.crawl(output=undisturbed.parent / "nothing", resume=True)
