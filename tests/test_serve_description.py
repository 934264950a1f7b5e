"""The OpenAPI description holds: schemathesis asks what it allows and what it does not, and finds nothing."""

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.serving import Running, serving


@pytest.fixture(scope="module")
def running(served_run: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with serving(Path(shutil.copytree(served_run, tmp_path_factory.mktemp("described") / "run"))) as server:
        yield server


def known(server: Running) -> str:
    """Give settings for schemathesis that name what is there, so that it does not only ask for what is not."""
    rules, clusters = server.result("/rules", limit=1), server.result("/clusters", limit=1)
    assert isinstance(rules, list)
    assert isinstance(clusters, list)
    url = clusters[0]["url"]
    values = {"path.rule": rules[0]["id"], "path.name": clusters[0]["name"], "path.url": url, "path.site": "shop.test"}
    values |= {"query.a": url, "query.b": "http://news.test/3.html"}
    return "[parameters]\n" + "".join(f'"{name}" = {json.dumps(value)}\n' for name, value in values.items())


def test_schemathesis_finds_nothing(running: Running, tmp_path_factory: pytest.TempPathFactory) -> None:
    command = [sys.executable, "-c", "from schemathesis.cli import schemathesis; schemathesis()", "run", "--no-color"]
    options = [
        "--max-examples",
        "6",
        "--continue-on-failure",
        "--generation-deterministic",
    ]
    folder = tmp_path_factory.mktemp("schemathesis")
    (folder / "schemathesis.toml").write_text(known(running), encoding="utf-8")
    done = subprocess.run(
        [*command, f"{running.address}/openapi.json", *options],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        cwd=folder,
    )
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]
    counted = running.client.get("/metrics").text
    for method, route in (
        ("GET", "/rules"),
        ("POST", "/rules"),
        ("GET", "/clusters"),
        ("GET", "/pages"),
        ("GET", "/compare"),
    ):
        assert f'{{method="{method}",route="{route}",status="200"}}' in counted, f"no {method} {route} was answered"


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
