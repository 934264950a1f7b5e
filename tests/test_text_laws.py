"""Laws: any bytes give a text, bounded, the same alone and in a batch; and pages made to break parsers.

Kernels check no indices. `NUMBA_BOUNDSCHECK=1 NUMBA_CACHE_DIR=<an empty folder> pytest tests/test_text*` runs them
with checks.
"""

import random
import time
import tracemalloc
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from undust.detect.text import CONTENTS, MAX_TEXT_BYTES, extract
from undust.settings import MAX_BODY_BYTES

_SOUP = (
    b"<p>|</p>|<div class=nav>|</div>|<a href=x>|<a href='//h/?&amp;b'|</a>|<br>|<img alt='a &lt; b'>|"
    b"<img alt=|<!--|-->|<!-->|<!|<?|</|<|>|&|&amp|&notin;|&#x80;|&#|&nGt;|<script>|</script>|<!--<script>|"
    b"<style>|</style|<textarea>|</textarea>|<title>|</title>|<xmp>|<plaintext>|<svg>|</svg>|<![CDATA[|]]>|"
    b"<table><tr><td>|</td>|<pre>|</pre>|\n|<template>|</template>|<noscript>|<area href=y alt=z>|"
    b"<base href=http://b/c/>|<link rel=canonical href=/c>|<main>|</main>|<nav>|</nav>|<article>|"
    b"<html lang=de>|<meta charset=gbk>|<meta charset=utf-8>|<body>|word |a|\xc3\xbc|\xe6|\x97\xa5|"
    b"\xf0\x9f\x98\x80|\xff|\xc2\xad|\xc2\xa0|\x00| |'|\"|=|/|\xef\xbb\xbf|\xff\xfe|<?xml version='1.0'?>"
)
_PIECES = st.sampled_from(_SOUP.split(b"|"))
_HTML = st.lists(_PIECES, max_size=40).map(b"".join)
_BODIES = st.one_of(_HTML, st.binary(max_size=200), st.builds(lambda a, n: a * n, _PIECES, st.integers(1, 300)))
_TYPES = st.sampled_from(
    [
        None,
        "",
        "text/html",
        "text/html; charset=utf-8",
        "text/html; charset=shift_jis",
        "text/html; charset=utf-16",
        "text/plain",
        "application/xml",
        "application/xhtml+xml",
        "image/png",
        "application/octet-stream",
        "x",
    ]
)
_ROWS = st.lists(st.tuples(_BODIES, _TYPES), max_size=8)


def _batch(rows: Sequence[tuple[bytes, str | None]]) -> pa.RecordBatch:
    return pa.record_batch(
        {
            "url": pa.array(["http://h.com/a/b"] * len(rows)),
            "html": pa.array([row[0] for row in rows], pa.binary()),
            "content_type": pa.array([row[1] for row in rows], pa.string()),
        }
    )


@given(_ROWS, st.sampled_from(CONTENTS), st.booleans())
def test_any_bytes_give_valid_bounded_texts(rows: list[tuple[bytes, str | None]], content: str, links: bool) -> None:
    found = extract(_batch(rows), content=content, links=links, max_text_bytes=256)
    found.validate(full=True)
    assert found.num_rows == len(rows)
    for text in found["text"].to_pylist():
        if text is not None:
            assert len(text.encode()) <= 256
            assert text == text.strip(" \n")


@given(_ROWS, st.sampled_from(CONTENTS), st.data())
def test_a_page_gives_the_same_alone_and_in_any_batch(
    rows: list[tuple[bytes, str | None]], content: str, data: st.DataObject
) -> None:
    options: dict[str, Any] = {"content": content, "links": True, "max_text_bytes": 300}
    whole = extract(_batch(rows), **options).to_pylist()
    assert [extract(_batch([row]), **options).to_pylist()[0] for row in rows] == whole
    cut = data.draw(st.integers(0, len(rows)))
    batch = _batch(rows)
    assert extract(batch.slice(0, cut), **options).to_pylist() == whole[:cut]
    assert extract(batch.slice(cut), **options).to_pylist() == whole[cut:]


@given(_ROWS, st.sampled_from(CONTENTS))
def test_asking_for_links_does_not_change_the_rest(rows: list[tuple[bytes, str | None]], content: str) -> None:
    with_links = extract(_batch(rows), content=content, links=True)
    assert with_links.drop_columns("links").to_pylist() == extract(_batch(rows), content=content).to_pylist()


