"""`undust compare`: learners side by side; or ways to find duplicates, on clusters that are known."""

from typing import TYPE_CHECKING, Any

import click

from undust.cli.detection import content_option, memory_option
from undust.cli.reading import reading_options
from undust.cli.talk import announce_compiling, json_option, print_json, progress, quiet_option, say, working

if TYPE_CHECKING:
    from undust.compare.report import LearnerReport
    from undust.comparison import CascadeReport, DetectionReport


@click.command("compare", short_help="Learners, or methods, side by side, on known clusters.")
@click.argument("truth", metavar="CLUSTERS")
@click.argument("pages", nargs=-1, metavar="[PAGES]...")
@click.option("--clusters", "of_clusters", is_flag=True, help="Every way to find duplicates among PAGES.")
@click.option("--cascade", "of_cascade", is_flag=True, help="The figures of paper 001: the cascade, by its thresholds.")
@click.option(
    "--seed",
    "seeds",
    type=int,
    multiple=True,
    default=[0],
    show_default=True,
    help="How clusters are parted, for learners; may be given several times, and means are told.",
)
@click.option("--learner", "only", multiple=True, metavar="NAME", help="Only this learner; may be given several times.")
@click.option("--brief", is_flag=True, help="Learners side by side only, without the tables of papers 000 and 003.")
@click.option(
    "--max-fpr",
    type=click.FloatRange(0, 1),
    default=0.01,
    show_default=True,
    help="Share of false pairs that learners may allow a rule.",
)
@click.option("-o", "--output", metavar="FILE", help="Write the comparison of learners as an HTML page, too.")
@click.option(
    "--threshold",
    "thresholds",
    type=click.FloatRange(0, 1, min_open=True),
    multiple=True,
    help="Least Jaccard similarity, for minhash and bag; may be given several times.  [default: 0.8 and 0.9]",
)
@click.option(
    "--distance",
    "distances",
    type=click.IntRange(0, 16),
    multiple=True,
    default=[3],
    show_default=True,
    help="Most bits in which simhashes differ; may be given several times.",
)
@content_option
@memory_option
@reading_options
@quiet_option
@json_option
def command(
    truth: str,
    pages: tuple[str, ...],
    of_clusters: bool,
    of_cascade: bool,
    seeds: tuple[int, ...],
    only: tuple[str, ...],
    brief: bool,
    max_fpr: float,
    output: str | None,
    thresholds: tuple[float, ...],
    distances: tuple[int, ...],
    content: str,
    memory: str | None,
    jobs: int | None,
    any_status: bool,
    base_url: str | None,
    quiet: bool,
    as_json: bool,
) -> None:
    """Compare learners on CLUSTERS, which are known to be right: tables with the columns url and cluster.

    Every learner learns from a part of the clusters, and its rules are measured on the rest: by cluster (half of the
    clusters) and by sample (30 % of the URLs). Then the tables and figures of the papers on learning from pairs and by
    pattern tree follow. Several tables are taken as one.

    With --clusters, duplicates are found among PAGES by every method, and the pairs of URLs that each brings together
    are counted beside those of CLUSTERS: precision, recall and F1. With --cascade, precision, recall and F against
    the sentence threshold T_S, and time against the number of documents, with and without K-modes. PAGES is what
    `undust fingerprint` wrote, or any input that it reads.

    \b
    Examples:
      undust compare clusters.tsv
      undust compare *.clusters.tsv --seed 0 --seed 1 --seed 2 -o compare.html --json
      undust compare truth.tsv --clusters crawl.warc.gz
      undust compare truth.tsv --clusters pages.parquet --threshold 0.7 --threshold 0.9 --json
      undust compare truth.tsv --cascade crawl.warc.gz --distance 6
    """
    if of_clusters and of_cascade:
        raise click.UsageError("one of --clusters and --cascade, or neither of them to compare learners")
    if not (of_clusters or of_cascade):
        found = _learners((truth, *pages), seeds, only, brief, max_fpr, output, quiet)
        if as_json:
            print_json(found.to_dict())
        else:
            from undust.compare.report import as_text

            click.echo(as_text(found))
        return
    if output:
        raise click.UsageError("-o is for the comparison of learners; --json prints the others for programs")
    if not pages:
        raise click.UsageError("give the pages to find duplicates among, after CLUSTERS")
    announce_compiling(quiet=quiet)
    from undust import comparison, corpus, pipeline
    from undust.asides import scratch_folder
    from undust.detect.pages import PageFingerprints

    known = corpus.read_clusters(truth)
    tally = corpus.Tally()
    reading: dict[str, Any] = {"jobs": jobs, "any_status": any_status, "base_url": base_url}
    with scratch_folder() as folder:
        made = PageFingerprints(
            content, signatures=("simhash", "minhash", "shingles", "bags", "terms", "sentences", "keywords")
        )
        with progress(pages, quiet=quiet) as moved:
            source = pipeline.open_fingerprints(pages, folder, tally=tally, made=made, progress=moved, **reading)
        pipeline.require_pages(tally, pages)
        report: DetectionReport | CascadeReport
        with working("comparing methods", quiet=quiet):
            if of_clusters:
                report = comparison.compare_detection(
                    source, known, threshold=thresholds or None, distance=distances, memory=memory
                )
                shown = describe_detection(report)
            else:
                report = comparison.compare_cascade(source, known, distance=distances[0])
                shown = describe_cascade(report)
    if as_json:
        print_json(report.to_dict())
        return
    say(tally.summary(), quiet=quiet)
    click.echo(shown)


