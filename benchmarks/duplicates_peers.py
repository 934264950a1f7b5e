"""Peers that find near duplicates in texts, each by its own means: rensa, gaoya, datasketch, simhash, text-dedup.

text-dedup asks for other versions of what others need. Install it in an environment of its own, and name the Python of
that in UNDUST_TEXT_DEDUP.
"""

import json
import logging
import os
import re
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

import datasketch  # type: ignore[import-untyped]
import gaoya  # type: ignore[import-untyped]
import rensa  # type: ignore[import-untyped]
import simhash  # type: ignore[import-untyped]

logging.getLogger("simhash").setLevel(logging.ERROR)  # it warns of every large bucket, for each text

Pairs = set[tuple[int, int]]
Find = Callable[[list[str], float], Pairs]
"""Texts and a threshold to pairs of their numbers."""

TEXT_DEDUP = os.environ.get("UNDUST_TEXT_DEDUP", "")

_READ_CLUSTERS = (
    "import json, pickle, sys; print(json.dumps(list(pickle.load(open(sys.argv[1], 'rb')).parent.items())))"
)


def ordered(a: int, b: int) -> tuple[int, int]:
    """A pair with the smaller number first."""
    return (a, b) if a < b else (b, a)


def shingles(text: str) -> list[str]:
    """Split as the peers' users do."""
    words = text.lower().split()
    return [" ".join(words[i : i + 5]) for i in range(max(len(words) - 4, 1))]


def with_rensa(texts: list[str], threshold: float) -> Pairs:
    """Its own deduplicator: adds each text that is like none before."""
    return with_rensa_from([shingles(text) for text in texts], threshold)


def with_rensa_from(split: list[list[str]], threshold: float) -> Pairs:
    """The same without the time for Python to make shingles, which rensa cannot do."""
    deduplicator = rensa.RMinHashDeduplicator(threshold, 128, True, 32)
    found = set()
    for at, sketch in enumerate(rensa.RMinHash.from_token_sets(split, 128, 42)):
        if not deduplicator.add(str(at), sketch):
            found |= {ordered(int(other), at) for other in deduplicator.get_duplicates(sketch)}
    return found


def with_gaoya(texts: list[str], threshold: float) -> Pairs:
    """Its own index, on all cores."""
    index = gaoya.minhash.MinHashStringIndex(32, threshold, 32, 4, None, "word", True, (5, 5))
    index.par_bulk_insert_docs(list(range(len(texts))), texts)
    return {ordered(at, other) for at, like in enumerate(index.par_bulk_query(texts)) for other in like if other != at}


def with_datasketch(texts: list[str], threshold: float) -> Pairs:
    """Its index, asked for each text."""
    index = datasketch.MinHashLSH(threshold=threshold, num_perm=128)
    found = set()
    for at, text in enumerate(texts):
        sketch = datasketch.MinHash(num_perm=128)
        sketch.update_batch([shingle.encode() for shingle in shingles(text)])
        found |= {ordered(other, at) for other in index.query(sketch)}
        index.insert(at, sketch)
    return found


def with_simhash(texts: list[str], bits: float) -> Pairs:
    """Its index of 64-bit simhashes of words; the threshold is the number of bits that may differ."""
    hashes = [simhash.Simhash(re.findall(r"\w+", text.lower())) for text in texts]
    index = simhash.SimhashIndex([(str(at), value) for at, value in enumerate(hashes)], k=int(bits))
    near = (index.get_near_dups(value) for value in hashes)
    return {ordered(at, int(other)) for at, like in enumerate(near) for other in like if int(other) != at}


def with_text_dedup(texts: list[str], threshold: float) -> Pairs:
    """Its command, from a file to a file, on two processes."""
    return timed_text_dedup(texts, threshold)[0]


def timed_text_dedup(texts: list[str], threshold: float) -> tuple[Pairs, float]:
    """The same, and the seconds that it says itself for signatures and clusters: without start, reading and writing."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "texts.jsonl"
        source.write_text("".join(json.dumps({"id": at, "text": text}) + "\n" for at, text in enumerate(texts)))
        output = Path(folder) / "out"
        command = [
            *(TEXT_DEDUP, "-m", "text_dedup.minhash", "--path", "json", "--data_files", source, "--split", "train"),
            *("--cache_dir", Path(folder) / "cache", "--output", output, "--column", "text", "--idx_column", "id"),
            *("--ngram", "5", "--num_perm", "128", "--threshold", str(threshold), "--min_length", "1"),
            *("--num_proc", "2", "--debug", "--use_auth_token", "false"),
        ]
        told = subprocess.run(
            list(map(str, command)), check=True, capture_output=True, text=True, cwd=folder, timeout=600,
            env={**os.environ, "HF_HUB_OFFLINE": "1", "COLUMNS": "200"},
        )  # fmt: skip
        seconds = [
            float(found) for found in re.findall(r"(?:MinHashing|Clustering) *: ([0-9.]+)s", told.stderr + told.stdout)
        ]
        read = [TEXT_DEDUP, "-c", _READ_CLUSTERS, str(output / "uf.pkl")]
        parents = json.loads(subprocess.run(read, check=True, capture_output=True).stdout)
    return {ordered(a, b) for a, b in parents if a != b}, sum(seconds)


PEERS: dict[str, tuple[Find, tuple[float, ...]]] = {
    "rensa": (with_rensa, (0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9)),
    "gaoya": (with_gaoya, (0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9)),
    "datasketch": (with_datasketch, (0.5, 0.7, 0.8, 0.9)),
    "simhash": (with_simhash, (3, 6)),
}
"""Each peer, and the thresholds of which the best counts."""

if TEXT_DEDUP:
    PEERS["text-dedup"] = (with_text_dedup, (0.7, 0.8, 0.9))
