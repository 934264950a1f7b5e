"""`undust fingerprint`: files in, content signatures of their pages out."""

import click

from undust.cli.reading import inputs_argument, reading_options
from undust.cli.talk import json_option, progress, quiet_option, summarize


@click.command("fingerprint", short_help="Content signatures of the pages in files.")
@inputs_argument
@click.option("-o", "--output", required=True, metavar="FILE", help="Ends in .parquet, .jsonl, .csv or .tsv (or .gz).")
@reading_options
@quiet_option
@json_option
def command(
    inputs: tuple[str, ...],
    output: str,
    jobs: int | None,
    any_status: bool,
    base_url: str | None,
    quiet: bool,
    as_json: bool,
) -> None:
    """Write the content signatures of the pages in INPUT.

    INPUT is any of WARC (.gz, .zst), WACZ, CDX, CDXJ, JSONL, CSV, TSV, Parquet, a folder of HTML files, or - for
    stdin; what it is, its content says. Rows need a column url and one of html, text, digest, cluster.

    \b
    Examples:
      undust fingerprint crawl.warc.gz -o pages.parquet
      undust fingerprint *.cdx.gz more.jsonl -o pages.parquet --jobs 4
      undust fingerprint site/ --base-url https://example.com/ -o pages.parquet
    """
    from undust import corpus, pipeline
    from undust.tables import FINGERPRINTS

    tally = corpus.Tally()
    with corpus.TableWriter(output, FINGERPRINTS) as writer, progress(inputs, quiet=quiet) as moved:
        for batch in pipeline.fingerprint_batches(
            inputs, tally=tally, jobs=jobs, any_status=any_status, base_url=base_url, progress=moved
        ):
            writer.write(batch)
        pipeline.require_pages(tally, inputs)
    summarize(tally, quiet=quiet, as_json=as_json, output=output)
