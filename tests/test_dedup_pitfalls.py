"""What is known to go wrong when duplicates are removed, each with the case that shows it."""

import itertools
import random
from pathlib import Path

import pyarrow as pa
import pytest

import undust
from tests.test_dedup import METHODS, page, shingles, words, write_lines
from undust import pipeline
from undust.detect.captures import TableFingerprints, find_captures
from undust.detect.evidence import Search
from undust.detect.near import near_rows

NAVIGATION = " ".join(f"<li><a href='/{word}'>{word} {word}s and more</a></li>" for word in words(77, 150))
BANNER = f"<div class='cookie-banner'><p>{' '.join(words(78, 120))}</p></div>"


def urls(table: pa.Table) -> list[str]:
    found: list[str] = table["url"].to_pylist()
    return found


def test_a_pair_below_the_threshold_is_not_reported(tmp_path: Path) -> None:
    # Similarities all around the threshold, where an estimate by signatures is wrong on either side.
    rows = [page(f"http://a.test/{seed}/{changed}", seed, changed) for seed in range(60) for changed in (0, 16, 20, 24)]
    texts = {row["url"]: shingles(row["text"]) for row in rows}
    found = undust.dedup(write_lines(tmp_path / "p.jsonl", rows), threshold=0.8, keep="center").removed().to_pylist()
    assert len(found) > 60
    for row in found:
        one, other = texts[row["url"]], texts[row["keeper"]]
        assert row["similarity"] == pytest.approx(len(one & other) / len(one | other))
        assert row["similarity"] >= 0.8


@pytest.mark.parametrize("method", ["minhash", "simhash"])
def test_a_chain_of_small_changes_does_not_merge_its_unlike_ends(tmp_path: Path, method: str) -> None:
    chain, text = [], words(1)
    for step in range(40):
        text = [*text[5:], *words(500 + step, 5)]
        chain.append({"url": f"http://a.test/{step:02d}", "text": " ".join(text)})
    source = write_lines(tmp_path / "p.jsonl", chain)
    found = undust.dedup(source, method=method, threshold=0.8, distance=6, keep="center")
    far = [row for row in found.removed().to_pylist() if abs(int(row["url"][-2:]) - int(row["keeper"][-2:])) > 8]
    assert far == []
    assert found.kept().num_rows >= 5
    joined = undust.dedup(source, method="minhash", by="components")
    assert joined.kept().num_rows == 1  # what others do


@pytest.mark.parametrize("method", METHODS)
def test_short_and_empty_texts_do_not_all_become_one(tmp_path: Path, method: str) -> None:
    texts = ["", " ", "-", "…", "!", "ok", "no", "the", "a", "hello world", "hello there", "404", "Not found"]
    rows = [{"url": f"http://a.test/{number}", "text": text} for number, text in enumerate(texts)]
    rows += [{"url": f"http://a.test/html{number}", "html": f"<html>{'<p>' * number}"} for number in range(4)]
    found = undust.dedup(write_lines(tmp_path / "p.jsonl", rows), method=method)
    assert found.removed().num_rows == 0
    assert found.kept().num_rows == len(rows) - 1  # an empty cell is no page


def test_the_keeper_is_the_same_in_every_run_and_order(tmp_path: Path) -> None:
    rows = [
        page(f"http{'s' * (seed % 2)}://a.test/{'x' * (changed % 3)}{seed}-{changed}", seed, changed)
        for seed in range(8)
        for changed in range(8)
    ]
    results = set()
    for chance in range(4):
        random.Random(chance).shuffle(rows)
        found = undust.dedup(write_lines(tmp_path / "p.jsonl", rows), jobs=1 + chance % 2)
        removed = sorted((row["url"], row["keeper"], row["similarity"]) for row in found.removed().to_pylist())
        results.add((tuple(sorted(urls(found.kept()))), tuple(removed)))
    assert len(results) == 1


