"""What rules save and lose: by protocol, by the limit of false pairs, by site."""

from typing import Any

from undust.run.html.drawings import draw_tradeoff, share_bar
from undust.run.html.figures import figure
from undust.run.html.markup import Html, tag, text
from undust.run.html.numbers import between, count, percent
from undust.run.html.tables import Cell, Column, number, says, table

SHOWN_SITES = 500

_SAVED = "Share of the fetches that the rules save"
_LOST = "Share of the pages none of whose URLs would be fetched any more"
_FPR = "Pairs of URLs that the rules make one although they are different pages, of all that they make one"


def write_worth(report: dict[str, Any]) -> Html:
    """Say what rules are worth, on pages that were learned from and on others."""
    found = report["evaluation"]
    rows = [
        (f"by cluster: {percent(found['holdout'], 0)} of the pages were never seen", found["by_cluster"]),
        ("by sample: 70% of the URLs were never seen", found["by_sample"]),
        ("all that was learned from", found["learned_from"]),
    ]
    columns = [
        Column("measured on", wide=True),
        Column("possible", number=True, about="Share of the fetches that bring nothing new"),
        Column("saved", number=True, about=_SAVED),
        Column("", about="saved, with its interval; the mark is what is possible"),
        Column("lost", number=True, about=_LOST),
        Column("false pairs", number=True, about=_FPR),
        Column("rules", number=True),
    ]
    parts = [
        tag("h2", text("What rules save and lose")),
        table("worth", "What rules save and lose, by how it is measured", columns, [_row(*row) for row in rows]),
    ]
    tradeoff = report["tradeoff"]
    if tradeoff.get("points") and tradeoff["duplicate_rate"]:
        parts.append(_tradeoff(tradeoff))
    return tag("section", *parts, id="worth")


def _row(name: str, one: dict[str, Any]) -> list[Cell]:
    sure = one["intervals"]
    return [
        says(name),
        number(one["duplicate_rate"], percent(one["duplicate_rate"])),
        number(one["compression"], percent(one["compression"])),
        Cell(
            share_bar(one["compression"], interval=sure["compression"], limit=one["duplicate_rate"]), one["compression"]
        ),
        with_interval(one["pages_lost"], sure["pages_lost"]),
        with_interval(one["fpr"], sure["fpr"]),
        number(one["rules"], count(one["rules"])),
    ]


def with_interval(share: float, interval: tuple[float, float]) -> Cell:
    """Give a cell with a small share and its interval."""
    shown = tag("span", text(percent(share, 2)), tag("small", text(between(interval, 2))), class_="sure")
    return Cell(shown, share)


def _tradeoff(tradeoff: dict[str, Any]) -> Html:
    looked = (
        ""
        if tradeoff["urls"] == tradeoff["of"]
        else f" Learned from {count(tradeoff['urls'])} of {count(tradeoff['of'])} URLs."
    )
    said = (
        "Rules were learned again for several limits of false pairs, and tested on pages that were kept out. The band"
        f" is the limit of this run; the lines are intervals of 95 %.{looked}"
    )
    heads = ("max_fpr", "saved", "interval", "lost", "interval", "false pairs", "rules")
    rows = [
        (
            f"{point['max_fpr']:g}",
            percent(point["compression"], 2),
            between(point["intervals"]["compression"], 2),
            percent(point["pages_lost"], 2),
            between(point["intervals"]["pages_lost"], 2),
            percent(point["fpr"], 2),
            count(point["rules"]),
        )
        for point in tradeoff["points"]
    ]
    saved = figure(
        "tradeoff",
        "Saving by the limit of false pairs",
        said,
        draw_tradeoff(tradeoff, "compression", "fetches saved"),
        (heads, rows),
    )
    lost = figure(
        "tradeoff-lost",
        "Its price",
        "Pages none of whose URLs would be fetched any more, in the same trials.",
        draw_tradeoff(tradeoff, "pages_lost", "pages lost"),
        (heads, rows),
    )
    return tag("div", saved, lost, class_="charts")


def write_sites(report: dict[str, Any], cards: list[Html], linked: dict[str, str]) -> Html:
    """Write the table of sites, and a card for each of those where most is saved or left."""
    sites = report["sites"]
    columns = [
        Column("site", wide=True),
        Column("URLs", number=True),
        Column("possible", number=True, about="Share of the fetches that bring nothing new"),
        Column("saved", number=True, about=_SAVED),
        Column("", about="saved, with its interval; the mark is what is possible"),
        Column("lost", number=True, about=_LOST),
        Column("false pairs", number=True, about=_FPR),
        Column("left", number=True, about="URLs that bring nothing new and that no rule explains, of all pages"),
        Column("rules", number=True),
    ]
    rows = [_site(site, linked.get(site["site"])) for site in sites[:SHOWN_SITES]]
    said = (
        "Measured on pages that were kept out of learning, with intervals of 95 %. "
        "Sites come by what is saved and left on them, the most first."
    )
    if len(sites) > SHOWN_SITES:
        said += f" {count(SHOWN_SITES)} of {count(len(sites))} sites are shown; all of them are in report.json."
    return tag(
        "section",
        tag("h2", text("Sites")),
        tag("p", text(said, most=None), class_="small"),
        table("sites", "Sites", columns, rows, search="Find a site", first=20, caption_shown=False),
        *cards,
        id="sites",
    )


def _site(site: dict[str, Any], link: str | None) -> list[Cell]:
    name = tag("bdi", text(site["site"], most=80))
    shown = name if link is None else tag("a", name, href=f"#{link}")
    found = site["tested"]
    if found is None:
        measured = [
            number(-1, "–"),
            number(-1, "–"),
            Cell(text("none of it was kept out")),
            number(-1, "–"),
            number(-1, "–"),
        ]
    else:
        measured = _row("", {**found, "rules": 0})[1:-1]
    return [
        Cell(shown, site["site"]),
        number(site["urls"], count(site["urls"])),
        *measured,
        number(site["left"], count(site["left"])),
        number(len(site["rules"]), count(len(site["rules"]))),
    ]
