"""Related pages: the index against a slow answer, when it is made again, and the command."""

import json
import os
import random
import subprocess
import sys
import threading
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import undust
from undust import cli, tables
from undust.detect.pages import PageFingerprints
from undust.detect.related import MAGIC, RelatedIndex, pack_index
from undust.detect.topical import Topical, topical_pairs
from undust.errors import InputError, UndustError, UrlError
from undust.related_pages import open_related

TEXTS = {
    "http://x.test/a": "page cat cat dog",  # half like b: see test_topical
    "http://x.test/b": "page cat dog dog",
    "http://x.test/c": "page fish boat",
    "http://x.test/d": "page fish sail",
    "http://x.test/e": "",
}


FILLER = {f"http://x.test/filler{number}": f"one{number} two{number}" for number in range(10)}  # words are rarer so


def fingerprints(texts: dict[str, str]) -> pa.Table:
    rows = [{"url": url, "text": text} for url, text in texts.items()]
    model = PageFingerprints()
    return pa.Table.from_batches([model.of(pa.RecordBatch.from_pylist(rows, tables.PAGES))])


def index_of(texts: dict[str, str], threshold: float = 0.2) -> RelatedIndex:
    found = topical_pairs(fingerprints(texts), Topical(threshold=threshold))
    return RelatedIndex(b"".join(pack_index(found, {"it": "is a test"})))


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    path = tmp_path / "pages.parquet"
    pq.write_table(fingerprints(TEXTS), path)
    return path


def run(*arguments: str | Path) -> int:
    return cli.main([str(argument) for argument in arguments])


# --- the index -------------------------------------------------------------------------------------------------------


def test_answers_by_hand() -> None:
    index = index_of(TEXTS)
    assert index.about == {"it": "is a test"}
    assert index.related("http://x.test/a") == [("http://x.test/b", 0.5)]
    assert index.related("http://x.test/b") == [("http://x.test/a", 0.5)]
    assert index.related("http://x.test/c") == [("http://x.test/d", 1.0)]
    assert index.related("http://x.test/e") == []


def test_urls_are_compared_in_their_standard_form() -> None:
    index = index_of(TEXTS | FILLER | {"HTTP://X.test/c": "page cat cat dog"}, 0.9)
    assert index.related("HTTP://x.test:80/./a#b")[0].url == "HTTP://X.test/c"
    # Two pages have one standard form: the one that is spelled so is meant, and else the first.
    assert index.related("http://x.test/c") == [("http://x.test/d", 1.0)]
    assert index.related("HTTP://X.test/c")[0].url == "http://x.test/a"
    assert index.related("HTTP://X.TEST/c")[0].url == "http://x.test/a"


WORDS = [f"w{number}" for number in range(12)]


@settings(max_examples=60)
@given(st.lists(st.lists(st.sampled_from(WORDS), max_size=8), min_size=1, max_size=20), st.integers(1, 25))
def test_answers_are_those_of_a_scan_over_all_bags(texts: list[list[str]], n: int) -> None:
    named = {f"http://x.test/{number:02}": " ".join(words) for number, words in enumerate(texts)}
    found = topical_pairs(fingerprints(named))
    index = RelatedIndex(b"".join(pack_index(found, {})))
    urls = found.urls.to_pylist()
    for row, url in enumerate(urls):
        others = [other for other in range(len(urls)) if other != row]
        scanned = zip(others, found.sketches.similarities([row] * len(others), others).tolist(), strict=True)
        expected = sorted(((urls[o], s) for o, s in scanned if s >= 0.2), key=lambda answer: -answer[1])
        answer = index.related(url, n)
        similarities = [similarity for _, similarity in expected[:n]]
        assert [page.similarity for page in answer] == pytest.approx(similarities, abs=1e-5)
        assert len({page.url for page in answer}) == len(answer)
        by_url = dict(expected)
        assert [page.similarity for page in answer] == pytest.approx([by_url[page.url] for page in answer], abs=1e-5)


def test_the_number_of_answers_and_their_similarity_have_limits() -> None:
    copies = {f"http://x.test/a{number}": TEXTS["http://x.test/a"] for number in range(5)}
    index = index_of(TEXTS | FILLER | copies)
    answer = index.related("http://x.test/a", 100)
    assert [page.url for page in answer][:6] == [*copies, "http://x.test/b"]
    assert [page.similarity for page in index.related("http://x.test/a3", 3)] == [1.0] * 3
    assert index.related("http://x.test/a3", below=1.0) == answer[5:]
    assert len(index.related("http://x.test/b", 100)) == len(answer)


