"""Spark beside the embedded engine: clusters to rules at 1, 3 and 10 million URLs on local[2], by stage, and skew.

python -m benchmarks.spark 1000000 [--giant]     one size: seconds of both engines, tasks that learn
python -m benchmarks.spark 20000 --paper         a site of so many URLs: seconds of each stage of Koppula et al.
"""

import argparse
import contextlib
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

from benchmarks.timing import row
from undust import corpus, pipeline
from undust.rules.files import dumps
from undust.synth.web import Web

SIZES = (1_000_000, 3_000_000, 10_000_000)
ALLOWED = 2.5
"""Times the wall time of the embedded engine that Spark may take on the same machine."""
GIANT_SHARE = 3
"""A planted giant site has one URL in so many of all."""
SKEW = 4.0
"""Times the median that the longest task of a stage may take, of stages that take a while."""


def run() -> Iterator[dict[str, Any]]:
    """Measure each size in a process of its own; a larger one only where the smaller one was done."""
    for size in SIZES:
        found = measure(size, giant=False)
        job = f"spark, local[2]: {size:,} URLs, clusters to rules : {ALLOWED} times embedded"
        ratio = found["spark"] / found["embedded"]
        shown = f"{found['spark']:.0f} s"
        yield row(job, shown, f"embedded {found['embedded']:.0f} s", ratio / ALLOWED, 1, at_most=True)
    found = measure(SIZES[0], giant=True)
    job = f"spark: longest task beside the median, a giant of a third of {SIZES[0]:,} URLs : {SKEW}"
    yield row(job, f"{found['longest']:.1f} s", f"{found['median']:.1f} s", found["skew"] / SKEW, 1, at_most=True)


def measure(urls: int, *, giant: bool) -> dict[str, Any]:
    """Run one size in a process of its own."""
    arguments = [sys.executable, "-m", "benchmarks.spark", str(urls), *(["--giant"] if giant else [])]
    done = subprocess.run(arguments, check=True, capture_output=True, text=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def clusters(urls: int, *, giant: bool) -> pa.Table:
    """Generate sites of about 5,000 URLs, and, if asked for, one that has a third of all."""
    large = urls // GIANT_SHARE if giant else 0
    table = Web(sites=max(1, (urls - large) // 5000), urls=urls - large).table().select(["url", "cluster"])
    if not large:
        return table
    planted = Web(sites=1, urls=large, seed=1).table().select(["url", "cluster"])
    renamed = pa.compute.replace_substring(planted["url"], "://", "://giant-")
    named = pa.compute.binary_join_element_wise("giant", planted["cluster"], "-")
    return pa.concat_tables([table, pa.table([renamed, named], schema=table.schema)])


def _one(urls: int, *, giant: bool) -> None:
    from undust.spark.session import open_session
    from undust.spark.sites import Learning, learn
    from undust.spark.tables import read_clusters

    most = urls // GIANT_SHARE // 2 if giant else 2_000_000
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "clusters.parquet"
        corpus.write_table(clusters(urls, giant=giant), path)
        pipeline.learn(Web(sites=1, urls=2000).table().select(["url", "cluster"]))  # kernels are read from disk
        begin, cpu = time.perf_counter(), _cpu()
        expected = pipeline.learn(corpus.read_clusters(path), most=most)
        embedded = {"embedded": time.perf_counter() - begin, "embedded_cpu": _cpu() - cpu}
        settings = {"spark.driver.memory": "4g", "spark.sql.shuffle.partitions": "8", "spark.ui.enabled": "true"}
        begin = time.perf_counter()
        session = open_session("local[2]", settings=settings)
        opened = time.perf_counter() - begin
        begin = time.perf_counter()
        # What is planted is as much larger than a usual task as the largest part of a site is by default.
        asked = Learning(most=most, partition_rows=most // 4)
        rules = learn(session, read_clusters(session, str(path)), asked)
        took = time.perf_counter() - begin
        stages, spark_cpu = _stages(session), _cpu_below(os.getpid())
        session.stop()
    seconds = sorted(second for stage in stages if "learned" in stage["name"] for second in stage["seconds"])
    median = seconds[len(seconds) // 2]
    told = {
        "urls": urls, "rules": len(rules), "equal": dumps(rules) == dumps(expected), "spark": took, "opened": opened,
        "spark_cpu": spark_cpu, "tasks": len(seconds),
        "longest": seconds[-1], "median": median, "skew": seconds[-1] / median, **embedded,
        "stages": [{"name": s["name"], "tasks": len(s["seconds"]), "seconds": sum(s["seconds"])} for s in stages],
        "memory_gb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
    }  # fmt: skip
    print(json.dumps(told))


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _cpu_below(process: int) -> float:
    """Add up the processor time of all that a process has started: Java, and the Python of its tasks."""
    used, parents = {}, {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # one that has just ended
            fields = stat.read_text().rpartition(")")[2].split()
            parents[int(stat.parent.name)] = int(fields[1])
            used[int(stat.parent.name)] = sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    below, found = {process}, True
    while found:
        more = {one for one, parent in parents.items() if parent in below} - below
        below, found = below | more, bool(more)
    return sum(used[one] for one in below - {process})


def _stages(session: Any) -> list[dict[str, Any]]:
    """Ask Spark for the stages that ran, and how long each of their tasks took."""
    import urllib.request

    context = session.sparkContext
    base = f"{context.uiWebUrl}/api/v1/applications/{context.applicationId}/stages"
    with urllib.request.urlopen(f"{base}?details=true") as answer:  # noqa: S310 - Spark's own page on loopback
        listed = json.load(answer)
    done = [stage for stage in listed if stage["status"] == "COMPLETE"]
    return [
        {
            "name": f"{stage.get('description', '')}: {stage['name'].partition(' at ')[0]}",
            "seconds": [task.get("duration", 0) / 1000 for task in stage["tasks"].values()],
        }
        for stage in done
    ]


def _paper(urls: int) -> None:
    """Tell what each stage of the paper costs in the task that has a site."""
    from undust.learn.columns import encode_table, site_tables
    from undust.learn.pairwise import Pairwise
    from undust.spark.stages import seconds_by_stage

    ((name, rows),) = site_tables(Web(sites=1, urls=urls).table().select(["url", "cluster"]))
    site = encode_table(name, rows)
    Pairwise().learn_site(site)  # kernels are read from disk
    print(json.dumps({"urls": urls, **seconds_by_stage(site, Pairwise())}))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.spark", description=__doc__)
    parser.add_argument("urls", type=int)
    parser.add_argument("--giant", action="store_true")
    parser.add_argument("--paper", action="store_true")
    options = parser.parse_args()
    if options.paper:
        _paper(options.urls)
    else:
        _one(options.urls, giant=options.giant)
