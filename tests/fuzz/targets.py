"""What is fuzzed: each target takes bytes, checks laws, and raises where one is broken."""

import atexit
import io
import json
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pyarrow as pa

from tests.fuzz import service
from undust import corpus
from undust.corpus import Tally
from undust.corpus.bodies import BodyDamaged, BodyTooLarge, decode_body, parse_response
from undust.detect.text import CONTENTS, MAX_TEXT_BYTES, extract
from undust.errors import InputError, UndustError, UrlError
from undust.rules.binary import is_binary
from undust.rules.files import dumps, loads
from undust.rules.imports.formats import FORMATS, import_text
from undust.rules.reading import read_rules
from undust.rules.ruleset import RuleSet
from undust.tables import PAGES
from undust.urls import EXTENDED, join, keys, normalize, site, split
from undust.urls.batch import decode_urls, normalize_many, split_many

T = TypeVar("T")

CORPUS = Path(__file__).parent / "corpus"
"""Seeds, in a folder for each target."""

_FOLDER = tempfile.mkdtemp(prefix="undust-fuzz-")
atexit.register(shutil.rmtree, _FOLDER, ignore_errors=True)

SMALL_BODY_BYTES = 300


def url(data: bytes) -> None:
    """The laws of URLs: nothing is lost by splitting, normal is normal, one URL is as a column of them."""
    text = decode_urls(pa.array([data], pa.binary()))[0].as_py()
    if (parts := _or_none(split, text)) is not None:
        assert join(parts) == text
    normal = _or_none(normalize, text)
    batch = normalize_many([text])
    assert batch.urls.to_pylist() == [normal]
    assert batch.unusable == (normal is None)
    if (extended := _or_none(lambda given: normalize(given, EXTENDED), text)) is not None:
        assert normalize(extended, EXTENDED) == extended
    if normal is None:
        return
    assert normalize(normal) == normal
    found = keys(normal)
    columns = split_many(pa.array([normal]))
    assert columns.sites().to_pylist() == [site(normal)]
    for key, value in list(found.items())[:40]:
        assert columns.values(key).to_pylist() == [value]


def body(data: bytes) -> None:
    """An HTTP response: decoded within the limit, or refused."""
    response = parse_response(data)
    if response is None:
        return
    for limit in (SMALL_BODY_BYTES, 2**20):
        try:
            assert len(decode_body(response, limit)) <= limit
        except (BodyDamaged, BodyTooLarge):
            continue


def warc(data: bytes) -> None:
    """An archive, plain or compressed."""
    _read(data, "x.warc")


def wacz(data: bytes) -> None:
    """An archive in a zip file."""
    _read(data, "x.wacz")


def cdx(data: bytes) -> None:
    """An index of an archive."""
    _read(data, "x.cdx")


def cdxj(data: bytes) -> None:
    """The same in JSON."""
    _read(data, "x.cdxj")


def jsonl(data: bytes) -> None:
    """Lines of JSON."""
    _read(data, "x.jsonl")
    _read_clusters(data)


def delimited(data: bytes) -> None:
    """CSV and TSV."""
    _read(data, "x.csv")
    _read(data, "x.tsv")
    _read_clusters(data)


def parquet(data: bytes) -> None:
    """A Parquet file; Arrow reads most of it, in code that is not watched here."""
    _read(data, "x.parquet")
    _read_clusters(data)


def html(data: bytes) -> None:
    """A page: its text, title and links, whole or without what is around its content; the first line is its type."""
    kind, _, body = data.partition(b"\n")
    page = {
        "url": pa.array(["http://h.test/a/b"]),
        "html": pa.array([body], pa.binary()),
        "content_type": pa.array([kind.decode("latin-1")]),
    }
    for content in CONTENTS:
        found = extract(pa.record_batch(page), content=content, links=True)
        found.validate(full=True)
        assert len((found["text"][0].as_py() or "").encode()) <= MAX_TEXT_BYTES