@given(_HTML)
def test_main_content_is_made_of_lines_of_the_whole(html: bytes) -> None:
    rows = [(html, "text/html; charset=utf-8")]
    whole = extract(_batch(rows))["text"].to_pylist()[0] or ""
    main = extract(_batch(rows), content="main")["text"].to_pylist()[0] or ""
    lines = iter(whole.split("\n"))
    assert all(any(line == other for other in lines) for line in main.split("\n") if line)


@given(st.text(st.characters(exclude_categories=["C"], exclude_characters="<&\u00ad"), max_size=200))
def test_text_without_markup_stays_what_it_is(text: str) -> None:
    found = extract(_batch([(b"<p>" + text.encode(), "text/html; charset=utf-8")]))["text"].to_pylist()[0]
    collapsed = text.replace("\xa0", " ")
    for space in "\t\n\x0b\x0c\r\x1c\x1d\x1e\x1f":
        collapsed = collapsed.replace(space, " ")
    assert found == " ".join(word for word in collapsed.split(" ") if word)


_HOSTILE = {
    "nested tags": b"<div>" * 100_000 + b"x",
    "nested tags that close": b"<b>" * 100_000 + b"x" + b"</b>" * 100_000,
    "nested lists": b"<ul><li>" * 100_000,
    "links in links": b"<a href=x>" * 100_000,
    "open tags": b"<a " * 300_000,
    "ends of scripts": b"<script>" + b"</scrip" * 150_000,
    "scripts in comments": b"<script><!--" + b"<script" * 150_000,
    "less-than signs": b"<" * 1_000_000,
    "ampersands": b"&" * 1_000_000,
    "long references": b"&" + b"a" * 1_000_000,
    "references that are nearly known": b"&CounterClockwiseContourIntegra" * 30_000,
    "long numbers": b"&#" + b"9" * 1_000_000,
    "comments that do not end": b"<!--" + b"--" * 500_000,
    "starts of comments": b"<!" * 500_000,
    "quotes": b"<p a='" + b'"' * 1_000_000,
    "attributes": b"<p " + b"a=b " * 250_000,
    "a name without end": b"<" + b"a" * 1_000_000,
    "templates": b"<template>x" * 100_000,
    "drawings": b"<svg>" * 200_000,
    "cells": b"<td>" * 250_000,
    "titles": b"<title>" + b"x" * 1_000_000,
    "references to two characters": b"&nGt;" * 200_000,
    "links below a long base": b"<base href=http://h/" + b"x" * 4000 + b"/>" + b"<a href=y></a>" * 70_000,
    "links in long words": b"w" * 250 + b"<a href=y></a>" * 70_000 + b"w" * 250,
    "classes": b"<div class='" + b"nav-" * 250_000 + b"'>",
    "metas": b"<meta charset=x>" * 60_000,
    "bits": random.Random(1).randbytes(1_000_000),
    "null bytes": b"\0" * 1_000_000,
    "continuation bytes": b"\x80" * 1_000_000,
    "leading bytes": b"\xf0" * 1_000_000,
    "nothing": b"",
}


@pytest.mark.parametrize("name", _HOSTILE)
@pytest.mark.parametrize("content", CONTENTS)
def test_a_page_made_to_break_parsers_costs_what_its_length_costs(name: str, content: str) -> None:
    rows: list[tuple[bytes, str | None]] = [(_HOSTILE[name], "text/html; charset=utf-8")]
    extract(_batch(rows), content=content, links=True)
    start = time.process_time()
    found = extract(_batch(rows), content=content, links=True)
    assert time.process_time() - start < 1
    assert found.nbytes < 20_000_000
    assert len((found["text"].to_pylist()[0] or "").encode()) <= MAX_TEXT_BYTES


@pytest.mark.parametrize("unit", [b"<p>word <a href=x>y</a>", b"x", b"\xc3\xbc", b"\xe4"])
@pytest.mark.parametrize("charset", ["utf-8", "windows-1252"])
def test_a_page_of_200_mb_is_cut_in_bounded_memory(unit: bytes, charset: str) -> None:
    pages = _batch([(unit * (200_000_000 // len(unit)), f"text/html; charset={charset}")])
    tracemalloc.start()
    try:
        found = extract(pages, links=True)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert found["cut"].to_pylist() == [True]
    assert len(found["text"].to_pylist()[0].encode()) <= MAX_TEXT_BYTES
    assert peak < 14 * MAX_BODY_BYTES  # reserved; only what is written to becomes real
