"""The first part of the report: the answer in two sentences, what was read, and what is duplicate."""

from typing import Any

from undust.corpus import Tally
from undust.run.html.drawings import draw_similarities, draw_sizes, share_bar, stacked_bar
from undust.run.html.figures import figure
from undust.run.html.markup import Html, tag, text
from undust.run.html.numbers import between, count, percent, plural, size
from undust.run.html.tables import Cell, Column, number, says, table

SHOWN_INPUTS = 10
SHOWN_DAMAGE = 20


def write_summary(report: dict[str, Any]) -> Html:
    """Say what was found, in two sentences, four figures and one bar."""
    all_urls, unseen = report["evaluation"]["learned_from"], report["evaluation"]["by_cluster"]
    duplicates = all_urls["urls"] - all_urls["clusters"]
    said = (
        f"{percent(all_urls['duplicate_rate'])} of {plural(all_urls['urls'], 'fetch', 'fetches')} brought nothing new. "
    )
    if all_urls["rules"]:
        said += (
            f"On pages that were not learned from, rules save {percent(unseen['compression'])} of the fetches"
            f" and lose {percent(unseen['pages_lost'], 2) if unseen['pages_lost'] else 'none'} of the pages."
        )
    else:
        said += "No rule explains which." if duplicates else "There is nothing to learn."
    sure = unseen["intervals"]
    figures = [
        (
            "duplicates",
            count(duplicates),
            f"of {plural(all_urls['urls'], 'URL')}; {count(all_urls['clusters'])} different pages",
        ),
        (
            "fetches saved",
            percent(unseen["compression"]),
            f"{between(sure['compression'])}; {percent(unseen['recall_of_possible'])} of what is possible",
        ),
        (
            "pages lost",
            percent(unseen["pages_lost"], 2),
            f"{between(sure['pages_lost'], 2)}; false pairs {percent(unseen['fpr'], 2)}",
        ),
        (
            "rules",
            count(all_urls["rules"]),
            f"on {plural(sum(1 for each in report['sites'] if each['rules']), 'site')} of {len(report['sites']):,}",
        ),
    ]
    cards = [
        tag("div", tag("dt", text(name)), tag("dd", tag("b", text(value)), tag("span", text(about))), class_="figure")
        for name, value, about in figures
    ]
    return tag(
        "section",
        tag("p", text(said), class_="lead"),
        tag("dl", *cards, class_="figures"),
        _where_fetches_go(report),
        tag(
            "p",
            text(
                "Saved, lost and false pairs are measured on the half of the pages that was kept out of learning; "
                "beside each figure is its interval of 95 %."
                if report["evaluation"]["holdout"] == 0.5
                else f"Saved, lost and false pairs are measured on {percent(report['evaluation']['holdout'], 0)} of the"
                " pages, which were kept out of learning; beside each figure is its interval of 95 %."
            ),
            class_="small",
        ),
        id="summary",
    )


def _where_fetches_go(report: dict[str, Any]) -> Html:
    whole, left = report["evaluation"]["learned_from"], report["unexplained"]["left"]
    urls, confused = whole["urls"], report["confused"]["pages"]
    saved = urls - whole["keys"] - confused
    parts = [
        ("kept", whole["clusters"] - confused, "different pages, fetched once"),
        ("saved", saved, "duplicates that the rules save"),
        ("left", left, "duplicates that no rule explains"),
        ("lost", confused, "pages put together with another"),
    ]
    shares = [
        (name, max(number, 0) / urls if urls else 0.0, f"{said}: {count(number)}") for name, number, said in parts
    ]
    legend = [
        tag("li", tag("i", class_=f"key {name}"), tag("b", text(percent(share))), text(f" {said}"))
        for (name, share, said) in shares
    ]
    return tag(
        "figure",
        tag("figcaption", text("All URLs that were learned from")),
        stacked_bar(shares),
        tag("ul", *legend, class_="legend"),
        class_="wide",
    )


