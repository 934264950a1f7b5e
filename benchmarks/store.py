"""The store of a crawler: bytes for each signature, and what a look and an addition cost as it grows.

`python -m benchmarks.store 10000000` measures with so many signatures; as part of all benchmarks it is a million.
"""

import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

from benchmarks.timing import row
from undust.crawl.store import Store, open_store

SIZES = (100_000, 1_000_000)
BATCH = 1_000_000
ASKED = 1000
ROUNDS = 9
PAGES = 100_000


def signatures(count: int) -> list[bytes]:
    """Make signatures as URLs have them: even over all that are possible."""
    data = os.urandom(16 * count)
    return [data[at : at + 16] for at in range(0, 16 * count, 16)]


def median_microseconds(work: Callable[[bytes], Any], make: Callable[[int], list[bytes]]) -> tuple[float, float]:
    """Processor time and time on the clock for one call, the median of some rounds."""
    cpu, wall = [], []
    for _ in range(ROUNDS):
        given = make(ASKED)
        start, used = time.perf_counter(), time.process_time()
        for one in given:
            work(one)
        cpu.append((time.process_time() - used) / ASKED)
        wall.append((time.perf_counter() - start) / ASKED)
    return 1e6 * statistics.median(cpu), 1e6 * statistics.median(wall)


def measure_at(store: Store, count: int, known: list[bytes]) -> dict[str, float]:
    """Measure a store that holds so many signatures."""
    at = iter(range(0, len(known), ASKED))
    hit, hit_wall = median_microseconds(
        lambda one: store.known_urls([one]), lambda n: known[(start := next(at)) : start + n]
    )
    miss, miss_wall = median_microseconds(lambda one: store.known_urls([one]), signatures)
    add, add_wall = median_microseconds(lambda one: store.add_urls([one]), signatures)
    return {
        "count": count, "hit": hit, "hit_wall": hit_wall, "miss": miss, "miss_wall": miss_wall,
        "add": add, "add_wall": add_wall,
    }  # fmt: skip


def measure(sizes: tuple[int, ...]) -> Iterator[dict[str, float]]:
    """Let one store grow, and measure it at some sizes."""
    with tempfile.TemporaryDirectory(prefix="undust-store-") as folder:
        path = Path(folder, "seen.store")
        for before, size in pairwise((0, *sizes)):
            start = time.process_time()
            with open_store(path) as store:
                for done in range(before, size, BATCH):
                    known = signatures(min(BATCH, size - done))
                    store.add_urls(known)
            filling = 1e6 * (time.process_time() - start) / (size - before)
            each = path.stat().st_size / size
            with open_store(path) as store:
                yield {**measure_at(store, size, known[: ASKED * ROUNDS]), "bytes": each, "filling": filling}


def page_bytes() -> float:
    """Measure what a page takes whose URL has 60 letters."""
    with tempfile.TemporaryDirectory(prefix="undust-store-") as folder:
        path = Path(folder, "seen.store")
        with open_store(path) as store:
            store.add_pages(signatures(PAGES), [f"https://www.example.com/{n:036d}" for n in range(PAGES)])
        return path.stat().st_size / PAGES


def run() -> list[dict[str, Any]]:
    """Compare the store with itself when it was small."""
    small, *_, large = measure(SIZES)
    pages = page_bytes()
    return [
        row(f"look at {large['count']:,.0f} : at {small['count']:,.0f}", f"{large['miss']:.1f} µs",
            f"{small['miss']:.1f} µs", large["miss"] / small["miss"], 2, at_most=True),
        row("100 million signatures : 4 GB", f"{large['bytes']:.1f} B each", f"{large['bytes'] / 10:.2f} GB",
            large["bytes"] / 40, 1, at_most=True),
        row("content of a page : its 16 bytes and URL", f"{pages:.0f} B", "76 B", pages / 76, 2, at_most=True),
    ]  # fmt: skip


if __name__ == "__main__":
    most = int(sys.argv[1])
    for result in measure(tuple(10**power for power in range(5, len(str(most))) if 10**power <= most)):
        print(json.dumps({name: round(value, 2) for name, value in result.items()}), flush=True)
    print(json.dumps({"page_bytes": round(page_bytes(), 1)}))
