"""Cuts the sample that ships with undust out of the recorded crawls: python tests/data/cut_sample.py CRAWLS SAMPLE.

From each crawl the clusters of duplicates with the shortest pages are taken, and as many pages without a duplicate,
each response record byte for byte, so that the sample stays small and every way to spell a page twice is in it.
"""

import csv
import gzip
import io
import sys
from collections import defaultdict
from itertools import zip_longest
from pathlib import Path
from urllib.parse import urlsplit

from warcio.archiveiterator import ArchiveIterator
from warcio.warcwriter import WARCWriter

# Clusters, single pages and URLs in a cluster that are taken from a crawl.
TAKEN = {"docs": (24, 6, 2), "autoindex": (25, 5, 8), "wordpress": (10, 4, 3), "dokuwiki_sid": (8, 4, 3)}


def clusters_of(crawl: Path) -> dict[str, list[str]]:
    """URLs of each cluster of HTML pages with content of their own."""
    found = defaultdict(list)
    with gzip.open(crawl, "rt", encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            if row["status"] == "200" and row["mime"].startswith("text/html") and row["generic"] == "0":
                found[row["cluster"]].append(row["url"])
    return found


def choose(clusters: dict[str, list[str]], sizes: dict[str, int], taken: tuple[int, int, int]) -> set[str]:
    """The URLs with the shortest pages: of clusters of duplicates, and of clusters of one."""
    many, single, most = taken
    shortest = {c: sorted(in_turns(urls), key=lambda u: sizes[u])[:most] for c, urls in clusters.items()}
    ordered = sorted(shortest, key=lambda c: (max(sizes[u] for u in shortest[c]), c))
    chosen = [c for c in ordered if len(shortest[c]) > 1][:many] + [c for c in ordered if len(shortest[c]) == 1][
        :single
    ]
    return {url for cluster in chosen for url in shortest[cluster]}


def in_turns(urls: list[str]) -> list[str]:
    """The URLs of each host in order, hosts taking turns."""
    hosts = defaultdict(list)
    for url in sorted(urls):
        hosts[urlsplit(url).netloc].append(url)
    turns = zip_longest(*(hosts[host] for host in sorted(hosts)))
    return [url for turn in turns for url in turn if url is not None]


def main(crawls: Path, sample: Path) -> None:
    """Write the sample."""
    out = io.BytesIO()
    writer = WARCWriter(out, gzip=True)
    for name, taken in TAKEN.items():
        with (crawls / f"{name}.warc.gz").open("rb") as file:
            sizes = {
                r.rec_headers.get_header("WARC-Target-URI"): len(r.content_stream().read())
                for r in ArchiveIterator(file)
                if r.rec_type == "response"
            }
        chosen = choose(clusters_of(crawls / f"{name}.truth.tsv.gz"), sizes, taken)
        with (crawls / f"{name}.warc.gz").open("rb") as file:
            for record in ArchiveIterator(file, no_record_parse=True):
                if record.rec_headers.get_header("WARC-Target-URI") in chosen:
                    writer.write_record(record)
    sample.write_bytes(out.getvalue())


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
