"""`undust run`: everything, from files of pages to rules and what they are worth."""

import contextlib
from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from undust.cli.detection import content_option, detection_options
from undust.cli.reading import inputs_argument, reading_options
from undust.cli.talk import announce_compiling, json_option, print_json, progress, quiet_option, say, working

if TYPE_CHECKING:
    from undust.corpus import Tally

_DOING = {
    "pages": "fingerprints of the pages",
    "clusters": "clusters of duplicates",
    "similarity": "similarities around the threshold",
    "rules": "rules",
    "evaluation": "evaluation on pages that were not learned from",
    "tradeoff": "saving by the limit of false pairs",
    "report": "report",
}


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
    announce_compiling(quiet=quiet)
    from undust.run.flow import REPORT, run

    with contextlib.ExitStack() as shown:
        read: Callable[[Tally], None] = _ignore
        worked: Callable[[int, int], None] = _ignore

        def tell(step: str, kept: bool) -> None:
            nonlocal read, worked
            shown.close()  # what was shown of the step before
            say(f"{_DOING[step]}{': kept from an earlier run' if kept else ' …'}", quiet=quiet)
            if kept:
                return
            if step == "pages":
                read = shown.enter_context(progress(inputs, quiet=quiet))
            else:
                worked = shown.enter_context(working(_DOING[step], quiet=quiet))

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
            tell=tell,
            progress=lambda tally: read(tally),
            moved=lambda done, of: worked(done, of),
        )
    if as_json:
        print_json(found.to_dict())
        return
    unseen = found.told.evaluation["by_cluster"]
    say(
        f"{len(found.rules):,} rules; on pages that were not learned from they save {unseen['compression']:.1%} of the"
        f" fetches ({unseen['recall_of_possible']:.1%} of what is possible) and lose {unseen['pages_lost']:.2%} of the"
        f" pages: {found.folder / REPORT}",
        quiet=quiet,
    )


def _ignore(*told: object) -> None:
    """Show nothing: no step is under way."""
