"""Texts to fingerprints: exact digest, simhash, min-hash of shingles and of bags, sentences, top keywords."""

from collections.abc import Collection
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import xxhash

from undust.detect.bags import Bags, count, flat_signatures, signature_key, top_terms
from undust.detect.fingerprints_parameters import NONE, SignatureParameters
from undust.detect.sentences import sentence_counts
from undust.detect.shingles import shingle_sets
from undust.detect.topical_bags import BAG_FIELDS, stored
from undust.detect.topical_bags import to_columns as bag_columns
from undust.detect.words import Words, buffers, normalized, split, text_digests
from undust.detect.words_lexicon import Keywords, Lexicon
from undust.errors import UsageError
from undust.kernels.minhash import sketch_shingles
from undust.kernels.simhash import PLANES, mix_hashes, simhash_rows

SIGNATURES = ("exact", "simhash", "minhash", "shingles", "bags", "terms", "sentences", "keywords")
PIECE_BYTES = 3 << 18
"""Texts are worked on in pieces of this size: enough that a call of a kernel costs little, and what it made is still in
the processor's cache when the next one reads it."""

MAX_TEXT_BYTES = 32 * 2**20
"""What a longer text has after this counts for its exact digest only: bounds the memory for one text to 1.5 GB."""

_SIMHASH_KEYS, _SHINGLES_KEY = (0, 1), 2


def simhashes(keywords: Keywords | Words, *, bits: int = 64, seed: int = 0) -> npt.NDArray[np.uint64]:
    """Simhash of each text, a row with one number of 64 bits or, for more than 64 bits, two (low half first)."""
    halves = 1 if bits <= 64 else 2
    result = np.empty((len(keywords.rows) - 1, halves), dtype=np.uint64)
    mixed, planes = np.empty(len(keywords.hashes), dtype=np.uint64), np.zeros(PLANES, dtype=np.uint64)
    half = np.empty(len(result), dtype=np.uint64)
    for i in range(halves):
        mix_hashes(keywords.hashes, signature_key(seed, _SIMHASH_KEYS[i]), mixed)
        simhash_rows(mixed, keywords.rows, planes, half)
        result[:, i] = half & np.uint64((1 << min(bits - 64 * i, 64)) - 1)
    return result


def shingle_signatures(
    words: Keywords | Words, *, shingle_words: int = 5, values: int = 128, seed: int = 0
) -> npt.NDArray[np.uint64]:
    """Min-hash signature of the set of runs of words of each text. Zeros for a text without words."""
    elements = np.empty(int((words.rows[1:] - words.rows[:-1]).max(initial=0)), dtype=np.uint64)
    closed = np.empty(values, dtype=np.uint64)
    signatures = np.empty((len(words.rows) - 1, values), dtype=np.uint64)
    key = signature_key(seed, _SHINGLES_KEY)
    sketch_shingles(words.hashes, words.rows, shingle_words, key, elements, closed, signatures)
    return signatures


def agreement(a: npt.NDArray[np.uint64], b: npt.NDArray[np.uint64]) -> npt.NDArray[np.float64]:
    """Share of equal values of two signatures, or of rows of signatures: the estimate of their similarity.

    The zeros of a text without words agree with nothing, not even with each other.

    >>> agreement(np.array([[7, 8], [0, 0]]), np.array([[7, 9], [0, 0]])).tolist()
    [0.5, 0.0]
    """
    if a.shape[-1] != b.shape[-1]:
        raise UsageError(f"signatures of {a.shape[-1]} and of {b.shape[-1]} values cannot be compared")
    return np.asarray(((a == b) & (a != 0)).mean(axis=-1), dtype=np.float64)


def body_digests(bodies: pa.Array) -> pa.Array:
    """`xxh3_128` of each raw body (`binary`); null for null."""
    digest = xxhash.xxh3_128_digest
    data, offsets = buffers(bodies)
    content = data.data
    pairs = zip(bodies.is_null().to_pylist(), pairwise(offsets.tolist()), strict=True)
    return pa.array([None if gone else digest(content[a:b]) for gone, (a, b) in pairs], type=pa.binary(16))


