"""The service under load, and its page on a large run: undust serve, asked by wrk over loopback."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.timing import row
from undust.rules.line_reader import read_line
from undust.rules.rule import Rule, Statistics
from undust.rules.ruleset import RuleSet

PAGES = int(os.environ.get("UNDUST_SERVE_PAGES", "1000000"))
RULES = 5_000
BATCH = 1_000
SECONDS = int(os.environ.get("UNDUST_SERVE_SECONDS", "6"))
RATE = 2_000
CONNECTIONS = 8
"""Each asks, waits for the answer, and pauses 3 ms: a little more than 2,000 questions a second."""


def make_run(folder: Path) -> None:
    """Write a run of as many pages and rules: 2,500 sites, one of which has a fifth of the pages."""
    chance = np.random.default_rng(0)
    sites = RULES // 2
    weights = np.concatenate([[0.2], np.full(sites - 1, 0.8 / (sites - 1))])
    site = np.sort(chance.choice(sites, PAGES, p=weights))
    page = chance.integers(0, PAGES // 3, PAGES)
    kind = chance.integers(0, 3, PAGES)
    tails = ["", "?sid={}", "?print=1"]
    urls = [
        f"http://www.site{s}.example/articles/{p % 97}/{p}.html" + tails[k].format(n)
        for n, (s, p, k) in enumerate(zip(site.tolist(), page.tolist(), kind.tolist(), strict=True))
    ]
    names = [f"{s}-{p}" for s, p in zip(site.tolist(), page.tolist(), strict=True)]
    table = pa.table({"url": urls, "cluster": names})
    pq.write_table(table, folder / "clusters.parquet", row_group_size=131_072)
    empty = pa.nulls(PAGES, pa.timestamp("s", tz="UTC"))
    title = pa.array([f"Article {p}" for p in page.tolist()])
    pq.write_table(
        pa.table({"url": urls, "time": empty, "title": title}), folder / "pages.parquet", row_group_size=131_072
    )
    RuleSet(_rules(sites)).save(str(folder / "rules.json"))


def _rules(sites: int) -> Iterator[Rule]:
    for number in range(sites):
        name = f"site{number}.example"
        for argument in ("sid", "print"):
            made = read_line(f"{name}  //….{name}/…?{argument}={{{argument[0]}}}  →  //….{name}/…")
            known = Statistics(coverage=200, support=180, clusters=50, merged=100 + number % 50, learner="made up")
            yield Rule(made.site, made.context, made.operations, made.sort_query, known)


@contextmanager
def served(folder: Path) -> Iterator[tuple[str, int]]:
    """Serve a run; give the address and the number of the process."""
    command = [sys.executable, "-m", "undust", "serve", str(folder), "--port", "0", "--quiet"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip(), process.pid
        finally:
            process.terminate()


def _script(folder: Path, name: str, bodies: list[bytes], kind: str, pause: int = 0) -> Path:
    """Write what wrk is to ask: these bodies in turns, with a pause (ms) on each connection; and how it is to tell."""
    made = [f"bodies[{place}] = [==[{body.decode()}]==]" for place, body in enumerate(bodies, 1)]
    text = "\n".join(
        [
            "local bodies, at = {}, 0",
            *made,
            f'wrk.method = "POST"; wrk.headers["Content-Type"] = "{kind}"',
            "function request() at = at % #bodies + 1; return wrk.format(nil, nil, nil, bodies[at]) end",
            f"function delay() return {pause} end" if pause else "",
            "function done(summary, latency)",
            '  io.write(string.format("told %d %d %f %f %d\\n", summary.requests, summary.duration,',
            "    latency:percentile(50), latency:percentile(99),",
            "    summary.errors.status + summary.errors.read + summary.errors.connect + summary.errors.timeout))",
            "end",
        ]
    )
    file = folder / f"{name}.lua"
    file.write_text(text, encoding="utf-8")
    return file


def _wrk(address: str, script: Path, connections: int, process: int) -> dict[str, float]:
    before = _processor_seconds(process)
    command = ["wrk", "-t1", f"-c{connections}", f"-d{SECONDS}s", "-s", str(script), address]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found = re.search(r"told (\d+) (\d+) ([\d.]+) ([\d.]+) (\d+)", done.stdout)
    assert found, done.stdout
    requests, micros, p50, p99, errors = (float(each) for each in found.groups())
    assert not errors, done.stdout
    worked = (_processor_seconds(process) - before) / requests
    return {"rate": requests / micros * 1e6, "p50": p50 / 1e3, "p99": p99 / 1e3, "processor": worked}


def _processor_seconds(process: int) -> float:
    """Give the processor time that a process has used: what it needs, whatever else the machine does."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _seconds(address: str, path: str) -> float:
    started = time.perf_counter()
    with urllib.request.urlopen(address + path, timeout=60) as answer:  # noqa: S310 - our own server
        answer.read()
    return time.perf_counter() - started


