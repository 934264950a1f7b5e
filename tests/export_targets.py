"""The programs that rules are exported to, at work: real ones where they are here, their documented rules where not.

Each function takes the text of an export and URLs, and gives what the program makes of each.
"""

import contextlib
import csv
import http.client
import io
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from tests.conftest import SERVERS
from undust.urls.parse import split

Target = Callable[[str, Sequence[str]], list[str]]
JAVA = Path(__file__).parent / "data" / "ExportTargets.java"
MAX_HOPS = 20


def by_python(text: str, urls: Sequence[str]) -> list[str]:
    """`regex`: replacements in turn, by Python's own engine."""
    rows = list(csv.reader(io.StringIO(text)))
    assert rows[0] == ["pattern", "replacement"]
    steps = [(re.compile(pattern), replacement) for pattern, replacement in rows[1:]]
    made = []
    for url in urls:
        for pattern, replacement in steps:
            url = pattern.sub(replacement, url)
        made.append(url)
    return made


def by_duckdb(text: str, urls: Sequence[str]) -> list[str]:
    """`sql`, in DuckDB."""
    import duckdb
    import pyarrow as pa

    table = pa.table({"place": range(len(urls)), "url": pa.array(urls, pa.string())})
    with duckdb.connect() as connection:
        connection.execute(text)
        connection.register("given", table)
        rows = connection.execute("SELECT undust_normalize(url) FROM given ORDER BY place").fetchall()
    return [url for (url,) in rows]


def by_dud(text: str, urls: Sequence[str]) -> list[str]:
    """`dud`, in duplicate-url-discarder, whose domain list is kept from the network."""
    from duplicate_url_discarder.url_canonicalizer import UrlCanonicalizer
    from tldextract import TLDExtract, tldextract
    from url_matcher import util

    tldextract.TLD_EXTRACTOR = TLDExtract(suffix_list_urls=(), cache_dir=None)
    util.get_domain.cache_clear()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rules.json"
        path.write_text(text)
        canonicalizer = UrlCanonicalizer([path])
    return [canonicalizer.process_url(url) for url in urls]


def by_nutch(text: str, urls: Sequence[str]) -> list[str]:
    """`nutch`: the XML read by a Java XML reader, `replaceAll` in turn."""
    return _by_java("nutch", text, urls)


def by_heritrix(text: str, urls: Sequence[str]) -> list[str]:
    """`heritrix`: the bean read by a Java XML reader, `matches` and the format in turn."""
    return _by_java("heritrix", text, urls)


def by_stormcrawler(text: str, urls: Sequence[str]) -> list[str]:
    """`stormcrawler`: the list of `urlNormalizers`, `replaceAll` in turn."""
    (filters,) = json.loads(text).values()
    assert filters[0]["class"] == "org.apache.stormcrawler.filtering.regex.RegexURLNormalizer"
    entries = filters[0]["params"]["urlNormalizers"]
    return _by_java("pairs", "".join(f"{each['pattern']}\t{each['substitution']}\n" for each in entries), urls)


def java_compiles() -> bool:
    """Tell whether the Java on this machine runs a source file, which a bare runtime does not."""
    if not shutil.which("java"):
        return False
    modules = subprocess.run(["java", "--list-modules"], capture_output=True, text=True, check=False).stdout
    return "jdk.compiler" in modules


def _by_java(kind: str, text: str, urls: Sequence[str]) -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        rules, lines = Path(folder) / "rules", Path(folder) / "urls"
        rules.write_text(text)
        lines.write_text("".join(f"{url}\n" for url in urls))
        done = subprocess.run(
            ["java", str(JAVA), kind, str(rules), str(lines)], capture_output=True, text=True, check=False
        )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.splitlines()


def by_nginx(text: str, urls: Sequence[str]) -> list[str]:
    """`nginx`: a real server, whose redirects are followed. Only http, which it hears on a socket of its own."""
    nginx = shutil.which("nginx", path=SERVERS)
    assert nginx
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "undust.conf").write_text(text)
        temporary = "".join(
            f"{kind}_temp_path {folder}/{kind};\n" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        )
        (folder / "nginx.conf").write_text(
            f"daemon off; master_process off; pid {folder}/pid; error_log {folder}/errors;\n"
            f"events {{ }}\nhttp {{\naccess_log off; keepalive_requests 1000000;\n"
            f"large_client_header_buffers 4 32k;\n{temporary}"
            f"include {folder}/undust.conf;\n"
            f"server {{ listen unix:{folder}/socket; merge_slashes off;\n"
            "if ($undust_url) { return 301 $undust_url; }\nlocation / { return 200 ''; } }\n}\n"
        )
        command = [nginx, "-c", str(folder / "nginx.conf"), "-p", str(folder)]
        tested = subprocess.run([*command, "-t"], capture_output=True, text=True, check=False)
        assert tested.returncode == 0, tested.stderr
        with _running(command), contextlib.closing(_unix(folder / "socket")) as server:
            return [_followed(server, url) for url in urls]