def _learners(
    files: tuple[str, ...],
    seeds: tuple[int, ...],
    only: tuple[str, ...],
    brief: bool,
    max_fpr: float,
    output: str | None,
    quiet: bool,
) -> "LearnerReport":
    """Compare learners on tables of clusters, and write the page if one is wanted."""
    announce_compiling(quiet=quiet)
    from undust import compare, corpus

    def tell(doing: str) -> None:
        say(f"{doing} …", quiet=quiet)

    clusters = compare.joined([(file, corpus.read_clusters(file)) for file in files])
    found = compare.compare(clusters, seeds=seeds, only=only, max_fpr=max_fpr, papers=not brief, tell=tell)
    if output:
        from undust.compare.page import as_page
        from undust.outputs import write_whole

        write_whole(output, as_page(found).encode())
    return found


def describe_detection(report: "DetectionReport") -> str:
    """Write the methods as a table for people."""
    lines = [f"{report.pages:,} pages in {report.clusters:,} known clusters"]
    if report.unknown or report.missing:
        lines[0] += f"; left out: {report.unknown:,} pages that are not known, {report.missing:,} URLs without a page"
    lines.append(
        f"{'method':<9} {'by':<11} {'setting':<14} {'clusters':>9} {'precision':>10} {'recall':>8} {'F1':>8} {'s':>7}"
    )
    for one in report.methods:
        found = one.measures
        lines.append(
            f"{one.method:<9} {one.by or '':<11} {one.setting or '':<14} {one.clusters:>9,} {found.precision:>10.4f}"
            f" {found.recall:>8.4f} {found.f1:>8.4f} {one.seconds:>7.2f}"
        )
    return "\n".join(lines)


def describe_cascade(report: "CascadeReport") -> str:
    """Write the figures of paper 001 as tables for people."""
    lines = [
        f"{report.documents:,} documents, {report.duplicates:,} of them duplicates; T_B = {report.max_distance} bits",
        "",
        "Documents detected, by T_S   without clustering (figure 5)    with clustering (figure 7)",
        f"{'T_S':>4} {'':<20} {'precision':>9} {'recall':>7} {'F':>7}     {'precision':>9} {'recall':>7} {'F':>7}",
    ]
    for one, other in zip(report.accuracy["without"], report.accuracy["with"], strict=True):
        lines.append(
            f"{one.max_sentences:>4} {'':<20} {one.precision:>9.4f} {one.recall:>7.4f} {one.f1:>7.4f}"
            f"     {other.precision:>9.4f} {other.recall:>7.4f} {other.f1:>7.4f}"
        )
    lines += [
        "",
        "A new page, ms of processor without clustering (figure 6)    with clustering (figure 8)",
        f"{'documents':>9} {'':<11}" + 2 * f" {'compared':>11} {'scan':>8} {'index':>8}",
    ]
    for row in report.times:
        lines.append(
            f"{row['documents']:>9,} {'':<11}"
            + "".join(
                f" {row[f'compared_{name}']:>11,.1f} {row[f'scan_{name}']:>8.4f} {row[f'index_{name}']:>8.4f}"
                for name in ("without", "with")
            )
        )
    return "\n".join(lines)
