"""The OpenAPI description holds: schemathesis asks what it allows and what it does not, and finds nothing."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.serving import Running, serving


@pytest.fixture(scope="module")
def running(served_run: Path) -> Iterator[Running]:
    with serving(served_run) as server:
        yield server


def test_schemathesis_finds_nothing(running: Running, tmp_path_factory: pytest.TempPathFactory) -> None:
    command = [sys.executable, "-c", "from schemathesis.cli import schemathesis; schemathesis()", "run", "--no-color"]
    options = [
        "--max-examples",
        "6",
        "--continue-on-failure",
        "--generation-deterministic",
    ]
    done = subprocess.run(
        [*command, f"{running.address}/openapi.json", *options],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        cwd=tmp_path_factory.mktemp("schemathesis"),
    )
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]


def test_every_path_of_the_issue_is_described(running: Running) -> None:
    found = running.client.get("/openapi.json").json()
    paths = set(found["paths"])
    assert {
        "/normalize",
        "/key",
        "/same",
        "/explain",
        "/rules",
        "/clusters",
        "/related",
        "/pages/{url}",
        "/sites",
    } <= paths
    assert {"/health", "/metrics", "/overview", "/search", "/compare", "/reload", "/rules/{rule}/state"} <= paths
    for operations in found["paths"].values():
        for operation in operations.values():
            assert operation["summary"]
            assert "text/plain" in operation["responses"]["200"]["content"] or operation["responses"]["200"]["content"][
                "application/json"
            ]["schema"]["properties"]["ok"] == {"const": True}