def by_apache(text: str, urls: Sequence[str]) -> list[str]:
    """`apache`: a real server with mod_rewrite, whose redirects are followed."""
    apache = shutil.which("apache2", path=SERVERS)
    assert apache
    modules = Path("/usr/lib/apache2/modules")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "undust.conf").write_text(text)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        loaded = "".join(
            f"LoadModule {each}_module {modules}/mod_{each}.so\n" for each in ("mpm_event", "authz_core", "rewrite")
            if (modules / f"mod_{each}.so").exists()
        )  # fmt: skip
        (folder / "httpd.conf").write_text(
            f"ServerRoot {folder}\nPidFile {folder}/pid\nErrorLog {folder}/errors\nListen 127.0.0.1:{port}\n{loaded}"
            f"ServerName localhost\nDocumentRoot {folder}\nKeepAlive On\nMaxKeepAliveRequests 0\nKeepAliveTimeout 60\n"
            "HttpProtocolOptions Unsafe\nAllowEncodedSlashes NoDecode\nMergeSlashes Off\n"
            f"<Directory {folder}>\nRequire all granted\n</Directory>\nUser nobody\nGroup nogroup\n"
            f"Include {folder}/undust.conf\nRewriteRule .* - [R=204]\n"
        )
        command = [apache, "-f", str(folder / "httpd.conf"), "-DFOREGROUND", "-X"]
        tested = subprocess.run(
            [apache, "-f", str(folder / "httpd.conf"), "-t"], capture_output=True, text=True, check=False
        )
        assert tested.returncode == 0, tested.stderr
        with _running(command), contextlib.closing(_tcp(port)) as server:
            return [_followed(server, url) for url in urls]


@contextlib.contextmanager
def _running(command: list[str]) -> Iterator[None]:
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield
    finally:
        server.terminate()
        server.wait(30)


def _unix(path: Path) -> http.client.HTTPConnection:
    connection = http.client.HTTPConnection("localhost")
    connection.sock = _connected(lambda: _open(socket.AF_UNIX, str(path)))
    return connection


def _tcp(port: int) -> http.client.HTTPConnection:
    connection = http.client.HTTPConnection("localhost")
    connection.sock = _connected(lambda: _open(socket.AF_INET, ("127.0.0.1", port)))
    return connection


def _open(family: int, address: Any) -> socket.socket:
    opened = socket.socket(family, socket.SOCK_STREAM)
    try:
        opened.connect(address)
    except OSError:
        opened.close()
        raise
    return opened


def _connected(connect: Callable[[], socket.socket]) -> socket.socket:
    """Connect as soon as the server listens."""
    until = time.monotonic() + 30
    while True:
        try:
            return connect()
        except OSError:
            if time.monotonic() > until:
                raise
            time.sleep(0.02)  # there is no other way to learn that a server of somebody else's listens


def _followed(server: http.client.HTTPConnection, url: str) -> str:
    for _ in range(MAX_HOPS):
        parts = split(url)
        server.putrequest("GET", url.partition("://")[2].partition("/")[1] + url.partition("://")[2].partition("/")[2],
                          skip_host=True, skip_accept_encoding=True)  # fmt: skip
        server.putheader("Host", parts.host if parts.port is None else f"{parts.host}:{parts.port}")
        server.endheaders()
        answer = server.getresponse()
        answer.read()
        if answer.status not in (200, 204, 301):
            raise AssertionError(f"{url}: {answer.status}")
        if answer.status != 301:
            return url
        url = answer.headers["Location"]
    raise AssertionError(f"{url}: redirects without end")


# What follows does as the documentation of each program says; they run in browsers, or on somebody else's machines.


def by_clearurls(text: str, urls: Sequence[str]) -> list[str]:
    """`clearurls`: where a URL fits a provider, arguments whose names fit a rule go. Case does not matter."""
    providers = [
        (re.compile(each["urlPattern"], re.I), [re.compile(f"^{rule}$", re.I) for rule in each["rules"]])
        for each in json.loads(text)["providers"].values()
    ]
    made = []
    for url in urls:
        for pattern, rules in providers:
            if pattern.search(url):
                url = _without(url, lambda name, rules=rules: any(rule.match(unquote(name)) for rule in rules))  # type: ignore[misc] # bound
        made.append(url)
    return made


def by_adguard(text: str, urls: Sequence[str]) -> list[str]:
    """`adguard`: `||` is a host or a label below it, `^` a separator or the end; case counts with `match-case`."""
    filters = []
    for line in text.splitlines():
        if line.startswith("!"):
            continue
        where, _, options = line.partition("$")
        named, *more = options.removeprefix("removeparam=").split(",")
        place = re.escape(where[2:]).replace(r"\^", r"(?:[^A-Za-z0-9_.%-]|$)")
        flags = re.NOFLAG if "match-case" in more else re.I
        filters.append((re.compile(rf"^[a-z]+://(?:[^/?#]*\.)?{place}", flags), named))
    made = []
    for url in urls:
        for pattern, name in filters:
            if pattern.search(url):
                url = _without(url, lambda each, name=name: each == name)  # type: ignore[misc] # bound
        made.append(url)
    return made


