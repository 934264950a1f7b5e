"""`undust cluster`: fingerprints in, clusters of duplicate pages out."""

import click

from undust.cli.reading import inputs_argument, reading_options
from undust.cli.talk import announce_compiling, json_option, print_json, progress, quiet_option, say


@click.command("cluster", short_help="Clusters of duplicate pages.")
@inputs_argument
@click.option("-o", "--output", required=True, metavar="FILE", help="Ends in .parquet, .jsonl, .csv or .tsv (or .gz).")
@click.option(
    "--method",
    type=click.Choice(["exact", "simhash", "minhash", "cascade"]),
    default="exact",
    show_default=True,
    help="What a duplicate is: equal bodies, simhashes within --distance bits, shingles of --threshold similarity,"
    " or the cascade of keywords, sentences and simhash.",
)
@click.option(
    "--by",
    type=click.Choice(["center", "components"]),
    default="center",
    show_default=True,
    help="Around centres, so that each page is like its centre; or all that pairs connect.",
)
@click.option(
    "--threshold",
    type=click.FloatRange(0, 1, min_open=True),
    default=0.8,
    show_default=True,
    help="Least Jaccard similarity of shingles, for minhash.",
)
@click.option(
    "--distance",
    type=click.IntRange(0, 16),
    default=3,
    show_default=True,
    help="Most bits in which simhashes differ, for simhash and cascade.",
)
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
      undust cluster pages.parquet -o clusters.parquet --method minhash --threshold 0.9
      undust cluster crawl.warc.gz -o clusters.tsv
    """
    announce_compiling(quiet=quiet)
    from undust import corpus, pipeline

    tally = corpus.Tally()
    with progress(inputs, quiet=quiet) as moved:
        fingerprints = pipeline.read_fingerprints(
            inputs,
            tally=tally,
            exact_only=method == "exact",
            jobs=jobs,
            any_status=any_status,
            base_url=base_url,
            progress=moved,
        )
    pipeline.require_pages(tally, inputs)
    clusters = pipeline.cluster(fingerprints, method=method, by=by, threshold=threshold, distance=distance)
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
