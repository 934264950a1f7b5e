"""`undust crawl`: fetch sites, each page once."""

import contextlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import click

from undust.cli.talk import announce_compiling, json_option, print_json, quiet_option, say
from undust.errors import InputError, UsageError

if TYPE_CHECKING:
    from undust.crawl.loop import Loop


@click.command("crawl", short_help="Fetch sites, each page once.")
@click.argument("urls", nargs=-1, metavar="URL...")
@click.option("-o", "--output", metavar="DIR", help="Folder for pages, tables, rules and the state of the crawl.")
@click.option("--resume", is_flag=False, flag_value="-", metavar="[DIR]", help="Go on with the crawl in DIR (or -o).")
@click.option("-r", "--rules", metavar="FILE", help="Rules to begin with; see `undust learn`.")
@click.option("--learn", is_flag=True, help="Learn rules while crawling, and skip what they say is there already.")
@click.option(
    "--explore", type=click.FloatRange(0, 1), default=0.05, show_default=True, metavar="SHARE",
    help="Share of what would be skipped that is fetched all the same, to check the rules.",
)  # fmt: skip
@click.option(
    "--duplicates", type=click.Choice(["exact", "text", "near"]), default="text", show_default=True,
    help="What a duplicate is: an equal body, equal text, or text alike.",
)  # fmt: skip
@click.option(
    "--threshold", type=click.FloatRange(0, 1, min_open=True), default=0.9, show_default=True,
    help="How much alike, for near.",
)  # fmt: skip
@click.option("--max-pages", type=click.IntRange(0), default=0, metavar="N", help="Stop after N requests.")
@click.option("--max-seconds", type=click.FloatRange(0), default=0, metavar="S", help="Stop after S seconds.")
@click.option("--max-depth", type=click.IntRange(0), default=0, metavar="N", help="Follow links N deep.")
@click.option(
    "--scope", type=click.Choice(["site", "host"]), default="site", show_default=True,
    help="Keep to the registrable domains of the URLs, or to their hosts.",
)  # fmt: skip
@click.option(
    "--host", "extra_hosts", multiple=True, metavar="HOST", help="A host that belongs to it, too; repeatable."
)
@click.option("--sitemaps", is_flag=True, help="Also read the sitemaps that robots.txt names, and /sitemap.xml.")
@click.option("--delay", type=click.FloatRange(0), default=0, metavar="S", help="Seconds between requests to a host.")
@click.option("--throttle/--no-throttle", default=True, help="Ask no faster than the server answers (default).")
@click.option("--per-host", type=click.IntRange(1), default=4, show_default=True, help="Requests to a host at once.")
@click.option("--concurrency", type=click.IntRange(1), default=16, show_default=True, help="Requests at once.")
@click.option(
    "--timeout", type=click.FloatRange(0, min_open=True), default=30, show_default=True, metavar="S",
    help="Seconds to wait for an answer.",
)  # fmt: skip
@click.option("--retries", type=click.IntRange(0), default=2, show_default=True, help="Further tries of what fails.")
@click.option("--max-bytes", type=click.IntRange(1), default=10 * 2**20, show_default=True, help="Longest body.")
@click.option("--robots/--no-robots", default=True, help="Obey robots.txt (default).")
@click.option("--cookies", is_flag=True, help="Keep cookies.")
@click.option("--allow-private", is_flag=True, help="Also fetch from this machine and the local network.")
@click.option("--user-agent", metavar="TEXT", help="Who you are, and where people can reach you.")
@click.option("--verbose", is_flag=True, help="Print the log of Scrapy.")
@quiet_option
@json_option
def command(
    urls: tuple[str, ...],
    output: str | None,
    resume: str | None,
    rules: str | None,
    quiet: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Fetch the pages of sites, beginning with URLs, and save each page once.

    DIR gets the pages (archive/*.warc.gz), pages.parquet, urls.parquet, rules.json and summary.json. A crawl that was
    stopped, even by kill -9, goes on with --resume.

    \b
    Examples:
      undust crawl https://example.com/ -o found --learn
      undust crawl https://example.com/ -o found -r rules.json --max-pages 1000 --delay 1
      undust crawl --resume found
      undust crawl http://localhost:8000/ -o found --allow-private --no-throttle
    """
    folder = output or (resume if resume != "-" else None)
    if folder is None:
        raise UsageError("no folder; give -o DIR")
    given = {name: value for name, value in options.items() if _is_given(click.get_current_context(), name)}
    announce_compiling(quiet=quiet)
    from undust.crawl.flow import crawl_here
    from undust.rule_files import load_rules

    with _progress(quiet=quiet) as progress:
        found = crawl_here(
            urls,
            folder,
            given,
            rules=None if rules is None else load_rules(rules),
            resume=resume is not None,
            progress=progress,
        )
    if as_json:
        print_json(found.to_dict())
    else:
        say(str(found), quiet=quiet)
    if found.stopped:
        raise KeyboardInterrupt
    if found.nothing is not None:
        raise InputError(f"{folder}: not one page could be fetched ({found.nothing}); see {folder}/urls.parquet")


def _is_given(context: click.Context, name: str) -> bool:
    """Tell an option that was given from one that has its default: a crawl that goes on keeps its own."""
    return context.get_parameter_source(name) is not click.core.ParameterSource.DEFAULT


@contextlib.contextmanager
def _progress(*, quiet: bool) -> Iterator[Callable[["Loop"], None]]:
    """Show a line that lives while a terminal looks on."""
    import sys

    if quiet or not sys.stderr.isatty():
        yield lambda loop: None
        return
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    with Live(console=Console(stderr=True), refresh_per_second=4, transient=True) as live:

        def show(loop: "Loop") -> None:
            counts = loop.counts
            skipped = sum(loop.rulebook.skipped_by.values())
            live.update(
                Text(
                    f"{counts.requests:,} requests  {counts.unique:,} unique  {counts.duplicates:,} duplicates "
                    f" {skipped:,} skipped  {loop.queue.waiting:,} waiting  {len(loop.rulebook.rules)} rules "
                    f" {counts.requests / max(counts.seconds, 0.1):.1f}/s"
                )
            )

        yield show
