from ipaddress import IPv4Address

import ada_url
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import load
from tests.strategies import hosts, odd_urls, plain_urls
from undust.errors import UrlError
from undust.settings import MAX_URL_BYTES
from undust.urls import EXTENDED, STANDARD, normalize, split
from undust.urls.normalize import HASHBANG

CASES = load("normalize")
UNPARSABLE = load("unparsable")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["why"])
def test_a_url_is_written_in_standard_form(case: dict[str, str]) -> None:
    assert normalize(case["url"]) == case["normal"]
    assert normalize(case["normal"]) == case["normal"]


@pytest.mark.parametrize("case", UNPARSABLE, ids=lambda case: ascii(case["url"]))
def test_what_is_no_url_is_refused_with_the_reason(case: dict[str, str]) -> None:
    with pytest.raises(UrlError) as error:
        normalize(case["url"])
    assert case["says"] in str(error.value)
    assert "\n" not in str(error.value)


@given(odd_urls())
def test_normalizing_twice_is_normalizing_once(url: str) -> None:
    for steps in (STANDARD, EXTENDED, HASHBANG):
        try:
            once = normalize(url, steps)
        except UrlError:
            continue
        assert normalize(once, steps) == once
        assert once.isascii()
        assert once.isprintable()
        assert " " not in once


@given(plain_urls())
def test_a_plain_url_can_always_be_normalized(url: str) -> None:
    assert split(normalize(url)).path.startswith("/")


@pytest.mark.parametrize(
    ("url", "normal"),
    [
        ("http://h/A/Index.HTML", "http://h/a"),  # case, then the index file
        ("http://h/a/default.htm", "http://h/a"),
        ("http://h/a/", "http://h/a"),
        ("http://h/index.html", "http://h/"),  # the root keeps its slash
        ("http://h/index.html/index.html//", "http://h/"),  # what one removal uncovers goes as well
        ("http://h/a%2Fb", "http://h/a%2Fb"),  # escapes stay upper-case
        ("http://h/a?B=C", "http://h/a?B=C"),  # the query is not touched
        ("http://h/index.php", "http://h/index.php"),
    ],
)
def test_the_extended_steps_lower_the_path_and_drop_index_files(url: str, normal: str) -> None:
    assert normalize(url, EXTENDED) == normal


@pytest.mark.parametrize(
    ("url", "normal"),
    [
        ("http://h/#!/a b", "http://h/#!/a%20b"),
        ("http://h/#a", "http://h/"),
        ("http://h/#!a#b", "http://h/#!a%23b"),
    ],
)
def test_hashbang_fragments_are_kept_on_request(url: str, normal: str) -> None:
    assert normalize(url, HASHBANG) == normal


