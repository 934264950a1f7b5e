"""Anchor bags: what links say of a page, gathered over a corpus, by hand and against a slow oracle."""

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from undust import tables
from undust.detect import topical_anchors as anchors_module
from undust.detect.captures import TableFingerprints, find_captures
from undust.detect.pages import PageFingerprints
from undust.detect.topical import Topical, topical_clusters, topical_pairs
from undust.detect.topical_anchors import LINK_FIELDS, find_targets, gather_anchor_bags
from undust.detect.topical_bags import short_terms
from undust.detect.words import split


def fingerprints(pages: dict[str, str]) -> pa.Table:
    rows = [{"url": url, "html": html.encode()} for url, html in pages.items()]
    model = PageFingerprints(links=True)
    return pa.Table.from_batches([model.of(pa.RecordBatch.from_pylist(rows, tables.PAGES))])


def gathered(table: pa.Table, *, uncrawled: bool = False) -> dict[str, Counter[int]]:
    source = TableFingerprints(table)
    captures = find_captures(source)
    targets = find_targets(source, captures, uncrawled=uncrawled)
    bags = gather_anchor_bags(source, captures, targets)
    found = {}
    for row, url in enumerate(targets.urls.to_pylist()):
        here = slice(int(bags.rows[row]), int(bags.rows[row + 1]))
        found[url] = Counter(dict(zip(bags.terms[here].tolist(), bags.counts[here].tolist(), strict=True)))
    return found


def terms(text: str) -> Counter[int]:
    return Counter(short_terms(split(pa.array([text])).hashes).tolist())


# Words of no language, so that each is its own keyword. Nine words stand on either side of the link to b; the window
# takes eight of them.
PAGES = {
    "http://x.test/a": "<title>alfa</title><p>w9 w8 w7 w6 w5 w4 w3 w2 w1 <a href='/b'>zebra quagga</a>"
    " v1 v2 v3 v4 v5 v6 v7 v8 v9",
    "http://x.test/b": "<title>bravo bravo</title><p><a href='/b'>myself</a></p><p><a href='HTTP://X.test:80/./c#top'>"
    "okapi</a>",
    "http://x.test/c": "<title>charli</title><p><a href='b'>okapi</a></p><p><a href='http://elsewhere.test/'>beyond</a>",
}


def test_anchor_bags_by_hand() -> None:
    found = gathered(fingerprints(PAGES))
    eight = "w8 w7 w6 w5 w4 w3 w2 w1 zebra quagga v1 v2 v3 v4 v5 v6 v7 v8"
    assert found["http://x.test/a"] == terms("alfa")
    # Its title, what a says on and around its link, and what c says: windows reach into the next block. What b says of
    # itself does not count.
    assert found["http://x.test/b"] == terms(f"bravo bravo {eight} okapi beyond")
    assert found["http://x.test/c"] == terms("charli myself okapi")  # by another spelling of its URL


def test_uncrawled_pages_are_known_by_links() -> None:
    found = gathered(fingerprints(PAGES), uncrawled=True)
    assert list(found) == sorted(found)
    assert set(found) == {*PAGES, "http://elsewhere.test/"}
    assert terms("beyond") <= found["http://elsewhere.test/"]


def test_pages_that_others_describe_alike_are_together() -> None:
    one, two = "http://y.test/1", "http://y.test/2"
    hub = "".join(f"<p><a href='{url}'>zebra quagga okapi</a></p><p>{'filler ' * 9}</p>" for url in (one, two))
    titles = {f"http://y.test/{name}": f"<title>{name}</title>" for name in ("hub", "z")}  # four pages with a bag
    pages = {one: "<p>nothing", two: "<p>whatever"} | titles
    pages["http://y.test/hub"] += hub
    table = topical_clusters(fingerprints(pages), Topical(bags="anchors")).to_pylist()
    clusters = {row["url"]: row["cluster"] for row in table}
    assert clusters[one] == clusters[two] == one
    content = {row["url"]: row["cluster"] for row in topical_clusters(fingerprints(pages)).to_pylist()}
    assert content[one] != content[two]


NAMES = ["http://x.test/", "http://x.test/1", "http://x.test/2", "http://www.x.test/3"]
PAGE = st.tuples(
    st.lists(st.integers(0, 20), max_size=3),
    st.lists(
        st.tuples(st.sampled_from([*NAMES, "http://far.test/"]), st.lists(st.integers(0, 20), max_size=4)), max_size=5
    ),
)


@given(st.lists(PAGE, min_size=len(NAMES), max_size=len(NAMES)), st.integers(1, 4), st.integers(0, 8))
def test_gathering_is_a_loop_over_links(
    pages: list[tuple[list[int], list[tuple[str, list[int]]]]], step: int, wait: int
) -> None:
    table = pa.table(
        {
            "url": NAMES,
            "time": pa.nulls(len(NAMES), pa.int64()),
            "body_xxh3": pa.nulls(len(NAMES), pa.binary(16)),
            "title_words": pa.array([title for title, _ in pages], LINK_FIELDS[0].type),
            "links": pa.array(
                [[{"url": url, "words": words} for url, words in links] for _, links in pages], LINK_FIELDS[1].type
            ),
        }
    )
    batches = [batch for start in range(0, len(NAMES), step) for batch in table.slice(start, step).to_batches()]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(anchors_module, "_PENDING", wait)
        found = gathered(pa.Table.from_batches(batches), uncrawled=True)
    expected: dict[str, Counter[int]] = {name: Counter(title) for name, (title, _) in zip(NAMES, pages, strict=True)}
    for name, (_, links) in zip(NAMES, pages, strict=True):
        for url, words in links:
            bag = expected.setdefault(url, Counter())
            if url != name:
                bag.update(words)
    assert found == expected


def test_links_of_older_captures_do_not_count() -> None:
    times = [pa.scalar(2), pa.scalar(1)]
    new, old = (
        table.set_column(
            table.schema.get_field_index("time"), "time", pa.array([time.as_py()] * len(table), pa.int64())
        )
        for table, time in zip(
            (fingerprints(PAGES), fingerprints({"http://x.test/a": "<a href=/c>gone</a>"})), times, strict=True
        )
    )
    assert gathered(pa.concat_tables([new, old])) == gathered(new)


def test_the_columns_of_links_are_as_documented() -> None:
    table = fingerprints(PAGES)
    assert [table.schema.field(field.name) for field in LINK_FIELDS] == list(LINK_FIELDS)
    links = table["links"].to_pylist()
    assert [link["url"] for link in links[1]] == ["http://x.test/b", "http://x.test/c"]
    assert links[1][1]["words"] == [*terms("myself"), *terms("okapi")]


def test_pages_without_links_or_titles_have_empty_bags() -> None:
    found = topical_pairs(fingerprints({"http://x.test/": "<p>text", "http://x.test/y": ""}), Topical(bags="anchors"))
    assert not found.sketches.present.any()
    assert np.array_equal(found.sketches.first_of_equal(), [0, 1])
