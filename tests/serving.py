"""Runs a server on loopback for tests, on a run of a small crawl in which some pages are hostile."""

import contextlib
import json
import threading
from collections.abc import Iterator
from pathlib import Path

import httpx

from undust.run.flow import run
from undust.serve.folder import open_folder
from undust.serve.guard import Access
from undust.serve.server import access_of, listen, open_state, server_of
from undust.serve.state import State

HOSTILE_TITLE = "</title><script>document.body.dataset.pwned = 1</script>"
HOSTILE_TEXT = '<img src=x onerror="document.body.dataset.pwned = 1"> ${7*7} {{7*7}} javascript:alert(1)'
HOSTILE_URL = "http://evil.test/%3Cscript%3Edocument.body.dataset.pwned=1%3C/script%3E?x='onmouseover='alert(1)"

_WORDS = [
    "amber",
    "birch",
    "cedar",
    "delta",
    "ember",
    "fjord",
    "grove",
    "heron",
    "inlet",
    "jetty",
    "karst",
    "lagoon",
    "meadow",
    "nectar",
    "orchid",
]


def _text(page: int) -> str:
    lines = [" ".join(_WORDS[(page * k + 7 * line + k) % 15] for k in range(3, 15)) + "." for line in range(9)]
    return "\n".join(f"<p>{page} {line}</p>" for line in lines)


def crawl() -> list[dict[str, str]]:
    """Give the pages: two sites that spell pages in several ways, and one that means harm."""
    pages = []
    for number in range(30):
        html = f"<title>Page {number}</title><body lang=en>{_text(number)}</body>"
        pages.append({"url": f"http://shop.test/item/{number}", "html": html})
        pages.append({"url": f"http://shop.test/item/{number}?sid={number * 7919:x}", "html": html})
        pages.append(
            {"url": f"http://www.shop.test/item/{number}", "html": html.replace("</body>", "<p>seen</p></body>")}
        )
        pages.append(
            {"url": f"http://news.test/{number}.html?print=1", "html": html.replace("Page", "News") + _text(77)}
        )
        pages.append({"url": f"http://news.test/{number}.html", "html": html.replace("Page", "News") + _text(77)})
    harm = f"<title>{HOSTILE_TITLE.replace('<', '&lt;')}</title><p>{HOSTILE_TEXT.replace('<', '&lt;')}</p>{_text(3)}"
    pages.append({"url": HOSTILE_URL, "html": harm})
    pages.append({"url": HOSTILE_URL + "&again=1", "html": harm + f"<p>{HOSTILE_TEXT.replace('<', '&lt;')} twice</p>"})
    return pages


def make_run(folder: Path) -> Path:
    """Run everything on the crawl."""
    source = folder / "crawl.jsonl"
    source.write_text("".join(json.dumps(page) + "\n" for page in crawl()), encoding="utf-8")
    run(source, output=folder / "run", method="minhash", by="center", threshold=0.7, content="all", jobs=1)
    return folder / "run"


class Running:
    """A server that runs, and how to ask it."""

    def __init__(self, address: str, state: State) -> None:
        self.address, self.state = address, state
        self.client = httpx.Client(base_url=address, timeout=30)

    def result(self, path: str, **fields: str | int | float) -> object:
        """Ask, and give the result."""
        answer = self.client.get(path, params=fields)
        assert answer.status_code == 200, answer.text
        return answer.json()["result"]

    def ask(self, path: str, question: object) -> object:
        """Ask by POST, and give the result."""
        answer = self.client.post(path, json=question)
        assert answer.status_code == 200, answer.text
        return answer.json()["result"]


@contextlib.contextmanager
def serving(folder: Path, access: Access | None = None) -> Iterator[Running]:
    """Serve a folder on a port that the system chooses."""
    with (
        contextlib.closing(listen("127.0.0.1", 0)) as socket,
        open_state(open_folder(str(folder)), lambda message: None) as state,
    ):
        server = server_of(state, access or access_of("127.0.0.1", None, ()))
        worker = threading.Thread(target=server.run, kwargs={"sockets": [socket]})
        worker.start()
        running = Running(f"http://127.0.0.1:{socket.getsockname()[1]}", state)
        try:
            with running.client:
                yield running
        finally:
            server.should_exit = True
            worker.join(30)
            assert not worker.is_alive()