def test_a_page_that_is_not_there_and_a_url_that_is_none() -> None:
    index = index_of(TEXTS)
    with pytest.raises(InputError, match="no page"):
        index.related("http://x.test/nothing")
    with pytest.raises(UrlError):
        index.related("http://[")


def test_an_index_without_pages() -> None:
    index = index_of({})
    with pytest.raises(InputError, match="no page"):
        index.related("http://x.test/a")


def test_damage_anywhere_is_an_error_or_harmless() -> None:
    """Whatever byte is wrong: an answer, or an error of ours."""
    data = b"".join(pack_index(topical_pairs(fingerprints(TEXTS)), {}))
    chance = random.Random(4)
    for _ in range(1500):
        bad = bytearray(data)
        for _ in range(chance.randrange(1, 4)):
            bad[chance.randrange(len(bad))] = chance.randrange(256)
        if chance.random() < 0.2:
            del bad[chance.randrange(len(bad)) :]
        try:
            index = RelatedIndex(bytes(bad))
            for url in TEXTS:
                index.related(url, 10)
        except UndustError:
            pass


# --- the file --------------------------------------------------------------------------------------------------------


def test_the_first_question_makes_the_index_and_the_next_uses_it(pages: Path) -> None:
    told: list[str] = []
    assert undust.related(pages, "http://x.test/a") == [("http://x.test/b", 0.5)]
    place = pages.with_name("pages.parquet.content.related")
    before = place.stat()
    assert open_related(pages, tell=told.append).related("http://x.test/a") == [("http://x.test/b", 0.5)]
    after = place.stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)
    assert told == []
    assert sorted(file.name for file in pages.parent.iterdir()) == ["pages.parquet", place.name]


def test_changed_pages_make_a_new_index(pages: Path) -> None:
    undust.related(pages, "http://x.test/a")
    pq.write_table(fingerprints(TEXTS | FILLER | {"http://x.test/f": TEXTS["http://x.test/a"]}), pages)
    told: list[str] = []
    answer = open_related(pages, tell=told.append).related("http://x.test/a")
    assert [page.url for page in answer[:2]] == ["http://x.test/f", "http://x.test/b"]
    assert "have changed" in told[0]


def test_a_change_is_noticed_though_size_and_time_are_the_same(pages: Path) -> None:
    undust.related(pages, "http://x.test/a")
    state, data = pages.stat(), bytearray(pages.read_bytes())
    data[-9] ^= 1  # in the footer
    pages.write_bytes(data)
    os.utime(pages, ns=(state.st_atime_ns, state.st_mtime_ns))
    told: list[str] = []
    with pytest.raises(UndustError):
        open_related(pages, tell=told.append)
    assert "have changed" in told[0]


def test_other_options_and_damage_make_a_new_index(pages: Path) -> None:
    told: list[str] = []
    assert open_related(pages, threshold=0.6, tell=told.append).related("http://x.test/a") == []
    assert open_related(pages, threshold=0.5, tell=told.append).related("http://x.test/a") != []
    place = pages.with_name("pages.parquet.content.related")
    place.write_bytes(place.read_bytes()[:-5])
    assert open_related(pages, threshold=0.5, tell=told.append).related("http://x.test/a") != []
    assert [line.split(": ")[1].split(";")[0] for line in told] == [
        "no index yet", "the index was made with other options", "the index is damaged",
    ]  # fmt: skip


def test_a_file_that_is_no_index_stays_as_it_is(pages: Path) -> None:
    for content in (b"", b"my thesis", b"x" * 1000):
        other = pages.with_name("thesis.txt")
        other.write_bytes(content)
        with pytest.raises(InputError, match="no index"):
            undust.related(pages, "http://x.test/a", index=other)
        assert other.read_bytes() == content


def test_an_index_is_whole_or_absent_when_several_make_it(pages: Path) -> None:
    answers: list[object] = []
    asking = [
        threading.Thread(target=lambda: answers.append(undust.related(pages, "http://x.test/a"))) for _ in range(4)
    ]
    for thread in asking:
        thread.start()
    for thread in asking:
        thread.join()
    assert answers == [[("http://x.test/b", 0.5)]] * 4
    assert len(list(pages.parent.iterdir())) == 2


