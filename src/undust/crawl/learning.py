"""What a crawl has learned so far: clusters of its pages, the lines of the site, rules; in a process of its own.

The crawl does not stop meanwhile: `python -m undust.crawl.learning STATE OUT` reads the state that was last committed.
"""

import json
import sys
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from undust import pipeline
from undust.crawl.evidence import LINES, NO_LINES, Lines, common_lines, content_of
from undust.crawl.frontier import Frontier
from undust.outputs import write_whole
from undust.rules.files import dumps, loads
from undust.rules.rule import Rule
from undust.urls.parse import split
from undust.urls.site import site_of

MAX_PAGES = 100_000
"""Pages that are learned from, the newest: what a site does, it does often."""

CANONICAL_SHARE = 0.5
"""A page and the one that it names as canonical are the same if they share so many of their lines."""


class Learned(NamedTuple):
    """What was learned."""

    pages: list[int]
    clusters: list[bytes]
    """Of each page."""
    common: npt.NDArray[np.uint64]
    """Hashes of lines that are the sites', not the pages'."""
    rules: list[Rule]


def learn_from(frontier: Frontier) -> Learned:
    """Learn from the pages of a crawl."""
    rows = frontier.execute(
        "SELECT u.id, u.url, p.digest, p.lines, p.canonical FROM pages p JOIN urls u ON u.id = p.id"
        " WHERE p.status = 200 ORDER BY u.id DESC LIMIT ?",
        (MAX_PAGES,),
    ).fetchall()
    lines = [NO_LINES if row[3] is None else np.frombuffer(row[3], LINES) for row in rows]
    by_site = defaultdict(list)
    for place, row in enumerate(rows):
        parts = split(row[1])
        by_site[site_of(parts.host, parts.port)].append(place)
    commons = [common_lines([lines[place] for place in places]) for places in by_site.values()]
    common = np.unique(np.concatenate([np.empty(0, np.uint64), *commons]))
    clusters = [content_of(some, common) if len(some) else row[2] for row, some in zip(rows, lines, strict=True)]
    urls = [row[1] for row in rows]
    names = _joined(frontier, urls, clusters, lines, [row[4] for row in rows])
    table = {"url": list(names), "cluster": list(names.values())}
    rules = list(pipeline.learn(pa.table(table, pa.schema([("url", pa.string()), ("cluster", pa.string())]))))
    return Learned([row[0] for row in rows], clusters, common, rules)


def _joined(
    frontier: Frontier, urls: list[str], clusters: list[bytes], lines: list[Lines], canonical: list[str | None]
) -> dict[str, str]:
    """Name the cluster of each URL; redirects are in that of their target, pages in that of a canonical alike."""
    names = {url: cluster.hex() for url, cluster in zip(urls, clusters, strict=True)}
    places = {url: place for place, url in enumerate(urls)}
    same: dict[str, str] = {}
    for place, target in enumerate(canonical):
        other = places.get(target or "", place)
        if names[urls[place]] != names[urls[other]] and _alike(lines[place], lines[other]):
            same[names[urls[place]]] = names[urls[other]]
    for url in urls:
        names[url] = _end(names[url], same)
    moved = dict(
        frontier.execute(
            "SELECT u.url, p.location FROM pages p JOIN urls u ON u.id = p.id WHERE p.location IS NOT NULL AND"
            " p.status BETWEEN 300 AND 399"
        ).fetchall()
    )
    for url in moved:
        target = _end(url, moved)
        if target in places:
            names[url] = names[target]
    return names


def _end(name: str, follows: dict[str, str]) -> str:
    """Follow a chain to its end, or as far as it is no circle."""
    for _ in range(16):
        if name not in follows:
            break
        name = follows[name]
    return name


def _alike(a: Lines, b: Lines) -> bool:
    if not len(a) or not len(b):
        return False
    shared = len(np.intersect1d(a["hash"], b["hash"]))
    return shared >= CANONICAL_SHARE * max(len(np.unique(a["hash"])), len(np.unique(b["hash"])))


def save(learned: Learned, path: Path) -> None:
    """Write what was learned to a file, whole or not at all."""
    value = {
        "pages": learned.pages,
        "clusters": [cluster.hex() for cluster in learned.clusters],
        "common": [int(one) for one in learned.common],
        "rules": dumps(learned.rules),
    }
    write_whole(path, json.dumps(value).encode())


def load(path: Path) -> Learned:
    """Read what `save` wrote."""
    value = json.loads(path.read_bytes())
    clusters = [bytes.fromhex(one) for one in value["clusters"]]
    return Learned(value["pages"], clusters, np.array(value["common"], np.uint64), loads(value["rules"], str(path)))


def main() -> None:
    """Learn from a state, into a file."""
    frontier = Frontier(Path(sys.argv[1]), read_only=True)
    save(learn_from(frontier), Path(sys.argv[2]))
    frontier.close()


if __name__ == "__main__":
    main()
