"""The online index: what it answers, who may open it, and what it says of files that are damaged or too new."""

import json
import random
import re
import shutil
from importlib import resources
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import undust
from tests.index_load import MADE, change
from tests.index_oracle import Content, Oracle, table
from undust import pipeline
from undust.detect.fingerprints_parameters import SignatureParameters
from undust.detect.kmodes import fit_modes
from undust.detect.near_hamming import hash_keywords
from undust.errors import InputError, OutputError, UsageError
from undust.index.answers import Answer
from undust.index.online import Index

SAMPLE = str(resources.files("undust") / "data" / "sample.warc.gz")
ROOT = Path(__file__).parents[1]


def words(seed: int, count: int = 120) -> list[str]:
    chance = random.Random(seed)
    return ["".join(chance.choices("abcdefghijklmnop", k=6)) for _ in range(count)]


PAGE = " ".join(words(1))
LIKE = " ".join([*words(1)[:60], "changed", *words(1)[61:]])
OTHER = " ".join(words(2))


def test_pages_are_added_asked_for_and_removed_one_by_one(tmp_path: Path) -> None:
    with undust.Index(tmp_path / "seen") as index:
        assert index.query("http://a.test/1", text=PAGE).is_new
        assert index.add("http://a.test/1", text=PAGE) == Answer("http://a.test/1")
        assert index.add("http://a.test/2", f"<p>{PAGE}</p>") == Answer(
            "http://a.test/2", "http://a.test/1", "exact", 1.0
        )
        near = index.query("http://a.test/3", f"<html><body>{LIKE}".encode())
        assert (near.duplicate_of, near.method) == ("http://a.test/1", "minhash")
        assert near.similarity == pytest.approx((116 - 5) / (116 + 5))  # of 116 shingles 5 have the changed word
        assert "http://a.test/3" not in index
        assert index.add("http://a.test/4", text=OTHER).is_new
        assert index.stats() | {"row_bytes": 0} == {
            "pages": 3, "kept": 2, "duplicates": 1, "row_bytes": 0, "table_bytes": 0, "runs": 0,
        }  # fmt: skip
        assert len(index) == 3
        assert index.get("http://a.test/2") == Answer("http://a.test/2", "http://a.test/1", "exact", 1.0, known=True)
        assert index.get("http://a.test/1") == Answer("http://a.test/1", known=True)
        assert index.get("http://a.test/3") is None
        assert index.duplicates("http://a.test/1") == ["http://a.test/2"]
        assert index.remove("http://a.test/4")
        assert not index.remove("http://a.test/4")
        assert index.add("http://a.test/5", text=OTHER).is_new


def test_the_oldest_duplicate_takes_the_place_of_a_page_that_is_removed(tmp_path: Path) -> None:
    with Index(tmp_path / "i") as index:
        for n in range(3):
            index.add(f"http://a.test/{n}", text=PAGE)
        index.remove("http://a.test/0")
        assert index.get("http://a.test/1") == Answer("http://a.test/1", known=True)
        assert index.get("http://a.test/2") == Answer("http://a.test/2", "http://a.test/1", "exact", 1.0, known=True)
        assert index.duplicates("http://a.test/1") == ["http://a.test/2"]
        assert index.add("http://a.test/0", text=PAGE).duplicate_of == "http://a.test/1"
        index.remove_many(["http://a.test/0", "http://a.test/1", "http://a.test/2"])
        assert index.add("http://a.test/3", text=PAGE).is_new  # nobody is left of the group


def test_a_page_that_comes_again_stays_where_it_is_unless_it_has_changed(tmp_path: Path) -> None:
    with Index(tmp_path / "i") as index:
        index.add("http://a.test/1", text=PAGE)
        index.add("http://a.test/2", text=PAGE)
        size = index.stats()["row_bytes"]
        assert index.add("http://a.test/1", text=PAGE) == Answer("http://a.test/1", known=True)
        # A little other: still the page that is kept.
        assert index.add("http://a.test/1", text=LIKE) == Answer("http://a.test/1", known=True)
        again = index.add("http://a.test/2", text=PAGE)
        assert (again.duplicate_of, again.known, again.is_new) == ("http://a.test/1", True, False)
        assert index.stats()["row_bytes"] == size
        assert index.add("http://a.test/2", text=OTHER).is_new
        assert index.duplicates("http://a.test/1") == []
        assert len(index) == 2


