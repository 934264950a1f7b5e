"""`undust cluster`: fingerprints in, clusters of duplicate pages out."""

import click

from undust.cli.reading import inputs_argument, reading_options
from undust.cli.talk import json_option, print_json, progress, quiet_option, say


@click.command("cluster", short_help="Clusters of duplicate pages.")
@inputs_argument
@click.option("-o", "--output", required=True, metavar="FILE", help="Ends in .parquet, .jsonl, .csv or .tsv (or .gz).")
@click.option("--method", type=click.Choice(["exact"]), default="exact", show_default=True, help="What a duplicate is.")
@reading_options
@quiet_option
@json_option
def command(
    inputs: tuple[str, ...],
    output: str,
    method: str,
    jobs: int | None,
    any_status: bool,
    base_url: str | None,
    quiet: bool,
    as_json: bool,
) -> None:
    """Write which pages are duplicates: a table with the columns url and cluster.

    INPUT is what `undust fingerprint` wrote. Other inputs (WARC, CDX, …) are fingerprinted first. A page without
    duplicates is a cluster of one.

    \b
    Examples:
      undust cluster pages.parquet -o clusters.parquet
      undust cluster crawl.warc.gz -o clusters.tsv
    """
    from undust import corpus, pipeline

    tally = corpus.Tally()
    with progress(inputs, quiet=quiet) as moved:
        fingerprints = pipeline.read_fingerprints(
            inputs, tally=tally, jobs=jobs, any_status=any_status, base_url=base_url, progress=moved
        )
    pipeline.require_pages(tally, inputs)
    clusters = pipeline.cluster(fingerprints, method=method)
    corpus.write_table(clusters, output)
    counts = pipeline.count_clusters(clusters)
    if as_json:
        print_json({**counts, "read": tally.to_dict(), "output": output})
        return
    say(tally.summary(), quiet=quiet)
    say(
        "{urls:,} URLs in {clusters:,} clusters; {duplicates:,} duplicates ({duplicate_rate:.1%}),"
        " largest cluster {largest:,}".format(**counts),
        quiet=quiet,
    )
