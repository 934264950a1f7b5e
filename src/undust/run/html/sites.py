"""A card for each site: its rules in plain words with example pairs, and its pattern tree."""

from collections.abc import Sequence
from typing import Any

from undust.run.html.markup import Html, join, tag, text
from undust.run.html.numbers import between, count, percent, plural
from undust.run.html.tables import Cell, Column, number, table
from undust.run.html.urls import alike

SHOWN_CARDS = 60
SHOWN_TREES = 40
SHOWN_OF_SITE = 12
"""Rules on the card of a site."""
SHOWN_EXAMPLES = 2
SHOWN_RULES = 1_000
"""Rules in the table of all."""


def write_cards(report: dict[str, Any]) -> tuple[list[Html], dict[str, str]]:
    """Write the cards of the sites where most is saved or left; and give the name of each card, by its site."""
    trees = {tree["site"]: tree["nodes"] for tree in report["trees"]}
    cards: list[Html] = []
    linked: dict[str, str] = {}
    for place, site in enumerate(report["sites"][:SHOWN_CARDS]):
        rules = sorted((report["rules"][at] for at in site["rules"]), key=lambda rule: (-rule["saved"], rule["number"]))
        nodes = trees.get(site["site"], []) if place < SHOWN_TREES else []
        if not rules and len(nodes) < 2:
            continue
        linked[site["site"]] = f"site-{place + 1}"
        cards.append(_card(site, rules, nodes, linked[site["site"]], is_open=not cards))
    return cards, linked


def _card(site: dict[str, Any], rules: Sequence[dict[str, Any]], nodes: Any, name: str, *, is_open: bool) -> Html:
    facts = f"{plural(site['urls'], 'URL')}, {count(site['saved'])} saved, {count(site['left'])} left"
    shown = [_rule(rule) for rule in rules[:SHOWN_OF_SITE]]
    if len(rules) > SHOWN_OF_SITE:
        shown.append(
            tag("p", text(f"and {plural(len(rules) - SHOWN_OF_SITE, 'more rule')}, all in rules.json"), class_="small")
        )
    if not rules:
        shown.append(tag("p", text("No rule: its URLs do not explain its duplicates."), class_="small"))
    summary = tag(
        "summary",
        tag("h3", tag("bdi", text(site["site"], most=80))),
        tag("span", text(f"{facts}; {plural(len(rules), 'rule')}"), class_="facts"),
    )
    tree = [write_tree(nodes, name)] if len(nodes) > 1 else []
    return tag("details", summary, *shown, *tree, class_="card print", id=name, open=is_open)


def _rule(rule: dict[str, Any]) -> Html:
    facts = (
        f"{plural(rule['urls'], 'URL')}, {count(rule['saved'])} fetches saved on {plural(rule['pages'], 'page')};"
        f" false pairs {percent(rule['fpr'], 2)} ({between(rule['fpr_interval'], 2)})"
    )
    return tag(
        "article",
        tag("p", text(rule["words"], most=600), class_="words"),
        tag("p", tag("code", tag("bdi", text(rule["line"], most=600))), class_="line"),
        tag("p", text(facts, most=None), class_="facts"),
        *(alike(pair) for pair in rule["examples"][:SHOWN_EXAMPLES]),
        class_="rule",
        id=f"rule-{rule['number']}",
    )


def write_tree(nodes: Sequence[dict[str, Any]], name: str) -> Html:
    """Write a pattern tree whose nodes open and close; those that hold the same pages are named on each other."""
    children: dict[int, list[int]] = {}
    for place, node in enumerate(nodes):
        children.setdefault(node["parent"], []).append(place)
    drawn = _node(nodes, children, 0, name, 0)
    said = (
        "URLs parted by what they have in common; ⊥ is what is not there, * any value. Duplicates are URLs that bring"
        " nothing new within their node. ⇄ names nodes that hold the same pages."
    )
    buttons = tag(
        "p",
        tag("button", text("Open all"), type="button", data_open="all"),
        tag("button", text("Close all"), type="button", data_open="none"),
        class_="buttons script",
    )
    return tag(
        "div",
        tag("h4", text("Pattern tree")),
        tag("p", text(said, most=None), class_="small"),
        buttons,
        tag("ul", drawn, class_="tree"),
        class_="pattern-tree",
    )


