"""The readers of tables (CDX, CDXJ, JSONL, CSV, TSV, Parquet), of folders, and of clusters."""

import io
import json
import os
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.corpus_files import cdx, gzipped, parquet, read_bytes, read_table, rows_of, zstd
from undust import corpus
from undust.corpus import Tally
from undust.corpus.folder import page_url
from undust.errors import InputError

LINE = "test,a)/x 20240229123059 http://a.test/x text/html 200 DIGEST - - 99 17 file.warc.gz\n"
HEADER = " CDX N b a m s k r M S V g\n"


def values(table: pa.Table, *names: str) -> list[tuple[Any, ...]]:
    return list(zip(*(table[name].to_pylist() for name in names), strict=True))


# CDX: name, text, (url, digest, status) of the pages, what is skipped, number of damaged lines.
CDX: list[tuple[str, str, list[tuple[str, str | None, int | None]], dict[str, int], int]] = [
    ("11 fields", HEADER + LINE, [("http://a.test/x", "DIGEST", 200)], {}, 0),
    ("without header", LINE, [("http://a.test/x", "DIGEST", 200)], {}, 0),
    (
        "9 fields",
        " CDX N b a m s k r V g\ntest,a)/ 20240229123059 http://a.test/ text/html 200 D - 1 f\n",
        [("http://a.test/", "D", 200)],
        {},
        0,
    ),
    (
        "9 fields without header",
        "test,a)/ 20240229123059 http://a.test/ text/html 200 D - 1 f\n",
        [("http://a.test/", "D", 200)],
        {},
        0,
    ),
    (
        "7 fields, as the Wayback server answers",
        "test,a)/ 20240229123059 http://a.test/ text/html 200 D 99\n",
        [("http://a.test/", "D", 200)],
        {},
        0,
    ),
    ("letters in another order", " CDX k a s\nD http://a.test/ 200\n", [("http://a.test/", "D", 200)], {}, 0),
    ("tabs", "\tCDX\ta\tk\nhttp://a.test/\tD\n", [("http://a.test/", "D", None)], {}, 0),
    ("no status is a page", HEADER + LINE.replace(" 200 ", " - "), [("http://a.test/x", "DIGEST", None)], {}, 0),
    ("another status is none", HEADER + LINE.replace(" 200 ", " 404 "), [], {"status 404": 1}, 0),
    ("a status that is none", HEADER + LINE.replace(" 200 ", " -9998 "), [], {"status 0": 1}, 0),
    (
        "a revisit has type and digest only",
        HEADER + LINE.replace("text/html 200", "warc/revisit -"),
        [("http://a.test/x", "DIGEST", None)],
        {},
        0,
    ),
    ("no digest", HEADER + LINE.replace("DIGEST", "-"), [], {"no content": 1}, 0),
    ("no URL", HEADER + LINE.replace("http://a.test/x", "-"), [], {"no URL": 1}, 0),
    ("what is not of the web", HEADER + LINE.replace("http://a.test/x", "dns:a.test"), [], {"not http": 1}, 0),
    ("a header inside", HEADER + LINE + HEADER + LINE, [("http://a.test/x", "DIGEST", 200)] * 2, {}, 0),
    ("blank lines", HEADER + "\n" + LINE + " \n\n", [("http://a.test/x", "DIGEST", 200)], {}, 0),
    ("Windows", (HEADER + LINE).replace("\n", "\r\n"), [("http://a.test/x", "DIGEST", 200)], {}, 0),
    ("no newline at the end", (HEADER + LINE)[:-1], [("http://a.test/x", "DIGEST", 200)], {}, 0),
    ("a line too short", HEADER + LINE + "test,a)/x 2024\n" + LINE, [("http://a.test/x", "DIGEST", 200)] * 2, {}, 1),
    ("a line too long", HEADER + LINE[:-1] + " more\n" + LINE, [("http://a.test/x", "DIGEST", 200)], {}, 1),
]  # fmt: skip