def test_a_url_over_the_limit_is_refused_quickly_and_shown_short() -> None:
    for url in ("http://h/" + "a" * 50_000_000, "http://h/" + "ü" * (MAX_URL_BYTES // 2)):
        with pytest.raises(UrlError) as error:
            normalize(url)
        assert len(str(error.value)) < 200


SIZE = MAX_URL_BYTES - 20


@pytest.mark.parametrize(
    ("url", "normal"),
    [
        ("http://" + "ü" * SIZE + "/", None),  # punycode is quadratic
        ("http://" + "a." * (SIZE // 2) + "com/", "http://" + "a." * (SIZE // 2) + "com/"),
        ("http://" + "1." * (SIZE // 2) + "1/", None),
        ("http://" + "9" * SIZE + "/", None),  # so are long numbers
        ("http://h/" + "../" * (SIZE // 3), "http://h/"),
        ("http://h/" + "a/../" * (SIZE // 5), "http://h/"),
        ("http://" + "@" * (SIZE // 3) + "h/", "http://" + "%40" * (SIZE // 3 - 1) + "@h/"),
        ("http://" + ":" * SIZE + "/", None),
        ("http://h/" + "%" * (SIZE // 3), "http://h/" + "%25" * (SIZE // 3)),
    ],
    ids=["names", "labels", "numbers", "digits", "dots", "back and forth", "users", "ports", "percent"],
)
def test_a_long_url_made_to_be_slow_has_an_answer_all_the_same(url: str, normal: str | None) -> None:
    try:
        assert normalize(url) == normal
    except UrlError:
        assert normal is None


# --- beside the WHATWG parser -------------------------------------------------------------------------

DELIBERATE = {
    # What we do otherwise than browsers, and why. docs/urls.md tells the same.
    "unreserved escapes are decoded": ("http://h/%7Ea", "http://h/~a", "http://h/%7Ea"),
    "escapes are upper-case": ("http://h/%c3%bc", "http://h/%C3%BC", "http://h/%c3%bc"),
    "lone percent signs are encoded": ("http://h/%zz", "http://h/%25zz", "http://h/%zz"),
    "all that RFC 3986 forbids is encoded": ("http://h/[|]", "http://h/%5B%7C%5D", "http://h/[|]"),
    "an apostrophe may stand in a query": ("http://h/?a='", "http://h/?a='", "http://h/?a=%27"),
    "fragments are dropped": ("http://h/#a", "http://h/", "http://h/#a"),
    "a missing slash is not guessed": ("http:/h/", None, "http://h/"),
    "an extra slash is not skipped": ("http:///h/", None, "http://h/"),
    "other schemes have no pages": ("file:///a", None, "file:///a"),
    "a name of dots is none": ("http://../", None, "http://../"),
}


@pytest.mark.parametrize("why", DELIBERATE)
def test_each_difference_from_browsers_is_deliberate(why: str) -> None:
    url, ours, theirs = DELIBERATE[why]
    assert ada_url.normalize_url(url) == theirs
    if ours is None:
        with pytest.raises(UrlError):
            normalize(url)
    else:
        assert normalize(url) == ours


@given(hosts(), st.one_of(st.none(), st.integers(0, 70_000).map(str), st.just("")))
def test_hosts_and_ports_are_those_that_browsers_find(host: str, port: str | None) -> None:
    url = f"http://{host}/" if port is None else f"http://{host}:{port}/"
    try:
        theirs = ada_url.URL(url)
    except ValueError:
        with pytest.raises(UrlError):
            normalize(url)
    else:
        ours = split(normalize(url))
        assert (ours.host, ours.port or "") == (theirs.hostname, theirs.port)


SEGMENTS = st.sampled_from(["a", "b", "", ".", "..", "%2e", "%2E%2e", ".%2e", "...", "c.d", "%2f", "e;f"])


@given(st.lists(SEGMENTS, max_size=12))
def test_dot_segments_are_resolved_as_browsers_do(segments: list[str]) -> None:
    url = "http://h/" + "/".join(segments)
    assert split(normalize(url)).path == ada_url.URL(url).pathname.replace("%2f", "%2F")


@given(st.integers(0, 2**32 - 1))
def test_an_address_as_one_number_is_that_address(number: int) -> None:
    assert normalize(f"http://{number}/") == f"http://{IPv4Address(number)}/"


RFC_5_4 = {
    # Section 5.4, the references that are a relative path: put after the base http://a/b/c/ they resolve so.
    "g": "http://a/b/c/g",
    "./g": "http://a/b/c/g",
    "g/": "http://a/b/c/g/",
    "g?y": "http://a/b/c/g?y",
    "g#s": "http://a/b/c/g",  # fragments are dropped
    "g?y#s": "http://a/b/c/g?y",
    ";x": "http://a/b/c/;x",
    "g;x": "http://a/b/c/g;x",
    "g;x?y#s": "http://a/b/c/g;x?y",
    ".": "http://a/b/c/",
    "./": "http://a/b/c/",
    "..": "http://a/b/",
    "../": "http://a/b/",
    "../g": "http://a/b/g",
    "../..": "http://a/",
    "../../": "http://a/",
    "../../g": "http://a/g",
    "../../../g": "http://a/g",  # section 5.4.2, abnormal examples
    "../../../../g": "http://a/g",
    "g.": "http://a/b/c/g.",
    ".g": "http://a/b/c/.g",
    "g..": "http://a/b/c/g..",
    "..g": "http://a/b/c/..g",
    "./../g": "http://a/b/g",
    "./g/.": "http://a/b/c/g/",
    "g/./h": "http://a/b/c/g/h",
    "g/../h": "http://a/b/c/h",
    "g;x=1/./y": "http://a/b/c/g;x=1/y",
    "g;x=1/../y": "http://a/b/c/y",
    "g?y/./x": "http://a/b/c/g?y/./x",
    "g?y/../x": "http://a/b/c/g?y/../x",
    "g#s/./x": "http://a/b/c/g",
    "g#s/../x": "http://a/b/c/g",
}


@pytest.mark.parametrize("reference", RFC_5_4)
def test_the_examples_of_rfc_3986_resolve_as_it_says(reference: str) -> None:
    assert normalize("http://a/b/c/" + reference) == RFC_5_4[reference]
