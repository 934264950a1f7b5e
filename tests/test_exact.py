"""Exact duplicates: equal content, whatever the order, the format and the number of captures."""

import random
from collections import defaultdict
from hashlib import sha1
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import xxhash
from fastwarc import ArchiveIterator
from hypothesis import given
from hypothesis import strategies as st

from undust import pipeline
from undust.corpus import Tally
from undust.detect.captures import TableFingerprints, find_captures
from undust.detect.exact import cluster_exact, fingerprint_pages, first_of_equal, plain_digest
from undust.tables import FINGERPRINTS, PAGES

CRAWLS = ("autoindex", "docs", "dokuwiki", "dokuwiki_sid", "wordpress")


def pages(*rows: dict[str, Any]) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist([{name: row.get(name) for name in PAGES.names} for row in rows], PAGES)


def groups(clusters: pa.Table) -> set[frozenset[str]]:
    found = defaultdict(set)
    for row in clusters.to_pylist():
        found[row["cluster"]].add(row["url"])
    return {frozenset(urls) for urls in found.values()}


def clustered(*rows: dict[str, Any]) -> set[frozenset[str]]:
    return groups(cluster_exact(pa.Table.from_batches([fingerprint_pages(pages(*rows))])))


def test_a_body_has_the_fingerprint_that_xxhash_gives_it() -> None:
    made = fingerprint_pages(
        pages({"url": "u", "html": b"a\x00b"}, {"url": "v", "text": "é"}, {"url": "w", "digest": "D"})
    )
    assert made.schema == FINGERPRINTS
    assert made["body_xxh3"].to_pylist() == [
        xxhash.xxh3_128_digest(b"a\x00b"),
        xxhash.xxh3_128_digest("é".encode()),
        None,
    ]
    assert made["length"].to_pylist() == [3, 2, None]


def test_a_slice_of_a_batch_has_the_fingerprints_of_its_own_rows() -> None:
    batch = pages(*({"url": str(i), "html": b"x" * i} for i in range(9)))
    assert fingerprint_pages(batch.slice(4, 3)).equals(fingerprint_pages(batch).slice(4, 3))


def test_equal_bodies_are_one_cluster_and_others_are_not() -> None:
    assert clustered(
        {"url": "a", "html": b"1"}, {"url": "b", "html": b"2"}, {"url": "c", "html": b"1"}, {"url": "d", "text": "2"}
    ) == {frozenset("ac"), frozenset("bd")}


def test_empty_pages_are_not_duplicates_of_each_other() -> None:
    empty = "sha1:" + "3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"
    rows: list[dict[str, Any]] = [
        {"url": "a", "html": b""},
        {"url": "b", "html": b""},
        {"url": "c", "digest": empty},
        {"url": "d", "digest": empty},
    ]
    assert clustered(*rows) == {frozenset("a"), frozenset("b"), frozenset("c"), frozenset("d")}


def test_a_page_known_by_its_digest_joins_the_page_whose_body_has_it() -> None:
    rows: list[dict[str, Any]] = [
        {"url": "a", "html": b"1", "digest": "sha1:qqq"},
        {"url": "b", "digest": "QQQ"},  # as CDX files write the same
        {"url": "c", "html": b"1"},
        {"url": "d", "digest": "OTHER"},
        {"url": "e", "digest": "other"},
    ]
    assert clustered(*rows) == {frozenset("abc"), frozenset("de")}


def test_clusters_that_the_input_states_are_kept_apart_from_digests() -> None:
    rows: list[dict[str, Any]] = [
        {"url": "a", "cluster": "X"},
        {"url": "b", "cluster": "X"},
        {"url": "c", "digest": "X"},
    ]
    assert clustered(*rows) == {frozenset("ab"), frozenset("c")}


def test_a_url_captured_again_counts_as_its_latest_capture() -> None:
    rows: list[dict[str, Any]] = [
        {"url": "a", "html": b"old", "time": 1},
        {"url": "a", "html": b"new", "time": 2},
        {"url": "b", "html": b"old", "time": 3},
        {"url": "c", "html": b"new", "time": 0},
    ]
    assert clustered(*rows) == {frozenset("ac"), frozenset("b")}
    assert clustered(*reversed(rows)) == {frozenset("ac"), frozenset("b")}