@pytest.mark.parametrize(("name", "text", "pages", "skipped", "damaged"), CDX, ids=[case[0] for case in CDX])
def test_a_line_of_cdx_is_a_page_or_is_counted(
    tmp_path: Path, name: str, text: str, pages: list[tuple[Any, ...]], skipped: dict[str, int], damaged: int
) -> None:
    table, tally = read_bytes(tmp_path, text.encode(), "a.cdx")
    assert values(table, "url", "digest", "status") == pages
    assert (dict(tally.skipped), tally.damaged) == (skipped, damaged)


def test_a_damaged_line_of_cdx_is_named_by_its_number(tmp_path: Path) -> None:
    _, tally = read_bytes(tmp_path, (HEADER + LINE * 3 + "too short\n" + LINE).encode(), "a.cdx")
    assert tally.listed[0].to_dict() == {
        "source": str(tmp_path / "a.cdx"),
        "what": "2 fields instead of 11",
        "line": 5,
    }


def test_cdx_without_digests_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="without the fields a"):
        read_bytes(tmp_path, b" CDX N b a m s\ntest,a)/ 20240229123059 http://a.test/ text/html 200\n", "a.cdx")


# CDXJ: name, what the JSON says, page or none, what is skipped, damaged.
CDXJ: list[tuple[str, str, tuple[Any, ...] | None, dict[str, int], int]] = [
    ("all", '{"url":"http://a.test/","mime":"a/b","status":"200","digest":"D"}', ("http://a.test/", "D", 200), {}, 0),
    ("status: a number", '{"url":"http://a.test/","status":200,"digest":"D"}', ("http://a.test/", "D", 200), {}, 0),
    ("more fields", '{"url":"http://a.test/","digest":"D","length":"1","x":{}}', ("http://a.test/", "D", None), {}, 0),
    ("dashes", '{"url":"http://a.test/","digest":"D","status":"-","mime":"-"}', ("http://a.test/", "D", None), {}, 0),
    ("nulls", '{"url":"http://a.test/","digest":"D","status":null}', ("http://a.test/", "D", None), {}, 0),
    ("another status", '{"url":"http://a.test/","status":"301","digest":"D"}', None, {"status 301": 1}, 0),
    ("no digest", '{"url":"http://a.test/"}', None, {"no content": 1}, 0),
    ("no URL", '{"digest":"D"}', None, {"no URL": 1}, 0),
    ("not JSON", '{"url":"http://a.test/"', None, {}, 1),
    ("no object", "[1]", None, {}, 1),
    ("a URL that is a number", '{"url":1,"digest":"D"}', None, {}, 1),
]  # fmt: skip


@pytest.mark.parametrize(("name", "text", "page", "skipped", "damaged"), CDXJ, ids=[case[0] for case in CDXJ])
def test_a_line_of_cdxj_is_a_page_or_is_counted(
    tmp_path: Path, name: str, text: str, page: tuple[Any, ...] | None, skipped: dict[str, int], damaged: int
) -> None:
    good = 'test,a)/ 20240229123059 {"url":"http://a.test/good","digest":"G"}\n'
    data = f"!OpenWayback-CDXJ 1.0\n{good}test,a)/ 20240229123059 {text}\n\n{good}"
    table, tally = read_bytes(tmp_path, data.encode(), "a.cdxj")
    found = values(table, "url", "digest", "status")
    assert found[0] == found[-1] == ("http://a.test/good", "G", None)
    assert found[1:-1] == ([] if page is None else [page])
    assert (dict(tally.skipped), tally.damaged) == (skipped, damaged)
    assert [damage.line for damage in tally.listed] == [3] * damaged
    assert set(table["time"].to_pylist()) == {datetime(2024, 2, 29, 12, 30, 59, tzinfo=UTC)}


