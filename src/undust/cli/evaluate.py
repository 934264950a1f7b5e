"""`undust evaluate`: what rules save and lose, on clusters that are known."""

from typing import TYPE_CHECKING

import click

from undust.cli.engine import engine_options, on_spark
from undust.cli.talk import json_option, print_json, quiet_option, working

if TYPE_CHECKING:
    from undust.evaluate.report import Report

SHOWN_SITES = 20
SHOWN_RULES = 20


@click.command("evaluate", short_help="What rules save and lose, on known clusters.")
@click.argument("rules", metavar="RULES")
@click.argument("clusters", metavar="CLUSTERS")
@engine_options
@quiet_option
@json_option
def command(rules: str, clusters: str, engine: str, master: str | None, quiet: bool, as_json: bool) -> None:
    """Measure what RULES do to the URLs of CLUSTERS.

    \b
    Examples:
      undust evaluate rules.json clusters.parquet
      undust evaluate rules.json clusters.tsv --json
    """
    from undust import corpus, pipeline
    from undust.rule_files import load_rules

    rule_set = load_rules(rules)
    if on_spark(engine, master):
        from undust.cli import on_spark as spark

        report = spark.evaluate(master, rule_set, clusters)
    else:
        with working("applying rules", quiet=quiet):
            report = pipeline.evaluate(rule_set, corpus.read_clusters(clusters))
    if as_json:
        print_json(report.to_dict())
    elif not quiet:
        click.echo(describe(report))


def describe(report: "Report") -> str:
    """Write a report as a few lines for people; every saving beside its price."""
    whole = report.micro
    lines = [
        f"  {whole.urls:,} URLs in {whole.clusters:,} clusters ({whole.duplicate_rate:.1%} duplicates);"
        f" {report.rules:,} rules leave {whole.keys:,} keys",
        f"  fetches saved {whole.compression:.1%} ({whole.recall_of_possible:.1%} of what is possible)",
        f"  pages lost {whole.pages_lost:.2%}, false pairs {whole.fpr:.2%}",
    ]
    if report.unusable:
        lines.append(f"  {report.unusable:,} URLs cannot be parsed and are left out")
    lines += [
        f"    decides {each.coverage:,}, saves {each.saved:,}, false pairs {each.fpr:.2%},"
        f" loses {each.clusters_lost:,}: {each.rule}"
        for each in sorted(report.by_rule, key=lambda each: -each.saved)[:SHOWN_RULES]
        if each.coverage
    ]
    if len(report.sites) > 1:
        macro = report.macro
        lines.append(
            f"  mean of {len(report.sites):,} sites: saved {macro['compression']:.1%},"
            f" lost {macro['pages_lost']:.2%}, false pairs {macro['fpr']:.2%}"
        )
        most = sorted(report.sites.items(), key=lambda site: (-site[1].urls, site[0]))[:SHOWN_SITES]
        lines += [
            f"    {site}: saved {found.compression:.1%} of {found.urls:,}, lost {found.pages_lost:.2%}"
            for site, found in most
        ]
    return "\n".join(lines)
