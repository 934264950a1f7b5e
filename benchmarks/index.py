"""The online index: pages added, each after a search, at 1 million and at 10 million pages; opening, size, memory."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from benchmarks.timing import row
from undust.detect.fingerprints import schema, to_column
from undust.detect.fingerprints_parameters import SignatureParameters
from undust.index.online import Index

BATCH = 50_000
PARAMETERS = SignatureParameters()
NEAR, SAME = 0.1, 0.1  # shares of pages that are 90 % like an earlier one, and the same as one
_U64 = npt.NDArray[np.uint64]


def run() -> Iterator[dict[str, Any]]:
    """Measure each job in a process of its own."""
    jobs = [
        ("exact, minhash, verified by signature", 10_000_000, "exact,minhash", 0),
        ("exact, minhash, verified by 300 shingles", 1_000_000, "exact,minhash", 300),
        ("exact, simhash", 10_000_000, "exact,simhash", 0),
    ]
    for name, pages, methods, shingles in jobs:
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.index", str(pages), methods, str(shingles)],
            check=True,
            stdout=subprocess.PIPE,
        )
        yield from rows(name, pages, json.loads(done.stdout))


def rows(name: str, pages: int, found: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Give the lines of the report."""
    speeds = found["speeds"]
    yield row(f"{name}, at 1 M : 50,000 adds/s", f"{speeds['1']:,.0f}/s", "", speeds["1"] / 50_000, 1)
    if pages > 1_000_000:
        yield row(
            f"{name}, at 10 M : at 1 M", f"{speeds['10']:,.0f}/s", "", speeds["1"] / speeds["10"], 2, at_most=True
        )
    yield row(f"{name}, opening : 100 ms", f"{found['open'] * 1e3:.1f} ms", "", found["open"] / 0.1, 1, at_most=True)
    yield row(
        f"{name}, opening after a crash : 1 s",
        f"{found['recover'] * 1e3:.0f} ms",
        "",
        found["recover"],
        1,
        at_most=True,
    )
    yield row(f"{name}, a page : 4 kB", f"{found['bytes']:,.0f} bytes", "", found["bytes"] / 4000, 1, at_most=True)
    yield row(f"{name}, own memory : 1 GB", f"{found['own']:.2f} GB", "", found["own"], 1, at_most=True)


def mixed(values: _U64) -> _U64:
    """SplitMix64, so that a page can be made again from its number."""
    values = values.copy()
    values ^= values >> np.uint64(30)
    values *= np.uint64(0xBF58476D1CE4E5B9)
    values ^= values >> np.uint64(27)
    values *= np.uint64(0x94D049BB133111EB)
    values ^= values >> np.uint64(31)
    return values


def signatures(numbers: _U64, width: int) -> _U64:
    """Random values that depend on a number."""
    values = np.add.outer(numbers * np.uint64(width), np.arange(1 << 40, (1 << 40) + width, dtype=np.uint64))
    return mixed(values.astype(np.uint64))


