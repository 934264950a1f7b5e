"""The parts of undust serve that need no server: lines beside each other, the catalog beside ten plain lines."""

import contextlib
import socket
import threading
from collections import Counter
from difflib import SequenceMatcher
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import uvicorn
from hypothesis import given
from hypothesis import strategies as st

from undust.serve.asgi import Receive, Scope, Send
from undust.serve.catalog import open_catalog
from undust.serve.folder import open_folder
from undust.serve.lines import side_by_side
from undust.serve.protocol import impatient
from undust.serve.server import listen
from undust.urls.site import site_of


def test_a_connection_on_which_nobody_completes_a_question_is_closed() -> None:
    async def nothing(scope: Scope, receive: Receive, send: Send) -> None:
        raise AssertionError("no question was complete")

    config = uvicorn.Config(nothing, http=impatient(0.3), lifespan="off", log_config=None, ws="none")
    server = uvicorn.Server(config)
    with contextlib.closing(listen("127.0.0.1", 0)) as listening:
        worker = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        worker.start()
        for sent in (b"", b"GET / HTTP/1.1\r\nHost: x\r\nA: "):
            with socket.create_connection(listening.getsockname(), timeout=60) as client:
                client.sendall(sent)
                assert client.recv(100) == b""  # closed by the server
        with socket.create_connection(listening.getsockname(), timeout=60) as client:
            client.sendall(b"no such protocol\r\n\r\n")
            answer = client.makefile("rb").read()
        server.should_exit = True
        worker.join(30)
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert b'{"ok":false,"error":{"status":400,"code":"bad_http"' in answer


LINES = st.lists(st.sampled_from(["a", "b", "one cat", "one dog", "two cats sit", ""]), max_size=30)


@given(LINES, LINES)
def test_all_lines_of_both_sides_are_shown_or_counted(first: list[str], second: list[str]) -> None:
    rows = side_by_side(first, second, SequenceMatcher(None, first, second).get_opcodes())
    for side, lines in (("a", first), ("b", second)):
        shown: list[str] = []
        hidden = 0
        for row in rows:
            if row["kind"] == "gap":
                hidden += row["count"]
            elif row["kind"] != {"a": "only_b", "b": "only_a"}[side]:
                shown.append("".join(text for text, _ in row[side]))
        assert len(shown) + hidden == len(lines)
        assert hidden or shown == lines


def test_the_catalog_says_what_ten_plain_lines_say(tmp_path: Path) -> None:
    rows = [(f"http://h{n % 7}.test/{n % 40}?x={n}", f"c{n % 7}-{n % 40 // 3}") for n in range(500)]
    rows += [("no url", "z"), ("HTTP://H1.test:80/upper", "c1-0")]
    table = pa.table({"url": [url for url, _ in rows], "cluster": [name for _, name in rows]})
    pq.write_table(table, tmp_path / "clusters.parquet")
    sizes = Counter(name for _, name in rows)
    pages = Counter(site_of(f"h{n % 7}.test", None) for n in range(500))
    pages["h1.test"] += 1
    with open_catalog(open_folder(str(tmp_path)), lambda message: None) as catalog:
        assert catalog is not None
        listed = catalog.list_clusters(site=None, text="", least=1, start=0, limit=1000)
        assert listed.total == len(sizes)
        order = sorted(sizes, key=lambda name: (-sizes[name], name))
        assert [(row["name"], row["size"]) for row in listed.rows] == [(name, sizes[name]) for name in order]
        for row in listed.rows:
            members = sorted(url for url, name in rows if name == row["name"])
            assert [each["url"] for each in catalog.members(row, 0, 1000)] == members
            assert row["url"] == min(members, key=lambda url: (len(url), url))
        assert {row["site"]: row["pages"] for row in catalog.site_rows() if row["site"]} == pages
        found = catalog.find("http://h1.test/upper")
        assert found is not None
        assert (found["url"], found["cluster"]["name"]) == ("HTTP://H1.test:80/upper", "c1-0")
        assert catalog.find("http://h1.test/none") is None
        assert catalog.search("H3.TEST/3?X=", 1000) == (
            sorted((url for url, _ in rows if "h3.test/3?x=" in url), key=lambda url: _place(order, rows, url)),
            True,
        )
        sampled, count = catalog.urls_of("h2.test", 20)
        assert count == pages["h2.test"]
        assert 0 < len(sampled) <= 20


def _place(order: list[str], rows: list[tuple[str, str]], url: str) -> tuple[int, str]:
    return order.index(dict(rows)[url]), url
