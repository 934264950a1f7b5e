"""What rules leave, and where they are wrong: clusters that stay split and why, pages that were put together."""

from typing import Any

from undust.run.html.markup import Html, tag, text
from undust.run.html.numbers import count, percent, plural
from undust.run.html.tables import Cell, Column, number, says, table
from undust.run.html.urls import alike
from undust.run.words import name_of
from undust.urls.keys import Key

SHOWN = 40


def write_unexplained(report: dict[str, Any]) -> Html:
    """Say what no rule explains, and why."""
    found, whole = report["unexplained"], report["evaluation"]["learned_from"]
    if not found["left"] and not found["across_sites"]:
        said = "Nothing: after the rules, each page has one URL."
        return tag("section", tag("h2", text("What no rule explains")), tag("p", text(said)), id="left")
    share = found["left"] / whole["urls"] if whole["urls"] else 0.0
    said = (
        f"{plural(found['clusters'], 'page')} still {'has' if found['clusters'] == 1 else 'have'} several URLs after"
        f" the rules; {plural(found['left'], 'fetch', 'fetches')} ({percent(share)}) could be spared if one knew how."
    )
    if found["across_sites"]:
        said += (
            f" {plural(found['across_sites'], 'more fetch', 'more fetches')} could be if sites knew of each other:"
            " pages that several sites have in common, which no rule of a site can tell."
        )
    parts = [tag("h2", text("What no rule explains")), tag("p", text(said, most=None))]
    if found["differences"]:
        parts.append(_differences(found["differences"][:SHOWN]))
    if found["largest"]:
        parts.append(_largest(found["largest"][:SHOWN], report["titles"]))
    return tag("section", *parts, id="left")


def _differences(differences: list[dict[str, Any]]) -> Html:
    columns = [
        Column("site", site=True),
        Column("its URLs differ in", wide=True),
        Column("left", number=True, about="Fetches that could be spared"),
        Column("pages", number=True, about="Pages that still have several URLs which differ so"),
        Column("why there is no rule", wide=True),
    ]
    rows = [
        [
            Cell(tag("bdi", text(each["site"], most=60)), each["site"]),
            Cell(tag("div", text(named(each["differ"]), most=200), _example(each["examples"]))),
            number(each["left"], count(each["left"])),
            number(each["clusters"], count(each["clusters"])),
            says(why(each)),
        ]
        for each in differences
    ]
    return table(
        "differences",
        "In what their URLs differ, and why no rule says that this does not matter",
        columns,
        rows,
        search="Find",
        first=12,
    )


def _example(urls: list[str]) -> Html:
    return tag("details", tag("summary", text("example")), alike(urls))


def named(differ: list[str]) -> str:
    """Say in which keys URLs differ.

    >>> named(["path[0]", "?sid"])
    'the first segment, the argument sid'
    """
    return ", ".join(name_of(Key.parse(key)) for key in differ) or "nothing that a rule can speak of"


def why(each: dict[str, Any]) -> str:
    """Say why there is no rule for a difference, from what one would do on the site as it is.

    >>> why({"would_save": 9, "would_lose": 40, "clusters": 3})
    'it tells pages apart: without it 9 fetches would be saved, and 40 pages lost'
    """
    saves, loses = each["would_save"], each["would_lose"]
    if saves is None:
        return "the site is too large to try, or its URLs differ in what rules do not speak of"
    if loses:
        saved = plural(saves, "fetch", "fetches") if saves else "nothing"
        return f"it tells pages apart: without it {saved} would be saved, and {plural(loses, 'page')} lost"
    if not saves:
        return "leaving it out brings no two URLs together: what one has, the other has elsewhere"
    return f"nothing speaks against one, but only {plural(each['clusters'], 'page')} would show it: too few to be sure"


def _largest(clusters: list[dict[str, Any]], titles: dict[str, str]) -> Html:
    columns = [
        Column("site", site=True),
        Column("left", number=True, about="Fetches that could be spared"),
        Column("URLs", number=True),
        Column("its URLs differ in"),
        Column("some of them", wide=True),
    ]
    rows = [
        [
            Cell(tag("bdi", text(each["site"], most=60)), each["site"]),
            number(each["left"], count(each["left"])),
            number(each["urls"], count(each["urls"])),
            says(named(each["differ"])),
            Cell(alike(each["examples"], titles)),
        ]
        for each in clusters
    ]
    return table("largest", "The largest of these pages", columns, rows, search="Find", first=8)


def write_confused(report: dict[str, Any]) -> Html:
    """Say where rules are wrong: which pages they put together."""
    found = report["confused"]
    head = tag("h2", text("Where rules are wrong"))
    if not found["keys"]:
        said = "Nowhere that is known: no two different pages have become one."
        return tag("section", head, tag("p", text(said)), id="wrong")
    said = (
        f"{plural(found['keys'], 'URL to fetch stands', 'URLs to fetch stand')} for several pages,"
        f" {count(found['pages'])} too many in all. Clusters lie, too: maybe these pages are the same after all."
    )
    rules = {rule["number"]: rule for rule in report["rules"]}
    columns = [
        Column("pages", number=True),
        Column("URLs", number=True),
        Column("rule", wide=True),
        Column("one URL of each page", wide=True),
    ]
    rows = [
        [
            number(each["pages"], count(each["pages"])),
            number(each["urls"], count(each["urls"])),
            says(
                rules[each["rule"] + 1]["words"]
                if each["rule"] >= 0
                else "none: the standard form of the URLs is the same"
            ),
            Cell(alike(each["examples"], report["titles"])),
        ]
        for each in found["worst"][:SHOWN]
    ]
    return tag(
        "section",
        head,
        tag("p", text(said, most=None)),
        table("confused", "Pages that rules put together", columns, rows, search="Find", first=8),
        id="wrong",
    )