def _node(nodes: Sequence[dict[str, Any]], children: dict[int, list[int]], place: int, name: str, depth: int) -> Html:
    node, below = nodes[place], children.get(place, [])
    duplicates = node["urls"] - node["pages"]
    share = duplicates / node["urls"] if node["urls"] else 0.0
    said = [
        tag("code", tag("bdi", text(node["asks"] or "all URLs", most=160))),
        tag("span", text(f"{plural(node['urls'], 'URL')}, {plural(node['pages'], 'page')}"), class_="n"),
    ]
    if duplicates:
        said.append(tag("span", text(f"{percent(share, 0)} duplicates"), class_="dup" if share >= 0.05 else "dup few"))
    same = tag("span", text("⇄ "), join([_link(nodes, each, name) for each in node["same"]], ", "), class_="same")
    if not below and not node["hidden"]:
        pattern = (
            [tag("code", tag("bdi", text(node["pattern"], most=200)), class_="pattern")] if node["pattern"] else []
        )
        said += [same] * bool(node["same"])
        return tag("li", tag("div", *said, id=f"{name}-n{place}"), *pattern, class_="leaf")
    inside = [_node(nodes, children, child, name, depth + 1) for child in below]
    if node["hidden"]:
        inside.append(tag("li", text(f"and {plural(node['hidden'], 'smaller one')}"), class_="leaf more"))
    if node["same"]:  # what is pressed to open it holds no links
        said.append(tag("span", text(f"⇄ {len(node['same'])}"), class_="same", title="Nodes that hold the same pages"))
        inside.insert(0, tag("li", same, class_="leaf links"))
    summary = tag("summary", *said)
    return tag("li", tag("details", summary, tag("ul", *inside), open=depth < 2, id=f"{name}-n{place}"))


def _link(nodes: Sequence[dict[str, Any]], same: tuple[int, float], name: str) -> Html:
    place, share = same
    said = f"{nodes[place]['asks'] or 'all URLs'}"
    about = f"{share:.0%} of the URLs of both are of common pages"
    return tag("a", tag("bdi", text(said, most=60)), href=f"#{name}-n{place}", title=about)


def write_rules(report: dict[str, Any], linked: dict[str, str]) -> Html:
    """Write the table of all rules, those that save most first."""
    most = sorted(report["rules"], key=lambda rule: (-rule["saved"], rule["number"]))
    shown_on_cards = {
        rule["number"]
        for site in report["sites"]
        if site["site"] in linked
        for rule in sorted(
            (report["rules"][at] for at in site["rules"]), key=lambda rule: (-rule["saved"], rule["number"])
        )[:SHOWN_OF_SITE]
    }
    columns = [
        Column("site", site=True),
        Column("what it does", wide=True),
        Column("saves", number=True, about="Fetches that it saves, of those that were learned from"),
        Column("URLs", number=True),
        Column("false pairs", number=True, about="With the interval of 95 %"),
    ]
    rows = [_row(rule, rule["number"] in shown_on_cards) for rule in most[:SHOWN_RULES]]
    said = "In plain words, those that save most first. Of the rules of a site, the first that fits a URL decides."
    if len(most) > SHOWN_RULES:
        said += f" {count(SHOWN_RULES)} of {count(len(most))} are shown; all of them are in rules.json."
    body = (
        table("rules", "Rules", columns, rows, search="Find a rule", first=20, caption_shown=False)
        if rows
        else tag("p", text("None: no duplicates that URLs explain."))
    )
    return tag("section", tag("h2", text("Rules")), tag("p", text(said), class_="small"), body, id="rules")


def _row(rule: dict[str, Any], on_card: bool) -> list[Cell]:
    words = tag("span", text(rule["words"], most=200))
    shown = tag("a", words, href=f"#rule-{rule['number']}") if on_card else words
    sure = tag(
        "span", text(percent(rule["fpr"], 2)), tag("small", text(between(rule["fpr_interval"], 2))), class_="sure"
    )
    return [
        Cell(tag("bdi", text(rule["site"], most=60)), rule["site"]),
        Cell(tag("div", shown, tag("code", text(rule["line"], most=200), class_="line"))),
        number(rule["saved"], count(rule["saved"])),
        number(rule["urls"], count(rule["urls"])),
        Cell(sure, rule["fpr"]),
    ]
