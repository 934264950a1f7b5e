"""`undust dedup`: pages in, one page of each group of duplicates out."""

import click

from undust.cli.detection import content_option, detection_options
from undust.cli.reading import inputs_argument, reading_options
from undust.cli.talk import announce_compiling, json_option, print_json, progress, quiet_option, say


@click.command("dedup", short_help="Pages without their duplicates.")
@inputs_argument
@click.option("-o", "--output", required=True, metavar="FILE", help="Ends in .parquet, .jsonl, .csv or .tsv (or .gz).")
@click.option(
    "--removed",
    metavar="FILE",
    help="Where the list of removed pages goes.  [default: kept.removed.parquet for kept.parquet]",
)
@click.option(
    "--method",
    type=click.Choice(["exact", "simhash", "minhash", "bag", "cascade"]),
    default="minhash",
    show_default=True,
    help="What a duplicate is: equal bodies; besides, simhashes within --distance bits, shingles of --threshold"
    " similarity, words of --threshold similarity in any order (bag), or the cascade of keywords, sentences"
    " and simhash.",
)
@detection_options(by="star")
@click.option(
    "--keep",
    default="canonical,https,shortest,first",
    show_default=True,
    metavar="POLICIES",
    help="Which page of a group stays: any of canonical, https, shortest, first, newest, inlinks, longest, center;"
    " each decides what those before it left open.",
)
@content_option
@click.option("--text", is_flag=True, help="Write the text of the pages instead of their HTML.")
@reading_options
@quiet_option
@json_option
def command(
    inputs: tuple[str, ...],
    output: str,
    removed: str | None,
    method: str,
    by: str,
    threshold: float | None,
    distance: int,
    memory: str | None,
    keep: str,
    content: str,
    text: bool,
    jobs: int | None,
    any_status: bool,
    base_url: str | None,
    quiet: bool,
    as_json: bool,
) -> None:
    """Write the pages of INPUT without their duplicates, in their order, and a list of those that were removed.

    INPUT is what `undust fingerprint` reads. The list tells of each removed page which kept page it is a duplicate of,
    by which method, and how similar the two are. Pages are read twice; signatures are kept in FILE.parts until all is
    done, so that a run that was interrupted goes on where it was.

    \b
    Examples:
      undust dedup crawl.warc.gz -o kept.parquet
      undust dedup *.warc.gz -o corpus.jsonl.gz --text --memory 2GB
      undust dedup pages.jsonl -o kept.jsonl --method simhash --distance 6 --keep https,shortest
    """
    announce_compiling(quiet=quiet)
    from undust import dedup
    from undust.corpus.write import output_format
    from undust.dedup import removed_name, require_apart
    from undust.outputs import parts_folder

    for name in (output, removed):
        output_format(name or "-")
    require_apart(inputs, output, removed or removed_name(output))
    with parts_folder(output) as folder:
        with progress(inputs, quiet=quiet) as moved:
            found = dedup(
                *inputs,
                method=method,
                by=by,
                threshold=threshold,
                distance=distance,
                keep=keep,
                content=content,
                memory=memory,
                jobs=jobs,
                any_status=any_status,
                base_url=base_url,
                progress=moved,
                folder=folder,
            )
        with progress(inputs, quiet=quiet, doing="writing") as moved:
            listed = found.save(output, removed, text=text, jobs=jobs, progress=moved)
    told = found.to_dict()
    if as_json:
        print_json({**told, "output": output, "removed_output": listed})
        return
    say(found.tally.summary(), quiet=quiet)
    why = ", ".join(f"{name} {count:,}" for name, count in told["removed_by"].items())
    say(
        f"kept {told['kept']:,} of {told['pages']:,} pages; removed {told['removed']:,} ({told['removed_rate']:.1%})"
        + (f": {why}" if why else "")
        + (f"; the list is in {listed}" if listed else ""),
        quiet=quiet,
    )
