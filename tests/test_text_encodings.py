"""Labels of encodings, and the decoders behind them."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from undust.detect import encodings
from undust.detect.encodings import declared_encoding, encoding_named, guessed_encoding, to_utf8

NAMES = sorted(encodings._LABELS)


def test_all_labels_of_the_standard_are_known() -> None:
    labels = [label for name in NAMES for label in encodings._LABELS[name].split()]
    assert len(labels) == len(set(labels)) == 228  # the table of section 4.2
    assert all(label == label.lower() for label in labels)


@pytest.mark.parametrize(
    ("label", "name"),
    [
        ("UTF8", "utf-8"), ("\tlatin1\n", "windows-1252"), ("us-ascii", "windows-1252"),
        ("iso-8859-9", "windows-1254"), ("iso-8859-11", "windows-874"), ("iso88591", "windows-1252"),
        ("iso_8859-15", "iso-8859-15"), ("sjis", "shift_jis"), ("ks_c_5601-1987", "euc-kr"), ("utf-16", "utf-16le"),
        ("hz-gb-2312", "replacement"), ("x-gbk", "gb18030"), ("utf-7", None), ("cp850", None), ("", None),
        ("utf\u20118", None),
    ],
)  # fmt: skip
def test_a_label_means_an_encoding(label: str, name: str | None) -> None:
    assert encoding_named(label) == name


@pytest.mark.parametrize("name", NAMES)
def test_ascii_is_ascii_in_every_encoding_but_those_of_two_bytes(name: str) -> None:
    ascii_text = bytes(range(32, 127)).replace(b"\\", b"").replace(b"~", b"")
    if name not in ("utf-16le", "utf-16be", "replacement"):
        assert to_utf8(ascii_text, name) == (ascii_text, False)


@given(st.binary(max_size=100), st.sampled_from(NAMES))
def test_any_bytes_can_be_read_in_any_encoding(body: bytes, name: str) -> None:
    read, faulty = to_utf8(body, name)
    assert faulty or "\ufffd" not in read.decode() or "\ufffd".encode() in body or name.startswith(("utf-16", "gb"))


@given(st.binary(max_size=1024))
def test_any_bytes_can_be_searched_for_a_declaration(head: bytes) -> None:
    assert declared_encoding(head) in {None, *NAMES}
    assert guessed_encoding(head) in NAMES


def test_searching_takes_no_longer_than_the_head_is_long() -> None:
    for unit in (b"<meta ", b"<meta a='", b"<!--", b"<a b=c ", b"<meta charset=x ", b"<?xml encoding ", b"<html lang "):
        assert declared_encoding((unit * 1024)[:1024]) is None
    noise = random.Random(1).randbytes(1024)
    assert declared_encoding(noise) is None
