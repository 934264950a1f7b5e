import gzip
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import load
from tests.strategies import odd_urls
from undust.errors import UrlError
from undust.kernels import spans
from undust.settings import MAX_ARGUMENTS, MAX_LISTED, MAX_URL_BYTES
from undust.urls import Key, Url, keys, normalize, split
from undust.urls.batch import NormalizedUrls, SplitUrls, normalize_many, split_many
from undust.urls.site import site


def scalar(url: str) -> str | None:
    try:
        return normalize(url)
    except UrlError:
        return None


def encodable(url: str) -> bool:
    return not any("\ud800" <= letter <= "\udfff" for letter in url)  # Arrow holds valid UTF-8 only


def check_same(urls: list[str | None]) -> NormalizedUrls:
    found = normalize_many(pa.array(urls, pa.string()))
    expected = [None if url is None else scalar(url) for url in urls]
    assert found.urls.to_pylist() == expected
    assert found.unusable == sum(url is not None and normal is None for url, normal in zip(urls, expected, strict=True))
    return found


@given(st.lists(st.one_of(st.none(), odd_urls().filter(encodable)), max_size=20))
def test_a_column_is_normalized_as_its_urls_one_by_one(urls: list[str | None]) -> None:
    check_same(urls)


def test_every_case_is_normalized_alike_in_a_column() -> None:
    check_same([case["url"] for table in ("normalize", "unparsable") for case in load(table) if encodable(case["url"])])


def test_every_byte_in_every_part_is_normalized_alike_in_a_column() -> None:
    shapes = [
        "h{}ttp://h/",
        "http{}://h/",
        "http://a{}b.com/",
        "http://h:8{}0/",
        "http://h/a{}b",
        "http://h/{}",
        "http://h/?a{}b",
    ]
    letters = [
        *map(chr, range(256)),
        *(f"%{byte:02x}" for byte in range(256)),
        "%",
        "%4",
        "%g0",
        "\u3002",
        "💩",
    ]
    check_same([shape.format(letter) for shape in shapes for letter in letters])


def test_real_urls_are_normalized_alike_in_a_column(shared_data: Path) -> None:
    text = gzip.decompress((shared_data / "urls" / "kasztp.txt.gz").read_bytes()).decode("utf-8-sig")
    urls: list[str | None] = [*text.split("\n")[:-1]]
    assert len(urls) > 40_000
    check_same(urls)