@pytest.mark.parametrize(
    ("stated", "plain"),
    [
        ("sha1:abc", "ABC"),  # WARC-Payload-Digest
        ("SHA1:ABC", "ABC"),
        ("abc", "ABC"),  # CDX, base32
        ("md5:abc", "MD5:ABC"),  # another function keeps its name
        ("sha256:" + "a" * 64, "sha256:" + "a" * 64),  # longer forms may be base64, where case matters
    ],
)
def test_digests_are_compared_in_one_spelling(stated: str, plain: str) -> None:
    assert plain_digest(pa.chunked_array([[stated]])).to_pylist() == [plain]


CONTENTS = st.fixed_dictionaries(
    {
        "url": st.sampled_from("abcdefgh"),
        "html": st.one_of(st.none(), st.sampled_from([b"", b"1", b"2", b"3"])),
        "digest": st.one_of(st.none(), st.sampled_from(["D", "E", "sha1:D"])),
        "time": st.one_of(st.none(), st.integers(0, 3)),
    }
)


@given(st.lists(CONTENTS, max_size=12), st.randoms(use_true_random=False))
def test_the_order_of_the_input_does_not_matter(rows: list[dict[str, Any]], chance: random.Random) -> None:
    table = pa.Table.from_batches([fingerprint_pages(pages(*rows))])
    shuffled = chance.sample(rows, len(rows))
    parts = [fingerprint_pages(pages(row)) for row in shuffled]
    again = pa.Table.from_batches(parts, FINGERPRINTS)
    assert cluster_exact(again).equals(cluster_exact(table))
    assert cluster_exact(table)["url"].to_pylist() == sorted({row["url"] for row in rows})


@given(st.lists(CONTENTS | CONTENTS.map(lambda row: row | {"cluster": "c"}), max_size=14))
def test_numbers_of_equal_content_group_as_names_do(rows: list[dict[str, Any]]) -> None:
    table = pa.Table.from_batches([fingerprint_pages(pages(row)) for row in rows], FINGERPRINTS)
    source = TableFingerprints(table)
    captures = find_captures(source)
    chosen = [rows[place] for place in captures.places.tolist()]
    clusters = cluster_exact(table)
    assert clusters["cluster"].to_pylist() == [plain_name(row, rows) for row in chosen]
    named: dict[str, int] = {}
    first = [named.setdefault(name, row) for row, name in enumerate(clusters["cluster"].to_pylist())]
    assert first_of_equal(source, captures).tolist() == first


def plain_name(row: dict[str, Any], rows: list[dict[str, Any]]) -> str:
    """The name of a page's cluster, by the rules in the order they are told."""

    def digest(one: dict[str, Any]) -> str | None:
        stated: str | None = one["digest"]
        return stated and stated.removeprefix("sha1:")

    if row["html"] == b"":
        return f"url:{row['url']}"
    if row["html"] is not None:
        return xxhash.xxh3_128_hexdigest(row["html"])
    if digest(row) is not None:
        same = [xxhash.xxh3_128_hexdigest(one["html"]) for one in rows if one["html"] and digest(one) == digest(row)]
        return min(same, default=str(digest(row)))
    return f"cluster:{row['cluster']}" if row.get("cluster") else f"url:{row['url']}"


@pytest.mark.parametrize("crawl", CRAWLS)
def test_a_real_crawl_has_the_groups_that_hashing_its_bodies_by_hand_gives(shared_data: Path, crawl: str) -> None:
    file = shared_data / "webapps" / f"{crawl}.warc.gz"
    by_hand: dict[str, set[str]] = defaultdict(set)
    with file.open("rb") as stream:
        for record in ArchiveIterator(stream, parse_http=True):
            if record.http_headers is not None and record.http_headers.status_code == 200:
                url, body = record.headers["WARC-Target-URI"], record.reader.read()
                by_hand[sha1(body, usedforsecurity=False).hexdigest() if body else url].add(url)
    tally = Tally()
    found = groups(pipeline.cluster(pipeline.fingerprint(file, tally=tally)))
    assert found == {frozenset(urls) for urls in by_hand.values()}
    assert tally.pages == sum(len(urls) for urls in found) > 1000
    assert tally.damaged == 0
