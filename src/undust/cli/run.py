"""`undust run`: everything, from files of pages to rules and what they are worth."""

import contextlib

import click

from undust.cli.detection import content_option, detection_options
from undust.cli.reading import inputs_argument, reading_options
from undust.cli.talk import announce_compiling, json_option, print_json, progress, quiet_option, say

_DOING = {
    "pages": "fingerprints of the pages",
    "clusters": "clusters of duplicates",
    "rules": "rules",
    "evaluation": "evaluation on pages that were not learned from",
}


@click.command("run", short_help="Everything: fingerprints, clusters, rules, evaluation.")
@inputs_argument
@click.option("-o", "--output", required=True, metavar="DIR", help="Folder for all that is found.")
@click.option(
    "--method",
    type=click.Choice(["exact", "simhash", "minhash", "cascade"]),
    default="minhash",
    show_default=True,
    help="What a duplicate is; see `undust cluster`.",
)
@detection_options(by="center")
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
    threshold: float,
    distance: int,
    memory: str | None,
    content: str,
    learner: str,
    max_fpr: float,
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
    clusters.parquet, rules.json, evaluation.json and report.txt. A run that was interrupted goes on where it was; a
    step whose inputs and options have not changed is not done again.

    \b
    Examples:
      undust run crawl.warc.gz -o found
      undust run *.warc.gz -o found --method simhash --jobs 4
      undust run clusters.tsv -o found
    """
    announce_compiling(quiet=quiet)
    from undust.corpus import Tally
    from undust.run.flow import REPORT, run

    with contextlib.ExitStack() as shown:
        moved = shown.enter_context(progress(inputs, quiet=quiet))

        def tell(step: str, kept: bool) -> None:
            if step != "pages":
                shown.close()  # the bar counts what is read
            say(f"{_DOING[step]}{': kept from an earlier run' if kept else ' …'}", quiet=quiet)

        def move(tally: Tally) -> None:
            moved(tally)

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
            site=scope,
            holdout=holdout,
            seed=seed,
            memory=memory,
            jobs=jobs,
            any_status=any_status,
            base_url=base_url,
            tell=tell,
            progress=move,
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
