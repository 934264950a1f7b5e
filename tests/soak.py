"""Crawls, learns and serves on loopback under load for a while, and looks at memory and file handles meanwhile.

python -m tests.soak --minutes 30 [--json FILE]     ends with exit code 1 where something grew or failed
"""

import argparse
import json
import os
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

import httpx

from tests.crawl_site import Request, serving
from tests.serving import Running, make_run
from tests.serving import serving as serving_run
from undust import corpus, pipeline
from undust.crawl.flow import crawl
from undust.crawl.seen import Seen
from undust.rules.ruleset import RuleSet

ARTICLES = 40
MOST_GROWN = 1.15
"""Memory at the end, in parts of what it was after the first third, when caches are full."""
MORE_HANDLES = 8
"""File handles that may be open at the end beyond those after the first third: answers that are on their way."""


@dataclass(slots=True)
class Soaked:
    """What was done, and how much of the machine this process held while it was done."""

    rounds: int = 0
    pages: int = 0
    questions: int = 0
    errors: list[str] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    resident_mib: list[float] = field(default_factory=list)
    handles: list[int] = field(default_factory=list)

    def look(self, begun: float) -> None:
        """Note where things stand."""
        resident = int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        self.seconds.append(round(time.monotonic() - begun, 1))
        self.resident_mib.append(round(resident / 2**20, 1))
        self.handles.append(sum(1 for _ in Path("/proc/self/fd").iterdir()))

    def judged(self) -> list[str]:
        """Name what is wrong."""
        third = len(self.seconds) // 3
        wrong = list(self.errors)
        if max(self.resident_mib[-3:]) > MOST_GROWN * max(self.resident_mib[: third + 1]):
            wrong.append("memory has grown")
        if self.handles[-1] > max(self.handles[: third + 1]) + MORE_HANDLES:
            wrong.append("file handles have grown")
        return wrong


def article(request: Request) -> None:
    """An article with links to others, each in two spellings."""
    number = int(request.path.split("id=")[-1].split("&")[0] or 0) if "id=" in request.path else 0
    near = [(number + step) % ARTICLES for step in (1, 2, 7)]
    links = "".join(f'<a href="/a?id={n}">n</a><a href="/a?id={n}&sid={number}">s</a>' for n in near)
    request.page(f"<title>{number}</title><p>{' '.join(f'word{number * k}' for k in range(60))}</p>{links}")


def ask_on(server: Running, done: Soaked, stop: threading.Event) -> None:
    """Ask the service, one question after the other, as fast as it answers."""
    questions: Iterator[Callable[[httpx.Client], httpx.Response]] = _questions()
    with httpx.Client(base_url=server.address, timeout=60) as client:
        while not stop.is_set():
            try:
                answer = next(questions)(client)
            except httpx.HTTPError as error:
                done.errors.append(f"question: {error!r}")
                return
            if answer.status_code >= 400:
                done.errors.append(f"question: {answer.status_code} {answer.text[:200]}")
            done.questions += 1


def _questions() -> Iterator[Callable[[httpx.Client], httpx.Response]]:
    urls = [f"http://shop.test/item/{n}?sid={n}" for n in range(500)]
    while True:
        yield lambda client: client.post("/normalize", json={"urls": urls})
        yield lambda client: client.post("/same", json={"pairs": [["http://shop.test/item/1", urls[1]]]})
        yield lambda client: client.post("/explain", json={"url": urls[3]})
        yield lambda client: client.get("/rules")
        yield lambda client: client.get("/clusters")
        yield lambda client: client.get("/health")


def one_round(site: str, folder: Path, rules_file: Path, done: Soaked) -> None:
    """Crawl, learn from it, let the service and a store use what was learned."""
    found = crawl(f"{site}/a?id=0", output=folder / str(done.rounds), learn=True, throttle=False, allow_private=True)
    done.pages += found.unique + found.duplicates
    if found.failed:
        done.errors.append(f"crawl: {found.failed} pages failed")
    table = corpus.read_clusters(folder / str(done.rounds) / "pages.parquet")
    rules = pipeline.learn(table)
    kept = pipeline.load_rules(rules_file)
    RuleSet([*kept, *(rule for rule in rules if rule.id not in {each.id for each in kept})]).save(str(rules_file))
    with Seen(folder / "seen.store", rules=rules) as seen:
        seen.seen_urls(table["url"].to_pylist())
    done.rounds += 1


def soak(seconds: float, folder: Path, threads: int) -> Soaked:
    """Do it for so long."""
    done = Soaked()
    run = make_run(folder)
    stop = threading.Event()
    begun = time.monotonic()
    with serving({"/a": article}) as site, serving_run(run) as server:
        askers = [threading.Thread(target=ask_on, args=(server, done, stop)) for _ in range(threads)]
        for asker in askers:
            asker.start()
        try:
            while time.monotonic() - begun < seconds:
                one_round(site.url, folder, run / "rules.json", done)
                done.look(begun)
        finally:
            stop.set()
            for asker in askers:
                asker.join()
    return done


def main() -> int:
    """Run it, and tell."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--threads", type=int, default=2, help="that ask the service")
    parser.add_argument("--json", type=Path, help="file for all that was seen")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        done = soak(60 * options.minutes, Path(folder), options.threads)
    wrong = done.judged()
    print(
        f"{done.rounds} crawls of {done.pages:,} pages, {done.questions:,} questions in {done.seconds[-1]:,} s;"
        f" memory {done.resident_mib[0]} to {done.resident_mib[-1]} MiB, handles {done.handles[0]} to"
        f" {done.handles[-1]}; {len(wrong)} problems"
    )
    for each in wrong[:10]:
        print(f"  {each}")
    if options.json:
        options.json.write_text(json.dumps(asdict(done), indent=1))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
