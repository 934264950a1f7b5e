"""Hypothesis strategies for rules of the kinds that exports can say, which get into each other's way, and URLs."""

from hypothesis import strategies as st

from undust.rules.rule import Rule
from undust.rules.values import ABSENT, ANY, DROP, Copy, Ignore, Match, Operation, Pattern, Slot
from undust.urls.keys import Key
from undust.urls.normalize import normalize

NAMES = ["a", "b", "sid", "x.y"]
VALUES = ["", "1", "22", "p", "p:q", "q-7", "index.html"]
_ARGUMENTS = [Key("query", name) for name in NAMES]
_PLACES = [
    Key("path", 0),
    Key("path", 1),
    Key("path", -1),
    Key("host", 1),
    Key("scheme"),
    Key("port"),
    Key("param", "s"),
]
_LITERALS = {
    "query": ["1", "p", "p:q", ""],
    "path": ["p", "index.html", ""],
    "host": ["www", "m"],
    "scheme": ["http", "https"],
    "port": ["81"],
    "param": ["1"],
}
_COLON = Pattern((Slot(), ":", Slot()))
_DASH = Pattern((Slot(), "-", Slot("digits")))


@st.composite
def plain_rule(draw: st.DrawFn, site: str = "h.com") -> Rule:
    """One rule with a few conditions, that drops arguments, or changes one value or what stands before the query."""
    asked = st.sampled_from([*_ARGUMENTS * 3, *_PLACES, Key("host", 2)])
    context: dict[Key, Match] = {}
    for key in draw(st.lists(asked, max_size=2, unique=True)):
        literal = draw(st.sampled_from(_LITERALS[key.part]))
        patterns: list[Match] = [Pattern((literal,) if literal else ()), ABSENT, ANY]
        patterns += [_COLON, _DASH, Pattern((Slot("digits"),))] if key.part in ("query", "path") else []
        context[key] = draw(st.sampled_from(patterns))
    operations: dict[Key, Operation] = {}
    for key in draw(st.lists(st.sampled_from(_ARGUMENTS * 3 + _PLACES), max_size=3, unique=True)):
        literal = draw(st.sampled_from(_LITERALS[key.part]))
        made: list[Operation] = [DROP, (Ignore(literal if key.part in ("host", "path") else None),), (literal,)]
        if context.get(key) == _COLON:
            made += [(Copy(key), ":", Ignore("p")), (Copy(key, 0),), ("p", ":", Copy(key, 1)), (Copy(key, 1),)]
        if context.get(key) == _DASH:
            made += [(Copy(key), "-", "0"), (Copy(key),)]
        operations[key] = draw(st.sampled_from(made))
    return Rule(site, context, operations, False)


@st.composite
def plain_rules(draw: st.DrawFn) -> list[Rule]:
    """Rules of one site, maybe with some of one of its hosts; all put arguments in order, or none does."""
    made = draw(st.lists(plain_rule(), min_size=1, max_size=4))
    if draw(st.integers(0, 5)) == 0:
        made.append(draw(plain_rule("www.h.com")))
    return made


@st.composite
def plain_urls(draw: st.DrawFn) -> str:
    """A URL that such rules may be for, in standard form."""
    value = st.sampled_from(VALUES)
    scheme = draw(st.sampled_from(["http", "http", "https"]))
    host = draw(
        st.sampled_from(["h.com", "h.com", "www.h.com", "m.h.com", "a.www.h.com", "h.com.", "xh.com", "h.community"])
    )
    port = draw(st.sampled_from(["", "", ":81"]))
    user = draw(st.sampled_from([""] * 9 + ["me@"]))
    param = st.sampled_from(["", "", "", "", "", ";s=1", ";t=2", ";s", ";s=1;s=2"])
    path = "".join(f"/{draw(value)}{draw(param)}" for _ in range(draw(st.integers(0, 3))))
    arguments = [
        draw(st.sampled_from([*NAMES, "z"]))
        + draw(st.sampled_from(["=", "=", "=", "=", "="]) | st.just(""))
        + draw(value)
        for _ in range(draw(st.integers(0, 4)))
    ]
    mark = draw(st.sampled_from(["&", "&", "&", ";"]))
    query = mark.join(arguments) if draw(st.integers(0, 9)) else "&".join(arguments).replace("&", ";", 1)
    return normalize(f"{scheme}://{user}{host}{port}{path}{'?' if arguments else ''}{query}")
