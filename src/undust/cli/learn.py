"""`undust learn`: clusters in, rules out."""

import datetime
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from undust.cli.engine import engine_options, on_spark
from undust.cli.talk import json_option, print_json, quiet_option, say, working

if TYPE_CHECKING:
    import pyarrow as pa

    from undust.evaluate.report import Report
    from undust.rules.merge import Merged
    from undust.rules.ruleset import RuleSet

SHOWN_PROBLEMS = 3
"""URLs that cannot be parsed which are named one by one."""


@click.command("learn", short_help="URL rules from clusters of duplicates.")
@click.argument("clusters", metavar="CLUSTERS")
@click.option("-o", "--output", metavar="FILE", help="Rule file to write, such as rules.json.")
@click.option(
    "--into",
    metavar="RULES",
    help="Rule file to merge what is learned into, as `undust rules merge` does; what was withdrawn there stays so."
    " Without -o it is written anew, or made if there is none.",
)
@click.option(
    "--date",
    "learned_at",
    type=click.DateTime(["%Y-%m-%d"]),
    metavar="DATE",
    help="When the clusters were found, to be noted on each rule.  [default: today]",
)
@click.option("--expires", type=click.IntRange(min=1), metavar="DAYS", help="Rules are to be relied on so long.")
@click.option(
    "--method",
    default="both",
    show_default=True,
    metavar="NAME",
    help="How to learn: both, tree, pairwise, rewrite or dust.",
)
@click.option(
    "--max-fpr",
    type=click.FloatRange(0, 1),
    default=0.01,
    show_default=True,
    help="Share of false pairs among the pairs that a rule may make one.",
)
@click.option(
    "--min-coverage",
    type=click.IntRange(0),
    metavar="URLS",
    help="Least URLs that a rule has to hold for. [default: 10 for each change, or a tenth of a site's URLs if less]",
)
@click.option(
    "--site",
    "scope",
    type=click.Choice(["domain", "host"]),
    default="domain",
    show_default=True,
    help="What rules are learned for: each registrable domain, or each host.",
)
@click.option(
    "--selection",
    type=click.Choice(["graph", "naive"]),
    default="graph",
    show_default=True,
    help="How the method tree chooses among the rules it has found.",
)
@click.option("--show-tree", is_flag=True, help="Print the pattern tree of each site on stdout.")
@click.option(
    "--holdout",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    metavar="SHARE",
    help="Keep this share of the clusters out of learning, and report on them.",
)
@click.option("--seed", default=0, show_default=True, help="Which clusters --holdout keeps.")
@engine_options
@quiet_option
@json_option
def command(
    clusters: str,
    output: str | None,
    into: str | None,
    learned_at: datetime.datetime | None,
    expires: int | None,
    method: str,
    max_fpr: float,
    min_coverage: int | None,
    scope: str,
    selection: str,
    show_tree: bool,
    holdout: float | None,
    seed: int,
    engine: str,
    master: str | None,
    quiet: bool,
    as_json: bool,
) -> None:
    """Learn URL rules from clusters of duplicate pages.

    CLUSTERS is what `undust cluster` wrote, or any Parquet, JSONL, CSV or TSV file with the columns url and cluster. A
    URL without duplicates is a cluster of one, and counts: it is what keeps rules from going too far.

    \b
    Examples:
      undust learn clusters.parquet -o rules.json
      undust learn clusters.tsv -o rules.json --holdout 0.5
      undust learn clusters.tsv --into rules.json --expires 90
      undust learn clusters.tsv -o rules.json --method tree --show-tree
    """
    from undust import corpus, pipeline
    from undust.errors import InputError
    from undust.rules.care import dated
    from undust.rules.merge import merge
    from undust.rules.ruleset import RuleSet

    if output is None and into is None:
        raise click.UsageError("give -o FILE, --into RULES, or both")
    old = pipeline.load_rules(into) if into is not None and (output or Path(into).exists()) else RuleSet()
    report = None
    if on_spark(engine, master, show_tree=show_tree, holdout=holdout):
        from undust.cli import on_spark as spark
        from undust.learn.methods import Options

        options = Options(max_fpr, selection, min_coverage)
        rules = spark.learn(master, clusters, output or into or "", method, options, scope == "host")
    else:
        table = corpus.read_clusters(clusters)
        if not table.num_rows:
            raise InputError(f"{clusters}: no rows with url and cluster; give a table of clusters")
        for line in _oddities(table):
            say(line, quiet=quiet)
        learned, kept = (table, None) if holdout is None else pipeline.split_clusters(table, 1 - holdout, seed)
        asked: dict[str, Any] = {"method": method, "max_fpr": max_fpr, "site": scope, "selection": selection}
        with working("learning rules", quiet=quiet) as moved:
            rules = pipeline.learn(learned, **asked, min_coverage=min_coverage, moved=moved)
        if show_tree:
            for tree in pipeline.draw_trees(learned, site=scope):
                click.echo(tree, err=as_json)
        report = None if kept is None else pipeline.evaluate(rules, kept)
    rules = dated(rules, *_dates(learned_at, expires))
    merged = merge(old, rules)
    merged.rules.save(output or into or "")
    _tell(rules, merged if into else None, output or into or "", report, quiet=quiet, as_json=as_json)


def _tell(
    rules: "RuleSet", merged: "Merged | None", target: str, report: "Report | None", *, quiet: bool, as_json: bool
) -> None:
    from undust.cli.evaluate import describe
    from undust.cli.rules import say_merged

    if as_json:
        kept_out = None if report is None else report.to_dict()
        told = {} if merged is None else {"merged": merged.to_dict()}
        print_json({"rules": len(rules), "output": target, "holdout": kept_out, **told})
        return
    for rule in rules:
        say(str(rule), quiet=quiet)
    say(f"{len(rules):,} rules" if len(rules) else "no rules: no duplicates that URLs explain", quiet=quiet)
    if merged is not None:
        say_merged(target, merged.to_dict(), quiet=quiet)
        say(f"{len(merged.rules):,} rules in {target}", quiet=quiet)
    if report is not None:
        say(f"On clusters that were kept out:\n{describe(report)}", quiet=quiet)


def _dates(learned_at: datetime.datetime | None, expires: int | None) -> tuple[str, str]:
    """Give the dates on which rules were learned and expire."""
    day = datetime.date.today() if learned_at is None else learned_at.date()
    return day.isoformat(), "" if expires is None else (day + datetime.timedelta(expires)).isoformat()


def _oddities(clusters: "pa.Table") -> Iterator[str]:
    """Say what is odd about clusters: nothing of it is fatal, none of it is silent."""
    from undust.urls.batch import normalize_many

    normal = normalize_many(clusters["url"])
    if normal.unusable:
        named = "; ".join(f"row {row + 1}: {why}" for row, why in normal.problems[:SHOWN_PROBLEMS])
        yield f"{normal.unusable:,} URLs cannot be parsed and are left out: {named}"
    named = clusters.select(["url", "cluster"]).group_by(["url", "cluster"]).aggregate([])
    if len(named) < len(clusters):
        yield f"{len(clusters) - len(named):,} rows are repeated, and count once"
    twice = len(named) - len(clusters["url"].unique())
    if twice:
        yield f"{twice:,} URLs are in several clusters; each is taken for the one that names it most often"
