"""`undust explain --pages`: what two pages share, from crawls, from fingerprints, and from both."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from undust import cli, pipeline
from undust.corpus import write_table
from undust.detect.differences import compare_signatures, difference, sentences_of, words_of
from undust.errors import InputError, UsageError
from undust.page_explanation import explain_pages

A, B, C = "http://x.test/a", "http://x.test/b", "http://x.test/c"
PAGES = {
    A: "<html lang=en><title>Cats</title><p>The cat sat. The dog ran! Who knows?<p>One two three four five six",
    B: "<html lang=en><title>Cats</title><p>The dog ran! The cat sat. Nobody does.<p>One two three four five seven",
    C: "<html lang=en><title>Else</title><p>Quite another text altogether",
}


@pytest.fixture
def crawl(tmp_path: Path) -> Path:
    path = tmp_path / "crawl.jsonl"
    path.write_text("".join(json.dumps({"url": url, "html": html}) + "\n" for url, html in PAGES.items()))
    return path


@pytest.fixture
def stored(crawl: Path) -> Path:
    path = crawl.with_name("pages.parquet")
    write_table(pipeline.fingerprint(crawl), path)
    return path


def run(*arguments: str | Path) -> int:
    return cli.main(["explain", *map(str, arguments)])


def texts(items: list[tuple[str, int]]) -> list[str]:
    return [text for text, _ in items]


def test_words_and_sentences_by_hand(crawl: Path) -> None:
    told = explain_pages([crawl], A, B)
    assert told.urls == (A, B)
    assert told.missing == []
    assert told.words is not None
    assert (told.words.first, told.words.second, told.words.shared) == (14, 14, 11)
    assert told.words.both[0] == ("the", 2)
    assert told.words.only_first == [("knows", 1), ("six", 1), ("who", 1)]
    assert told.words.only_second == [("does", 1), ("nobody", 1), ("seven", 1)]
    assert told.sentences is not None
    assert (told.sentences.first, told.sentences.second, told.sentences.shared) == (4, 4, 2)
    assert texts(told.sentences.both) == ["the cat sat", "the dog ran"]
    assert texts(told.sentences.only_first) == ["who knows", "one two three four five six"]
    assert texts(told.sentences.only_second) == ["nobody does", "one two three four five seven"]


def test_signatures_by_hand(crawl: Path) -> None:
    found = explain_pages([crawl], A, B).signatures
    assert (found["same_body"], found["same_text"], found["same_title"], found["same_language"]) == (
        False, False, True, True,
    )  # fmt: skip
    assert found["words"] == [14, 14]
    assert found["sentences"] == [4, 4]
    # Runs of five of the 14 words: "one two three four five" is the only one of 10 each that both have.
    assert found["shingle_similarity"] == pytest.approx(1 / 19)
    assert found["duplicates"]["exact"] is False
    assert found["duplicates"]["minhash"] is False
    assert set(found["duplicates"]) == {"exact", "simhash", "cascade", "minhash", "bag"}


def test_equal_pages_are_duplicates_by_all_methods(tmp_path: Path) -> None:
    path = tmp_path / "two.jsonl"
    path.write_text("".join(json.dumps({"url": url, "html": PAGES[A]}) + "\n" for url in (A, B)))
    told = explain_pages([path], A, B)
    assert set(told.signatures["duplicates"].values()) == {True}
    assert told.signatures["shingle_similarity"] == told.signatures["bag_similarity"] == 1.0
    assert told.signatures["minhash_agreement"] == told.signatures["bag_minhash_agreement"] == 1.0
    assert told.words is not None
    assert told.words.only_first == told.words.only_second == []


def test_empty_pages_are_no_duplicates() -> None:
    for length, same in ((0, False), (3, True)):
        row = {"body_xxh3": b"the same", "length": length}
        assert compare_signatures(row, row, None)["duplicates"] == {"exact": same}


def test_fingerprints_say_the_same_of_signatures_and_what_they_lack(crawl: Path, stored: Path) -> None:
    told = explain_pages([stored], A, B)
    assert told.words is told.sentences is None
    assert len(told.missing) == 1
    assert f"--pages {crawl}" in told.missing[0]
    whole = explain_pages([crawl], A, B)
    assert told.signatures == whole.signatures
    both = explain_pages([stored, crawl], A, B)
    assert both.to_dict() == whole.to_dict()


def test_one_page_from_each_of_two_inputs(crawl: Path, stored: Path, tmp_path: Path) -> None:
    only = tmp_path / "only.jsonl"
    only.write_text(json.dumps({"url": C, "html": PAGES[C]}) + "\n")
    less = tmp_path / "less.jsonl"
    less.write_text(json.dumps({"url": A, "html": PAGES[A]}) + "\n")
    table = tmp_path / "a.parquet"
    write_table(pipeline.fingerprint(less), table)
    told = explain_pages([table, only], A, C)
    assert told.signatures == explain_pages([crawl], A, C).signatures
    assert str(less) in told.missing[0]


def test_the_part_of_the_text_is_that_of_the_fingerprints(tmp_path: Path) -> None:
    crawl = tmp_path / "crawl.jsonl"
    html = "<nav>menu menu</nav><main><p>{}</main>"
    rows = [{"url": url, "html": html.format(text)} for url, text in ((A, "inside here"), (B, "inside there"))]
    crawl.write_text("".join(json.dumps(row) + "\n" for row in rows))
    table = tmp_path / "main.parquet"
    write_table(pipeline.fingerprint(crawl, content="main"), table)
    words = explain_pages([table, crawl], A, B).words
    assert words is not None
    assert texts(words.both) == ["inside"]
    words = explain_pages([crawl], A, B).words
    assert words is not None
    assert texts(words.both) == ["menu", "inside"]


def test_fingerprints_of_bodies_only_say_so(crawl: Path, tmp_path: Path) -> None:
    table = tmp_path / "exact.parquet"
    write_table(pipeline.fingerprint(crawl, exact_only=True), table)
    told = explain_pages([table], A, B)
    assert told.signatures["duplicates"] == {"exact": False}
    assert any("--exact-only" in line for line in told.missing)


def test_pages_known_by_a_digest_say_so(tmp_path: Path) -> None:
    path = tmp_path / "digests.jsonl"
    path.write_text("".join(json.dumps({"url": url, "digest": "sha1:AAA"}) + "\n" for url in (A, B)))
    told = explain_pages([path], A, B)
    assert told.signatures["duplicates"] == {"exact": True}
    assert len(told.missing) == 2


def test_the_latest_capture_counts_and_the_url_as_it_is_spelled(tmp_path: Path) -> None:
    path = tmp_path / "crawl.jsonl"
    rows = [
        {"url": A, "text": "old", "time": "2020-01-01T00:00:00Z"},
        {"url": A, "text": "new", "time": "2021-01-01T00:00:00Z"},
        {"url": "HTTP://x.test/a", "text": "other", "time": "2022-01-01T00:00:00Z"},
        {"url": B, "text": "new", "time": "2020-01-01T00:00:00Z"},
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert explain_pages([path], A, B).signatures["same_text"]
    assert not explain_pages([path], "HTTP://x.test/a", B).signatures["same_text"]
    assert explain_pages([path], "http://x.test:80/a", B).urls[1] == B


@given(st.lists(st.sampled_from("abcd")), st.lists(st.sampled_from("abcd")))
def test_a_difference_is_complete(first: list[str], second: list[str]) -> None:
    found = difference(first, second)
    for items, only in ((first, found.only_first), (second, found.only_second)):
        rebuilt = [text for text, count in [*found.both, *only] for _ in range(count)]
        assert sorted(rebuilt) == sorted(items)
    assert not set(texts(found.only_first)) & set(texts(found.only_second))


@given(st.text(max_size=60))
def test_sentences_are_all_the_words(text: str) -> None:
    assert " ".join(sentences_of(text, None)).split(" ") == (" ".join(words_of(text))).split(" ")


# --- the command -----------------------------------------------------------------------------------------------------


def test_the_command_tells_people(crawl: Path, stored: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--pages", stored, "--pages", crawl, A, B, "-n", "2") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == [f"A  {A}", f"B  {B}"]
    assert "words: 14 in A, 14 in B, 11 of them shared" in lines
    assert "  only A: knows, six, and 1 more" in lines
    assert "  only B: nobody does" in lines
    assert "by exact: no duplicates" in lines
    assert run("--pages", stored, A, B) == 0
    assert "not known: words and sentences" in capsys.readouterr().out


def test_the_command_prints_json(crawl: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--pages", crawl, A, B, "-n", "1", "--json") == 0
    told: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert list(told) == ["urls", "signatures", "words", "sentences", "missing"]
    assert told["words"]["only_first"] == [{"text": "knows", "count": 1}]
    assert told["words"]["left_out"] == {"both": 9, "only_first": 2, "only_second": 2}
    assert told["signatures"]["simhash_bits"] == 64


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (["--pages", "crawl.jsonl", A], 2, "two URLs"),
        (["--pages", "crawl.jsonl", "-r", "rules.json", A, B], 2, "one of"),
        ([A, B], 2, "one of"),
        (["--pages", "crawl.jsonl", A, "http://x.test/nothing"], 1, "no page"),
        (["--pages", "crawl.jsonl", A, "HTTP://x.test/a"], 2, "standard form"),
        (["--pages", "missing.parquet", A, B], 1, "missing.parquet"),
        (["--pages", "cut.parquet", A, B], 1, "cut.parquet"),
        (["--pages", "stored.jsonl", A, B], 1, "Parquet"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(
    stored: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], arguments: list[str], code: int,
    told: str,
) -> None:  # fmt: skip
    monkeypatch.chdir(stored.parent)
    Path("cut.parquet").write_bytes(stored.read_bytes()[:-20])
    write_table(pipeline.fingerprint("crawl.jsonl", exact_only=True), "stored.jsonl")
    assert run(*arguments) == code
    printed = capsys.readouterr()
    assert printed.out == ""
    assert told in printed.err.splitlines()[-1]


def test_fingerprints_made_differently_are_not_compared(crawl: Path, stored: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.jsonl"
    other.write_text(json.dumps({"url": C + "c", "html": PAGES[C]}) + "\n")
    table = tmp_path / "other.parquet"
    write_table(pipeline.fingerprint(other, content="main"), table)
    with pytest.raises(UsageError, match="differently"):
        explain_pages([stored, table], A, C + "c")


def test_two_versions_of_a_real_page(shared_data: Path) -> None:
    crawl = shared_data / "webapps" / "docs.warc.gz"
    with gzip.open(crawl) as file:
        assert file.read(4) == b"WARC"
    page = "docs.test:8180/python/library/pickle.html"
    told = explain_pages([crawl], f"http://{page}", f"http://www.{page}")
    assert told.words is not None
    assert told.words.first == told.words.second == told.words.shared > 1000
    with pytest.raises(InputError, match="no page"):
        explain_pages([crawl], f"http://{page}", "http://nowhere.test/")
