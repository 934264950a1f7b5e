"""Crawls of real web applications on loopback: Scrapy, Scrapy with duplicate-url-discarder, undust, undust --learn.

Needs root, for `../shared/webapps/setup.sh`, which sets the applications up; UNDUST_WEBAPPS names another folder.
UNDUST_CRAWL_SITES and UNDUST_CRAWL_WHO choose some, UNDUST_CRAWL_MAX=blog:1000,doku:3000 bounds requests;
UNDUST_CRAWL_KEEP names a folder where finished crawls are kept, and not made again.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.timing import row

SITES = {
    "docs": ("docs.test", "www.docs.test"),
    "blog": ("blog.test",),
    "files": ("files.test", "mirror.files.test"),
    "doku": ("doku.test",),
    "dokusid": ("dokusid.test",),
}
WHO = ("scrapy", "discarder", "undust", "undust-learn")
MAX_REQUESTS = 10_000
PICTURE = Path(__file__).parent.parent / "docs" / "crawl.svg"


class Curve(NamedTuple):
    """How many contents a crawl had after how many requests."""

    requests: list[int]
    contents: list[int]
    found: frozenset[str]

    def needed(self, count: float) -> int | None:
        """Give the requests after which it had so many contents; None if it never had."""
        return next((n for n, found in zip(self.requests, self.contents, strict=True) if found >= count), None)


def run() -> Iterator[dict[str, Any]]:
    """Crawl each site in each way; the goal is a share of the requests of plain Scrapy."""
    sites = _chosen("UNDUST_CRAWL_SITES", tuple(SITES))
    ways = _chosen("UNDUST_CRAWL_WHO", WHO)
    limits = dict(pair.split(":") for pair in os.environ.get("UNDUST_CRAWL_MAX", "").split(",") if pair)
    curves: dict[tuple[str, str], Curve] = {}
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(os.environ.get("UNDUST_CRAWL_KEEP") or scratch)
        folder.mkdir(parents=True, exist_ok=True)
        port = _webapps() if any(not (folder / f"{s}.{w}.jsonl").exists() for s in sites for w in ways) else 0
        for site in sites:
            for way in ways:
                path = folder / f"{site}.{way}.jsonl"
                if not path.exists():
                    urls = [f"http://{host}:{port}/" for host in SITES[site]]
                    aside = path.with_suffix(".part")
                    command = [sys.executable, "-m", "benchmarks.crawl_runs", way, str(aside)]
                    subprocess.run([*command, limits.get(site, str(MAX_REQUESTS)), *urls], check=True)
                    aside.rename(path)
                curves[site, way] = _curve(path)
            yield from _rows(site, ways, curves, int(limits.get(site, MAX_REQUESTS)))
    yield from _means(sites, ways, curves)
    _plot(curves)


def _chosen(name: str, every: tuple[str, ...]) -> tuple[str, ...]:
    asked = os.environ.get(name)
    return tuple(asked.split(",")) if asked else every


def _webapps() -> str:
    """Start the applications, unless they run; give their port."""
    folder = Path(os.environ.get("UNDUST_WEBAPPS", Path(__file__).parents[2] / "shared" / "webapps"))
    script = folder / "setup.sh"
    if not script.exists():
        raise SystemExit(f"{script}: no such file; set UNDUST_WEBAPPS to the folder of the web applications")
    subprocess.run([str(script)], check=True, stdout=subprocess.DEVNULL)
    return os.environ.get("WEBAPPS_PORT", "8180")


def _curve(path: Path) -> Curve:
    requests, contents = [], []
    seen: set[str] = set()
    for line in path.read_text().splitlines():
        value = json.loads(line)
        if isinstance(value, dict):
            continue
        if value[3] is not None:
            seen.add(value[3])
        requests.append(value[0])
        contents.append(len(seen))
    return Curve(requests, contents, frozenset(seen))


def _rows(
    site: str, ways: tuple[str, ...], curves: dict[tuple[str, str], Curve], limit: int
) -> Iterator[dict[str, Any]]:
    plain = curves[site, "scrapy"]
    for way in ways[1:]:
        mine = curves[site, way]
        for share in (0.95, 0.99):
            wanted = share * len(plain.found)
            ours, theirs = mine.needed(wanted), plain.needed(wanted)
            ratio = (ours or MAX_REQUESTS * 9) / max(theirs or 1, 1)
            yield row(
                f"{site}: requests for {share:.0%} of {len(plain.found):,} contents, {way} : scrapy",
                "never" if ours is None else f"{ours:,}", f"{theirs:,}", ratio, 0.6 if way == "undust-learn" else 9.99,
                at_most=True,
            )  # fmt: skip
        if plain.requests[-1] >= limit:
            continue  # neither has seen all of the site: what one lacks, it may have found later
        lost = len(plain.found - mine.found) / max(len(plain.found), 1)
        yield row(
            f"{site}: contents of scrapy's that {way} has not; requests in all",
            f"{lost:.2%}; {mine.requests[-1]:,}", f"{plain.requests[-1]:,}", lost,
            0.005 if way == "undust-learn" else 1, at_most=True,
        )  # fmt: skip


def _means(
    sites: tuple[str, ...], ways: tuple[str, ...], curves: dict[tuple[str, str], Curve]
) -> Iterator[dict[str, Any]]:
    for way in ways[1:]:
        ratios = []
        for site in sites:
            plain = curves[site, "scrapy"]
            wanted = 0.95 * len(plain.found)
            ratios.append((curves[site, way].needed(wanted) or MAX_REQUESTS * 9) / (plain.needed(wanted) or 1))
        mean = sum(ratios) / len(ratios)
        target = 0.6 if way == "undust-learn" else 9.99
        yield row(f"macro mean: requests for 95 %, {way} : scrapy", f"{mean:.2f}", "1", mean, target, at_most=True)


def _plot(curves: dict[tuple[str, str], Curve]) -> None:
    """Draw contents against requests."""
    import altair

    rows = []
    for (site, way), curve in curves.items():
        step = max(len(curve.requests) // 150, 1)
        rows += [
            {"site": site, "crawler": way, "requests": requests, "unique pages": contents}
            for requests, contents in list(zip(curve.requests, curve.contents, strict=True))[::step]
        ]
    chart = (
        altair.Chart(altair.InlineData(rows))
        .mark_line()
        .encode(
            x="requests:Q",
            y="unique pages:Q",
            color=altair.Color("crawler:N", sort=list(WHO)),
            facet=altair.Facet("site:N", columns=3, title=None),
        )
        .properties(width=220, height=150)
        .resolve_scale(x="independent", y="independent")
    )
    chart.save(str(PICTURE))