def batches(pages: int, methods: list[str], shingles: int) -> Iterator[pa.Table]:
    """Give fingerprints of pages: most are new, some the same as an earlier one, some 90 % like one."""
    names = ["exact", *(["simhash"] if "simhash" in methods else [])]
    names += (["minhash"] + (["shingles"] if shingles else [])) if "minhash" in methods else []
    columns = schema(PARAMETERS, names)
    chance = np.random.default_rng(0)
    for start in range(0, pages, BATCH):
        count = min(BATCH, pages - start)
        own = np.arange(start, start + count, dtype=np.uint64)
        kind = chance.random(count)
        earlier = chance.integers(0, max(start, 1), count, dtype=np.uint64)
        copied = (kind < NEAR + SAME) & (start > 0)
        near = copied & (kind < NEAR)
        content = np.where(copied, earlier, own)
        made: dict[str, pa.Array] = {"words": pa.array(np.full(count, 100, np.int32))}
        everywhere = np.ones(count, dtype=np.bool_)
        digest = np.where(near, own, content)
        made["text_xxh3"] = to_column(signatures(digest, 2), 8, everywhere)
        if "simhash" in names:
            bits = signatures(content, 1)[:, 0]
            bits[near] ^= np.uint64(1) << chance.integers(0, 64, int(near.sum()), dtype=np.uint64)
            made["simhash"] = pa.array(bits)
        if "minhash" in names:
            values = signatures(content, PARAMETERS.minhash_values)
            changed = near[:, None] & (chance.random(values.shape, dtype=np.float32) < 0.1)
            values[changed] = chance.integers(1, 2**64, int(changed.sum()), dtype=np.uint64)
            made["minhash"] = to_column(values, 8, everywhere)
        if shingles:
            hashes = (signatures(content, shingles) >> np.uint64(32)).astype(np.uint32)
            hashes[near, : shingles // 20] = chance.integers(0, 2**32, (int(near.sum()), shingles // 20), np.uint32)
            hashes.sort(axis=1)
            offsets = np.arange(count + 1, dtype=np.int64) * shingles
            made["shingles"] = pa.LargeListArray.from_arrays(pa.array(offsets), pa.array(hashes.reshape(-1)))
        urls = pa.array([f"https://www.example{n % 997}.com/articles/{n % 31}/page-{n}.html" for n in own.tolist()])
        table = pa.table([urls, *(made[name] for name in columns.names)], names=["url", *columns.names])
        yield table.replace_schema_metadata(columns.metadata)


def memory(name: str) -> float:
    """Gigabytes of this process: `RssAnon` is its own, `RssFile` are files that the system may drop at will."""
    found = re.search(rf"{name}:\s+(\d+)", Path("/proc/self/status").read_text())
    return int(found[1]) / 1e6 if found else 0.0


def measure(pages: int, methods: list[str], shingles: int) -> dict[str, Any]:
    """Fill an index, batch by batch; making the batches is not counted."""
    folder = Path(tempfile.mkdtemp(prefix="undust-index-"))
    speeds: dict[str, float] = {}
    per_cpu: dict[str, float] = {}  # the same for each second of processor, where others use the machine as well
    seconds, longest, own, at, found = 0.0, 0.0, 0.0, 0, 0
    last: list[tuple[int, float, float]] = []
    try:
        index = Index(folder / "i", methods=methods, verify=None if shingles else "signature")
        for table in batches(pages, methods, shingles):
            start, cpu = time.perf_counter(), time.process_time()
            answers = index.add_many(table)
            taken, cpu = time.perf_counter() - start, time.process_time() - cpu
            at += table.num_rows
            seconds += taken
            longest = max(longest, taken)
            own = max(own, memory("RssAnon"))
            found += answers.num_rows - answers["duplicate_of"].null_count
            last.append((table.num_rows, taken, cpu))
            if at in (1_000_000, 10_000_000):
                # Over the last fifth of the pages so far: from a state with few runs to one with many.
                part = last[-(at // 5 // BATCH) :]
                pages_here, wall, used = (sum(column) for column in zip(*part, strict=True))
                speeds[str(at // 1_000_000)] = pages_here / wall
                per_cpu[str(at // 1_000_000)] = pages_here / used
        mapped = memory("RssFile")
        stats = index.stats()
        assert found > 0.15 * pages  # a copy of a page that was a copy itself may be the first of its content
        shutil.copytree(folder / "i", folder / "crashed", copy_function=os.link)  # as a crash would leave it
        index.close()
        opened = []
        for path in ("i", "crashed"):
            start = time.perf_counter()
            with Index(folder / path, read_only=True) as reader:
                opened.append(time.perf_counter() - start)
                assert len(reader) == pages
    finally:
        shutil.rmtree(folder)
    return {
        "speeds": speeds,
        "per_cpu": per_cpu,
        "all": pages / seconds,
        "longest": longest,
        "open": opened[0],
        "recover": opened[1],
        "bytes": (stats["row_bytes"] + stats["table_bytes"]) / pages,
        "own": own,
        "mapped": mapped,
        "runs": stats["runs"],
        "found": found,
    }


if __name__ == "__main__":
    print(json.dumps(measure(int(sys.argv[1]), sys.argv[2].split(","), int(sys.argv[3]))))