# JSONL: name, line, page or none as (url, html, text, digest, cluster, status), skipped, damaged.
JSONL: list[tuple[str, str, tuple[Any, ...] | None, dict[str, int], int]] = [
    ("text", '{"url":"http://a/","text":"é"}', ("http://a/", None, "é", None, None, None), {}, 0),
    ("html", '{"url":"http://a/","html":"<p>"}', ("http://a/", b"<p>", None, None, None, None), {}, 0),
    ("digest", '{"url":"http://a/","digest":"D"}', ("http://a/", None, None, "D", None, None), {}, 0),
    ("cluster", '{"url":"http://a/","cluster":"C"}', ("http://a/", None, None, None, "C", None), {}, 0),
    ("clusters may be numbers", '{"url":"http://a/","cluster":7}', ("http://a/", None, None, None, "7", None), {}, 0),
    ("which may be spelled so", '{"url":"http://a/","cluster":7.0}', ("http://a/", None, None, None, "7", None), {}, 0),
    ("or with a fraction", '{"url":"http://a/","cluster":7.5}', ("http://a/", None, None, None, "7.5", None), {}, 0),
    ("names in capitals", '{"URL":"http://a/","Text":"x"}', ("http://a/", None, "x", None, None, None), {}, 0),
    ("spaces around a URL", '{"url":" http://a/\\n","text":"x"}', ("http://a/", None, "x", None, None, None), {}, 0),
    ("a status", '{"url":"http://a/","text":"x","status":200}', ("http://a/", None, "x", None, None, 200), {}, 0),
    ("another status", '{"url":"http://a/","text":"x","status":404}', None, {"status 404": 1}, 0),
    ("as tables write it", '{"url":"http://a/","text":"x","status":404.0}', None, {"status 404": 1}, 0),
    ("or as text", '{"url":"http://a/","text":"x","status":"500"}', None, {"status 500": 1}, 0),
    ("no status", '{"url":"http://a/","text":"x","status":"?"}', ("http://a/", None, "x", None, None, None), {}, 0),
    ("a status far off", '{"url":"http://a/","text":"x","status":99999}', None, {"status 0": 1}, 0),
    ("status_code", '{"url":"http://a/","text":"x","status_code":404}', None, {"status 404": 1}, 0),
    ("no content", '{"url":"http://a/"}', None, {"no content": 1}, 0),
    ("empty content", '{"url":"http://a/","text":""}', None, {"no content": 1}, 0),
    ("null content", '{"url":"http://a/","text":null}', None, {"no content": 1}, 0),
    ("no URL", '{"text":"x"}', None, {"no URL": 1}, 0),
    ("an empty URL", '{"url":" ","text":"x"}', None, {"no URL": 1}, 0),
    ("a long URL", '{"url":"http://a/%s","text":"x"}' % ("x" * 70_000), None, {"URL over 64 KiB": 1}, 0),
    ("not JSON", '{"url":"http://a/","text":"x"', None, {}, 1),
    ("no object", '"http://a/"', None, {}, 1),
    ("a text that is a list", '{"url":"http://a/","text":["x"]}', None, {}, 1),
    ("a URL that is a number", '{"url":1,"text":"x"}', None, {}, 1),
    ("blank", "   ", None, {}, 0),
]  # fmt: skip


@pytest.mark.parametrize(("name", "line", "page", "skipped", "damaged"), JSONL, ids=[case[0] for case in JSONL])
def test_a_line_of_json_is_a_page_or_is_counted(
    tmp_path: Path, name: str, line: str, page: tuple[Any, ...] | None, skipped: dict[str, int], damaged: int
) -> None:
    good = '{"url":"http://good/","text":"x"}\n'
    table, tally = read_bytes(tmp_path, f"{good}{line}\n{good}".encode())
    found = values(table, "url", "html", "text", "digest", "cluster", "status")
    assert [page[0] for page in (found[0], found[-1])] == ["http://good/"] * 2
    assert found[1:-1] == ([] if page is None else [page])
    assert (dict(tally.skipped), tally.damaged) == (skipped, damaged)
    assert [damage.line for damage in tally.listed] == [2] * damaged


def test_a_file_of_nulls_has_columns_but_no_pages(tmp_path: Path) -> None:
    table, tally = read_bytes(tmp_path, b'{"url":"http://a/","text":null}\n' * 3)
    assert (table.num_rows, tally.skipped, tally.damaged) == (0, {"no content": 3}, 0)
    table, tally = read_bytes(tmp_path, b'{"url":null,"text":"x"}\n' * 3)
    assert (table.num_rows, tally.skipped, tally.damaged) == (0, {"no URL": 3}, 0)


