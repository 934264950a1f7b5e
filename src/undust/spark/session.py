"""Opens a Spark session for undust, or says in one line what is missing for it."""

import contextlib
import os
import re
import shutil
import socket
import sys
import tempfile
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any

from undust.errors import MissingExtraError, UndustError

SETTINGS = {
    # Pages have kilobytes of signatures each: batches are cut by bytes, too.
    "spark.sql.execution.arrow.maxRecordsPerBatch": "16384",
    "spark.sql.execution.arrow.maxBytesPerBatch": str(64 * 2**20),
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    # Times are kept as UTC, wherever the machines are.
    "spark.sql.session.timeZone": "UTC",
    "spark.ui.showConsoleProgress": "false",
}
"""What is set unless somebody says otherwise."""

LOCAL_SETTINGS = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.ui.enabled": "false",
}
"""The same where master and workers are this machine: nothing listens beyond it."""

MASTER_SECONDS = 10
"""So long is waited for a standalone master to answer. Spark itself asks for a minute and a half, then says little."""

_WHY = re.compile(r"^(?:Exception in thread .*? |: |Caused by: )?[\w.$]*(?:Error|Exception): (\S.*)$", re.MULTILINE)


def open_session(master: str | None = None, *, settings: Mapping[str, str] | None = None) -> Any:
    """Give the session there is, as under `spark-submit`, or a new one with a master such as `local[4]`.

    Without a master, and without one in Spark's own settings, all cores of this machine.
    """
    SparkSession = _pyspark()  # noqa: N806 - a class
    active = SparkSession.getActiveSession()
    if active is None:
        _require_java()
        chosen = master or (None if _under_submit() else "local[*]")
        _require_master(chosen or "")
        active = _build(SparkSession.builder, chosen, settings or {})
        active.sparkContext.setLogLevel("ERROR")
    for name, value in SETTINGS.items():
        if name.startswith("spark.sql"):
            active.conf.set(name, (settings or {}).get(name, value))
    return active


def is_given() -> bool:
    """Tell whether there is a session that somebody else has opened, and will close."""
    return _under_submit() or _pyspark().getActiveSession() is not None


def _under_submit() -> bool:
    return "PYSPARK_GATEWAY_PORT" in os.environ


def _pyspark() -> Any:
    with quiet_about_pandas():
        try:
            from pyspark.sql import SparkSession
        except ImportError as error:
            raise MissingExtraError("Spark is not installed; install undust[spark]") from error
    return SparkSession


@contextlib.contextmanager
def quiet_about_pandas() -> Iterator[None]:
    """Keep back what Spark says of versions of pandas that it does not know: we use nothing of them."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
        yield


def _build(builder: Any, master: str | None, settings: Mapping[str, str]) -> Any:
    made = dict(SETTINGS)
    if master is not None:
        builder = builder.master(master)
        if master.startswith("local"):
            made |= LOCAL_SETTINGS
            os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # or tasks would run any python3
    for name, value in (made | dict(settings)).items():
        builder = builder.config(name, value)
    with tempfile.TemporaryFile() as told:
        try:
            with quiet_about_pandas(), _stderr_to(told):
                return builder.appName("undust").getOrCreate()
        except Exception as error:
            told.seek(0)
            why = _why(f"{told.read().decode('utf-8', 'replace')}\n{error}")
            raise UndustError(f"Spark did not start: {why}; check --master and Java") from error


def _why(said: str) -> str:
    """Give what went wrong first, by what Java said and what was raised.

    >>> _why("26/11/19 WARN x\\norg.apache.spark.SparkException: Could not parse Master URL: 'a'\\n\\tat org.apache")
    "Could not parse Master URL: 'a'"
    """
    found = _WHY.search(said)
    lines = said.strip().splitlines() or ["it said nothing"]
    return (found[1] if found else lines[-1]).strip()[:200]


@contextlib.contextmanager
def _stderr_to(file: IO[bytes]) -> Iterator[None]:
    """Let what is started meanwhile, Java, say elsewhere what it says: what goes wrong is raised here, too."""
    before = os.dup(2)
    try:
        os.dup2(file.fileno(), 2)
        yield
    finally:
        os.dup2(before, 2)
        os.close(before)


def _require_java() -> None:
    home = os.environ.get("JAVA_HOME")
    java = Path(home) / "bin" / "java" if home else shutil.which("java")
    if java is None or not Path(java).exists():
        raise UndustError("Spark needs Java, and there is none; install Java 17 (Debian: openjdk-17-jre-headless)")


def _require_master(master: str) -> None:
    """Say at once where no standalone master answers. Of several, `spark://one:7077,two:7077`, one is enough."""
    if not master.startswith("spark://"):
        return
    refused = []
    for place in master.removeprefix("spark://").split(","):
        host, _, port = place.rpartition(":")
        if not host or not port.isdecimal() or int(port) >= 2**16:
            raise UndustError(f"--master {master}: no host and port; give spark://HOST:PORT, such as spark://host:7077")
        try:
            socket.create_connection((host.strip("[]"), int(port)), MASTER_SECONDS).close()
        except OSError as error:
            refused.append(f"{place}: {error.strerror or error}")
        else:
            return
    raise UndustError(f"--master {master}: no master answers ({'; '.join(refused)}); start it, or give where it is")
