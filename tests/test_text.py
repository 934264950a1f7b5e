"""Tables of cases: HTML in, text and facts out, written by hand."""

from typing import Any

import pyarrow as pa
import pytest

from tests.cases import load
from undust.detect.text import MAX_LINKS, count_problems, extract, schema
from undust.errors import UsageError

URL = "http://h.com/a/b?c=1"


def one(html: bytes, content_type: str | None = "text/html; charset=utf-8", **options: Any) -> dict[str, Any]:
    page = pa.record_batch({"url": [URL], "html": [html], "content_type": pa.array([content_type], pa.string())})
    row: dict[str, Any] = extract(page, **options).to_pylist()[0]
    return row


@pytest.mark.parametrize("case", load("html_text"), ids=lambda case: case["why"])
def test_html_gives_the_text_that_a_reader_sees(case: dict[str, Any]) -> None:
    found = one(case["html"].encode())
    assert found["text"] == case["text"]
    if "title" in case:
        assert found["title"] == case["title"]


@pytest.mark.parametrize("case", load("html_facts"), ids=lambda case: case["why"])
def test_html_gives_the_facts_that_it_states(case: dict[str, Any]) -> None:
    found = one(case["html"].encode(), links=True)
    for name in case.keys() - {"html", "why"}:
        assert found[name] == case[name]


@pytest.mark.parametrize("case", load("html_encodings"), ids=lambda case: case["why"])
def test_bytes_are_decoded_as_browsers_decode_them(case: dict[str, Any]) -> None:
    found = one(case["bytes"].encode("latin-1"), case["header"])
    assert found["text"] == case["text"]
    assert (found["undecodable"], found["binary"]) == (case.get("undecodable", False), case.get("binary", False))
    if "title" in case:
        assert found["title"] == case["title"]


def test_a_page_that_comes_as_text_keeps_it() -> None:
    pages = pa.record_batch(
        {
            "html": pa.array([None, b"<p>b", None, None], pa.binary()),
            "text": ["a  <b>\n", "not this", None, "Das ist ein Satz, und er ist nicht sehr lang."],
        }
    )
    found = extract(pages, links=True)
    assert found["text"].to_pylist() == ["a  <b>\n", "b", None, "Das ist ein Satz, und er ist nicht sehr lang."]
    assert found["language"].to_pylist() == [None, None, None, "de"]
    assert found["links"].to_pylist() == [[], [], [], []]


def test_pages_that_come_as_text_only_need_no_other_column() -> None:
    found = extract(pa.record_batch({"text": ["a", None, "é" * 200]}), max_text_bytes=257)
    assert found["text"].to_pylist() == ["a", None, "é" * 128]
    assert found["cut"].to_pylist() == [False, False, True]


def test_no_pages_give_no_rows() -> None:
    pages = pa.record_batch({"html": pa.array([], pa.binary())})
    assert extract(pages).num_rows == 0
    assert extract(pages.schema.empty_table(), links=True).schema == schema(links=True)


def test_a_table_of_several_chunks_gives_the_rows_of_all() -> None:
    batches = [pa.record_batch({"html": [f"<p>{i}".encode()]}) for i in range(5)]
    assert extract(pa.Table.from_batches(batches))["text"].to_pylist() == list("01234")


def test_columns_may_be_large_or_strings() -> None:
    for kind in (pa.large_binary(), pa.string(), pa.large_string()):
        pages = pa.record_batch({"html": pa.array(["<p>ü", None]).cast(kind), "url": pa.array([None, URL])})
        assert extract(pages)["text"].to_pylist() == ["ü", None]


def test_relative_links_of_a_page_without_url_are_left_out() -> None:
    pages = pa.record_batch({"html": [b"<a href=/x>a</a><a href=http://h.com/y>b</a>"]})
    assert [link["url"] for link in extract(pages, links=True)["links"].to_pylist()[0]] == ["http://h.com/y"]


def test_a_long_text_is_cut_between_characters_and_says_so() -> None:
    for html in (
        "é" * 1000,
        "<textarea>" + "é" * 1000,
        "<img alt='" + "é" * 1000,
        "<plaintext>日" + "日" * 500,
        "x <p>" * 500,
    ):
        found = one((html + ("'>" if "alt" in html else "")).encode(), max_text_bytes=256)
        assert 230 < len(found["text"].encode()) <= 256
        assert found["cut"]
    assert not one(b"x" * 200, max_text_bytes=256)["cut"]


@pytest.mark.parametrize("content_type", ["text/html; charset=utf-8", "text/plain; charset=utf-8"])
def test_a_text_is_cut_between_characters_wherever_the_limit_falls(content_type: str) -> None:
    for limit in range(256, 272):
        for word in ("😀 ", "日\n\n", "é<br>"):
            found = one(
                (word * 200).encode(), content_type, max_text_bytes=limit
            )  # reading it fails if it is cut badly
            assert limit - 32 < len(found["text"].encode()) <= limit


def test_only_so_many_links_of_a_page_are_kept() -> None:
    assert len(one(b"<a href=x>y</a> " * (MAX_LINKS + 10), links=True)["links"]) == MAX_LINKS


def test_wrong_options_are_refused() -> None:
    with pytest.raises(UsageError, match="one of all, main"):
        one(b"", content="most")
    with pytest.raises(UsageError, match="256"):
        one(b"", max_text_bytes=10)


def test_problems_are_counted() -> None:
    pages = pa.record_batch({"html": [b"<meta charset=utf-8>\xff", b"GIF89a\x01\x00", b"x" * 300, None]})
    assert count_problems(extract(pages, max_text_bytes=256)) == {"cut": 1, "undecodable": 1, "binary": 1}