def test_a_byte_order_mark_is_no_part_of_the_first_line(tmp_path: Path) -> None:
    bom = b"\xef\xbb\xbf"
    for data in (b'{"url":"http://a/","text":"x"}\n', b"url,text\nhttp://a/,x\n", b"url\ttext\nhttp://a/\tx\n"):
        table, tally = read_bytes(tmp_path, bom + data)
        assert (table["url"].to_pylist(), tally.damaged) == (["http://a/"], 0)


# CSV and TSV: name, text, pages as (url, text), damaged lines.
DELIMITED: list[tuple[str, str, list[tuple[str, str | None]], list[int]]] = [
    ("CSV", "url,text\nhttp://a/,x\n", [("http://a/", "x")], []),
    ("TSV", "url\ttext\nhttp://a/\tx\n", [("http://a/", "x")], []),
    ("other columns around", "id,URL,n,Text\n1,http://a/,2,x\n", [("http://a/", "x")], []),
    ("quoted names", '"url","text"\nhttp://a/,x\n', [("http://a/", "x")], []),
    ("Windows", "url,text\r\nhttp://a/,x\r\n", [("http://a/", "x")], []),
    ("Windows, quoted", 'url,text\r\n"http://a/","x"\r\n', [("http://a/", "x")], []),
    ("no newline at the end", "url,text\nhttp://a/,x", [("http://a/", "x")], []),
    ("a quoted comma", 'url,text\nhttp://a/,"x,y"\n', [("http://a/", "x,y")], []),
    ("a quoted quote", 'url,text\nhttp://a/,"x""y"\n', [("http://a/", 'x"y')], []),
    ("a quoted newline", 'url,text\nhttp://a/,"x\ny"\nhttp://b/,z\n', [("http://a/", "x\ny"), ("http://b/", "z")], []),
    ("quotes in TSV are text", 'url\ttext\nhttp://a/\t"x"\n', [("http://a/", '"x"')], []),
    ("a quote inside a cell", 'url,text\nhttp://a/,x"y\n', [("http://a/", 'x"y')], []),
    ("blank lines", "url,text\n\nhttp://a/,x\n\n", [("http://a/", "x")], []),
    ("a row too short", "url,text,n\nhttp://b/,y\nhttp://c/,z,1\n", [("http://c/", "z")], [2]),
    ("a row too long", "url,text\nhttp://a/,x,y\nhttp://c/,z\n", [("http://c/", "z")], [2]),
    ("the same, quoted", 'url,text\nhttp://a/,x,"y"\nhttp://c/,z\n', [("http://c/", "z")], [2]),
    ("text behind a closing quote", 'url,text\nhttp://a/,"x"y\nhttp://c/,z\n', [("http://c/", "z")], [2]),
    ("a quote that is never closed", 'url,text\nhttp://a/,x\nhttp://b/,"y\nhttp://c/,z\n', [("http://a/", "x")], [3]),
    ("a byte order mark inside", "url,text\n\ufeffhttp://a/,x\n", [("\ufeffhttp://a/", "x")], []),
    ("names twice", "url,text,text\nhttp://a/,x,y\n", [("http://a/", "x")], []),
]  # fmt: skip


@pytest.mark.parametrize(("name", "text", "pages", "lines"), DELIMITED, ids=[case[0] for case in DELIMITED])
def test_a_row_of_a_table_is_a_page_or_is_counted(
    tmp_path: Path, name: str, text: str, pages: list[tuple[str, str | None]], lines: list[int]
) -> None:
    table, tally = read_bytes(tmp_path, text.encode())
    assert values(table, "url", "text") == pages
    assert [damage.line for damage in tally.listed] == lines
    assert (tally.damaged, tally.skipped.total()) == (len(lines), 0)


def test_bytes_that_are_not_utf8_harm_nobody(tmp_path: Path) -> None:
    for data in (b"url,text,html\nhttp://a/\xe9,x\xff,\xfe\n", b'url,text,html\n"http://a/\xe9",x\xff,"\xfe"\n'):
        table, _ = read_bytes(tmp_path, data)
        assert values(table, "url", "text", "html") == [("http://a/%E9", "x\ufffd", b"\xfe")]


# Inputs that are refused: name of the file, its bytes, what the message says.
REFUSED: list[tuple[str, bytes, str]] = [
    ("empty", b"", "is empty"),
    ("blank.jsonl", b" \n\n ", "holds nothing"),
    ("empty.jsonl.gz", gzipped(b""), "holds nothing"),
    ("picture.bin", b"\x89PNG\r\n\x1a\n" + bytes(99), "not a format that undust reads"),
    ("letter.txt", b"Dear Sir or Madam,\n", "not a format that undust reads"),
    ("array.json", b'[{"url":"http://a/"}]', "a JSON array; write one JSON object on each line"),
    ("pretty.json", b'{\n  "url": "http://a/",\n  "text": "x"\n}\n', "no line of it is a JSON object"),
    ("text.jsonl", b"some text\nmore text\n", "no line of it is a JSON object"),
    ("text.cdx", b"some text\nmore text\n", "no line of it has the fields of CDX"),
    ("text.cdxj", b"some text\nmore text\n", "no line of it is CDXJ"),
    ("names.csv", b"a,b\n1,2\n", "needs a column url and one of html, text, digest, cluster; it has a, b"),
    ("names.jsonl", b'{"a":1}\n', "needs a column url"),
    ("urls.csv", b"url,n\nhttp://a/,2\n", "needs a column url and one of"),
    ("wide.csv", b"url,text," + b"x," * 20_000 + b"\n", "more than 10,000 columns"),
    ("names.parquet", parquet([{"a": 1}]), "needs a column url"),
    ("types.parquet", parquet([{"url": 1, "text": "x"}]), "column url is int64, which is no url"),
    ("nested.parquet", parquet([{"url": "http://a/", "text": {"x": "y"}}]), "column text is struct"),
    ("cut.parquet", parquet()[:-9], "not a whole Parquet file"),
    ("head.parquet", b"PAR1" + bytes(99), "not a whole Parquet file"),
    ("inside.wacz.gz", gzipped(b"PK\x03\x04" + bytes(99)), "wacz inside gzip; decompress it first"),
    ("pages.parquet", parquet([{"url": "http://a/", "body_xxh3": "x", "digest": "d"}]), "holds fingerprints"),
]


@pytest.mark.parametrize(("name", "data", "what"), REFUSED, ids=[case[0] for case in REFUSED])
def test_what_cannot_be_read_is_refused_in_one_line(tmp_path: Path, name: str, data: bytes, what: str) -> None:
    with pytest.raises(InputError, match=what) as caught:
        read_bytes(tmp_path, data, name)
    message = str(caught.value)
    assert message.startswith(f"{tmp_path / name}: ")
    assert "\n" not in message
    assert "; " in message  # what to do


def test_what_cannot_be_opened_is_refused_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "a.txt").write_text("x")
    cases: list[tuple[str, str]] = [
        (str(tmp_path / "missing"), "no such file or folder"),
        (str(tmp_path / "folder"), "a folder without HTML files"),
        (str(tmp_path / "folder" / "a.txt" / "b"), "cannot be found"),
        ("a\0b", "cannot be found"),
        ("new\nline", "no such file"),
        ("\udcff", "no such file"),
        ("\ud800", "cannot be found"),
    ]
    for path, what in cases:
        with pytest.raises(InputError, match=what) as caught:
            read_table(path)
        assert "\n" not in str(caught.value)
        str(caught.value).encode()


def test_a_file_without_rights_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"url":"http://a/","text":"x"}\n')
    path.chmod(0)
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may read everything
    with pytest.raises(InputError, match="no right to read it"):
        read_table(path)


def test_inputs_are_checked_before_any_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"url":"http://a/","text":"x"}\n')
    with pytest.raises(InputError, match="missing"):
        corpus.list_inputs([tmp_path / "a.jsonl", tmp_path / "missing"])
    with pytest.raises(InputError, match="only once"):
        corpus.list_inputs(["-", "-"])
    with pytest.raises(InputError, match="no input"):
        corpus.list_inputs([])
    assert corpus.list_inputs([tmp_path / "a.jsonl", "-"]) == [str(tmp_path / "a.jsonl"), "-"]


