"""Anchor bags (paper 002): what the pages that link to a page say on and around their links, and its own title."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from undust.detect.captures import Captures, Fingerprints
from undust.detect.topical_bags import StoredBags, counting_batches, short_terms
from undust.detect.words import buffers, normalized, split
from undust.detect.words_lexicon import Lexicon
from undust.errors import InputError
from undust.kernels.topics import hash_strings
from undust.urls.batch import normalize_many

LINK_FIELDS = (
    pa.field("title_words", pa.large_list(pa.uint32())),  # hashes of the keywords of the title
    # Target in standard form, and hashes of the keywords of the anchor text and the window around it.
    pa.field(
        "links", pa.large_list(pa.struct([pa.field("url", pa.string()), pa.field("words", pa.list_(pa.uint32()))]))
    ),
)

_PENDING = 1 << 24  # words of fragments that wait to be counted: 200 MB

_I64 = npt.NDArray[np.int64]
_U64 = npt.NDArray[np.uint64]


def link_columns(texts: pa.RecordBatch, lexicon: Lexicon) -> list[pa.Array]:
    """Make the columns of bag fragments (`LINK_FIELDS`) from titles, links and languages of pages."""
    title_rows, titles = _words(texts["title"], texts["language"], lexicon)
    links, languages = texts["links"], texts["language"]
    found = links.flatten()
    sources = pc.list_parent_indices(links)
    rows, words = _words(found.field("window"), languages.take(sources), lexicon)
    fragments = pa.ListArray.from_arrays(pa.array(rows.astype(np.int32)), pa.array(words))
    kind = LINK_FIELDS[1].type
    struct = pa.StructArray.from_arrays([found.field("url"), fragments], fields=list(kind.value_type))
    ends = np.concatenate([[0], np.cumsum(pc.list_value_length(links).fill_null(0).to_numpy())])
    return [
        pa.LargeListArray.from_arrays(pa.array(title_rows), pa.array(titles)),
        pa.LargeListArray.from_arrays(pa.array(ends.astype(np.int64)), struct, type=kind),
    ]


def _words(texts: pa.Array, languages: pa.Array, lexicon: Lexicon) -> tuple[_I64, npt.NDArray[np.uint32]]:
    keywords = lexicon.keywords(split(normalized(texts)), languages)
    return keywords.rows, short_terms(keywords.hashes)


@dataclass(frozen=True, slots=True)
class Targets:
    """The URLs that anchor bags are gathered for, in order of rows, and how to find one by its standard form."""

    urls: pa.Array
    normal: pa.Array
    hashes: _U64  # of the standard forms, in rising order, and the row of each
    rows: _I64

    def rows_of(self, urls: pa.Array) -> _I64:
        """Give the row of each URL in standard form; -1 for one that is no target."""
        if not len(self.urls):
            return np.full(len(urls), -1, np.int64)
        wanted = _hashed(urls)
        at = np.minimum(np.searchsorted(self.hashes, wanted), len(self.hashes) - 1)
        rows = np.where(self.hashes[at] == wanted, self.rows[at], 0)
        same = pc.equal(self.normal.take(pa.array(rows)), urls.cast(pa.large_string())).fill_null(False)
        return np.where(np.asarray(same), rows, -1)


def _targets(urls: pa.Array, normal: pa.Array) -> Targets:
    hashes = _hashed(normal)
    rows = np.argsort(hashes, kind="stable")
    return Targets(urls, normal, hashes[rows], rows)


def _hashed(strings: pa.Array) -> _U64:
    hashes = np.empty(len(strings), np.uint64)
    hash_strings(*buffers(strings), hashes)
    return hashes


def find_targets(fingerprints: Fingerprints, captures: Captures, *, uncrawled: bool = False) -> Targets:
    """Take all pages as targets, in order of rows; with `uncrawled`, also the URLs that only links name, sorted in.

    Of pages whose URLs have one standard form the first gets the fragments.
    """
    urls = captures.urls.cast(pa.large_string())
    normal = normalize_many(captures.url_column()).urls.cast(pa.large_string()).combine_chunks()
    if not uncrawled:
        return _targets(urls, normal)
    seen, waiting, held = normal, [], 0
    for _, batch in counting_batches(fingerprints, captures, ["links"]):
        named = pc.unique(batch["links"].flatten().field("url").cast(pa.large_string()).drop_null())
        waiting.append(named)
        held += len(named)
        if held > len(seen):
            seen, waiting, held = pc.unique(pa.concat_arrays([seen, *waiting])), [], 0
    seen = pc.unique(pa.concat_arrays([seen, *waiting]))
    more = seen.filter(pc.invert(pc.is_in(seen, value_set=normal)))
    urls, normal = pa.concat_arrays([urls, more]), pa.concat_arrays([normal, more])
    by_url = pc.sort_indices(urls)
    return _targets(urls.take(by_url), normal.take(by_url))


def gather_anchor_bags(fingerprints: Fingerprints, captures: Captures, targets: Targets) -> StoredBags:
    """Collect the fragments of all links of pages, and of their titles, into a bag for each target.

    Links of a page to itself are left out: they say what it says of itself.
    """
    known, counts = np.empty(0, np.uint64), np.empty(0, np.int64)
    waiting: list[_U64] = []
    held = 0
    for keys in _fragments(fingerprints, captures, targets):
        waiting.append(keys)
        held += len(keys)
        if held > max(_PENDING, len(known)):
            known, counts = _counted(known, counts, waiting)
            waiting, held = [], 0
    known, counts = _counted(known, counts, waiting)
    rows = np.searchsorted(known, np.arange(len(targets.urls) + 1, dtype=np.uint64) << np.uint64(32))
    return StoredBags(rows.astype(np.int64), known.astype(np.uint32), np.minimum(counts, 2**32 - 1).astype(np.uint32))


def _fragments(fingerprints: Fingerprints, captures: Captures, targets: Targets) -> Iterator[_U64]:
    """Give the words of fragments, each with the row of its target in its high half."""
    for rows, batch in counting_batches(fingerprints, captures, [field.name for field in LINK_FIELDS]):
        own = targets.rows_of(normalize_many(captures.url_column(rows)).urls.combine_chunks())
        titles, links = batch["title_words"], batch["links"]
        yield _keys(np.repeat(own, pc.list_value_length(titles).fill_null(0).to_numpy()), titles.flatten())
        found = links.flatten()
        target = targets.rows_of(found.field("url"))
        target[target == own[np.asarray(pc.list_parent_indices(links), dtype=np.int64)]] = -1
        words = found.field("words")
        yield _keys(np.repeat(target, pc.list_value_length(words).fill_null(0).to_numpy()), words.flatten())


def _keys(rows: _I64, words: pa.Array) -> _U64:
    terms = words.to_numpy()
    if len(rows) != len(terms):
        raise InputError("lists of links that do not fit their words; fingerprint the pages again")
    keys: _U64 = rows[rows >= 0].astype(np.uint64) << np.uint64(32) | terms[rows >= 0]
    return keys


def _counted(known: _U64, counts: _I64, waiting: list[_U64]) -> tuple[_U64, _I64]:
    """Add keys to those that are counted."""
    fresh, often = np.unique(np.concatenate([*waiting, np.empty(0, np.uint64)]), return_counts=True)
    merged, at = np.unique(np.concatenate([known, fresh]), return_inverse=True)
    return merged, np.bincount(at, np.concatenate([counts, often]), len(merged)).astype(np.int64)