def test_an_answer_needs_neither_arrow_nor_numba(pages: Path) -> None:
    undust.related(pages, "http://x.test/a")
    code = (
        "import sys, undust; print(undust.related(sys.argv[1], 'http://x.test/a'));"
        " print({'numpy', 'pyarrow', 'numba'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code, str(pages)], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[1] == "set()"


def test_crawls_can_be_asked_too(tmp_path: Path) -> None:
    crawl = tmp_path / "crawl.jsonl"
    crawl.write_text("".join(json.dumps({"url": url, "text": text}) + "\n" for url, text in TEXTS.items()))
    assert undust.related(crawl, "http://x.test/a") == [("http://x.test/b", 0.5)]


def test_anchors_have_an_index_of_their_own(tmp_path: Path) -> None:
    crawl = tmp_path / "crawl.jsonl"
    links = "".join(f"<p><a href='/{name}'>zebra quagga okapi</a></p><p>{'filler ' * 9}</p>" for name in "12")
    pages = {"hub": links, "1": "<p>nothing", "2": "<p>whatever", "z": "<p>zzz"}
    rows = [{"url": f"http://x.test/{name}", "html": f"<title>{name}</title>{html}"} for name, html in pages.items()]
    crawl.write_text("".join(json.dumps(row) + "\n" for row in rows))
    (answer,) = undust.related(crawl, "http://x.test/1", bags="anchors")
    assert answer.url == "http://x.test/2"
    assert crawl.with_name("crawl.jsonl.anchors.related").read_bytes().startswith(MAGIC)


# --- the command -----------------------------------------------------------------------------------------------------


def test_the_command_prints_similarity_and_url(pages: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("related", pages, "http://x.test/a") == 0
    printed = capsys.readouterr()
    assert printed.out == "0.500\thttp://x.test/b\n"
    assert "no index yet" in printed.err
    assert run("related", pages, "http://x.test/a", "--below", "0.4") == 0
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == ("", "no page is related to it with a similarity of 0.2 or more\n")
    assert run("related", pages, "http://x.test/e", "--quiet") == 0
    assert capsys.readouterr() == ("", "")


def test_the_command_prints_json(pages: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("related", pages, "http://x.test/c", "-n", "1", "--json", "--quiet") == 0
    assert json.loads(capsys.readouterr().out) == {
        "url": "http://x.test/c",
        "related": [{"url": "http://x.test/d", "similarity": 1.0}],
    }


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (["missing.parquet", "http://x.test/a"], 1, "missing.parquet"),
        (["pages.parquet", "http://x.test/nothing"], 1, "no page"),
        (["pages.parquet", "http://["], 1, "http://["),
        ([".", "http://x.test/a"], 1, "directory"),
        (["pages.parquet", "http://x.test/a", "--bags", "anchors"], 1, "--links"),
        (["pages.parquet", "http://x.test/a", "--uncrawled"], 2, "--bags anchors"),
        (["pages.parquet", "http://x.test/a", "--index", "no/folder/index"], 1, "cannot be written"),
        (["pages.parquet", "http://x.test/a", "-n", "0"], 2, "0"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(
    pages: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], arguments: list[str], code: int,
    told: str,
) -> None:  # fmt: skip
    monkeypatch.chdir(pages.parent)
    assert run("related", *arguments) == code
    printed = capsys.readouterr()
    assert printed.out == ""
    assert told in printed.err.splitlines()[-1]


def test_pages_without_bags_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = PageFingerprints(exact_only=True)
    rows = pa.RecordBatch.from_pylist([{"url": "http://x.test/", "text": "words"}], tables.PAGES)
    pq.write_table(pa.Table.from_batches([model.of(rows)]), tmp_path / "exact.parquet")
    assert run("related", tmp_path / "exact.parquet", "http://x.test/") == 1
    assert "fingerprint" in capsys.readouterr().err.splitlines()[-1]
    assert not list(tmp_path.glob("*.related"))


def test_related_pages_of_a_real_page(shared_data: Path, tmp_path: Path) -> None:
    index = tmp_path / "index"
    docs = shared_data / "webapps" / "docs.warc.gz"
    answer = undust.related(docs, "http://docs.test:8180/python/library/email.message.html", below=0.9, index=index)
    assert len(answer) >= 2
    assert all("/python/library/email" in page.url for page in answer)
