"""The examples run, against a server on loopback."""

import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from undust.rules.line_reader import read_line
from undust.rules.ruleset import RuleSet

ROOT = Path(__file__).parents[1]
CELLS = sorted(path.stem for path in (ROOT / "examples").glob("*.py") if path.read_text().startswith("# %%"))
JAVA = {"spark_job"}
asked: Counter[str] = Counter()
PAGES = {
    "/": b"<a href='/a?sid=1'>a</a> <a href='/a?sid=2'>a</a> <a href='b'>b</a> <a href='mailto:me@a.test'>m</a>",
    "/a": b"<p>one",
    "/b": b"<p>two <a href='/c#top'>c</a> <a href='/gone'>gone</a>",
    "/c": b"<p>one",
}


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        asked[self.path] += 1
        body = PAGES.get(self.path.partition("?")[0])
        self.send_response(503 if body is None else 200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body or b"")))
        self.end_headers()
        self.wfile.write(body or b"")

    def log_message(self, *words: Any) -> None:
        pass


@pytest.fixture
def address() -> Iterator[str]:
    asked.clear()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def run(address: str, folder: Path) -> list[str]:
    command = [sys.executable, str(ROOT / "examples" / "seen_httpx.py"), f"{address}/", "--rules", "rules.json"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    lines: str = done.stdout
    return lines.replace(address, "").splitlines()


def test_the_crawler_with_httpx_fetches_no_page_twice(address: str, tmp_path: Path) -> None:
    host = address.removeprefix("http://")
    RuleSet([read_line(f"{host}  //{host}/…?sid={{?}}  →  //{host}/…")]).save(str(tmp_path / "rules.json"))
    assert run(address, tmp_path) == ["/", "/a?sid=1", "/b", "/c#top: the same as /a?sid=1", "3 new pages"]
    assert asked == {"/": 1, "/a?sid=1": 1, "/b": 1, "/c": 1, "/gone": 1}
    asked.clear()
    assert run(address, tmp_path) == ["/", "1 new pages"]
    assert asked == {"/": 1}


@pytest.mark.parametrize("name", [pytest.param(one, marks=pytest.mark.java if one in JAVA else ()) for one in CELLS])
def test_an_example_in_cells_runs_from_top_to_bottom(name: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples" / f"{name}.py")],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout
