import pytest
from hypothesis import given

from tests.strategies import odd_urls
from undust.errors import UrlError
from undust.settings import MAX_ARGUMENTS
from undust.urls import Argument, Key, Segment, Url, join, keys, split
from undust.urls.keys import join_path, join_query, split_path, split_query


@given(odd_urls())
def test_joining_what_was_split_gives_the_same_bytes(url: str) -> None:
    try:
        parts = split(url)
    except UrlError:
        return
    assert join(parts) == url
    assert join_path(split_path(parts.path)) == parts.path
    if parts.query is not None:
        assert join_query(split_query(parts.query)) == parts.query


@pytest.mark.parametrize(
    ("url", "parts"),
    [
        ("http://h", Url("http", None, "h", None, "", None, None)),
        ("http://h:", Url("http", None, "h", "", "", None, None)),  # present but empty
        ("http://@h?#", Url("http", "", "h", None, "", "", "")),
        ("http://a@b@h:1:2/", Url("http", "a@b", "h:1", "2", "/", None, None)),  # last @, last colon
        ("http://[::1]:80/", Url("http", None, "[::1]", "80", "/", None, None)),
        ("http://[::1]/", Url("http", None, "[::1]", None, "/", None, None)),
        ("http://h?a/b:c@d", Url("http", None, "h", None, "", "a/b:c@d", None)),  # delimiters in a query
        ("http://h#a?b", Url("http", None, "h", None, "", None, "a?b")),
    ],
)
def test_a_url_is_split_at_its_delimiters(url: str, parts: Url) -> None:
    assert split(url) == parts


@pytest.mark.parametrize(
    ("path", "segments"),
    [
        ("", []),
        ("/", [Segment("")]),  # a trailing slash is an empty last segment
        ("/a/", [Segment("a"), Segment("")]),
        ("/a;s=1", [Segment("a", (Argument(";", "s", "1"),))]),
        ("/a;s=1=2;t=", [Segment("a", (Argument(";", "s", "1=2"), Argument(";", "t", "")))]),
        ("/;s=1/b", [Segment("", (Argument(";", "s", "1"),)), Segment("b")]),
        ("/a;b", [Segment("a;b")]),  # without = it is part of the name
        ("/a;b;c=1", [Segment("a;b;c=1")]),  # all or nothing
        ("/a;=1", [Segment("a;=1")]),  # a parameter has a name
        ("/a;b=1;", [Segment("a;b=1;")]),
    ],
)
def test_a_path_has_segments_and_parameters(path: str, segments: list[Segment]) -> None:
    assert split_path(path) == segments


@pytest.mark.parametrize(
    ("query", "arguments"),
    [
        ("", [Argument("", None, "")]),
        ("123", [Argument("", None, "123")]),  # no = at all: one value
        ("a&b", [Argument("", None, "a&b")]),
        ("a=1", [Argument("", "a", "1")]),
        ("=1", [Argument("", "", "1")]),
        ("a=1&b", [Argument("", "a", "1"), Argument("&", "b", None)]),
        ("C=N;O=D", [Argument("", "C", "N"), Argument(";", "O", "D")]),  # Apache's listings
        ("a=1;b&c=2=3", [Argument("", "a", "1"), Argument(";", "b", None), Argument("&", "c", "2=3")]),
        ("&a=", [Argument("", "", None), Argument("&", "a", "")]),
    ],
)
def test_a_query_has_arguments_and_keeps_its_separators(query: str, arguments: list[Argument]) -> None:
    assert split_query(query) == arguments


def test_more_arguments_than_any_page_has_are_one_value() -> None:
    query = "&".join(["a=1"] * MAX_ARGUMENTS)
    assert len(split_query(query)) == MAX_ARGUMENTS
    assert split_query(query + "&a=1") == [Argument("", None, query + "&a=1")]
    path = "/x" + ";a=1" * MAX_ARGUMENTS
    assert len(split_path(path)[0].params) == MAX_ARGUMENTS
    assert split_path(path + "/y;b=2") == [*split_path(path), Segment("y;b=2")]


def written(url: str) -> dict[str, str]:
    return {str(key): value for key, value in keys(url).items()}


def test_a_url_is_a_function_from_keys_to_values() -> None:
    assert written("HTTPS://me@a.b.example.co.uk:81/x/y;p=1/?q=1&q=2&r;s=&=4#f") == {
        "scheme": "https",
        "userinfo": "me",
        "host[1]": "b",  # counted from the registrable domain
        "host[2]": "a",
        "port": "81",
        "path[0]": "x",
        "path[1]": "y",
        "path[2]": "",
        "path[-1]": "",
        "path[-2]": "y",
        "path[-3]": "x",
        ";p": "1",
        "?q": "1",
        "?q#2": "2",
        "?r": "",
        "?s": "",
        "?": "4",
    }
    assert written("http://10.0.0.1/?123") == {"scheme": "http", "path[0]": "", "path[-1]": "", "?": "123"}


def test_a_key_reads_what_it_writes() -> None:
    found = [*keys("http://me@a.b.com:81/x;p=1;p=2/?q&q=&q=1"), Key("fragment")]
    assert [Key.parse(str(key)) for key in found] == found


@pytest.mark.parametrize("text", ["", "nothing", "path", "path[x]", "path[1", "?a#1", "?a#x", "query[0]", "path[--1]"])
def test_an_unknown_key_is_refused(text: str) -> None:
    with pytest.raises(UrlError, match="unknown key"):
        Key.parse(text)
