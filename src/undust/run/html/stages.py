"""How the report came about: time and memory by stage, the options of the run, and how to read the figures."""

from typing import Any

from undust.run.html.drawings import share_bar
from undust.run.html.markup import Html, tag, text
from undust.run.html.numbers import count, duration, percent, size
from undust.run.html.tables import Cell, Column, number, says, table

NAMES = {
    "pages": "reading, fingerprints of the pages",
    "clusters": "clusters of duplicates",
    "similarity": "similarities around the threshold",
    "rules": "rules",
    "evaluation": "evaluation, two protocols",
    "tradeoff": "trade-off",
}

_NOTES = (
    (
        "possible",
        "The share of URLs that bring nothing new: what perfect rules would save.",
    ),
    ("saved", "The share of fetches that the rules save, as URLs with one key are fetched once."),
    ("lost", "The share of pages none of whose URLs would be fetched any more. The price of saving."),
    ("false pairs", "Of the pairs of URLs that rules make one, those that are of different pages (fpr)."),
    (
        "by cluster, by sample",
        "By cluster: nothing of the pages that are tested on was seen. By sample: more URLs of pages that are known"
        " come up, as in a crawl.",
    ),
    (
        "interval",
        "Wilson's interval of 95 %. As URLs of one page are no independent observations, they are counted as Kish's"
        " effective number of clusters (for saved), of keys by their pairs (for false pairs), or each (for lost).",
    ),
    (
        "differences that no rule explains",
        "What would be saved and lost is counted on the site as the rules have left it, as if the keys did not matter.",
    ),
)


def write_stages(report: dict[str, Any]) -> Html:
    """Say what time and memory each stage took."""
    stages = report["stages"]
    longest = max((stage["seconds"] for stage in stages), default=0.0) or 1.0
    largest = max((stage["peak_bytes"] for stage in stages), default=0) or 1
    columns = [
        Column("stage", wide=True),
        Column("time", number=True),
        Column("", about="time as a bar"),
        Column("of processors", number=True, about="Time of all processors, of this process"),
        Column("most memory", number=True),
        Column("", about="memory as a bar"),
    ]
    rows = [
        [
            says(NAMES.get(stage["stage"], stage["stage"])),
            number(stage["seconds"], duration(stage["seconds"])),
            Cell(share_bar(stage["seconds"] / longest), stage["seconds"]),
            number(stage["cpu_seconds"], duration(stage["cpu_seconds"])),
            number(stage["peak_bytes"], size(stage["peak_bytes"])),
            Cell(share_bar(stage["peak_bytes"] / largest), stage["peak_bytes"]),
        ]
        for stage in stages
    ]
    total = sum(stage["seconds"] for stage in stages)
    urls = report["evaluation"]["learned_from"]["urls"]
    rate = f", {count(urls / total)} URLs a second" if total else ""
    return tag(
        "section",
        tag("h2", text("Time and memory")),
        tag("p", text(f"{duration(total)} in all{rate}; each stage when it was last done."), class_="small"),
        table("stages", "Time and memory by stage", columns, rows),
        id="time",
    )


def write_about(report: dict[str, Any]) -> Html:
    """List the options of the run, and what the words mean."""
    options = [
        tag("div", tag("dt", text(name.replace("_", "-"))), tag("dd", tag("code", text(_option(value)))))
        for name, value in report["options"].items()
    ]
    notes = [tag("div", tag("dt", text(name)), tag("dd", text(said, most=None))) for name, said in _NOTES]
    return tag(
        "section",
        tag("h2", text("How to read this")),
        tag("dl", *notes, class_="notes"),
        tag("h3", text("Options of the run")),
        tag("dl", *options, class_="options"),
        tag(
            "p",
            text(
                "Every number is in report.json, all rules are in rules.json,"
                " and which URLs lead to the same page is in clusters.parquet."
            ),
            class_="small",
        ),
        id="about",
    )


def _option(value: object) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return percent(value, 0) if isinstance(value, float) and value == 0.5 else str(value)
