"""Makes fingerprints, and clusters them in processes of their own: python -m tests.cluster_memory FILE ROWS LIMIT.

Prints clusters found and peak of memory, with the limit and without one.
"""

import json
import resource
import subprocess
import sys
import time

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from undust.clustering import clustered
from undust.corpus import TableWriter
from undust.corpus.fingerprints import FingerprintFiles
from undust.detect.pages import PageFingerprints

BATCH, SHINGLES = 20_000, 100
NAMES = (
    *("url", "body_xxh3", "digest", "cluster", "length", "time"),
    *("simhash", "minhash", "shingles", "sentences", "keywords"),
)
WORDS = pa.array([f"word{number}" for number in range(20_000)])


def fixed(values: npt.NDArray[np.uint8]) -> pa.Array:
    """Rows of bytes as a column."""
    width = values.shape[1]
    return pa.FixedSizeBinaryArray.from_buffers(pa.binary(width), len(values), [None, pa.py_buffer(values)])


def make(path: str, rows: int) -> None:
    """Write fingerprints, a tenth of them 0.9 similar to another."""
    full = PageFingerprints().schema
    schema = pa.schema([full.field(name) for name in NAMES], metadata=full.metadata)
    chance = np.random.default_rng(0)
    tenth = BATCH // 10
    copies = slice(BATCH // 2, BATCH // 2 + tenth)
    with TableWriter(path, schema) as writer:
        for start in range(0, rows, BATCH):
            signatures = chance.integers(1, 2**64, (BATCH, 128), dtype=np.uint64)
            kept = chance.random((tenth, 128)) < 0.9
            signatures[copies] = np.where(kept, signatures[:tenth], signatures[copies])
            shingles = chance.integers(0, 2**32, (BATCH, SHINGLES), dtype=np.uint32)
            shingles[copies, :95] = shingles[:tenth, :95]
            simhashes = chance.integers(0, 2**64, BATCH, dtype=np.uint64)
            simhashes[copies] = simhashes[:tenth] ^ np.uint64(5)
            keywords = chance.integers(0, len(WORDS), (BATCH, 10))
            keywords[copies] = keywords[:tenth]
            numbers = pa.array(chance.permutation(BATCH) + start).cast(pa.string())
            columns = {
                "url": pc.binary_join_element_wise("http://www.example.com/section/article.php?id=", numbers, ""),
                "body_xxh3": fixed(chance.integers(0, 256, (BATCH, 16), dtype=np.uint8)),
                "length": pa.array(np.full(BATCH, 100)),
                "simhash": pa.array(simhashes),
                "minhash": fixed(signatures.view(np.uint8).reshape(BATCH, 1024)),
                "sentences": pa.array(np.full(BATCH, 5, np.int32)),
                "keywords": pa.ListArray.from_arrays(
                    pa.array(np.arange(0, BATCH * 10 + 1, 10, dtype=np.int32)), WORDS.take(keywords.reshape(-1))
                ),
                "shingles": pa.LargeListArray.from_arrays(
                    pa.array(np.arange(0, BATCH * SHINGLES + 1, SHINGLES)), pa.array(np.sort(shingles).reshape(-1))
                ),
            }
            filled = [columns.get(name, pa.nulls(BATCH, schema.field(name).type)) for name in NAMES]
            writer.write(pa.RecordBatch.from_arrays(filled, schema=schema))


def cluster(path: str, method: str, limit: str | None) -> dict[str, float]:
    """Cluster them, and tell the time and the peak of memory of this process."""
    start = time.process_time()
    with clustered(FingerprintFiles((path,)), method=method, memory=limit) as found:
        clusters = len(np.unique(found.rows))
        assert found.table().num_rows == len(found.rows)
    unit = 10**6 if sys.platform == "darwin" else 10**3
    seconds = time.process_time() - start
    return {
        "clusters": clusters,
        "cpu_seconds": seconds,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit,
    }


def main() -> None:
    """Make the file, then start a process for each limit."""
    path, second, limit = sys.argv[1:4]
    if second.isdigit():
        make(path, int(second))
        for mine in (limit, "1TB"):
            subprocess.run([sys.executable, "-m", "tests.cluster_memory", path, "minhash", mine], check=True)
    else:
        print(json.dumps(cluster(path, second, limit)), flush=True)


if __name__ == "__main__":
    main()
