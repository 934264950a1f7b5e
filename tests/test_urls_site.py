import pytest
from hypothesis import given
from hypothesis import strategies as st
from publicsuffixlist import PublicSuffixList

from undust.urls import site
from undust.urls.site import bundled, labels, parse_suffix_list

PEER = PublicSuffixList()


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://www.php.net/manual/", "php.net"),
        ("http://php.net/", "php.net"),
        ("http://WWW.BBC.co.uk/", "bbc.co.uk"),
        ("http://alice.github.io/", "alice.github.io"),  # private suffixes part strangers
        ("http://github.io/", "github.io"),  # a suffix by itself is its own site
        ("http://www.city.kawasaki.jp/", "city.kawasaki.jp"),  # exception to a wildcard
        ("http://a.b.kawasaki.jp/", "a.b.kawasaki.jp"),  # wildcard
        ("http://www.例え.jp/", "xn--r8jz45g.jp"),
        ("http://docs.test:8180/", "docs.test"),  # a suffix nobody lists; the port is a key, not the site
        ("http://www.docs.test:8180/", "docs.test"),
        ("http://example.com./", "example.com"),
        ("http://localhost:8180/", "localhost:8180"),  # a bare name with its port
        ("http://localhost/", "localhost"),
        ("http://127.0.0.1:8080/", "127.0.0.1:8080"),
        ("http://127.0.0.1:80/", "127.0.0.1"),
        ("http://[::1]:8080/", "[::1]:8080"),
    ],
)
def test_the_site_is_the_registrable_domain_or_the_address(url: str, expected: str) -> None:
    assert site(url) == expected


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("php.net", []),
        ("www.php.net", ["www"]),
        ("a.b.php.net", ["b", "a"]),
        ("127.0.0.1", []),
        ("[::1]", []),
        ("localhost", []),
        ("github.io", []),
        ("a.www.example.com.", ["www", "a"]),
    ],
)
def test_host_labels_are_counted_from_the_registrable_domain(host: str, expected: list[str]) -> None:
    assert labels(host) == expected


def suffix_hosts() -> st.SearchStrategy[str]:
    rules = bundled()
    suffix = st.sampled_from(sorted(rules.suffixes | rules.wildcards | rules.exceptions))
    left = st.lists(st.sampled_from(["www", "a", "city", "b1"]), max_size=4)
    return st.builds(lambda names, name: ".".join([*names, name]), left, suffix)


# A wildcard's own base matches no rule in the list's algorithm; the library takes it for a suffix.
@given(suffix_hosts().filter(lambda host: host not in bundled().wildcards))
def test_the_registrable_domain_is_what_the_lists_own_library_finds(host: str) -> None:
    assert bundled().registrable(host) == (PEER.privatesuffix(host) or host)


def test_a_host_of_many_labels_costs_no_more_than_one_of_few() -> None:
    assert bundled().registrable("a." * 30_000 + "example.co.uk") == "example.co.uk"


def test_a_suffix_list_is_read_with_its_comments_and_marks() -> None:
    rules = parse_suffix_list("// comment\n\ncom\n*.ck  trailing words\n!www.ck\n公司.cn\n")
    assert rules.suffixes == {"com", "xn--55qx5d.cn"}
    assert rules.registrable("a.b.c.ck") == "b.c.ck"
    assert rules.registrable("a.www.ck") == "www.ck"
