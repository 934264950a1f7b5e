"""A server on loopback for crawls: an honest site with duplicates, and pages that misbehave."""

import contextlib
import gzip
import socket
import struct
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

Handler = Callable[["Request"], None]


class Request(BaseHTTPRequestHandler):
    """One request; the site decides what it gets."""

    protocol_version = "HTTP/1.1"
    site: "Site"

    def do_GET(self) -> None:
        self.site.asked(self)

    def log_message(self, format: str, *arguments: object) -> None:
        """Say nothing."""

    def page(self, body: str | bytes, status: int = 200, **headers: str) -> None:
        data = body.encode() if isinstance(body, str) else body
        self.send_response(status)
        for name, value in {"Content-Type": "text/html; charset=utf-8", **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def redirect(self, to: str) -> None:
        self.page("", 302, Location=to)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request: object, address: object) -> None:
        """Clients go away; that is no news here."""


class Site:
    """What is served, and what was asked for."""

    def __init__(self, pages: dict[str, Handler]) -> None:
        self.pages = pages
        self.requests: Counter[str] = Counter()
        self.changed = threading.Condition()
        self.most = float("inf")
        self.released = threading.Event()
        handler = type("Bound", (Request,), {"site": self})
        self.server = _Server(("127.0.0.1", 0), handler)
        self.port = self.server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"

    def asked(self, request: Request) -> None:
        with self.changed:
            self.requests[request.path] += 1
            self.changed.notify_all()
            self.changed.wait_for(lambda: self.requests.total() <= self.most or self.released.is_set())
        path = urlsplit(request.path).path
        handler = self.pages.get(path) or next(
            (one for prefix, one in self.pages.items() if prefix.endswith("*") and path.startswith(prefix[:-1])), None
        )
        if handler is None:
            request.page("nothing here", 404)
        else:
            handler(request)

    def hold_at(self, count: float) -> None:
        """Answer so many requests in all, and the others when there may be more."""
        with self.changed:
            self.most = count
            self.changed.notify_all()

    def wait_for(self, count: int, seconds: float = 60) -> bool:
        """Wait until there were so many requests in all."""
        with self.changed:
            return self.changed.wait_for(lambda: self.requests.total() >= count, seconds)


@contextlib.contextmanager
def serving(pages: dict[str, Handler]) -> Iterator[Site]:
    site = Site(pages)
    thread = threading.Thread(target=site.server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield site
    finally:
        site.released.set()
        site.hold_at(float("inf"))
        site.server.shutdown()
        site.server.server_close()
        thread.join()


WORDS = "alder birch cedar elm fir hazel larch maple oak pine rowan spruce willow yew ash beech lime plum pear".split()  # noqa: SIM905 - a list is longer


def prose(number: int) -> str:
    """Give text that no other number has."""
    return " ".join(
        f"{WORDS[(number * 7 + i * (number % 5 + 1)) % len(WORDS)]}{(number * 31 + i) % 97}" for i in range(60)
    )


def links(urls: list[str], text: str = "") -> str:
    return f"<p>{text}</p>" + "".join(f'<p><a href="{url}">to {place}</a></p>' for place, url in enumerate(urls))


def article_site(count: int) -> dict[str, Handler]:
    """Articles, each also with a session id, for printing, and in a second spelling that redirects."""

    def index(request: Request) -> None:
        request.page(links([f"/a?id={n}" for n in range(count)], "index of articles"))

    def article(request: Request) -> None:
        query = parse_qs(urlsplit(request.path).query)
        number = int(query.get("id", ["0"])[0])
        others = [f"/a?id={(number + 1) % count}", f"/a?id={number}&sid={number * 7 % 11}", f"/a?id={number}&print=1"]
        request.page(links([*others, f"/old/{number}"], f"article {number} {prose(number)}"))

    def old(request: Request) -> None:
        request.redirect(f"/a?id={request.path.rsplit('/', 1)[1]}")

    return {"/": index, "/a": article, "/old/*": old}


def faulty_site() -> dict[str, Handler]:
    """One page that links to every kind of trouble."""
    names = [
        "hang",
        "reset",
        "flaky",
        "broken",
        "endless",
        "short",
        "circle",
        "bomb",
        "many",
        "odd",
        "metadata",
        "secret",
        "good",
    ]

    def index(request: Request) -> None:
        request.page(links([f"/{name}" for name in names], "troubles"))

    def hang(request: Request) -> None:
        request.site.released.wait(60)

    def reset(request: Request) -> None:
        request.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        request.connection.close()
        request.close_connection = True

    def flaky(request: Request) -> None:
        if request.site.requests["/flaky"] < 2:
            request.page("busy", 503)
        else:
            request.page("at last " + prose(3))

    def endless(request: Request) -> None:
        request.send_response(200)
        request.send_header("Content-Type", "text/html")
        request.send_header("Connection", "close")
        request.end_headers()
        with contextlib.suppress(OSError):
            while not request.site.released.is_set():
                request.wfile.write(b"<p>more and more</p>" * 1000)
        request.close_connection = True

    def short(request: Request) -> None:
        request.send_response(200)
        request.send_header("Content-Type", "text/html")
        request.send_header("Content-Length", "100000")
        request.end_headers()
        request.wfile.write(b"<p>less than it says " + prose(5).encode())
        request.close_connection = True

    def circle(request: Request) -> None:
        turns = int(parse_qs(urlsplit(request.path).query).get("n", ["0"])[0])
        request.redirect(f"/circle?n={turns + 1}")

    def bomb(request: Request) -> None:
        request.page(gzip.compress(b"<p>0</p>" * 8_000_000, 9), Content_Encoding="gzip")

    def many(request: Request) -> None:
        request.page("".join(f"<a href=http://elsewhere{n % 1000}.test/{n}>x</a>" for n in range(100_000)))

    def odd(request: Request) -> None:
        odd_ones = ["javascript:alert(1)", "data:text/html,x", "mailto:a@b.test", "http://", "http://[", "//", "ftp://a/b",
                    "http://h:99999/", "#", "/good#part", "\\\\x", "http://127.0.0.1\x00/", "/" + "a" * 5000,
                    "/deep" * 30]  # fmt: skip
        request.page(links([one.replace("\x00", "%00") for one in odd_ones], "odd links"))

    return {
        "/": index,
        "/robots.txt": lambda request: request.page("User-agent: *\nDisallow: /secret\n", Content_Type="text/plain"),
        "/hang": hang,
        "/reset": reset,
        "/flaky": flaky,
        "/broken": lambda request: request.page("broken", 500),
        "/endless": endless,
        "/short": short,
        "/circle": circle,
        "/bomb": bomb,
        "/many": many,
        "/odd": odd,
        "/metadata": lambda request: request.redirect("http://169.254.169.254/latest/"),
        "/secret": lambda request: request.page("not for robots"),
        "/good": lambda request: request.page("good " + prose(9)),
    }
