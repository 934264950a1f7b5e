"""The report as one self-contained page: style and script inside, nothing from elsewhere."""

import base64
import hashlib
import json
from importlib import resources
from typing import Any

from undust.run.html.left import write_confused, write_unexplained
from undust.run.html.markup import Html, tag, text
from undust.run.html.overview import write_duplicates, write_read, write_summary
from undust.run.html.sites import write_cards, write_rules
from undust.run.html.stages import write_about, write_stages
from undust.run.html.worth import write_sites, write_worth

PAGE_VERSION = 2
"""Of the look of the page: with another one, the report is written again."""

_CONTENTS = (
    ("summary", "Summary"),
    ("read", "What was read"),
    ("duplicates", "Duplicates"),
    ("worth", "Saving and loss"),
    ("sites", "Sites"),
    ("rules", "Rules"),
    ("left", "Not explained"),
    ("wrong", "Wrong"),
    ("time", "Time and memory"),
    ("about", "How to read this"),
)


def write_page(report: dict[str, Any]) -> str:
    """Write the page of a report (`report.json`)."""
    style, script = _asset("report.css"), _asset("report.js")
    cards, linked = write_cards(report)
    sections = [
        write_summary(report),
        write_read(report),
        write_duplicates(report),
        write_worth(report),
        write_sites(report, cards, linked),
        write_rules(report, linked),
        write_unexplained(report),
        write_confused(report),
        write_stages(report),
        write_about(report),
    ]
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=policy(style, script)),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="referrer", content="no-referrer"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("meta", name="generator", content=f"undust {report['undust']}"),
        tag("title", text(_title(report))),
        tag("style", Html(style)),
        tag("script", Html(script)),
    )
    body = tag(
        "body",
        tag("a", text("Skip to the report"), href="#summary", class_="skip"),
        _header(report),
        tag("div", _contents(), tag("main", *sections), class_="page"),
        _footer(report),
        *(_specification(name, spec) for name, spec in report["charts"].items()),
    )
    return f'<!doctype html>\n<html lang="en">{head}{body}</html>\n'


def policy(style: str, script: str) -> str:
    """Give the content security policy: this style and this script by their hashes, and nothing else from anywhere."""
    ours = f"style-src '{_hash(style)}'; script-src '{_hash(script)}'"
    return f"default-src 'none'; {ours}; base-uri 'none'; form-action 'none'"


def _hash(code: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()


def _asset(name: str) -> str:
    return (resources.files("undust.run.html") / "assets" / name).read_text(encoding="utf-8")


def _title(report: dict[str, Any]) -> str:
    sites = [site["site"] for site in report["sites"]]
    what = sites[0] if len(sites) == 1 else f"{len(sites):,} sites"
    return f"Duplicates of {what} · undust"


def _header(report: dict[str, Any]) -> Html:
    options = report["options"]
    made = report["made"].replace("T", " ").removesuffix("+00:00")
    found, learned = f"duplicates by {options['method']}", f"rules by {options['learner']}"
    said = f"{made} UTC · {found} · {learned}, max_fpr {options['max_fpr']:g}"
    return tag(
        "header",
        tag("div", tag("h1", text("Duplicates, and rules against them")), tag("p", text(said), class_="facts")),
        tag("button", text("Theme: as the system"), type="button", id="theme", class_="script"),
    )


def _contents() -> Html:
    items = [tag("li", tag("a", text(said), href=f"#{name}")) for name, said in _CONTENTS]
    return tag(
        "nav", tag("details", tag("summary", text("Contents")), tag("ul", *items), open=True), aria_label="Contents"
    )


def _footer(report: dict[str, Any]) -> Html:
    return tag("footer", text(f"Made by undust {report['undust']}. This page loads nothing and sends nothing."))


def _specification(name: str, spec: dict[str, Any]) -> Html:
    """Put a chart's Vega-Lite into the page as data, which nothing runs."""
    data = json.dumps(spec, ensure_ascii=True, separators=(",", ":"))
    safe = data.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    return tag("script", Html(safe), type="application/json", class_="vega", data_name=name)
