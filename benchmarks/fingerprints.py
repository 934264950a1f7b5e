"""Text to signatures beside other packages: the same documents, one process, one core.

Figures are documents a second. Ours and a peer take turns, and the best run of each counts, so that
what else the machine does harms both alike. Every peer gets the quickest way it documents for this job; tokens from
text are made by `str.lower().split()`, which is less than what our words are. Ready-made tokens cost a peer nothing.
"""

import gzip
import os
import random
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

os.environ["RAYON_NUM_THREADS"] = "1"  # rensa and gaoya would use all cores; ratios are for one

import datasketch  # type: ignore[import-untyped]
import gaoya  # type: ignore[import-untyped]
import pyarrow as pa
import rensa  # type: ignore[import-untyped]
import simhash  # type: ignore[import-untyped]
import xxhash

from benchmarks.timing import best_seconds, row
from undust.detect.fingerprints import fingerprints, make_lexicon
from undust.detect.fingerprints_parameters import SignatureParameters

VALUES = 128
SHINGLE_WORDS = 5
ARTICLES = Path(os.environ.get("UNDUST_SHARED", Path(__file__).parents[2] / "shared" / "data")) / "articles"
DOCUMENTS = 3000
PAGE_ARTICLES = 3  # articles that make a document of the length of a web page's text


def documents() -> list[str]:
    """News articles of the shared data, or, without it, generated texts of the same length."""
    found = []
    for path in sorted(ARTICLES.glob("*.train.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            found += [line.split(" ", 1)[1].strip() for line in lines]
    if found:
        return found[:DOCUMENTS]
    random.seed(0)
    letters = "etaoinshrdlucmfwypvbgk"
    known = ["".join(random.choices(letters, k=random.choice([2, 3, 3, 4, 5, 6, 8, 10]))) for _ in range(20_000)]  # noqa: S311 # no secrets
    weights = [1 / (rank + 1) for rank in range(len(known))]
    return [" ".join(random.choices(known, weights, k=260)) for _ in range(DOCUMENTS)]  # noqa: S311 # the same


def shingles(text: str) -> list[str]:
    """Make the tokens that min-hash packages are fed with."""
    words = text.lower().split()
    return [" ".join(words[i : i + SHINGLE_WORDS]) for i in range(max(1, len(words) - SHINGLE_WORDS + 1))]


def ours(texts: Sequence[str], *signatures: str) -> Callable[[], pa.Table]:
    """Prepare to make our fingerprints of texts that lie in an Arrow column, as they do when they were read."""
    parameters = SignatureParameters(minhash_values=VALUES, shingle_words=SHINGLE_WORDS)
    lexicon = make_lexicon(parameters)
    return partial(fingerprints, pa.array(texts), parameters, signatures=signatures, lexicon=lexicon)


def rensa_from_text(texts: Sequence[Any]) -> object:
    """Let rensa sign texts, in one call for all."""
    return rensa.RMinHash.digest_matrix_from_token_sets([shingles(text) for text in texts], VALUES, 1)


def rensa_from_tokens(tokens: Sequence[Any]) -> object:
    """Let rensa sign lists of tokens, in one call for all, which is its quickest way."""
    return rensa.RMinHash.digest_matrix_from_token_sets(tokens, VALUES, 1)


def rensa_one_by_one(tokens: Sequence[Any]) -> object:
    """Let rensa sign lists of tokens, one object a document."""
    signatures = []
    for each in tokens:
        signature = rensa.RMinHash(num_perm=VALUES, seed=1)
        signature.update(each)
        signatures.append(signature.digest())
    return signatures


def datasketch_from_text(texts: Sequence[Any]) -> object:
    """Let datasketch sign texts, with a hash function quicker than its own."""
    signatures = []
    for text in texts:
        signature = datasketch.MinHash(num_perm=VALUES, hashfunc=xxhash.xxh32_intdigest)
        signature.update_batch([shingle.encode() for shingle in shingles(text)])
        signatures.append(signature.hashvalues)
    return signatures


def gaoya_simhash(texts: Sequence[Any]) -> object:
    """Let gaoya make simhashes; it gives none out, but a query in an empty index costs little more than that."""
    index = gaoya.simhash.SimHashStringIndex(hash_size=64, analyzer="word", lowercase=True, ngram_range=(1, 1))
    return [index.query(text) for text in texts]


def simhash_package(texts: Sequence[Any]) -> object:
    """Let the simhash package make simhashes of words."""
    return [simhash.Simhash(text.lower().split()).value for text in texts]


def run() -> list[dict[str, object]]:
    """Measure all jobs; a row each: documents a second and core, ours and the peer's, their ratio and its target."""
    texts = documents()
    tokens = [shingles(text) for text in texts]
    some = texts[:200]
    rows = []
    # Both sides have the same number of tries: the best of more tries is better, and a close race would be won by that.
    for job, signature, theirs, given, rounds, target in (
        ("128 min-hash values from text : rensa", "minhash", rensa_from_text, texts, 20, 15.0),
        ("128 min-hash values from text : rensa, ready-made tokens", "minhash", rensa_from_tokens, tokens, 150, 1.0),
        ("128 min-hash values from text : rensa, the same one by one", "minhash", rensa_one_by_one, tokens, 80, 1.0),
        ("128 min-hash values from text : datasketch", "minhash", datasketch_from_text, some, 40, 20.0),
        ("64-bit simhash from text : gaoya", "simhash", gaoya_simhash, texts, 40, 6.0),
        ("64-bit simhash from text : simhash", "simhash", simhash_package, some, 40, 40.0),
    ):
        best = best_seconds(ours(texts, signature), partial(theirs, given), rounds=rounds, clock=time.process_time)
        speeds = len(texts) / best[0], len(given) / best[1]
        rows.append(row(job, f"{speeds[0]:,.0f}/s", f"{speeds[1]:,.0f}/s", speeds[0] / speeds[1], target))
    pages = [" ".join(texts[i : i + PAGE_ARTICLES]) for i in range(0, len(texts), PAGE_ARTICLES)]
    size = sum(len(page.encode()) for page in pages)
    for job, signatures, prototype in (
        ("exact, simhash, 128 min-hash values : prototype", ("exact", "simhash", "minhash"), 80_000),
        ("128 min-hash values of bags : prototype", ("bags",), 66_000),
    ):
        [best_of_ours] = best_seconds(ours(pages, *signatures), rounds=40)
        speed = len(pages) / best_of_ours
        mine_as_text = f"{speed:,.0f}/s of {size / len(pages) / 1000:.1f} kB ({size / best_of_ours / 1e6:.0f} MB/s)"
        rows.append(row(job, mine_as_text, f"{prototype:,}/s", speed / prototype, 1.0))
    return rows


if __name__ == "__main__":
    for measured in run():
        print(*measured.values(), sep=" | ")
