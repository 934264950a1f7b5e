"""`undust run`: everything, from files of pages to rules and what they are worth."""

from typing import TYPE_CHECKING

import click

from undust.cli.detection import content_option, detection_options
from undust.cli.reading import inputs_argument, reading_options
from undust.cli.steps import showing
from undust.cli.talk import announce_compiling, json_option, print_json, quiet_option, say

if TYPE_CHECKING:
    from undust.run.flow import Outcome


@click.command("run", short_help="Everything: fingerprints, clusters, rules, evaluation, a report.")
@inputs_argument
@click.option("-o", "--output", required=True, metavar="DIR", help="Folder for all that is found.")
@click.option(
    "--method",
    type=click.Choice(["exact", "simhash", "minhash", "bag", "cascade"]),
    default="bag",
    show_default=True,
    help="What a duplicate is; see `undust cluster`.",
)
@detection_options(by="star")
@content_option
@click.option(
    "--learner",
    default="both",
    show_default=True,
    metavar="NAME",
    help="How to learn rules: both, tree, pairwise, rewrite or dust; see `undust learn --method`.",
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
    "--holdout",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.5,
    show_default=True,
    metavar="SHARE",
    help="Share of the clusters that rules are tested on, in the evaluation.",
)
@click.option("--seed", default=0, show_default=True, help="Which clusters these are.")
@reading_options
@quiet_option
@json_option
def command(
    inputs: tuple[str, ...],
    output: str,
    method: str,
    by: str,
    threshold: float | None,
    distance: int,
    memory: str | None,
    content: str,
    learner: str,
    max_fpr: float,
    min_coverage: int | None,
    scope: str,
    holdout: float,
    seed: int,
    jobs: int | None,
    any_status: bool,
    base_url: str | None,
    quiet: bool,
    as_json: bool,
) -> None:
    """Find the duplicates in INPUT, learn rules from them, and say what the rules save and lose.

    INPUT is what `undust fingerprint` reads, fingerprints, or clusters; from these it begins. DIR gets pages.parquet,
    clusters.parquet, rules.json, evaluation.json and the report: report.html to look at, report.json with every
    number, report.txt. A run that was interrupted goes on where it was; a step whose inputs and options have not
    changed is not done again.

    \b
    Examples:
      undust run crawl.warc.gz -o found
      undust run *.warc.gz -o found --method simhash --jobs 4
      undust run clusters.tsv -o found
    """
    announce_compiling(quiet=quiet, all_needed=True)
    from undust.run.flow import REPORT, run

    with showing(inputs, quiet=quiet) as told:
        found = run(
            *inputs,
            output=output,
            method=method,
            by=by,
            threshold=threshold,
            distance=distance,
            content=content,
            learner=learner,
            max_fpr=max_fpr,
            min_coverage=min_coverage,
            site=scope,
            holdout=holdout,
            seed=seed,
            memory=memory,
            jobs=jobs,
            any_status=any_status,
            base_url=base_url,
            **told,
        )
    if as_json:
        print_json(found.to_dict())
        return
    say(f"{_summary(found)}: {found.folder / REPORT}", quiet=quiet)


def _summary(found: "Outcome") -> str:
    from undust.run.html.numbers import percent, plural

    if not len(found.rules):
        return "no rules, as URLs explain no duplicates here"
    unseen = found.told.evaluation["by_cluster"]
    return (
        f"{plural(len(found.rules), 'rule')}; on pages that were not learned from, rules save"
        f" {percent(unseen['compression'])} of the fetches ({percent(unseen['recall_of_possible'])} of what is"
        f" possible) and lose {percent(unseen['pages_lost'], 2)} of the pages"
    )
