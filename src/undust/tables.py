"""The Arrow schemas of the tables that flow: pages, fingerprints, pairs, clusters, removed pages."""

import pyarrow as pa
import pyarrow.compute as pc

PAGES = pa.schema(
    [
        pa.field("url", pa.string(), nullable=False),
        pa.field("html", pa.binary()),  # body as the server meant it: transfer and content encodings undone
        pa.field("text", pa.string()),  # plain text, where the source has text instead of a body
        pa.field("digest", pa.string()),  # content signature that the source states (CDX, WARC-Payload-Digest)
        pa.field("cluster", pa.string()),  # cluster that the source states
        pa.field("status", pa.int16()),  # HTTP status, null if the source has none
        pa.field("content_type", pa.string()),  # the header as sent, for its charset
        pa.field("time", pa.timestamp("s", tz="UTC")),  # of the capture
        pa.field("source", pa.string()),  # file that the page was read from
    ]
)

FINGERPRINTS = pa.schema(
    [
        pa.field("url", pa.string(), nullable=False),
        pa.field(
            "body_xxh3", pa.binary(16)
        ),  # xxh3_128 of the body (of the text where there is no body), null without content
        pa.field("digest", pa.string()),  # as in PAGES
        pa.field("cluster", pa.string()),  # as in PAGES
        pa.field("length", pa.int64()),  # bytes of the body, null without content
        pa.field("status", pa.int16()),
        pa.field("content_type", pa.string()),
        pa.field("time", pa.timestamp("s", tz="UTC")),
        pa.field("source", pa.string()),
    ]
)

PAIRS = pa.schema(
    [
        pa.field("a", pa.uint32(), nullable=False),  # row numbers of two pages, a < b
        pa.field("b", pa.uint32(), nullable=False),
        pa.field("similarity", pa.float32(), nullable=False),  # Jaccard, or 1 - distance / bits
    ]
)

CLUSTERS = pa.schema(
    [
        pa.field("url", pa.string(), nullable=False),
        pa.field("cluster", pa.string(), nullable=False),
    ]
)

REMOVED = pa.schema(
    [
        pa.field("url", pa.string(), nullable=False),
        pa.field("keeper", pa.string(), nullable=False),  # URL of the page that stays instead
        pa.field("method", pa.string(), nullable=False),  # exact, simhash, …; url: an older capture of its URL
        pa.field("similarity", pa.float32()),  # to the keeper; null where nothing was compared
    ]
)


def one_row_each(clusters: pa.Table) -> pa.Table:
    """Give each URL of a table of clusters once, sorted by URL, in the cluster that names it most often.

    Of equals the first by name: the order of the rows must not matter. Rows without URL or cluster are left out.
    """
    table = pa.table({"url": clusters["url"], "cluster": clusters["cluster"].cast(pa.string())}).drop_null()
    counted = table.group_by(["url", "cluster"]).aggregate([([], "count_all")])
    chosen = counted.sort_by([("url", "ascending"), ("count_all", "descending"), ("cluster", "ascending")])
    urls = chosen["url"].combine_chunks()
    if len(urls) < 2:
        return chosen.select(["url", "cluster"])
    first = pa.concat_arrays([pa.array([True]), pc.not_equal(urls[1:], urls[:-1])])
    return chosen.filter(first).select(["url", "cluster"])


def latest(pages: pa.Table) -> pa.Table:
    """Give each URL once, sorted by URL: its latest capture, by `time`.

    Of equally late ones the first by `cluster` or `body_xxh3`, whichever there is: the order of rows must not matter.
    """
    tie = "cluster" if "body_xxh3" not in pages.schema.names else "body_xxh3"
    keys = pa.table(
        {"url": pages["url"], "time": pages["time"].cast(pa.int64()).fill_null(-(2**62)), "tie": pages[tie]}
    )
    order = pc.sort_indices(keys, [("url", "ascending"), ("time", "descending"), ("tie", "ascending")])
    urls = pages["url"].take(order).combine_chunks()
    if len(urls) < 2:
        return pages.take(order)
    first = pa.concat_arrays([pa.array([True]), pc.not_equal(urls[1:], urls[:-1])])
    return pages.take(order.filter(first))
