"""`undust cluster`: fingerprints in, clusters of duplicate pages out."""

from typing import TYPE_CHECKING, Any

import click

from undust.cli.detection import detection_options
from undust.cli.engine import engine_options, on_spark
from undust.cli.reading import inputs_argument, reading_options
from undust.cli.talk import announce_compiling, json_option, print_json, progress, quiet_option, say, working

if TYPE_CHECKING:
    from undust.corpus import Tally


@click.command("cluster", short_help="Clusters of duplicate pages.")
@inputs_argument
@click.option("-o", "--output", required=True, metavar="FILE", help="Ends in .parquet, .jsonl, .csv or .tsv (or .gz).")
@click.option(
    "--method",
    type=click.Choice(["exact", "simhash", "minhash", "bag", "cascade", "topical"]),
    default="exact",
    show_default=True,
    help="What a duplicate is: equal bodies, simhashes within --distance bits, shingles of --threshold similarity,"
    " words of --threshold similarity in any order (bag), or the cascade of keywords, sentences and simhash. topical:"
    " not duplicates, but pages about the same things, of --threshold similarity (0.2 if you do not say) of their"
    " --bags; with the topic that each cluster belongs to.",
)
@detection_options(by="center")
@click.option(
    "--bags",
    type=click.Choice(["content", "anchors"]),
    default="content",
    show_default=True,
    help="What topical compares: the words of a page, or its title and the words on and around links to it.",
)
@click.option("--uncrawled", is_flag=True, help="With --bags anchors: also URLs that only links name.")
@click.option(
    "--keep",
    metavar="POLICIES",
    help="Name the page of each cluster to keep, in a column keeper: any of canonical, https, shortest, first, newest,"
    " inlinks, longest, center; each decides what those before it left open.",
)
@reading_options
@engine_options
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
    bags: str,
    uncrawled: bool,
    keep: str | None,
    jobs: int | None,
    any_status: bool,
    base_url: str | None,
    engine: str,
    master: str | None,
    quiet: bool,
    as_json: bool,
) -> None:
    """Write which pages are duplicates: a table with the columns url and cluster.

    INPUT is what `undust fingerprint` wrote. Other inputs (WARC, CDX, …) are fingerprinted first. A page without
    duplicates is a cluster of one.

    \b
    Examples:
      undust cluster pages.parquet -o clusters.parquet
      undust cluster pages.parquet -o clusters.parquet --method minhash --threshold 0.9 --memory 2GB
      undust cluster pages.parquet -o clusters.parquet --keep canonical,https,shortest
      undust cluster pages.parquet -o topics.parquet --method topical
      undust cluster crawl.warc.gz -o clusters.tsv
    """
    announce_compiling(quiet=quiet)
    from undust import corpus, pipeline
    from undust.asides import scratch_folder
    from undust.clustering import SIGNATURES
    from undust.corpus.write import output_format
    from undust.detect.pages import PageFingerprints
    from undust.outputs import parts_folder
    from undust.topical_clustering import count_topics

    tally = corpus.Tally()
    reading: dict[str, Any] = {"jobs": jobs, "any_status": any_status, "base_url": base_url}
    output_format(output)
    needed = ("terms",) if method == "topical" else SIGNATURES[method]
    bare = method == "exact" and keep is None  # which needs nothing of the text
    made = PageFingerprints(signatures=needed, links=method == "topical" and bags == "anchors", exact_only=bare)
    if on_spark(engine, master, jobs=jobs, keep=keep, memory=memory, uncrawled=uncrawled):
        from undust.cli import on_spark as spark

        del reading["jobs"]
        options = {"method": method, "by": by, "threshold": threshold, "distance": distance}
        tally, counts = spark.cluster(master, inputs, output, made, reading, options)
        _tell(tally, counts, method, output, quiet=quiet, as_json=as_json)
        return
    with parts_folder(output) as folder, scratch_folder(folder) as files:
        with progress(inputs, quiet=quiet) as moved:
            fingerprints = pipeline.open_fingerprints(inputs, files, tally=tally, made=made, progress=moved, **reading)
        pipeline.require_pages(tally, inputs)
        with working("clusters of duplicates", quiet=quiet):
            clusters = pipeline.cluster(
                fingerprints,
                method=method,
                by=by,
                threshold=threshold,
                distance=distance,
                bags=bags,
                uncrawled=uncrawled,
                keep=keep,
                memory=memory,
                folder=folder,
            )
    corpus.write_table(clusters, output)
    counts = count_topics(clusters) if method == "topical" else pipeline.count_clusters(clusters)
    _tell(tally, counts, method, output, quiet=quiet, as_json=as_json)


def _tell(tally: "Tally", counts: dict[str, Any], method: str, output: str, *, quiet: bool, as_json: bool) -> None:
    if as_json:
        print_json({**counts, "read": tally.to_dict(), "output": output})
        return
    say(tally.summary(), quiet=quiet)
    told = (
        "{urls:,} URLs in {clusters:,} clusters of {topics:,} topics, largest cluster {largest:,}"
        if method == "topical"
        else "{urls:,} URLs in {clusters:,} clusters; {duplicates:,} duplicates ({duplicate_rate:.1%}),"
        " largest cluster {largest:,}"
    )
    say(told.format(**counts), quiet=quiet)