def test_urls_around_the_limit_are_treated_alike_in_a_column() -> None:
    room = MAX_URL_BYTES - len("http://h/")
    check_same(["http://h/" + "a" * (room + more) for more in (-1, 0, 1)])
    check_same(["http://h/" + "ü" * (room // 6 + more) for more in (-1, 0, 1)])


def test_columns_of_any_kind_and_cut_are_accepted() -> None:
    urls = ["http://A/", "http://b", None, "http://c/x y"]
    expected = ["http://a/", "http://b/", None, "http://c/x%20y"]
    kinds = [
        urls,
        np.array(urls, dtype=object),
        pa.array(urls),
        pa.array(urls, pa.large_string()),
        pa.array(["http://skipped/", *urls])[1:],
        pa.array(urls).dictionary_encode(),
        pa.chunked_array([urls[:1], urls[1:3], [], urls[3:]], pa.string()),
        pa.table({"url": urls})["url"],
    ]
    for column in kinds:
        assert normalize_many(column).urls.to_pylist() == expected
    assert normalize_many([]).urls.to_pylist() == []
    assert normalize_many([None]).urls.to_pylist() == [None]


def test_a_long_column_is_cut_without_a_seam() -> None:
    urls = [f"http://H{n % 7}/{'x' * (n % 900)}/../{n}" for n in range(30_000)]
    assert normalize_many(urls).urls.to_pylist() == [f"http://h{n % 7}/{n}" for n in range(30_000)]


def test_problems_name_their_rows_and_are_bounded_in_number() -> None:
    found = normalize_many(["http://h/", "nothing"] * (2 * MAX_LISTED))
    assert found.unusable == 2 * MAX_LISTED
    assert [row for row, _ in found.problems] == list(range(1, 2 * MAX_LISTED, 2))
    assert "not an absolute URL" in found.problems[0][1]


# --- spans ---------------------------------------------------------------------------------------------


def text(found: SplitUrls, span: list[int]) -> str | None:
    return None if span[0] < 0 else bytes(found.data[span[0] : span[1]]).decode("utf-8")


def parts_of(found: SplitUrls, row: int) -> Url | None:
    start = found.parts[row].tolist()
    if start[0] < 0:
        return None
    scheme, userinfo, host, port, path, query, fragment = (text(found, start[2 * n : 2 * n + 2]) for n in range(7))
    assert scheme is not None
    assert host is not None
    assert path is not None
    return Url(scheme, userinfo, host, port, path, query, fragment)


def keys_of(found: SplitUrls, row: int) -> dict[Key, str]:
    """Give the path and query keys of a row, in the plainest way."""
    tokens = found.tokens[found.token_offsets[row] : found.token_offsets[row + 1]].tolist()
    segments = [text(found, token[4:]) or "" for token in tokens if token[0] == spans.SEGMENT]
    answer = {Key("path", place): value for place, value in enumerate(segments)}
    answer |= {Key("path", place): value for place, value in enumerate(segments, -len(segments))}
    for kind, nth, *span in tokens:
        if kind != spans.SEGMENT:
            part = "param" if kind == spans.PARAM else "query"
            answer[Key(part, text(found, span[:2]) or "", nth)] = text(found, span[2:]) or ""  # type: ignore[arg-type]
    return answer


def expected_parts(url: str) -> Url | None:
    try:
        return split(url) if len(url.encode()) <= MAX_URL_BYTES else None
    except UrlError:
        return None


@given(st.lists(odd_urls().filter(encodable), max_size=12))
def test_a_column_is_split_as_its_urls_one_by_one(urls: list[str]) -> None:
    found = split_many(pa.array(urls, pa.string()))
    for row, url in enumerate(urls):
        parts = expected_parts(url)
        assert parts_of(found, row) == parts
        if parts is not None and not parts.host.startswith("["):
            expected = {key: value for key, value in keys(parts).items() if key.part in ("path", "param", "query")}
            assert keys_of(found, row) == expected


@given(st.lists(odd_urls().filter(encodable), min_size=1, max_size=12))
def test_the_values_of_a_key_are_those_of_each_url(urls: list[str]) -> None:
    normal = [url for url in map(scalar, urls) if url is not None]
    found = split_many(pa.array(normal, pa.string()))
    wanted = {key for url in normal for key in keys(url)} | {
        Key("host", 9),
        Key("path", 99),
        Key("query", "?"),
    }
    for key in wanted:
        assert found.values(key).to_pylist() == [keys(url).get(key) for url in normal]
    assert found.sites().to_pylist() == [site(url) for url in normal]


def test_many_tokens_and_arguments_fit() -> None:
    urls = [
        "http://h/" + "/" * 20_000,
        "http://h/?" + "a=1&" * MAX_ARGUMENTS,
        "http://h/?" + "a=1&" * 9,
        "http://h/",
    ] * 50
    found = split_many(pa.array(urls))
    assert found.values(Key("path", -1)).to_pylist() == [""] * 200
    assert found.values(Key("query", "a", 9)).to_pylist() == [None, None, "1", None] * 50
    assert found.token_offsets[-1] == 50 * (20_001 + 2 + 11 + 1)


def test_a_slice_of_a_column_is_split_alone() -> None:
    whole = pa.array(["http://a/1?x=1", "http://b/2?x=2", "http://c/3?x=3"])
    assert split_many(whole[1:2]).values(Key("query", "x")).to_pylist() == ["2"]


def test_a_key_of_no_part_is_refused() -> None:
    with pytest.raises(UrlError, match="no such key"):
        split_many(pa.array(["http://h/"])).values(Key("path", "name"))