def rules(data: bytes) -> None:
    """A rule file in either form: refused, or used; one that people can write is at rest, too, and comes back."""
    _or_refused(lambda: _use_rules(data))


def _use_rules(data: bytes) -> None:
    found = read_rules(data, "rules")
    urls = ("http://h.com/p1?sid=1&id=2", "http://www.h.com/a/b/index.html", "http://h.com/x;sid=1")
    normal = [found.normalize(url) for url in urls]
    batch = list(found.normalize_many(list(urls)))
    if is_binary(data[:8]):
        return  # changed bytes may say something that nobody could write, or differ from the text beside them
    assert batch == normal
    assert list(RuleSet(loads(dumps(found)))) == list(found)
    assert [found.normalize(url) for url in normal] == normal
    assert [found.key(url) for url in normal] == [found.key(url) for url in urls]


def lists(data: bytes) -> None:
    """A list of another program; the first byte chooses which."""
    names = list(FORMATS)
    text = data[1:].decode("utf-8", "replace")
    made = _or_refused(lambda: import_text(text, names[(data or b"0")[0] % len(names)], urls=["http://h.com/?sid=1"]))
    if made is not None:
        RuleSet(made.rules).normalize("http://h.com/p1?sid=1&id=2")


def http(data: bytes) -> None:
    """A question to the service, on one line its method and path, then its body: an answer of the one shape."""
    line, _, body = data.partition(b"\n")
    method, _, path = line.partition(b" ")
    status, kind, answer = service.ask(method.decode("latin-1"), path, body)
    assert status < 500, (status, answer)
    if kind.startswith("application/json"):
        json.loads(answer)


TARGETS: dict[str, Callable[[bytes], None]] = {
    "url": url,
    "body": body,
    "warc": warc,
    "wacz": wacz,
    "cdx": cdx,
    "cdxj": cdxj,
    "jsonl": jsonl,
    "delimited": delimited,
    "parquet": parquet,
    "html": html,
    "rules": rules,
    "lists": lists,
    "http": http,
}


def _or_refused(function: Callable[[], T]) -> T | None:
    try:
        return function()
    except InputError:
        return None


def _or_none(function: Callable[[str], T], text: str) -> T | None:
    try:
        return function(text)
    except UrlError:
        return None


def _read(data: bytes, name: str) -> None:
    """A file gives what a pipe with the same bytes gives, or both are refused; what comes out is whole."""
    path = Path(_FOLDER, name)
    path.write_bytes(data)
    limit = SMALL_BODY_BYTES if len(data) % 2 else 2**20
    from_file = _outcome(str(path), limit, f"/{name}")
    sys.stdin = io.TextIOWrapper(io.BytesIO(data))
    from_pipe = _outcome("-", limit, "/stdin")
    if from_file is not None and from_pipe is not None:
        assert from_file == from_pipe


def _outcome(path: str, limit: int, name: str) -> tuple[list[dict[str, object]], int] | None:
    tally = Tally()
    refusal = ""
    try:
        table = pa.Table.from_batches(corpus.read_pages([path], tally=tally, max_body_bytes=limit), PAGES)
    except UndustError as error:
        refusal = str(error)
    assert "\n" not in refusal
    if refusal:
        return None
    table.validate(full=True)
    assert tally.pages == table.num_rows
    assert len(tally.listed) == min(tally.damaged, 100)
    assert all("\n" not in str(damage) for damage in tally.listed)
    rows = table.drop_columns(["source"]).to_pylist()
    # The URL of a single HTML file comes from its name.
    return [row | {"url": ""} if row["url"].endswith(name) else row for row in rows], tally.damaged


def _read_clusters(data: bytes) -> None:
    path = Path(_FOLDER, "clusters")
    path.write_bytes(data)
    try:
        table = corpus.read_clusters(path)
    except UndustError:
        return
    table.validate(full=True)
    assert table["url"].null_count == table["cluster"].null_count == 0
