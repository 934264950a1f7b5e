"""A comparison of learners as one HTML page that needs nothing else; with plots if the extra `report` is there."""

from collections.abc import Iterator, Sequence
from html import escape
from typing import Any

from undust.compare.report import LEGEND, LearnerReport, Table, tables

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 75rem; padding: 0 1rem; color: #222 }
h1 { font-size: 1.5rem } h2 { font-size: 1.1rem; margin-top: 2.2rem }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; display: block; overflow-x: auto }
th, td { padding: .2rem .7rem; text-align: right; border-bottom: 1px solid #ddd } th { font-weight: 600 }
th:first-child, td:first-child { text-align: left } svg { max-width: 100%; height: auto } p { max-width: 60rem }
"""


def as_page(report: LearnerReport) -> str:
    """Write a report as a page."""
    plots = dict(_plots(report))
    parts = [
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>undust: learners side by side</title>',
        f"<style>{_STYLE}</style></head><body><h1>Learners side by side</h1>",
        f"<p>{report.urls:,} URLs in {report.clusters:,} clusters on {report.sites:,} sites;",
        f" seeds {', '.join(map(str, report.seeds))}.</p><p>{escape(LEGEND)}.</p>",
    ]
    for table in tables(report):
        parts.append(f"<h2>{escape(table.title)}</h2>")
        parts += plots.get(table.name, [])
        parts.append(_table(table))
    parts.append("</body></html>\n")
    return "".join(parts)


def _table(table: Table) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in table.columns)
    rows = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in table.rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def _plots(report: LearnerReport) -> Iterator[tuple[str, list[str]]]:
    """Draw what is better seen than read, as SVG, by the name of the table it belongs to."""
    for protocol in ("by_cluster", "by_sample"):
        rows = [each.to_dict() for each in report.learners if each.protocol == protocol]
        shown = ("macro_recall_of_possible", "macro_fpr", "macro_pages_lost", "rules")
        yield protocol, [_svg(_bars(rows, "learner", measure)) for measure in shown]
    if report.papers is None:
        return
    koppula, lei = report.papers.koppula, report.papers.lei
    curve = _lines(koppula["figure 3"], "number", "cumulative_coverage", "rules")
    yield "Koppula et al. (2010) figure 3", [_svg(curve)]
    yield "Lei et al. (2010) figure 9", [_svg(_bars(lei["figure 9"], "candidates", "seconds_a_site"))]
    yield "Lei et al. (2010) figure 10", [_svg(_lines(lei["figure 10"], "max_fpr", "rate", "candidates"))]
    measures = ("micro_compression", "macro_compression", "micro_dup_reduction", "macro_dup_reduction")
    plots = [_svg(_lines(lei["figures 11 and 12"], "max_fpr", measure, "rules")) for measure in measures]
    yield "Lei et al. (2010) figures 11 and 12", plots


def _bars(rows: Sequence[dict[str, Any]], name: str, measure: str) -> dict[str, Any]:
    encoding = {
        "y": {"field": name, "type": "nominal", "sort": None, "title": None},
        "x": {"field": measure, "type": "quantitative", "title": measure.replace("_", " ")},
    }
    return {"data": {"values": list(rows)}, "mark": "bar", "encoding": encoding, "width": 240}


def _lines(rows: Sequence[dict[str, Any]], x: str, y: str, color: str) -> dict[str, Any]:
    encoding = {
        "x": {"field": x, "type": "quantitative", "title": x.replace("_", " ")},
        "y": {"field": y, "type": "quantitative", "title": y.replace("_", " ")},
        "color": {"field": color, "type": "nominal", "title": None},
    }
    mark = {"type": "line", "point": True}
    return {"data": {"values": list(rows)}, "mark": mark, "encoding": encoding, "width": 300, "height": 200}


def _svg(chart: dict[str, Any]) -> str:
    """Draw a chart; nothing if the extra `report` is not installed."""
    try:
        import vl_convert
    except ImportError:
        return ""
    drawn: str = vl_convert.vegalite_to_svg(
        {"$schema": "https://vega.github.io/schema/vega-lite/v5.json", **chart}, allowed_base_urls=[]
    )
    return drawn
