"""What a comparison of learners found, as plain values, as text and as tables that a page can show."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from undust.compare.learners import PROTOCOLS, Fared
from undust.compare.papers import Papers, Row

NAMES = {"by_cluster": "by cluster", "by_sample": "by sample"}
_SHARED = (
    ("learner", "learner"),
    ("rules", "rules"),
    ("recall_of_possible", "recall"),
    ("macro_recall_of_possible", "macro"),
    ("recall_without_large", "no large"),
    ("compression", "saved"),
    ("dup_reduction", "dup red"),
    ("fpr", "fpr"),
    ("macro_fpr", "macro"),
    ("pages_lost", "lost"),
    ("macro_pages_lost", "macro"),
    ("sites_over", "over"),
    ("reduction_per_rule", "a rule"),
    ("seconds", "s"),
)
KOPPULA = {
    "table 1": "Table 1: the data",
    "table 2": "Table 2: rules after each stage",
    "tables 3 and 5": "Tables 3 and 5: rules and reduction by precision (0: all), beside rewrite rules (fan-out 30)",
    "tables 4 and 6": "Tables 4 and 6: the same by least coverage",
    "figure 3": "Figure 3: cumulative coverage of rules, those that cover most first",
}
LEI = {
    "table 2": "Table 2: pattern trees",
    "table 3": "Table 3: candidates, and those of which at most 5 % is false",
    "figure 9": "Figure 9: processor time to make the candidates of a site",
    "figure 10": "Figure 10: share of the candidates of which no more is false",
    "table 4": "Table 4: rules that are deployed, and what they save",
    "figures 11 and 12": "Figures 11 and 12: compression and reduction of duplicates, by max_fpr",
}


@dataclass(frozen=True, slots=True)
class LearnerReport:
    """Learners side by side, and the tables of the papers if they were asked for."""

    urls: int
    clusters: int
    sites: int
    seeds: tuple[int, ...]
    learners: list[Fared]
    papers: Papers | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "urls": self.urls,
            "clusters": self.clusters,
            "sites": self.sites,
            "seeds": list(self.seeds),
            "learners": [each.to_dict() for each in self.learners],
            "papers": None if self.papers is None else self.papers.to_dict(),
        }


@dataclass(frozen=True, slots=True)
class Table:
    """A table to be shown: a title, names of columns, rows of text."""

    name: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def tables(report: LearnerReport) -> Iterator[Table]:
    """Give all tables of a report, in order."""
    for protocol in PROTOCOLS:
        found = [each.to_dict() for each in report.learners if each.protocol == protocol]
        title = f"Learners {NAMES[protocol]}: learned from "
        title += "half of the clusters, tested on the others" if protocol == "by_cluster" else "30 % of the URLs"
        columns = tuple(shown for _, shown in _SHARED)
        rows = tuple(tuple(_cell(row[name]) for name, _ in _SHARED) for row in found)
        yield Table(protocol, title, columns, rows)
    if report.papers is None:
        return
    for paper, titles, told in (
        ("Koppula et al. (2010)", KOPPULA, report.papers.koppula),
        ("Lei et al. (2010)", LEI, report.papers.lei),
    ):
        for name, title in titles.items():
            yield _of_rows(f"{paper} {name}", f"{paper}. {title}", told[name])


def _of_rows(name: str, title: str, rows: Sequence[Row]) -> Table:
    columns = tuple(rows[0]) if rows else ()
    told = tuple(tuple(_cell(row[column]) for column in columns) for row in rows)
    return Table(name, title, tuple(column.replace("_", " ") for column in columns), told)


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:,.1f}" if abs(value) >= 10 else f"{value:.4f}".rstrip("0").rstrip(".") or "0"
    return f"{value:,}" if isinstance(value, int) else str(value)


def as_text(report: LearnerReport) -> str:
    """Write a report for a terminal. Of curves every fourth point is told."""
    seeds = ", ".join(map(str, report.seeds))
    lines = [f"{report.urls:,} URLs in {report.clusters:,} clusters on {report.sites:,} sites; seeds {seeds}"]
    for table in tables(report):
        rows = table.rows[::4] if len(table.rows) > 40 else table.rows
        lines += ["", table.title, *_aligned(table.columns, rows)]
    lines += ["", LEGEND]
    return "\n".join(lines)


LEGEND = (
    "recall: share of the fetches saved that perfect rules would save; saved: compression, 1 - keys / URLs; dup red: "
    "reduction of duplicates; fpr: share of false pairs; lost: share of the pages lost; macro: mean of the sites, of "
    "the figure before; over: sites with more than 1 % false pairs or 0.5 % pages lost; a rule: fetches saved by each; "
    "s: processor seconds to learn"
)


def _aligned(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Write a table with columns as wide as they need to be; words stand left, numbers right."""
    widths = [max([len(name), *(len(row[place]) for row in rows)]) for place, name in enumerate(columns)]
    words = [any(not row[place][:1].isdigit() for row in rows) for place in range(len(columns))]
    return [
        "  ".join(
            cell.ljust(width) if word else cell.rjust(width)
            for cell, width, word in zip(cells, widths, words, strict=True)
        ).rstrip()
        for cells in [tuple(columns), *rows]
    ]