@pytest.mark.parametrize("method", METHODS)
def test_navigation_and_banners_do_not_make_every_page_of_a_site_the_same(tmp_path: Path, method: str) -> None:
    rows = []
    for number in range(12):
        article = " ".join(f"<p>{' '.join(words(number * 10 + part, 40)).capitalize()}.</p>" for part in range(3))
        body = f"<nav><ul>{NAVIGATION}</ul></nav>{BANNER}<main><article>{article}</article></main>"
        rows.append(
            {"url": f"http://a.test/{number}", "html": f"<html lang=en><body>{body}<footer>{NAVIGATION}</footer>"}
        )
    source = write_lines(tmp_path / "p.jsonl", rows)
    assert undust.dedup(source, method=method, threshold=0.7).removed().num_rows == 0
    if method == "minhash":  # with all of the text they are alike: the case is not made up
        assert undust.dedup(source, method=method, threshold=0.7, content="all").kept().num_rows == 1


def test_signatures_that_do_not_fit_into_memory_give_the_same(tmp_path: Path) -> None:
    rows = [page(f"http://a.test/{seed}/{changed}", seed, changed) for seed in range(100) for changed in (0, 3, 60)]
    source = TableFingerprints(pipeline.fingerprint(write_lines(tmp_path / "p.jsonl", rows)))
    captures = find_captures(source)
    results = []
    for memory in (1 << 31, 1 << 14):
        folder = tmp_path / str(memory)
        folder.mkdir()
        found = near_rows(source, captures, "minhash", Search(memory_bytes=memory, folder=folder))
        results.append((found.rows.tolist(), found.similarities.tolist()))
        assert bool(list(folder.iterdir())) == (memory == 1 << 14)  # what has no room is in files
    assert results[0] == results[1]
    assert len(set(results[0][0])) == 200


JAPANESE = "今日は天気がとても良いので、公園へ散歩に行きました。桜の花が満開で、多くの人が写真を撮っていました。"
CHINESE = "今天天气很好,我们决定去公园散步。公园里的樱花正在盛开,许多人在树下拍照留念,孩子们在草地上奔跑玩耍。"
THAI = "วันนี้อากาศดีมากเราจึงไปเดินเล่นที่สวนสาธารณะดอกไม้กำลังบานสวยงามและผู้คนมากมายมาถ่ายรูปกันอย่างสนุกสนาน"


@pytest.mark.parametrize("text", [JAPANESE, CHINESE, THAI])
def test_a_language_without_spaces_is_not_one_word(tmp_path: Path, text: str) -> None:
    changed = text[:-4] + text[:4]  # another end
    unlike = "".join(reversed(text))
    rows = [{"url": f"http://a.test/{at}", "text": text} for at, text in enumerate((text, changed, unlike))]
    found = undust.dedup(write_lines(tmp_path / "p.jsonl", rows), threshold=0.6, keep="shortest")
    assert urls(found.kept()) == ["http://a.test/0", "http://a.test/2"]
    (removed,) = found.removed().to_pylist()
    assert 0.6 <= removed["similarity"] < 1


def test_no_two_pages_that_stay_are_alike(tmp_path: Path) -> None:
    rows = []
    for seed, number in itertools.product(range(6), range(12)):  # each changed in a place of its own
        text = words(seed)
        at = random.Random(seed * 100 + number).randrange(180)
        text[at : at + 6] = words(5000 + seed * 100 + number, 6)
        rows.append({"url": f"http://a.test/{seed}/{number}", "text": " ".join(text)})
    texts = {row["url"]: shingles(row["text"]) for row in rows}
    source = write_lines(tmp_path / "p.jsonl", rows)

    def alike(by: str) -> int:
        kept = urls(undust.dedup(source, threshold=0.8, keep="center", by=by).kept())
        pairs = itertools.combinations(kept, 2)
        return sum(len(texts[a] & texts[b]) / len(texts[a] | texts[b]) >= 0.8 for a, b in pairs)

    assert alike("star") == 0
    assert alike("center") > 10  # what the most similar pairs leave: the case is not made up
