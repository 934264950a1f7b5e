"""`spark-submit` of the shipped entry point against a standalone master and two workers on loopback."""

import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from undust import pipeline
from undust.cli import submit
from undust.rules.care import dated
from undust.rules.files import dumps
from undust.synth.web import Web

pyspark = pytest.importorskip("pyspark")
HOME = Path(pyspark.__file__).parent
JAVA_MEMORY = "256m"

pytestmark = pytest.mark.java


def environment(folder: Path) -> dict[str, str]:
    paths = [
        str(Path(pipeline.__file__).parents[1]),
        *([os.environ["PYTHONPATH"]] if "PYTHONPATH" in os.environ else []),
    ]
    return {
        **os.environ,
        "SPARK_HOME": str(HOME),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_DAEMON_MEMORY": JAVA_MEMORY,
        "SPARK_WORKER_DIR": str(folder),
        "PYSPARK_PYTHON": sys.executable,
        "PYTHONPATH": os.pathsep.join(paths),  # where workers find undust; on a cluster it is installed
    }


@contextmanager
def daemon(folder: Path, ready: str, *arguments: str) -> Iterator[str]:
    """Start one of Spark's own daemons; give what its log says where it is ready. It is ended by its id."""
    command = [str(HOME / "bin" / "spark-class"), *arguments]
    with subprocess.Popen(
        command, env=environment(folder), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        try:
            assert process.stdout is not None
            found = None
            for line in process.stdout:
                found = re.search(ready, line)
                if found:
                    break
            assert found, "the daemon ended before it was ready"
            # What it says later must not fill the pipe.
            drain = threading.Thread(target=process.stdout.read, daemon=True)
            drain.start()
            yield found[1]
        finally:
            process.terminate()
            process.wait(30)
            drain.join(30)


@pytest.fixture
def master(tmp_path: Path) -> Iterator[str]:
    one = ("org.apache.spark.deploy.master.Master", "--host", "127.0.0.1", "--port", "0", "--webui-port", "0")
    worker = (
        "org.apache.spark.deploy.worker.Worker",
        "--host",
        "127.0.0.1",
        "--webui-port",
        "0",
        "-c",
        "1",
        "-m",
        "1g",
    )
    joined = r"Successfully registered with master (spark://\S+)"
    with (
        daemon(tmp_path, r"Starting Spark master at (spark://\S+)", *one) as url,
        daemon(tmp_path / "1", joined, *worker, url),
        daemon(tmp_path / "2", joined, *worker, url),
    ):
        yield url


def test_the_shipped_entry_point_runs_on_a_standalone_cluster(master: str, tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    table = Web(sites=4, urls=4000).table().select(["url", "cluster"])
    pq.write_table(table, tmp_path / "clusters.parquet", row_group_size=1000)
    command = [
        str(HOME / "bin" / "spark-submit"),
        *("--master", master, "--executor-memory", "512m", "--driver-memory", "512m", "--total-executor-cores", "2"),
        *("--conf", "spark.ui.enabled=false", "--conf", "spark.sql.shuffle.partitions=4"),
        *("--conf", "spark.driver.bindAddress=127.0.0.1", "--conf", "spark.driver.host=127.0.0.1"),
        *("--conf", "spark.executor.extraJavaOptions=-XX:TieredStopAtLevel=1"),
        str(submit.__file__),
        *("learn", "clusters.parquet", "-o", "rules.json", "--json", "--date", "2026-01-02"),
    ]
    done = subprocess.run(
        command, cwd=tmp_path, env=environment(tmp_path), capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    expected = dated(pipeline.learn(table), "2026-01-02", "")
    assert (tmp_path / "rules.json").read_text() == dumps(expected)
    assert f'"rules": {len(expected)}' in done.stdout
