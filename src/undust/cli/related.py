"""`undust related`: which pages are about the same things as a page."""

import contextlib

import click

from undust.cli.detection import memory_option
from undust.cli.talk import announce_compiling, print_json, quiet_option, say, working


@click.command("related", short_help="Pages about the same things as a page.")
@click.argument("pages", metavar="PAGES")
@click.argument("url", metavar="URL")
@click.option("-n", "--number", type=click.IntRange(min=1), default=10, show_default=True, help="How many, at most.")
@click.option(
    "--below",
    type=click.FloatRange(0, 1, min_open=True),
    metavar="SIMILARITY",
    help="Only pages that are less similar: without near duplicates, at 0.8 or so.",
)
@click.option(
    "--bags",
    type=click.Choice(["content", "anchors"]),
    default="content",
    show_default=True,
    help="What is compared: the words of a page, or its title and the words on and around links to it.",
)
@click.option("--uncrawled", is_flag=True, help="With --bags anchors: also URLs that only links name.")
@click.option(
    "--threshold",
    type=click.FloatRange(0, 1, min_open=True),
    default=0.2,
    show_default=True,
    help="Least similarity of related pages.",
)
@click.option(
    "--index", metavar="FILE", help="Where the index is.  [default: PAGES.content.related or .anchors.related]"
)
@memory_option
@quiet_option
@click.option("--json", "as_json", is_flag=True, help="Print the answer as one JSON object on stdout.")
def command(
    pages: str,
    url: str,
    number: int,
    below: float | None,
    bags: str,
    uncrawled: bool,
    threshold: float,
    index: str | None,
    memory: str | None,
    quiet: bool,
    as_json: bool,
) -> None:
    """Print the pages most related to the page at URL, with their similarity, the most similar first.

    PAGES is what `undust fingerprint` wrote (or a crawl, which is fingerprinted first). The first question makes an
    index beside it; after that, answers take milliseconds. The index is made anew when PAGES has changed.

    \b
    Examples:
      undust related pages.parquet https://example.com/cats
      undust related pages.parquet https://example.com/cats -n 3 --below 0.8 --json
      undust related pages.parquet https://example.com/cats --bags anchors
    """
    if uncrawled and bags != "anchors":
        raise click.UsageError("--uncrawled pages are known by links only; use --bags anchors")
    from undust.related_pages import open_related

    with contextlib.ExitStack() as shown:

        def tell(message: str) -> None:
            say(message, quiet=quiet)
            announce_compiling(quiet=quiet)
            shown.enter_context(working("index of related pages", quiet=quiet))

        found = open_related(
            pages, bags=bags, threshold=threshold, uncrawled=uncrawled, index=index, memory=memory, tell=tell
        )
    answer = found.related(url, number, below=below)
    if as_json:
        print_json({"url": url, "related": [page._asdict() for page in answer]})
        return
    for page in answer:
        click.echo(f"{page.similarity:.3f}\t{page.url}")
    if not answer:
        say(f"no page is related to it with a similarity of {threshold:g} or more", quiet=quiet)