def write_read(report: dict[str, Any]) -> Html:
    """Say what was read, and what was left out."""
    names, total = report["inputs"]["names"], report["inputs"]["count"]
    listed = [tag("li", tag("code", text(name))) for name in names[:SHOWN_INPUTS]]
    if total > len(listed):
        listed.append(tag("li", text(f"and {count(total - len(listed))} more")))
    parts = [tag("h2", text("What was read")), tag("ul", *listed, class_="inputs")]
    read = report["read"]
    if "records" in read:
        tally = Tally.from_dict(read)
        parts.append(
            tag(
                "p",
                tag("b", text(plural(tally.pages, "page"))),
                text(f" of {plural(tally.records, 'record')}, {size(tally.bytes)}."),
            )
        )
        rows = [("skipped", reason, number_) for reason, number_ in tally.skipped.most_common()]
        rows += [("kept without body", reason, number_) for reason, number_ in tally.limited.most_common()]
        rows += [("damaged", "could not be used", tally.damaged)] if tally.damaged else []
        if rows:
            parts.append(
                table(
                    "skipped",
                    "What was left out, and why",
                    [Column("what"), Column("why", wide=True), Column("records", number=True)],
                    [[says(what), says(why), number(each, count(each))] for what, why, each in rows],
                )
            )
        else:
            parts.append(tag("p", text("Nothing was skipped, nothing was damaged."), class_="small"))
        if tally.listed:
            shown = [tag("li", tag("code", text(each))) for each in tally.listed[:SHOWN_DAMAGE]]
            about = f"Damaged places, the first {len(shown)} of {count(tally.damaged)}"
            parts.append(tag("details", tag("summary", text(about)), tag("ul", *shown, class_="inputs")))
    elif "pages" in read:
        parts.append(tag("p", text(f"Fingerprints of {plural(read['pages'], 'page')}.")))
    return tag("section", *parts, id="read")


def write_duplicates(report: dict[str, Any]) -> Html:
    """Say which pages are duplicates: by method, by the size of clusters, by similarity."""
    columns = [
        Column("method"),
        Column("duplicates", number=True, about="URLs that bring nothing new"),
        Column("share", number=True),
        Column("", about="the share as a bar"),
        Column("different pages", number=True),
        Column("largest cluster", number=True),
    ]
    rows = [
        [
            says(name),
            number(found["duplicates"], count(found["duplicates"])),
            number(found["duplicate_rate"], percent(found["duplicate_rate"])),
            Cell(share_bar(found["duplicate_rate"]), found["duplicate_rate"]),
            number(found["clusters"], count(found["clusters"])),
            number(found["largest"], count(found["largest"])),
        ]
        for name, found in report["methods"].items()
    ]
    parts = [
        tag("h2", text("Duplicates")),
        table("methods", "Duplicates by method; rules are learned from the last one", columns, rows),
    ]
    figures = [_sizes(report)] if report["sizes"]["counts"] else []
    around, members = report["similarity"]["around"], report["similarity"]["members"]
    if around and sum(around["counts"]):
        figures.append(_around(around))
    if members:
        said = "How similar duplicates are to the centre of their cluster."
        drawn = draw_similarities("members", members, "duplicates")
        figures.append(figure("members", "Within clusters", said, drawn, _bins(members)))
    parts.append(tag("div", *figures, class_="charts"))
    return tag("section", *parts, id="duplicates")


def _sizes(report: dict[str, Any]) -> Html:
    sizes = report["sizes"]
    said = "Each dot is a size. Both axes are logarithmic; most pages are alone, a few come up again and again."
    if sizes["exponent"] is not None:
        said += f" The line is the power law that fits from two URLs on, with exponent {sizes['exponent']:.2f}."
    counts = sizes["counts"]
    rows = [
        (count(urls), count(clusters))
        for urls, clusters in (counts if len(counts) <= 40 else [*counts[:20], *counts[-20:]])
    ]
    return figure("sizes", "Clusters by size", said, draw_sizes(sizes), (("URLs", "clusters"), rows))


def _around(found: dict[str, Any]) -> Html:
    looked = (
        "all pages" if found["pages"] == found["of"] else f"{count(found['pages'])} of {plural(found['of'], 'page')}"
    )
    said = (
        f"How similar each page is to the page most like it, of {looked}. Just below the threshold are"
        f" {plural(found['just_below'], 'page')}, just above it {count(found['just_above'])}: a threshold is well"
        f" chosen where few are. {plural(found['alone'], 'page')} of them are like no other. The axis is by roots."
    )
    drawn = draw_similarities("around", found, "pages by the page most like them")
    return figure("around", "Around the threshold", said, drawn, _bins(found))


def _bins(found: dict[str, Any]) -> tuple[tuple[str, str], list[tuple[str, str]]]:
    edges = found["edges"]
    rows = [
        (f"{low:.3g} to {high:.3g}", count(pages))
        for low, high, pages in zip(edges[:-1], edges[1:], found["counts"], strict=True)
        if pages
    ]
    return ("similarity", "pages"), rows
