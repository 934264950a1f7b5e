"""Hypothesis strategies for URLs: plain ones, hostile ones, and hosts."""

from hypothesis import strategies as st

from tests.cases import load

_LABEL = st.text("abcXYZ019-_", min_size=1, max_size=6)
_NUMBER = st.one_of(st.integers(0, 300).map(str), st.integers(0, 2**33).map(hex), st.integers(0, 999).map("0{}".format))
_PIECES = st.one_of(
    st.sampled_from(["/", "//", ".", "..", "?", "#", "&", ";", "=", ":", "@", "%", "%2e", "%2F", "%zz", "%e4", "\\"]),
    st.sampled_from(
        ["a", "B", "7", "-", "_", "~", "+", "'", "[", "]", "|", " ", "\t", "\n", "ü", "日", "\x00", "\x7f"]
    ),
    st.text(max_size=4),
)
_SPELLED = [case["url"] for name in ("normalize", "unparsable") for case in load(name)]


def hosts() -> st.SearchStrategy[str]:
    """Names and addresses in the ASCII spellings that DNS and browsers know."""
    name = st.lists(_LABEL, min_size=1, max_size=4).map(".".join)
    address = st.lists(_NUMBER, min_size=1, max_size=5).map(".".join)
    six = st.ip_addresses(v=6).flatmap(
        lambda ip: st.sampled_from([f"[{ip}]", f"[{ip.exploded}]", f"[{str(ip).upper()}]"])
    )
    return st.one_of(name, address, six, name.map(lambda text: text + "."))


def plain_urls() -> st.SearchStrategy[str]:
    """URLs that a crawler meets every day."""
    path = st.lists(st.text("abcXYZ019-._~%", max_size=6), max_size=5).map(lambda s: "".join(f"/{x}" for x in s))
    argument = st.tuples(st.text("abcs", max_size=3), st.sampled_from(["", "=", "=1", "=a%20b"])).map("".join)
    query = st.lists(argument, max_size=5).flatmap(
        lambda arguments: st.sampled_from(["&", ";"]).map(lambda mark: "?" + mark.join(arguments))
    )
    param = st.sampled_from(["", "/;v=1", "/a;jsessionid=0A1B", "/b;x", "/c;a=1;b=2;a=3"])
    host = st.lists(st.text("abz09-", min_size=1, max_size=5), max_size=3).map(lambda s: ".".join([*s, "com"]))
    scheme = st.sampled_from(["http", "https", "HTTP"])
    port = st.sampled_from(["", ":80", ":8080", ":443"])
    return st.builds(
        lambda *parts: "{}://{}{}{}{}{}".format(*parts),
        scheme, host, port, path, param, st.one_of(st.just(""), query),
    )  # fmt: skip


def odd_urls() -> st.SearchStrategy[str]:
    """Anything that could stand where a URL should be."""
    soup = st.lists(_PIECES, max_size=25).map("".join)
    start = st.sampled_from(["http://", "https://h.com/", "HTTP://H:80", "ftp://", "http://h", "", "x:"])
    return st.one_of(plain_urls(), st.builds(str.__add__, start, soup), st.sampled_from(_SPELLED), st.text(max_size=20))
