"""The URL model beside a real browser, and inside Spark: what the system parts of the tests are for."""

import json
import os
import subprocess
import sys
from html import unescape
from pathlib import Path

import pyarrow as pa
import pytest

from tests.conftest import CHROMIUM
from tests.test_urls_normalize import CASES, DELIBERATE
from undust.urls.batch import normalize_many
from undust.urls.normalize import normalize
from undust.urls.parse import split

PAGE = """<!doctype html><meta charset=utf-8><pre id=out></pre><script>
const parts = u => { try { const p = new URL(u); return [p.hostname, p.port, p.pathname] } catch { return null } };
const found = %s.map(parts);
document.getElementById("out").textContent = JSON.stringify(found);
</script>"""


@pytest.mark.chromium
def test_chromium_finds_the_same_hosts_ports_and_depths(tmp_path: Path) -> None:
    urls = [case["url"] for case in CASES] + [url for url, ours, _ in DELIBERATE.values() if ours]
    page = tmp_path / "urls.html"
    page.write_text(PAGE % json.dumps(urls).replace("</", "<\\/"), encoding="utf-8")
    command = [str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}"]
    dump = subprocess.run([*command, "--dump-dom", page.as_uri()], capture_output=True, check=True, timeout=120)
    text = dump.stdout.decode()
    found = json.loads(unescape(text[text.index("<pre") :].partition(">")[2].partition("</pre>")[0]))
    assert len(found) == len(urls) > 40
    compared = 0
    for url, theirs in zip(urls, found, strict=True):
        if theirs is None or not theirs[0]:
            continue
        ours = split(normalize(url))
        assert (ours.host, ours.port or "") == (theirs[0], theirs[1]), url
        assert ours.path.count("/") == theirs[2].count("/"), url
        compared += 1
    assert compared > 40


@pytest.mark.java
def test_the_batch_kernel_runs_inside_spark(tmp_path: Path) -> None:
    urls = [case["url"] for case in CASES if "\ud800" not in case["url"]]
    # A process of its own: Spark leaves threads and sockets behind that would fail other tests' warnings.
    script = tmp_path / "job.py"
    script.write_text(SPARK_JOB, encoding="utf-8")
    (tmp_path / "urls.json").write_text(json.dumps(urls), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(script), str(tmp_path / "urls.json")], capture_output=True, timeout=300, check=False,
        env=os.environ | {"PYSPARK_PYTHON": sys.executable},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr.decode()[-2000:]
    normal = normalize_many(pa.array(urls)).urls.to_pylist()
    assert json.loads(done.stdout.decode().splitlines()[-1]) == normal


SPARK_JOB = """
import json, sys
import pyarrow as pa
from pyspark.sql import SparkSession

urls = json.load(open(sys.argv[1], encoding="utf-8"))
spark = (
    SparkSession.builder.master("local[2]")
    .config("spark.ui.enabled", "false")
    .config("spark.driver.bindAddress", "127.0.0.1")
    .config("spark.driver.host", "127.0.0.1")
    .getOrCreate()
)

def normal(batches):
    from undust.urls.batch import normalize_many
    for batch in batches:
        found = normalize_many(batch.column("url"))
        yield pa.RecordBatch.from_arrays([batch.column("row"), found.urls.combine_chunks()], ["row", "url"])

frame = spark.createDataFrame(list(enumerate(urls)), "row long, url string").repartition(3)
rows = frame.mapInArrow(normal, "row long, url string").collect()
print(json.dumps([row["url"] for row in sorted(rows, key=lambda row: row["row"])]))
spark.stop()
"""
