"""`undust demo`: the whole flow on the sample that ships with undust."""

from typing import TYPE_CHECKING

import click

from undust.cli.steps import showing
from undust.cli.talk import announce_compiling, quiet_option

if TYPE_CHECKING:
    import pyarrow as pa

SHOWN = 6


@click.command("demo", short_help="The whole flow on a sample that ships with undust.")
@click.option("-o", "--output", default="undust-demo", show_default=True, metavar="DIR", help="Where the tables go.")
@quiet_option
def command(output: str, quiet: bool) -> None:
    """Find the duplicates among 299 recorded pages of four sites, learn from them, and show some.

    \b
    Example:
      undust demo
    """
    import shlex
    from importlib import resources

    announce_compiling(quiet=quiet, all_needed=True)
    from undust import corpus, pipeline
    from undust.run.flow import CLUSTERS, REPORT, run

    shipped = resources.files("undust") / "data" / "sample.warc.gz"
    with resources.as_file(shipped) as sample, showing([str(sample)], quiet=quiet) as told:
        found = run(sample, output=output, method="exact", content="all", **told)
    folder, rules = found.folder, found.rules
    clusters = corpus.read_clusters(folder / CLUSTERS)
    if quiet:
        return
    counts = pipeline.count_clusters(clusters)
    click.echo(
        "{urls} pages of four sites hold {clusters} different ones: {duplicates} fetches"
        " ({duplicate_rate:.0%}) brought nothing new.\n".format(**counts)
    )
    for group in _one_of_each_host(clusters):
        click.echo("  the same page:\n" + "".join(f"    {url}\n" for url in group))
    saved = pipeline.evaluate(rules, clusters).micro
    click.echo(
        f"What the sites do to their URLs, learned from that; it saves {saved.compression:.0%} of the fetches:\n"
    )
    click.echo("".join(f"  {rule}\n" for rule in rules))
    new = "http://mirror.files.test:8180/doc/a-page-that-nobody-fetched/?C=S;O=D"
    click.echo(f"So, of a page that nobody has fetched,\n  {new}\nis\n  {rules.normalize(new)}\n")
    click.echo(f"All of it is in {folder}/; look at {folder / REPORT} with a browser. Then try\n")
    named = shlex.quote(str(folder))
    for command, about in (
        (f"undust explain -r {named}/rules.json '{new}'", "why that is so"),
        (f"undust serve {named}", "sites, rules and pages to look through, and an API"),
        ("undust run crawl.warc.gz -o crawl", "the same with pages of your own"),
    ):
        click.echo(f"  {command}\n      {about}")


def _one_of_each_host(clusters: "pa.Table") -> list[list[str]]:
    """Choose clusters to show: for each combination of hosts the one with the shortest URLs."""
    groups: dict[str, list[str]] = {}
    for url, cluster in zip(clusters["url"].to_pylist(), clusters["cluster"].to_pylist(), strict=True):
        groups.setdefault(cluster, []).append(url)
    best: dict[tuple[str, ...], list[str]] = {}
    for urls in sorted((urls for urls in groups.values() if len(urls) > 1), key=lambda urls: (len(str(urls)), urls)):
        best.setdefault(tuple(url.split("/")[2] for url in urls), urls)
    return list(best.values())[:SHOWN]