def test_pages_without_words_are_nobodys_duplicates(tmp_path: Path) -> None:
    with Index(tmp_path / "i") as index:
        assert index.add("http://a.test/1", text="- - -").is_new
        assert index.add("http://a.test/2", b"").is_new
        assert index.add("http://a.test/3", b"").is_new
        size = index.stats()["row_bytes"]
        assert index.add("http://a.test/3", b"") == Answer("http://a.test/3", known=True)
        assert index.stats()["row_bytes"] == size


@pytest.mark.parametrize("methods", [("exact",), ("exact", "minhash"), ("simhash",), ("cascade",)])
def test_real_pages_are_found_as_the_oracle_finds_them(tmp_path: Path, methods: tuple[str, ...]) -> None:
    pages = pipeline.fingerprint(SAMPLE)
    made = SignatureParameters.from_metadata(pages.schema.metadata)
    modes = fit_modes(hash_keywords(pages["keywords"].combine_chunks(), made.keywords))
    chosen = modes if "cascade" in methods else None
    oracle = Oracle(methods, made, threshold=0.8, distance=3, max_sentences=2, modes=chosen)
    expected = [oracle.add(url, content)[0] for url, content in contents(pages)]
    with Index(tmp_path / "i", methods=methods, buffer_pages=40, modes=chosen) as index:
        found = index.add_many(pages)
        assert found["duplicate_of"].to_pylist() == expected
        assert found["url"].to_pylist() == pages["url"].to_pylist()
        assert found["duplicate_of"].null_count < len(found) / 2


def contents(pages: pa.Table) -> list[tuple[str, Content]]:
    found = []
    for row in pages.to_pylist():
        digest = row["text_xxh3"] or (row["body_xxh3"] if row["length"] else None)
        values = tuple(np.frombuffer(row["minhash"], np.uint64).tolist()) if row["minhash"] else ()
        found.append(
            (
                row["url"],
                Content(
                    None if digest is None else int.from_bytes(digest, "little"),
                    row["simhash"] or 0,
                    row["sentences"],
                    tuple(row["keywords"] or ()),
                    values,
                    frozenset(row["shingles"] or ()),
                ),
            )
        )
    return found


def test_answers_do_not_depend_on_how_pages_are_cut_into_batches_nor_on_runs(tmp_path: Path) -> None:
    pages = [page for number in range(25) for page in change(3, number)[1]]
    rows = table(pages, MADE)
    found = []
    for at, (size, buffer_pages) in enumerate(((len(pages), 10_000), (3, 50), (37, 9))):
        folder = tmp_path / str(at)
        with Index(folder, methods=("minhash", "simhash"), threshold=0.6, buffer_pages=buffer_pages) as index:
            found.append(pa.concat_tables([index.add_many(rows.slice(n, size)) for n in range(0, len(pages), size)]))
    assert found[0].equals(found[1])
    assert found[0].equals(found[2])
    assert found[0]["duplicate_of"].null_count < len(pages)


def test_the_groups_of_exact_duplicates_do_not_depend_on_the_order(tmp_path: Path) -> None:
    chance = random.Random(5)
    pages = [(f"http://a.test/{n}", Content(chance.randrange(1, 40), values=(1,) * 32)) for n in range(200)]
    groups = []
    for turn in range(3):
        with Index(tmp_path / str(turn), methods=("exact",)) as index:
            index.add_many(table(pages, MADE))
            found = index.get_many([url for url, _ in pages]).to_pylist()
        of = {row["url"]: row["duplicate_of"] or row["url"] for row in found}
        groups.append({frozenset(url for url in of if of[url] == kept) for kept in of.values()})
        chance.shuffle(pages)
    assert groups[0] == groups[1] == groups[2]
    assert len(groups[0]) == len({content.digest for _, content in pages})


