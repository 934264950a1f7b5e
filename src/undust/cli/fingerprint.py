"""`undust fingerprint`: files in, content signatures of their pages out."""

from pathlib import Path

import click

from undust.cli.engine import engine_options, on_spark
from undust.cli.reading import inputs_argument, reading_options
from undust.cli.talk import announce_compiling, json_option, progress, quiet_option, summarize


@click.command("fingerprint", short_help="Content signatures of the pages in files.")
@inputs_argument
@click.option("-o", "--output", required=True, metavar="FILE", help="Ends in .parquet, .jsonl, .csv or .tsv (or .gz).")
@click.option(
    "--content",
    type=click.Choice(["all", "main"]),
    default="all",
    show_default=True,
    help="Which text of a page counts: all of it, or its main content without navigation and the like.",
)
@click.option("--exact-only", is_flag=True, help="Digests of bodies only; the text is not looked at.")
@click.option("--links", is_flag=True, help="Keep the words around links, too: for topics, related pages and in-links.")
@reading_options
@engine_options
@quiet_option
@json_option
def command(
    inputs: tuple[str, ...],
    output: str,
    content: str,
    exact_only: bool,
    links: bool,
    jobs: int | None,
    any_status: bool,
    base_url: str | None,
    engine: str,
    master: str | None,
    quiet: bool,
    as_json: bool,
) -> None:
    """Write the content signatures of the pages in INPUT.

    INPUT is any of WARC (.gz, .zst), WACZ, CDX, CDXJ, JSONL, CSV, TSV, Parquet, a folder of HTML files, or - for
    stdin; what it is, its content says. Rows need a column url and one of html, text, digest, cluster.

    With several files, what is done of each is kept in FILE.parts until all are done: a run that was interrupted goes
    on where it was.

    \b
    Examples:
      undust fingerprint crawl.warc.gz -o pages.parquet
      undust fingerprint *.cdx.gz more.jsonl -o pages.parquet --jobs 4
      undust fingerprint crawl/*.warc.gz -o pages.parquet --engine spark --master spark://host:7077
      undust fingerprint site/ --base-url https://example.com/ -o pages.parquet
    """
    announce_compiling(quiet=quiet)
    from undust import corpus, pipeline
    from undust.detect.pages import PageFingerprints

    tally = corpus.Tally()
    if exact_only and links:
        raise click.UsageError("--exact-only looks at no links; leave out one of --exact-only and --links")
    made = PageFingerprints(content, exact_only, links=links)
    if on_spark(engine, master, jobs=jobs):
        from undust.cli import on_spark as spark

        reading = {"any_status": any_status, "base_url": base_url}
        tally = spark.fingerprint(master, inputs, output, made, reading)
        summarize(tally, quiet=quiet, as_json=as_json, output=output)
        return
    aside = Path(f"{output}.parts") if output != "-" else None
    with corpus.TableWriter(output, made.schema) as writer, progress(inputs, quiet=quiet) as moved:
        for batch in pipeline.fingerprint_batches(
            inputs,
            made,
            tally=tally,
            jobs=jobs,
            any_status=any_status,
            base_url=base_url,
            progress=moved,
            keep=aside,
        ):
            writer.write(batch)
        pipeline.require_pages(tally, inputs)
    summarize(tally, quiet=quiet, as_json=as_json, output=output)
