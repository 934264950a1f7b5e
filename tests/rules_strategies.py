"""Hypothesis strategies for rules and the URLs they are for: every key, kind, piece and conversion, and odd hosts."""

from hypothesis import strategies as st

from undust.errors import UrlError
from undust.rules.rule import Rule
from undust.rules.values import ABSENT, ANY, DROP, KINDS, THROUGH, Copy, Ignore, Match, Operation, Pattern, Piece, Slot
from undust.urls.keys import Key
from undust.urls.normalize import normalize

SITES = [*["h.com"] * 9, "www.h.com", "x.co.uk", "co.uk", "local", "local:81", "1.2.3.4:81", "[::1]",
         "me.github.io", "www.ck", "foo.bar.ck"]  # fmt: skip
HOSTS = ["h.com", "www.h.com", "a.b.h.com", "h.com.", "x.co.uk", "a.x.co.uk", "co.uk", "local", "local.", "1.2.3.4",
         "[::1]", "i.com", "a..h.com", "a..b.h.com", "x.me.github.io", "www.ck", "a.www.ck",
         "z.foo.bar.ck"]  # fmt: skip
NAMES = ["a", "b", "sid", "averylongname-x", "c%20d"]
VALUES = ["a", "b", "1", "22", "A", "index.html", "", "x.1", "1-a", "a:b", "2024-05-06", "20240506", "%2Fx", "%C3%A4",
          "a%20B", "deadBEEF", "aab", "aabaab-1", "www", "0", ".x", "~", "x=y", "lo'ng" * 9,
          "12345678-1234-1234-1234-1234567890ab"]  # fmt: skip

_POSITIONS = [
    "scheme",
    "port",
    "host[1]",
    "host[2]",
    "host[3]",
    "path[0]",
    "path[1]",
    "path[2]",
    "path[-1]",
    "path[-2]",
]
_NAMED = [f"{mark}{name}{nth}" for mark in "?;" for name in NAMES for nth in ("", "#2", "#3")] + ["?", "?#2"]
KEYS = st.sampled_from([Key.parse(text) for text in _POSITIONS * 2 + _NAMED])
_LITERAL = st.sampled_from(VALUES).map(lambda text: Pattern((text,) if text else ()))
_PART = st.one_of(st.builds(Slot, st.sampled_from(KINDS)), st.sampled_from(["-", ".", "a", "aab", ":", "msg"]))
_PATTERN = st.one_of(_LITERAL, st.just(ANY), st.lists(_PART, min_size=1, max_size=4).map(lambda p: Pattern(tuple(p))))
_SCHEME = st.sampled_from([Pattern(("http",)), Pattern(("https",)), ANY])
# Some of these are no values of a normalized URL: what they make is not used, and that is to be found out.
_TEXT = st.sampled_from(["k", "v", "www", "", "8080", "http", "https", "/", "%41", "..", "%2f", "a b", "ä", "?", "=&"])


@st.composite
def rules(draw: st.DrawFn) -> Rule:
    """One rule, for one of a few sites."""
    context: dict[Key, Match] = {}
    for key in draw(st.lists(KEYS, max_size=3, unique=True)):
        some = _SCHEME if key.part == "scheme" else _PATTERN
        context[key] = draw(st.one_of(st.just(ABSENT), some, some, some))
    source = st.one_of(st.sampled_from(list(context)), KEYS) if context else KEYS
    piece: st.SearchStrategy[Piece] = st.one_of(
        _TEXT,
        st.builds(Ignore, st.sampled_from([None, "w", "v", ""])),
        st.builds(Copy, source, st.integers(0, 2), st.sampled_from(THROUGH)),
        st.builds(Copy, source),
    )
    operations: dict[Key, Operation] = {}
    for key in draw(st.lists(KEYS, max_size=3, unique=True)):
        operations[key] = draw(
            st.one_of(st.just(DROP), piece.map(lambda p: (p,)), st.lists(piece, max_size=3).map(tuple))
        )
    return Rule(draw(st.sampled_from(SITES)), context, operations, draw(st.booleans()))


RULE_SETS = st.lists(rules(), max_size=6)


@st.composite
def _spelled(draw: st.DrawFn) -> str:
    value = st.sampled_from(VALUES)
    params = st.sampled_from(["", "", "", ";a=1", ";sid=2;sid=3", ";x", ";b=;a=q"])
    path = "".join(f"/{draw(value)}{draw(params)}" for _ in range(draw(st.integers(0, 4))))
    arguments = [
        draw(st.sampled_from([*NAMES, "", "zz"])) + draw(st.sampled_from(["=", "=", "=", ""])) + draw(value)
        for _ in range(draw(st.integers(0, 5)))
    ]
    query = "".join(argument + draw(st.sampled_from("&&&;")) for argument in arguments)
    mark = draw(st.sampled_from(["", "?", "?", "?"]))
    port = draw(st.sampled_from(["", "", "", ":81", ":8080"]))
    user = draw(st.sampled_from([""] * 9 + ["me@"]))
    scheme = draw(st.sampled_from(["http", "http", "http", "https", "ftp"]))
    host = draw(st.sampled_from(HOSTS[:3] * 5 + HOSTS))
    return f"{scheme}://{user}{host}{port}{path}{mark}{query[: draw(st.sampled_from([-1, len(query)]))]}"


def _is_usable(url: str) -> bool:
    try:
        normalize(url)
    except UrlError:
        return False
    return True


def standard_urls() -> st.SearchStrategy[str]:
    """URLs in standard form, most of them of sites that rules are for."""
    return _spelled().filter(_is_usable).map(normalize)