def test_a_block_that_many_simhashes_share_is_searched_without_missing_any(tmp_path: Path) -> None:
    # 5,000 simhashes with the same first half: their blocks are longer than what is looked through entry by entry.
    chance = np.random.default_rng(1)
    values = (np.uint64(0xABCDEF12) << np.uint64(32)) | chance.integers(0, 2**32, 5000, dtype=np.uint64)
    asked = values.copy()
    for _ in range(3):
        asked ^= np.uint64(1) << chance.integers(0, 64, len(asked), dtype=np.uint64)
    kept: list[int] = []
    with Index(tmp_path / "i", methods=("simhash",), buffer_pages=2000) as index:
        rows = table([(f"http://a.test/{n}", Content(1, int(v), values=(1,) * 32)) for n, v in enumerate(values)], MADE)
        answers = index.add_many(rows)["duplicate_of"].to_pylist()
        kept = [n for n, answer in enumerate(answers) if answer is None]
        rows = table([(f"http://b.test/{n}", Content(1, int(v), values=(1,) * 32)) for n, v in enumerate(asked)], MADE)
        found = index.query_many(rows).to_pylist()
    for value, answer in zip(asked, found, strict=True):
        distances = np.bitwise_count(values[kept] ^ value)
        nearest = int(distances.argmin())
        assert distances[nearest] <= 3 or answer["duplicate_of"] is None
        if distances[nearest] <= 3:
            assert answer["duplicate_of"] == f"http://a.test/{kept[nearest]}"
            assert answer["similarity"] == np.float32(1 - distances[nearest] / 64)


def test_a_template_that_many_pages_share_costs_few_comparisons_and_hides_no_duplicate(tmp_path: Path) -> None:
    # All pages share all bands but two, and are just not alike. A page that is like one of them is found by the two.
    chance = random.Random(2)
    template = [chance.randrange(1, 2**60) for _ in range(128)]
    made = SignatureParameters()

    def page(n: int) -> Content:
        own = random.Random(n)
        values = [*template[:80], *(own.randrange(1, 2**60) for _ in range(48))]
        return Content(None, values=tuple(values), shingles=frozenset([*range(70), *own.sample(range(100, 10**6), 30)]))

    pages = [(f"http://a.test/{n}", Content(n + 1, 0, 1, (), page(n).values, page(n).shingles)) for n in range(3000)]
    with Index(tmp_path / "i", methods=("minhash",), buffer_pages=500) as index:
        assert index.add_many(table(pages, made))["duplicate_of"].null_count == len(pages)
        again = [(f"http://b.test/{n}", content) for n, (_, content) in enumerate(pages)]
        found = index.query_many(table(again, made))["duplicate_of"].to_pylist()
        assert found == [url for url, _ in pages]