def test_a_fifo_is_read_as_a_pipe(tmp_path: Path) -> None:
    if not hasattr(os, "mkfifo"):
        pytest.skip("no FIFOs on this system")
    path = tmp_path / "fifo"
    os.mkfifo(path)
    if os.fork() == 0:  # the other end, which must be opened by somebody else
        with path.open("wb") as file:
            file.write(gzipped(cdx()))
        os._exit(0)
    table, tally = read_table(path)
    os.wait()
    assert (table.num_rows, tally.damaged) == (12, 0)


def test_a_name_that_is_not_utf8_is_readable(tmp_path: Path) -> None:
    path = os.fsencode(tmp_path) + b"/\xff.jsonl"
    with open(path, "wb") as file:  # noqa: PTH123 - bytes
        file.write(b'{"url":"http://a/","text":"x"}\nbad\n')
    table, tally = read_table(os.fsdecode(path))
    assert table["source"].to_pylist() == [f"{tmp_path}/?.jsonl"]
    assert str(tally.listed[0]).startswith(f"{tmp_path}/?.jsonl: line 2: ")


# Parquet


TYPES = [pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.large_binary(), pa.binary_view()]


@pytest.mark.parametrize("kind", TYPES, ids=str)
def test_parquet_columns_may_have_any_type_of_text(tmp_path: Path, kind: pa.DataType) -> None:
    texts = ("url", "html", "text", "digest", "cluster")
    cells: dict[str, list[str | None]] = {name: ["http://a/", None] for name in texts}
    cells |= {"status": ["200", "404"], "time": ["2024-02-29T12:30:59Z", None]}
    text = "string" in str(kind)
    made = {name: pa.array([v if v is None or text else v.encode() for v in c], kind) for name, c in cells.items()}
    pq.write_table(pa.table(made), tmp_path / "a.parquet")
    table, tally = read_table(tmp_path / "a.parquet")
    row = rows_of(table)[0]
    assert row["html"] == b"http://a/"
    assert {row[name] for name in ("url", "text", "digest", "cluster")} == {"http://a/"}
    assert (row["status"], row["time"]) == (200, datetime(2024, 2, 29, 12, 30, 59, tzinfo=UTC))
    assert dict(tally.skipped) == {"no URL": 1}


def test_parquet_dictionaries_numbers_and_times_are_read(tmp_path: Path) -> None:
    made = pa.table(
        {
            "url": pa.array([f"http://a/{n}" for n in range(4)]).dictionary_encode(),
            "html": pa.array([b"x", b"y", b"x", b""]).dictionary_encode(),
            "cluster": pa.array([1.0, 2.5, None, 3e300]),
            "status": pa.array([200.0, None, 200.0, None]),
            "time": pa.array([datetime(2024, 1, 1), None, None, None], pa.timestamp("ns")),
        }
    )
    pq.write_table(made, tmp_path / "a.parquet")
    table, _ = read_table(tmp_path / "a.parquet")
    assert values(table, "html", "cluster", "status") == [
        (b"x", "1", 200),
        (b"y", "2.5", None),
        (b"x", None, 200),
        (None, "3e+300", None),
    ]
    assert table["time"][0].as_py() == datetime(2024, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("column", "seconds"),
    [
        (pa.array([date(2024, 1, 1)]), 1704067200),
        (pa.array([1704067200]), 1704067200),
        (pa.array([1704067200123]), 1704067200),
        (pa.array([1704067200.5]), 1704067200),
        (pa.array([1704067200000], pa.timestamp("ms", "Europe/Berlin")), 1704067200),
        (pa.array(["20240101000000"]), 1704067200),
        (pa.array([None], pa.null()), None),
        (pa.array([2**60], pa.timestamp("ms")), None),  # a year that no calendar has
    ],
    ids=str,
)
def test_parquet_times_may_have_any_type(tmp_path: Path, column: pa.Array, seconds: int | None) -> None:
    pq.write_table(pa.table({"url": ["http://a/"], "text": ["x"], "time": column}), tmp_path / "a.parquet")
    table, _ = read_table(tmp_path / "a.parquet")
    assert table["time"].cast(pa.int64()).to_pylist() == [seconds]