def to_column(signatures: npt.NDArray[np.uint64], width: int, present: npt.NDArray[np.bool_]) -> pa.Array:
    """Store rows of numbers as fixed-size binary, the low `width` bytes of each number; null where not present."""
    rows, values = signatures.shape
    kept = np.ascontiguousarray(signatures.view(np.uint8).reshape(rows, values, 8)[:, :, :width])
    valid = pa.array(present).buffers()[1] if not present.all() else None
    return pa.FixedSizeBinaryArray.from_buffers(pa.binary(values * width), rows, [valid, pa.py_buffer(kept)])


def from_column(column: pa.Array | pa.ChunkedArray, width: int) -> npt.NDArray[np.uint64]:
    """Read rows of numbers back from fixed-size binary; a null gives zeros."""
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    size = column.type.byte_width
    wide = np.zeros((len(column), size // width, 8), dtype=np.uint8)
    if len(column):
        raw = np.frombuffer(column.buffers()[1], dtype=np.uint8)[size * column.offset :][: size * len(column)]
        wide[:, :, :width] = raw.reshape(len(column), size // width, width)
        wide[np.asarray(column.is_null())] = 0
    return wide.view(np.uint64)[:, :, 0]


def schema(parameters: SignatureParameters, signatures: Collection[str] = SIGNATURES) -> pa.Schema:
    """Columns that `fingerprints` makes, with the parameters in the metadata."""
    simhash = pa.uint64() if parameters.simhash_bits <= 64 else pa.binary(16)
    minhash = pa.binary(parameters.minhash_values * parameters.minhash_bytes)
    columns = {
        "exact": [pa.field("text_xxh3", pa.binary(16))],
        "simhash": [pa.field("simhash", simhash)],
        "minhash": [pa.field("minhash", minhash)],
        "shingles": [pa.field("shingles", pa.large_list(pa.uint32()))],
        "bags": [pa.field("bag_minhash", minhash)],
        "terms": list(BAG_FIELDS),
        "sentences": [pa.field("sentences", pa.int32())],
        "keywords": [
            pa.field("keywords", pa.list_(pa.string())),
            pa.field("keyword_counts", pa.list_(pa.int32())),
        ],
    }
    if unknown := set(signatures) - set(columns):
        raise UsageError(f"unknown signature {min(unknown)!r}; one of {', '.join(SIGNATURES)}")
    chosen = [field for name, fields in columns.items() if name in signatures for field in fields]
    return pa.schema([pa.field("words", pa.int32()), *chosen], metadata=parameters.to_metadata())


def fingerprints(
    texts: pa.Array | pa.ChunkedArray,
    parameters: SignatureParameters,
    *,
    languages: pa.Array | pa.ChunkedArray | None = None,
    signatures: Collection[str] = SIGNATURES,
    lexicon: Lexicon | None = None,
) -> pa.Table:
    """Make the fingerprints of texts (`string` or `large_string`), one row for each, in order.

    A row depends on its text, its language and the parameters only. A text without words has null signatures.
    Simhash, bags, terms and keywords are made of keywords: words without the stop words of their language, stemmed.
    Threads: call it on different batches at once; it runs outside the interpreter lock for most of its time. Hand
    each thread a `Lexicon` of its own (`make_lexicon`) to keep between batches.
    """
    made = schema(parameters, signatures)
    texts = normalized(_one_array(texts))
    if languages is not None:
        languages = _one_array(languages)
        if len(languages) != len(texts):
            raise UsageError(f"{len(texts)} texts and {len(languages)} languages; give one, or null, for each text")
    if lexicon is None:
        lexicon = make_lexicon(parameters)
    batches = []
    for start, stop in _pieces(texts):
        language = None if languages is None else languages.slice(start, stop - start)
        columns = _columns(texts.slice(start, stop - start), language, parameters, signatures, lexicon)
        batches.append(pa.record_batch([columns[name] for name in made.names], schema=made))
    return pa.Table.from_batches(batches, schema=made)


def make_lexicon(parameters: SignatureParameters) -> Lexicon:
    """Make the lexicon that fits the parameters."""
    return Lexicon(stop=parameters.stop_words != NONE, stem=parameters.stemmer != NONE)


def _one_array(strings: pa.Array | pa.ChunkedArray) -> pa.Array:
    """Take any kind of string column as one array of `string` or `large_string`."""
    kind = strings.type
    if not pa.types.is_large_string(kind) and not pa.types.is_string(kind):
        if not (pa.types.is_null(kind) or pa.types.is_string_view(kind) or pa.types.is_dictionary(kind)):
            raise UsageError(f"texts and languages are columns of strings, not of {kind}")
        strings = strings.cast(pa.large_string())
    if isinstance(strings, pa.ChunkedArray):
        return strings.cast(pa.large_string()).combine_chunks()
    return strings


def _pieces(texts: pa.Array) -> list[tuple[int, int]]:
    """Cut rows into ranges of about PIECE_BYTES; a longer text is a range of its own."""
    _, offsets = buffers(texts)
    ranges, start = [], 0
    while start < len(texts):
        stop = int(np.searchsorted(offsets, offsets[start] + PIECE_BYTES, side="right")) - 1
        stop = min(max(stop, start + 1), len(texts), start + 4096)
        ranges.append((start, stop))
        start = stop
    return ranges


def _beginning(texts: pa.Array) -> pa.Array:
    """Cut the text of a range of its own to MAX_TEXT_BYTES, before a character."""
    data, offsets = buffers(texts)
    if offsets[-1] - offsets[0] <= MAX_TEXT_BYTES:
        return texts
    end = int(offsets[0]) + MAX_TEXT_BYTES
    while data[end] & 0xC0 == 0x80 and end > offsets[0]:
        end -= 1
    places = np.array([offsets[0], end], dtype=np.int64)
    return pa.LargeStringArray.from_buffers(1, pa.py_buffer(places), texts.buffers()[2])


def _columns(
    texts: pa.Array,
    languages: pa.Array | None,
    parameters: SignatureParameters,
    signatures: Collection[str],
    lexicon: Lexicon,
) -> dict[str, pa.Array]:
    p = parameters
    words = split(texts if len(texts) > 1 else _beginning(texts))
    counts = words.rows[1:] - words.rows[:-1]
    some = counts > 0
    columns = {"words": pa.array(counts.astype(np.int32))}
    if "exact" in signatures:
        columns["text_xxh3"] = text_digests(texts)
        if not some.all():
            columns["text_xxh3"] = pc.if_else(pa.array(some), columns["text_xxh3"], None)
    if "sentences" in signatures:
        columns["sentences"] = pa.array(sentence_counts(words, languages))
    if "minhash" in signatures:
        rows = shingle_signatures(words, shingle_words=p.shingle_words, values=p.minhash_values, seed=p.seed)
        columns["minhash"] = to_column(rows, p.minhash_bytes, some)
    if "shingles" in signatures:
        columns["shingles"] = shingle_sets(words, shingle_words=p.shingle_words, seed=p.seed).to_column()
    if not {"simhash", "bags", "terms", "keywords"} & set(signatures):
        return columns
    # Texts of unknown language keep their words as they are, so the lexicon is needed for the names of keywords only.
    plain = languages is None and "keywords" not in signatures
    kept = words if plain else lexicon.keywords(words, languages)
    if "simhash" in signatures:
        rows = simhashes(kept, bits=p.simhash_bits, seed=p.seed)
        narrow = p.simhash_bits <= 64
        columns["simhash"] = pa.array(rows[:, 0], mask=~some) if narrow else to_column(rows, 8, some)
    if {"bags", "terms", "keywords"} & set(signatures):
        bags = count(kept.hashes, kept.rows)
        if "bags" in signatures:
            rows = flat_signatures(bags, values=p.minhash_values, seed=p.seed)
            columns["bag_minhash"] = to_column(rows, p.minhash_bytes, some)
        if "terms" in signatures:
            columns["bag"], columns["bag_counts"] = bag_columns(stored(bags), some)
        if "keywords" in signatures:
            columns["keywords"], columns["keyword_counts"] = _keyword_columns(bags, p.keywords, lexicon)
    return columns


def _keyword_columns(bags: Bags, size: int, lexicon: Lexicon) -> tuple[pa.Array, pa.Array]:
    terms, counts = top_terms(bags, size)
    there = counts > 0
    ends = np.concatenate([[0], np.cumsum(there.sum(axis=1))]).astype(np.int32)
    distinct, at = np.unique(terms[there], return_inverse=True)
    names = pa.array([lexicon.name(term) for term in distinct.tolist()], type=pa.string())
    keywords = pa.ListArray.from_arrays(pa.array(ends), names.take(pa.array(at)))
    return keywords, pa.ListArray.from_arrays(pa.array(ends), pa.array(counts[there].astype(np.int32)))