def by_clean_param(text: str, urls: Sequence[str]) -> list[str]:
    """`clean-param`: the part of a site is for its hosts; a path is the start of one."""
    rules: list[tuple[str, list[str], str]] = []
    site = ""
    for line in text.splitlines():
        if line.startswith("# Site: "):
            site = line.removeprefix("# Site: ")
        elif line.startswith("Clean-param: "):
            joined, _, start = line.removeprefix("Clean-param: ").partition(" ")
            rules.append((site, joined.split("&"), start))
    made = []
    for url in urls:
        for place, names, path in rules:
            host = split(url).host
            if (host == place or host.endswith(f".{place}")) and split(url).path.startswith(path):
                url = _without(url, lambda each, names=names: each in names)  # type: ignore[misc] # bound
        made.append(url)
    return made


def _without(url: str, goes: Callable[[str], bool]) -> str:
    """Take arguments away that are separated by &, as all of these do."""
    head, mark, query = url.partition("?")
    kept = [argument for argument in query.split("&") if not ("=" in argument and goes(argument.partition("=")[0]))]
    return f"{head}?{'&'.join(kept)}" if mark and kept else head


def surt(url: str) -> str:
    """Write a plain URL as pywb does for its index: host the other way round, lower case, arguments in order."""
    parts = split(url.lower())
    host = re.sub(r"^www\d*\.", "", parts.host)
    name = ",".join(reversed(host.strip("[]").split(".")))
    port = "" if parts.port in (None, "80", "443") else f":{parts.port}"
    path = re.sub(r"(?<=.)/$", "", parts.path)
    query = "" if not parts.query else "?" + "&".join(sorted(parts.query.split("&")))
    return f"{name}{port}){path or '/'}{query}"


def pywb_finds(text: str, captured: Sequence[str], asked: str) -> list[str]:
    """`pywb`: give the captures that are shown for a URL that was not captured, by the first fuzzy rule that fits."""
    captures = {surt(url): url for url in captured}
    key = surt(asked)
    for prefixes, match, filters in _fuzzy_rules(text):
        found = match.search(key) if any(key.startswith(prefix) for prefix in prefixes) else None
        if found is None:
            continue
        wanted = {each.format(group) for group in found.groups() for each in filters}
        start = key.partition("?")[0] + "?" if "?" in asked else key
        rest = [urlkey for urlkey in captures if urlkey.startswith(start)]
        return [
            captures[urlkey]
            for urlkey in rest
            if all(re.match(each.removeprefix("~urlkey:"), urlkey) for each in wanted)
        ]
    return []


def _fuzzy_rules(text: str) -> list[tuple[list[str], re.Pattern[str], list[str]]]:
    """Read what the exporter writes of YAML: one value a line, each as in JSON."""
    made = []
    for block in text.split("  - url_prefix: ")[1:]:
        lines = block.splitlines()
        values = {line.strip().partition(": ")[0]: line.partition(": ")[2] for line in lines[2:]}
        made.append((json.loads(lines[0]), re.compile(json.loads(values["match"])), json.loads(values["filter"])))
    return made


PYWB = Path(os.environ.get("UNDUST_PYWB_PYTHON") or Path(sys.prefix, "pywb", "bin", "python"))
"""An interpreter that has pywb, which asks for old versions of packages that others need new; `make test` makes it."""


def by_pywb(text: str, captured: Sequence[str], asked: Sequence[str]) -> list[list[str]]:
    """Ask the fuzzy matcher of pywb itself, over an index of captures in memory."""
    program = (
        "import json, sys\n"
        "from bisect import bisect_left\n"
        "from pywb.utils.canonicalize import canonicalize\n"
        "from pywb.warcserver.index.cdxops import CDXFilter\n"
        "from pywb.warcserver.index.fuzzymatcher import FuzzyMatcher\n"
        "from pywb.utils.canonicalize import calc_search_range\n"
        "rules, captured, asked = json.load(sys.stdin)\n"
        "open(sys.argv[1], 'w').write(rules)\n"
        "matcher = FuzzyMatcher(sys.argv[1])\n"
        "index = sorted((canonicalize(url), url) for url in captured)\n"
        "def source(params):\n"
        "    match = params.get('matchType', 'exact')\n"
        "    start, end = calc_search_range(params['url'], match)\n"
        "    filters = [CDXFilter(each) for each in params.get('filter', ())]\n"
        "    for key, url in index[bisect_left(index, (start, '')):]:\n"
        "        if not (key == start if match == 'exact' else key < end):\n"
        "            break\n"
        "        cdx = {'urlkey': key, 'url': url}\n"
        "        if all(each(cdx) for each in filters):\n"
        "            yield cdx\n"
        "def ask(url):\n"
        "    found, _ = matcher(lambda params: (source(params), {}), {'url': url, 'key': canonicalize(url)})\n"
        "    return [cdx['url'] for cdx in found]\n"
        "print(json.dumps([ask(url) for url in asked]))\n"
    )
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [str(PYWB), "-W", "ignore", "-c", program, str(Path(folder) / "rules.yaml")],
            input=json.dumps([text, list(captured), list(asked)]), capture_output=True, text=True, check=False,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    made: list[list[str]] = json.loads(done.stdout)
    return made
