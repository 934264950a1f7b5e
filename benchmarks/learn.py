"""Learning: one site of 10 thousand to 3 million URLs, by each method; and one cluster of 300,000 URLs.

Seconds are those of the processor, as other work on the machine must not count.
"""

import json
import math
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from benchmarks.timing import row
from undust.learn.columns import by_site
from undust.learn.methods import method
from undust.synth.web import Web

METHODS = ("tree", "both")
LEAST_RATE = 100_000  # URLs a second, from clusters to rules, on a million URLs
SIZES = (10_000, 70_000, 100_000, 1_000_000, 3_000_000)
GIANT = 300_000
PAPER_SECONDS = 37.3  # a site of 70,000 URLs (Lei et al., 2010, section 6.2.2)
TIMEOUT_SECONDS = 3600


def run() -> Iterator[dict[str, Any]]:
    """Measure each site in a process of its own: seconds to learn, with and without taking URLs apart, and memory."""
    for name in METHODS:
        found = {size: _measure(name, "site", size) for size in SIZES}
        done = found[70_000]
        job = f"{name}: 70,000 URLs, columns to rules : 1 s"
        yield row(job, f"{done['learn']:.2f} s", f"paper {PAPER_SECONDS} s", done["learn"], 1, at_most=True)
        done = found[1_000_000]
        rate = 1_000_000 / (done["columns"] + done["learn"])
        yield row(
            f"{name}: URLs a second, 1,000,000 : 100,000", f"{rate:,.0f}", f"{LEAST_RATE:,}", rate / LEAST_RATE, 1
        )
        done = found[3_000_000]
        seconds = done["columns"] + done["learn"]
        shown = f"{seconds:.1f} s, {done['gigabytes']:.1f} GB"
        yield row(f"{name}: 3,000,000 URLs to rules : 60 s", shown, "60 s", seconds / 60, 1, at_most=True)
        yield row(f"{name}: the same, memory : 6 GB", shown, "6 GB", done["gigabytes"] / 6, 1, at_most=True)
        for small, large in ((10_000, 100_000), (100_000, 1_000_000), (1_000_000, 3_000_000)):
            allowed = large * math.log(large) / (small * math.log(small))
            grown = found[large]["learn"] / found[small]["learn"]
            shown = f"{found[small]['learn']:.2f} s, {found[large]['learn']:.2f} s"
            job = f"{name}: {small:,} to {large:,} URLs : n log n"
            yield row(job, shown, f"{allowed:.1f} times", grown / allowed, 1, at_most=True)
        giant, single = (_measure(name, kind, GIANT)["learn"] for kind in ("giant", "single"))
        job = f"{name}: a cluster of {GIANT:,} URLs : as many of one each"
        yield row(job, f"{giant:.2f} s", f"{single:.2f} s", giant / single, 1, at_most=True)


def clusters(kind: str, urls: int) -> pa.Table:
    """Generate a site; or pages with ten URLs each and many logins, which are one cluster or each one of its own."""
    if kind == "site":
        return Web(sites=1, urls=urls).table().select(["url", "cluster"])
    pages = [(f"http://h.com/show?id={i // 10}&sid={i}", f"p{i // 10}") for i in range(urls // 3)]
    many = [(f"http://h.com/login?from={i}", "login" if kind == "giant" else f"l{i}") for i in range(urls)]
    rows = pages + many
    return pa.table({"url": [url for url, _ in rows], "cluster": [cluster for _, cluster in rows]})


def _measure(name: str, kind: str, urls: int) -> dict[str, float]:
    arguments = [sys.executable, "-m", "benchmarks.learn", name, kind, str(urls)]
    try:
        done = subprocess.run(arguments, check=True, capture_output=True, text=True, timeout=TIMEOUT_SECONDS)
    except subprocess.TimeoutExpired:
        return {"columns": math.inf, "learn": math.inf, "gigabytes": math.inf}
    found: dict[str, float] = json.loads(done.stdout)
    return found


def _one(name: str, kind: str, urls: int) -> None:
    chosen = method(name)
    for site in by_site(clusters("site", 2_000)):
        chosen.learn_site(site)  # kernels are compiled, or read from disk
    table = clusters(kind, urls)
    start = time.process_time()
    (site,) = by_site(table)
    columns = time.process_time()
    chosen.learn_site(site)
    end = time.process_time()
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(json.dumps({"columns": columns - start, "learn": end - columns, "gigabytes": memory}))


if __name__ == "__main__":
    _one(sys.argv[1], sys.argv[2], int(sys.argv[3]))
