"""Exact duplicates: pages whose bodies have the same signature."""

from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import xxhash

from undust.tables import CLUSTERS, FINGERPRINTS, latest

_HEX = np.frombuffer(b"0123456789abcdef", np.uint8)
# What archives state for a body without bytes. Empty pages are not duplicates: nobody saw what is on them.
_EMPTY_DIGESTS = pa.array(["3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ", "DA39A3EE5E6B4B0D3255BFEF95601890AFD80709"])


def fingerprint_pages(pages: pa.RecordBatch) -> pa.RecordBatch:
    """Give the fingerprints of a batch of pages: `xxh3_128` of each body, or of the text where there is none."""
    html, text = pages["html"], pages["text"]
    content = html if text.null_count == len(text) else pc.coalesce(html, text.cast(pa.binary()))
    columns = {
        "body_xxh3": _hashed(content),
        "length": pc.binary_length(content).cast(pa.int64()),
    }
    return pa.RecordBatch.from_arrays(
        [columns[name] if name in columns else pages[name] for name in FINGERPRINTS.names], schema=FINGERPRINTS
    )


def cluster_exact(fingerprints: pa.Table) -> pa.Table:
    """Put the URLs whose pages have equal content into one cluster, named by its signature.

    A page known by a digest only (CDX, revisit records) joins the pages that state the same digest.
    A URL that was captured several times counts as its latest capture. Rows come sorted by URL.
    """
    signed = fingerprints.select(["url", "time"]).append_column("cluster", _signatures(fingerprints))
    return latest(signed).select(CLUSTERS.names).cast(CLUSTERS)


def plain_digest(digest: pa.ChunkedArray) -> pa.ChunkedArray:
    """Write digests as CDX files do: `sha1:abc…` in a WARC is `ABC…`."""
    sha1 = pc.starts_with(digest, "sha1:", ignore_case=True)
    short = pc.less_equal(pc.binary_length(digest), 40)  # base32 and hexadecimal forms, case-insensitive both
    plain = pc.if_else(sha1, pc.utf8_slice_codeunits(digest, 5), digest)
    return pc.if_else(pc.or_(sha1, short), pc.utf8_upper(plain), plain)


def _hashed(content: pa.Array) -> pa.Array:
    """Hash each value where it lies, without copying it out of the column."""
    _, offsets, data = content.buffers()
    places = np.frombuffer(offsets, np.int32)[content.offset :][: len(content) + 1].tolist()
    body = memoryview(data or b"")
    digest = xxhash.xxh3_128_digest
    hashed = pa.array([digest(body[a:b]) for a, b in pairwise(places)], pa.binary(16))
    return pc.if_else(content.is_valid(), hashed, pa.scalar(None, pa.binary(16)))


def _signatures(fingerprints: pa.Table) -> pa.ChunkedArray:
    """Give each page the text that its duplicates share: body, else digest, else stated cluster, else itself."""
    body = _hex(fingerprints["body_xxh3"])
    digest = plain_digest(fingerprints["digest"])
    known = pa.table({"digest": digest, "body": body}).drop_null().group_by("digest").aggregate([("body", "min")])
    by_digest = known["body_min"].take(pc.index_in(digest, value_set=known["digest"]))
    stated = pc.binary_join_element_wise("cluster", fingerprints["cluster"], ":")
    content = pc.coalesce(body, by_digest, digest, stated)
    empty = pc.or_(
        pc.equal(fingerprints["length"], 0).fill_null(False),
        pc.is_in(digest, value_set=_EMPTY_DIGESTS),
    )
    alone = pc.binary_join_element_wise("url", fingerprints["url"], ":")
    return pc.if_else(pc.or_(empty, content.is_null()), alone, content)


def _hex(digests: pa.ChunkedArray) -> pa.ChunkedArray:
    return pa.chunked_array([_hex_chunk(chunk) for chunk in digests.chunks], pa.string())


def _hex_chunk(digests: pa.FixedSizeBinaryArray) -> pa.StringArray:
    size = len(digests)
    raw = np.frombuffer(digests.buffers()[1] or b"", np.uint8)[16 * digests.offset :][: 16 * size]
    letters = np.empty((len(raw), 2), np.uint8)
    letters[:, 0] = _HEX[raw >> 4]
    letters[:, 1] = _HEX[raw & 15]
    offsets = np.arange(0, 32 * size + 1, 32, dtype=np.int32)
    written = pa.StringArray.from_buffers(size, pa.py_buffer(offsets), pa.py_buffer(letters))
    return pc.if_else(digests.is_valid(), written, pa.scalar(None, pa.string()))
