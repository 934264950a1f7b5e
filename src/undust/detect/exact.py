"""Exact duplicates: pages whose bodies have the same signature."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import xxhash

from undust.detect.captures import BATCH_ROWS, Captures, Fingerprints, TableFingerprints, find_captures
from undust.tables import CLUSTERS, FINGERPRINTS

CONTENT_COLUMNS = ("body_xxh3", "digest", "cluster", "length")
"""What tells equal pages: columns of fingerprints."""

_Keys = npt.NDArray[np.uint64]  # two numbers a page

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


def cluster_exact(fingerprints: pa.Table | Fingerprints) -> pa.Table:
    """Put the URLs whose pages have equal content into one cluster, named by its signature.

    A page known by a digest only (CDX, revisit records) joins the pages that state the same digest.
    A URL that was captured several times counts as its latest capture. Rows come sorted by URL.
    """
    source = TableFingerprints(fingerprints) if isinstance(fingerprints, pa.Table) else fingerprints
    captures = find_captures(source)
    contents = _contents(source, len(captures.rows))
    names = []
    for start in range(0, len(captures), BATCH_ROWS):
        places = captures.places[start : start + BATCH_ROWS]
        urls = captures.urls.slice(start, BATCH_ROWS).cast(pa.string())
        names.append(contents.names(places, urls))
    return pa.Table.from_arrays([captures.url_column(), pa.chunked_array(names, pa.string())], schema=CLUSTERS)


def first_of_equal(fingerprints: Fingerprints, captures: Captures) -> npt.NDArray[np.uint32]:
    """Give for each row the first row with equal content, as in `cluster_exact`: itself if there is no other."""
    keys = _contents(fingerprints, len(captures.rows)).keys[captures.places]
    order = np.lexsort([keys[:, 1], keys[:, 0]]).astype(np.uint32)
    keys = keys[order]
    leads = np.ones(len(order), dtype=np.bool_)
    leads[1:] = (keys[1:, 0] != keys[:-1, 0]) | (keys[1:, 1] != keys[:-1, 1]) | ~keys[1:].any(axis=1)  # 0: unknown
    del keys
    first = np.empty(len(order), dtype=np.uint32)
    first[order] = order[leads][np.cumsum(leads, dtype=np.uint32) - 1] if len(order) else 0
    return first


@dataclass(frozen=True, slots=True)
class _Contents:
    """What each page of the input has for content, as 128 bits; zeros where nothing is known of it."""

    keys: _Keys
    bodies: npt.NDArray[np.bool_]
    """Whether they are those of a body, its own or that of a page with the same digest."""
    stated: pa.ChunkedArray
    """What else names it: its digest, or its cluster."""

    def names(self, places: npt.NDArray[np.uint32], urls: pa.Array) -> pa.Array:
        """Give pages the text that their duplicates share: body, else digest, else stated cluster, else their URL."""
        stated = self.stated.take(pa.array(places)).combine_chunks()
        return content_names(self.keys[places], self.bodies[places], stated, urls)


def content_names(keys: _Keys, bodies: npt.NDArray[np.bool_], stated: pa.Array, urls: pa.Array) -> pa.Array:
    """Name what is known of each page: its body, else what is stated, else its URL, so that it is alone."""
    body = pc.if_else(pa.array(bodies), _hex(keys), pa.scalar(None, pa.string()))
    known = pa.array(keys.any(axis=1))
    named = pc.if_else(known, stated, pa.scalar(None, pa.string()))
    return pc.coalesce(body, named, pc.binary_join_element_wise("url", urls, ":"))


def _contents(fingerprints: Fingerprints, count: int) -> _Contents:
    """Read the contents of pages. Empty ones are unknown: nobody saw what is on them."""
    keys, digests = np.zeros((count, 2), np.uint64), np.zeros((count, 2), np.uint64)
    texts, at = [], 0
    for batch in fingerprints.batches(CONTENT_COLUMNS):
        here = slice(at, at + len(batch))
        keys[here], digests[here], stated = batch_contents(batch)
        texts.append(stated)
        at += len(batch)
    bodies = np.asarray(keys.any(axis=1))
    _resolve_digests(keys, digests, bodies)
    return _Contents(keys, bodies, pa.chunked_array(texts, pa.string()))


def batch_contents(batch: pa.RecordBatch) -> tuple[_Keys, _Keys, pa.Array]:
    """Give the signature of each body, that of what else is stated of its content, and the statement; zeros for none.

    Of an empty page neither is known. What is stated is null beside a body.
    """
    keys, digests = np.zeros((len(batch), 2), np.uint64), np.zeros((len(batch), 2), np.uint64)
    body, digest = batch["body_xxh3"], plain_digest(batch["digest"])
    empty = pc.or_(pc.equal(batch["length"], 0).fill_null(False), pc.is_in(digest, value_set=_EMPTY_DIGESTS))
    some = ~np.asarray(empty)
    there = some & np.asarray(body.is_valid())
    if there.any():
        keys[there] = _numbers(body)[there]
    named = pc.if_else(body.is_valid(), pa.scalar(None, pa.string()), batch["cluster"])
    stated = pc.coalesce(digest, pc.binary_join_element_wise("cluster", named, ":"))
    if stated.null_count < len(stated):
        known = some & np.asarray(stated.is_valid())
        digests[known] = _numbers(_hashed(stated.cast(pa.binary())))[known]
    return keys, digests, pc.if_else(body.is_valid(), pa.scalar(None, pa.string()), stated)


def _numbers(hashes: pa.FixedSizeBinaryArray) -> _Keys:
    """Give hashes of 16 bytes as two numbers each."""
    return np.frombuffer(hashes.buffers()[1], np.uint64)[2 * hashes.offset :][: 2 * len(hashes)].reshape(-1, 2)


def _resolve_digests(keys: _Keys, digests: _Keys, bodies: npt.NDArray[np.bool_]) -> None:
    """Give pages without a body that of a page with the same digest, the first by its bytes, else their digest."""
    stated = digests.any(axis=1)
    bare = stated & ~bodies
    keys[bare] = digests[bare]
    named = np.flatnonzero(stated & bodies & np.isin(digests[:, 0], digests[bare, 0]))
    of_digest: dict[bytes, bytes] = {}
    for place in named.tolist():
        name, content = digests[place].tobytes(), keys[place].tobytes()
        of_digest[name] = min(of_digest.get(name, content), content)
    for place in np.flatnonzero(bare & np.isin(digests[:, 0], digests[named, 0])).tolist():
        content = of_digest.get(digests[place].tobytes(), b"")
        if content:
            keys[place], bodies[place] = np.frombuffer(content, np.uint64), True


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


def _hex(keys: _Keys) -> pa.StringArray:
    """Write 128 bits in hexadecimal."""
    raw = np.ascontiguousarray(keys).view(np.uint8).reshape(-1)
    letters = np.empty((len(raw), 2), np.uint8)
    letters[:, 0] = _HEX[raw >> 4]
    letters[:, 1] = _HEX[raw & 15]
    offsets = np.arange(0, 32 * len(keys) + 1, 32, dtype=np.int32)
    return pa.StringArray.from_buffers(len(keys), pa.py_buffer(offsets), pa.py_buffer(letters))