def test_a_damaged_row_group_is_counted_and_the_others_are_read(tmp_path: Path) -> None:
    rows = [{"url": f"http://a.test/{n}", "text": f"{n}" * 500} for n in range(30)]
    data = bytearray(parquet(rows, row_group_size=10, compression="none", use_dictionary=False))
    at = pq.ParquetFile(io.BytesIO(data)).metadata.row_group(1).column(1).data_page_offset
    data[at : at + 40] = b"\xff" * 40
    table, tally = read_bytes(tmp_path, bytes(data), "a.parquet")
    assert table["url"].to_pylist() == [f"http://a.test/{n}" for n in range(30) if n // 10 != 1]
    assert tally.damaged == 1
    assert tally.listed[0].what.startswith("row group 1 is damaged")


def test_two_columns_of_one_name_are_refused(tmp_path: Path) -> None:
    twice = pa.Table.from_arrays([pa.array(["http://a/"]), pa.array(["x"]), pa.array(["y"])], ["url", "text", "text"])
    pq.write_table(twice, tmp_path / "a.parquet")
    with pytest.raises(InputError, match="two columns text"):
        read_table(tmp_path / "a.parquet")


def test_bodies_over_the_limit_are_left_out_of_tables_too(tmp_path: Path) -> None:
    rows = [
        {"url": "http://a/1", "html": "x" * 99, "text": None, "digest": None},
        {"url": "http://a/2", "html": "x" * 99, "text": None, "digest": "D"},
        {"url": "http://a/3", "html": "x", "text": "y" * 99, "digest": None},
        {"url": "http://a/4", "html": "x", "text": None, "digest": None},
    ]
    data = "".join(json.dumps(row) + "\n" for row in rows).encode()
    table, tally = read_bytes(tmp_path, data, max_body_bytes=10)
    assert values(table, "url", "html", "digest") == [("http://a/2", None, "D"), ("http://a/4", b"x", None)]
    assert (tally.skipped, tally.limited) == ({"body over 10 bytes": 2}, {"body over 10 bytes": 1})


# Folders


NAMES = [
    ("a.test/b c.html", "http://a.test/b%20c.html"),
    ("a.test/list.php?id=1&x=%20", "http://a.test/list.php?id=1&x=%20"),
    ("a.test+8080/x.html", "http://a.test:8080/x.html"),
    ("localhost/x.html", "http://localhost/x.html"),
    ("x/y.html", "http://saved/x/y.html"),
    ("y.html", "http://saved/y.html"),
    ("é.html", "http://saved/%C3%A9.html"),
    ("\udcff.html", "http://saved/%FF.html"),
    ("a#b.html", "http://saved/a%23b.html"),
]


@pytest.mark.parametrize(("name", "url"), NAMES)
def test_the_name_of_a_saved_file_is_a_url(name: str, url: str) -> None:
    assert page_url(name, "saved", None) == url.encode()


def test_a_base_url_stands_before_the_names(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "x.html").write_text("<p>")
    table, _ = read_table(tmp_path, base_url="https://a.test/docs/")
    assert table["url"].to_pylist() == ["https://a.test/docs/sub/x.html"]


def test_a_folder_is_read_by_names_and_content(tmp_path: Path) -> None:
    saved = tmp_path / "saved"
    saved.mkdir()
    (saved / "a.html").write_bytes(b"no tags at all")
    (saved / "b").write_bytes(b"\n <!-- saved --> <!DOCTYPE html><p>")
    (saved / "c").write_bytes(b"\xef\xbb\xbf<html>")
    (saved / "d.css").write_bytes(b"p {}")
    (saved / "e.php@id=1").write_bytes(b"<p>")
    (saved / "large.html").write_bytes(b"x" * 101)
    (tmp_path / "secret.html").write_bytes(b"<p>secret")
    (saved / "out.html").symlink_to(tmp_path / "secret.html")
    (saved / "circle.html").symlink_to(saved / "circle.html")
    (saved / "in.html").symlink_to(saved / "a.html")
    table, tally = read_table(saved, max_body_bytes=100)
    assert table["url"].to_pylist() == [
        f"http://saved/{name}" for name in ("a.html", "b", "c", "e.php@id=1", "in.html")
    ]
    assert tally.skipped == {"not an HTML file": 1, "body over 100 bytes": 1, "link out of the folder": 1}
    assert set(table["source"].to_pylist()) == {str(saved)}


def test_one_html_file_is_one_page(tmp_path: Path) -> None:
    folder = tmp_path / "site"
    folder.mkdir()
    for data in (b"<html><p>one", gzipped(b"<html><p>one"), zstd(b"<html><p>one")):
        table, tally = read_bytes(folder, data, "x.html")
        assert values(table, "url", "html") == [("http://site/x.html", b"<html><p>one")]
        assert tally.pages == 1
    table, tally = read_bytes(folder, b"<html>" + b"x" * 999, "x.html", max_body_bytes=100)
    assert (table.num_rows, tally.skipped) == (0, {"body over 100 bytes": 1})


# Clusters


CLUSTERS = [("http://a/1", "x", 1.5, 3.0), ("http://a/2", "7", None, None)]


def clusters_file(ending: str) -> bytes:
    rows = [dict(zip(("url", "cluster", "importance", "inlinks"), row, strict=True)) for row in CLUSTERS]
    if ending == "parquet":
        return parquet(rows)
    if ending == "jsonl":
        return "".join(json.dumps(row) + "\n" for row in rows).encode()
    mark = "," if ending == "csv" else "\t"
    lines = [mark.join("" if cell is None else str(cell) for cell in row) for row in [list(rows[0]), *CLUSTERS]]
    return "\n".join(lines).encode()


@pytest.mark.parametrize("ending", ["parquet", "jsonl", "csv", "tsv"])
@pytest.mark.parametrize("compress", [bytes, gzipped, zstd])
def test_clusters_are_read_from_every_format(tmp_path: Path, ending: str, compress: Any) -> None:
    (tmp_path / "clusters").write_bytes(compress(clusters_file(ending)))
    tally = Tally()
    table = corpus.read_clusters(tmp_path / "clusters", tally=tally)
    assert table.schema == pa.schema(
        [
            pa.field("url", pa.string(), nullable=False),
            pa.field("cluster", pa.string(), nullable=False),
            ("importance", pa.float64()),
            ("inlinks", pa.float64()),
        ]
    )
    assert [tuple(row.values()) for row in table.to_pylist()] == CLUSTERS
    assert (tally.pages, tally.damaged) == (2, 0)


def test_clusters_without_more_columns_have_two(tmp_path: Path) -> None:
    (tmp_path / "c.tsv").write_text("cluster\turl\nc\thttp://a/\n\thttp://b/\nc\t\nc\tx\ty\n")
    tally = Tally()
    table = corpus.read_clusters(tmp_path / "c.tsv", tally=tally)
    assert table.to_pylist() == [{"url": "http://a/", "cluster": "c"}]
    assert (tally.skipped, tally.damaged) == ({"no cluster": 1, "no URL": 1}, 1)


def test_clusters_of_real_crawls_are_read(shared_data: Path) -> None:
    path = shared_data / "webapps" / "autoindex.clusters.tsv"
    table = corpus.read_clusters(path)
    lines = path.read_text().splitlines()
    assert ["\t".join(row.values()) for row in table.to_pylist()] == lines[1:]


def test_clusters_come_from_stdin(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"url,cluster\nhttp://a/,c\n")))
    assert corpus.read_clusters("-").to_pylist() == [{"url": "http://a/", "cluster": "c"}]


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"url,text\nhttp://a/,x\n", "needs the columns url and cluster; it has url, text"),
        (cdx(), "CDX has no clusters"),
        (b"", "is empty"),
        (b'{"url":"http://a/"}\n', "needs the columns url and cluster"),
    ],
)
def test_what_has_no_clusters_is_refused(tmp_path: Path, data: bytes, what: str) -> None:
    (tmp_path / "c").write_bytes(data)
    with pytest.raises(InputError, match=what):
        corpus.read_clusters(tmp_path / "c")


def test_stdin_that_is_closed_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", None)
    with pytest.raises(InputError, match="stdin is closed"):
        read_table("-")