def test_a_site_that_shows_an_error_everywhere_recovers_page_by_page(tmp_path: Path) -> None:
    # Each page leaves the group of the error page in turn; the next one gives it its name, without a walk through all.
    count = 20_000
    error = Content(1, values=(1,) * 32)
    urls = [f"http://a.test/{n}" for n in range(count)]
    with Index(tmp_path / "i", methods=("exact",), buffer_pages=1000, sync=False) as index:
        index.add_many(table([(url, error) for url in urls], MADE))
        pages = [(url, Content(n + 2, values=(1,) * 32)) for n, url in enumerate(urls)]
        assert index.add_many(table(pages[: count // 2], MADE))["duplicate_of"].null_count == count // 2
        assert index.query_many(table([("http://b.test/", error)], MADE))["duplicate_of"][0].as_py() == urls[count // 2]
        assert index.stats()["kept"] == count // 2 + 1
        assert index.add_many(table(pages[count // 2 :], MADE))["duplicate_of"].null_count == count // 2
        assert index.query_many(table([("http://b.test/", error)], MADE))["duplicate_of"][0].as_py() is None
        before = index.stats()
        index.compact()
        after = index.stats()
        assert (after["pages"], after["kept"]) == (before["pages"], before["kept"]) == (count, count)
        assert after["row_bytes"] < 0.7 * before["row_bytes"]


def test_pages_known_by_the_digest_of_an_archive_are_compared_by_it(tmp_path: Path) -> None:
    stated = {"1": "sha1:" + "A" * 32, "2": "a" * 32, "3": "B" * 32, "empty": "3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"}
    lines = [{"url": f"http://a.test/{name}", "digest": digest} for name, digest in stated.items()]
    lines += [{"url": "http://b.test/empty", "digest": stated["empty"]}, {"url": "http://b.test/page", "text": PAGE}]
    (tmp_path / "p.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    pages = undust.fingerprint(tmp_path / "p.jsonl")
    for methods in (("exact",), ("exact", "minhash")):
        with Index(tmp_path / f"i{len(methods)}", methods=methods) as index:
            found = index.add_many(pages)["duplicate_of"].to_pylist()
            assert found == [None, "http://a.test/1", None, None, None, None]
            assert all(index.query_many(pages)["known"].to_pylist())


def test_of_a_new_dump_only_what_no_old_one_has_is_left(tmp_path: Path) -> None:
    old = {"http://a.test/1": PAGE, "http://a.test/2": OTHER, "http://a.test/3": "", "http://a.test/4": PAGE}
    with Index(tmp_path / "i") as index:
        for url, text in old.items():
            index.add(url, text=text)
    another = " ".join(words(3))
    new = {**old, "http://a.test/2": another, "http://b.test/1": LIKE, "http://b.test/2": " ".join(words(4))}
    (tmp_path / "new.jsonl").write_text("".join(json.dumps({"url": u, "text": t}) + "\n" for u, t in new.items()))
    with Index(tmp_path / "i", read_only=True) as index:
        answers = index.query_many(undust.fingerprint(tmp_path / "new.jsonl")).to_pylist()
    found = {row["url"]: (row["duplicate_of"], row["known"]) for row in answers}
    assert found == {
        "http://a.test/1": (None, True),
        "http://a.test/2": (None, False),  # what it shows now is new
        "http://a.test/4": ("http://a.test/1", True),
        "http://b.test/1": ("http://a.test/1", False),
        "http://b.test/2": (None, False),
    }


def test_fingerprints_of_bodies_only_will_do_for_exact_duplicates(tmp_path: Path) -> None:
    pages = pipeline.fingerprint(SAMPLE, exact_only=True)
    with Index(tmp_path / "i", methods="exact") as index:
        kept = index.add_many(pages)["duplicate_of"].null_count
        assert index.add("http://new.test/", b"never seen").is_new
    clusters = pipeline.cluster(pages, method="exact")
    assert kept == pipeline.count_clusters(clusters)["clusters"]


def test_fingerprints_that_were_made_otherwise_are_refused(tmp_path: Path) -> None:
    content = Content(1, values=(1,) * 32)
    with Index(tmp_path / "i") as index:
        index.add_many(table([("http://a.test/", content)], MADE))
        other = SignatureParameters(minhash_values=32, seed=1)
        with pytest.raises(UsageError, match="seed 0 and 1"):
            index.add_many(table([("http://b.test/", content)], other))
        with pytest.raises(InputError, match="shingles"):
            index.add_many(table([("http://b.test/", content)], MADE, shingles=False))
        with pytest.raises(UsageError, match="give fingerprints"):
            index.add("http://b.test/", text=PAGE)
        nameless = table([("http://b.test/", content)], MADE).set_column(0, "url", pa.array([None], pa.string()))
        with pytest.raises(InputError, match="without a URL"):
            index.add_many(nameless)
        with pytest.raises(InputError, match="70,000 bytes"):
            index.add_many(table([("http://b.test/", content), ("x" * 70_000, content)], MADE))
        with pytest.raises(InputError, match="URL is empty"):
            index.add_many(table([("http://b.test/", content), ("", content)], MADE))
        with pytest.raises(UsageError, match="a DataFrame is no Arrow table"):
            index.query_many(table([("http://b.test/", content)], MADE).to_pandas())
        with pytest.raises(InputError, match="no column url"):
            index.query_many(table([("http://b.test/", content)], MADE).drop_columns("url"))
        assert len(index) == 1
        assert index.add_many(table([("http://b.test/", content)], MADE))["method"].to_pylist() == ["exact"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"methods": ("guess",)}, "unknown method 'guess'; one of exact, simhash, minhash, cascade"),
        ({"methods": ()}, "give one or more"),
        ({"methods": ("simhash", "cascade")}, "choose one"),
        ({"threshold": 0.0}, "threshold 0; choose above 0"),
        ({"distance": 40}, "a distance of 40 bits"),
        ({"verify": "hope"}, "unknown verification 'hope'; one of exact, signature"),
        ({"modes": np.zeros((1, 1), np.uint64)}, "modes are for cascade"),
        ({"content": "some"}, "unknown content 'some'; one of all, main"),
        ({"buffer_pages": 0}, "buffer_pages is 0"),
    ],
)
def test_settings_that_cannot_be_are_refused(tmp_path: Path, options: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Index(tmp_path / "i", **options)  # type: ignore[arg-type]


def test_an_index_keeps_its_settings(tmp_path: Path) -> None:
    Index(tmp_path / "i", threshold=0.7).close()
    Index(tmp_path / "i").close()
    with pytest.raises(UsageError, match=r"made with threshold 0\.7, not 0\.8"):
        Index(tmp_path / "i", threshold=0.8)
    with pytest.raises(UsageError, match="other modes"):
        Index(tmp_path / "i", modes=np.zeros((1, 1), np.uint64))
    with Index(tmp_path / "i", content="main") as index:
        index.add("http://a.test/", text=PAGE)
    with Index(tmp_path / "i") as index:
        assert index.add("http://b.test/", f"<nav>menu</nav><main>{PAGE}</main>").duplicate_of == "http://a.test/"
    with pytest.raises(UsageError, match="made of main content"), Index(tmp_path / "i", content="all") as index:
        index.add("http://c.test/", text=PAGE)


def test_a_folder_that_is_no_index_is_refused(tmp_path: Path) -> None:
    (tmp_path / "letters").mkdir()
    (tmp_path / "letters" / "dear.txt").write_text("Dear")
    with pytest.raises(UsageError, match=r"holds dear\.txt"):
        Index(tmp_path / "letters")
    with pytest.raises(InputError, match="not an index"):
        Index(tmp_path / "nothing", read_only=True)
    with pytest.raises(OutputError, match="no folder for an index"):
        Index(tmp_path / "letters" / "dear.txt")


def test_asking_before_the_first_pages_settles_nothing(tmp_path: Path) -> None:
    with Index(tmp_path / "i") as index, Index(tmp_path / "i", read_only=True) as reader:
        assert index.query("http://a.test/", text=PAGE).is_new
        assert reader.query("http://a.test/", text=PAGE).is_new
        assert reader.get("http://a.test/") is None
        index.add_many(pipeline.fingerprint(SAMPLE, content="main"))
        assert index.add("http://a.test/", f"<nav>a menu of words</nav><main>{PAGE}</main>").is_new
        assert reader.refresh()
        assert reader.query("http://b.test/", f"<main>{PAGE}</main>").duplicate_of == "http://a.test/"


def test_the_examples_of_the_docs_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copy(SAMPLE, tmp_path / "crawl.warc.gz")
    monkeypatch.chdir(tmp_path)
    for code in re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "online-index.md").read_text("utf-8"), re.DOTALL):
        exec(code, {})  # noqa: S102 - our own docs
    assert capsys.readouterr().out == "http://example.com/a exact 1.0\n0\n"


def test_a_closed_index_and_a_reader_say_so(tmp_path: Path) -> None:
    index = Index(tmp_path / "i")
    reader = Index(tmp_path / "i", read_only=True)
    with pytest.raises(UsageError, match="open read-only"):
        reader.add("http://a.test/", text=PAGE)
    with pytest.raises(UsageError, match="open read-only"):
        reader.remove("http://a.test/")
    with pytest.raises(UsageError, match="html, or its text"):
        index.add("http://a.test/")
    with pytest.raises(UsageError, match="text is int"):
        index.add("http://a.test/", text=5)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="url is None"):
        index.query(None, text=PAGE)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="a URL that is no text"):
        index.get("http://a.test/\ud800")
    with pytest.raises(InputError, match="a URL that is no text"):
        index.add("http://a.test/\ud800", text=PAGE)
    assert index.add("http://a.test/", text=f"{PAGE} \ud800").is_new  # a stream goes on
    index.close()
    index.close()
    with pytest.raises(UsageError, match="closed"):
        index.add("http://a.test/", text=PAGE)
    with pytest.raises(UsageError, match="closed"):
        len(index)
    reader.close()