def run() -> list[dict[str, Any]]:
    """Measure batches, single questions, and what the page asks of a run of a million pages and 5,000 rules."""
    if shutil.which("wrk") is None:
        raise SystemExit("this benchmark needs wrk (Debian: wrk)")
    chance = np.random.default_rng(1)
    with tempfile.TemporaryDirectory(prefix="undust-serve-") as made:
        folder = Path(made)
        make_run(folder)
        began = time.perf_counter()
        with served(folder) as (address, _):
            indexed = time.perf_counter() - began
        began = time.perf_counter()
        with served(folder) as (address, process):
            opened = time.perf_counter() - began
            urls = (
                pq.read_table(folder / "clusters.parquet", columns=["url"])["url"]
                .take(pa.array(chance.integers(0, PAGES, 20 * BATCH)))
                .to_pylist()
            )
            found = _load(folder, f"{address}normalize", urls, process)
            asked = _page(address)
            memory = _memory(process)
    making = f"making it {indexed:.1f} s"
    return [
        *_rows(found),
        *(
            row(f"{PAGES:,} pages: {name}", f"{each:.2f} s", "1 s", each, 1, at_most=True)
            for name, each in asked.items()
        ),
        row("start, with the index", f"{opened:.1f} s", making, opened / indexed, 1, at_most=True),
        row("memory after that", f"{memory / 2**20:,.0f} MB", "1,024 MB", memory / 2**30, 1, at_most=True),
    ]


def _load(folder: Path, address: str, urls: list[str], process: int) -> dict[str, dict[str, float]]:
    """Ask batches and single URLs."""
    batches = [urls[at : at + BATCH] for at in range(0, len(urls), BATCH)]
    as_json = [json.dumps({"urls": batch}).encode() for batch in batches]
    as_text = ["\n".join(batch).encode() for batch in batches]
    singles = [json.dumps({"url": url}).encode() for url in urls[:1000]]
    scripts = {
        "json": (_script(folder, "json", as_json, "application/json"), 2),
        "text": (_script(folder, "text", as_text, "text/plain"), 2),
        "single": (_script(folder, "single", singles, "application/json"), 4),
        "paced": (_script(folder, "paced", singles, "application/json", 3), CONNECTIONS),
    }
    return {name: _wrk(address, script, connections, process) for name, (script, connections) in scripts.items()}


def _rows(found: dict[str, dict[str, float]]) -> Iterator[dict[str, Any]]:
    for name in ("json", "text"):
        rate, own = found[name]["rate"] * BATCH, BATCH / found[name]["processor"]
        yield row(f"batches of {BATCH:,}, {name}", f"{rate:,.0f} URLs/s", "300,000 URLs/s", rate / 300_000, 1)
        yield row("  by the server's processor time", f"{own:,.0f} URLs/s", "300,000 URLs/s", own / 300_000, 1)
    single, paced = found["single"], found["paced"]
    rate, own = single["rate"], 1 / single["processor"]
    yield row("one URL, as fast as it goes", f"{rate:,.0f}/s", f"{RATE:,}/s", rate / RATE, 1)
    yield row("  by the server's processor time", f"{own:,.0f}/s", f"{RATE:,}/s", own / RATE, 1)
    said = f"p50 {paced['p50']:.2f}, p99 {paced['p99']:.2f} ms"
    yield row(f"one URL, at {paced['rate']:,.0f}/s", said, "5 ms", paced["p99"] / 5, 1, at_most=True)


def _page(address: str) -> dict[str, float]:
    """Time what each view of the page asks for, the first time."""

    def ask(path: str) -> Any:
        with urllib.request.urlopen(address + path, timeout=60) as answer:  # noqa: S310 - our own server
            return json.load(answer)["result"]

    cluster = ask("clusters?limit=1")[0]
    rule = ask("rules?limit=1")[0]["id"]
    url = quote(cluster["url"], safe="")
    views = {
        "overview": ["overview"],
        "sites": ["sites"],
        "a site of 200,000 pages, and its tree": [
            "sites/site0.example",
            "sites/site0.example/tree",
            "rules?site=site0.example",
        ],
        "rules": ["rules?sort=merged"],
        "a rule": [f"rules/{rule}"],
        "clusters": ["clusters"],
        "clusters with a text": ["clusters?q=99999"],
        "a cluster": [f"clusters/{quote(cluster['name'])}"],
        "a page": [f"pages/{url}"],
        "search": ["search?q=articles/96/7"],
        "search that finds nothing": ["search?q=nothing-is-like-this"],
    }
    return {name: sum(_seconds(address, path) for path in paths) for name, paths in views.items()}


def _memory(process: int) -> int:
    """Give the memory of a process that is its own: mapped files are not counted."""
    for line in Path(f"/proc/{process}/status").read_text().splitlines():
        if line.startswith("RssAnon:"):
            return int(line.split()[1]) * 1024
    return 0
