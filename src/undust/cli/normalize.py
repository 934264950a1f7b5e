"""`undust normalize`: URLs in their standard form."""

import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, BinaryIO

import click

from undust.cli.engine import engine_options, on_spark
from undust.cli.talk import quiet_option, say, working
from undust.errors import UrlError

if TYPE_CHECKING:
    from undust.urls.batch import NormalizedUrls

BLOCK_BYTES = 2**22
SHOWN = 10  # lines without a usable URL that are named; the rest are only counted


@click.command("normalize", short_help="URLs in their standard form.")
@click.argument("urls", nargs=-1, metavar="[URL]...")
@click.option(
    "--preset",
    type=click.Choice(["standard", "hashbang", "extended"]),
    default="standard",
    show_default=True,
    help="hashbang keeps #! routes; extended also lower-cases paths and drops index.html and the last slash,"
    " which loses pages on some sites.",
)
@click.option("-r", "--rules", metavar="RULES", help="Rule file: print the one URL to fetch for each page.")
@click.option("--key", is_flag=True, help="Print keys, in which * stands for what does not matter.")
@click.option("-o", "--output", metavar="DIR", help="With --engine spark: folder of Parquet parts, ends in .parquet.")
@engine_options
@quiet_option
def command(
    urls: tuple[str, ...],
    preset: str,
    rules: str | None,
    key: bool,
    output: str | None,
    engine: str,
    master: str | None,
    quiet: bool,
) -> int:
    """Print each URL in its standard form, or as RULES say, on a line of its own.

    Without URL, lines are read from stdin and as many are written; a line that holds no usable URL stays as it is,
    and is counted on stderr.

    With --engine spark, the arguments are files with URLs, Parquet with a column url or lines of text, and the columns
    url, normalized and key are written to DIR.

    \b
    Examples:
      undust normalize 'HTTP://Example.com:80/a/../b?x=1#top'
      undust normalize -r rules.json < urls.txt > normalized.txt
      undust normalize -r rules.json urls.parquet -o normalized.parquet --engine spark
    """
    if on_spark(engine, master, key=key):
        return _normalize_files(master, rules, urls, output, quiet=quiet)
    if output is not None:
        raise click.UsageError("-o is for --engine spark; without it, lines go to stdout")
    if rules is not None and preset != "standard":
        raise click.UsageError("rules work on the standard form; leave --preset out")
    if urls and urls != ("-",):
        return _normalize_given(urls, _one(preset, rules, key))
    _normalize_stdin(_many(preset, rules, key), quiet=quiet)
    return 0


def _normalize_files(
    master: str | None, rules: str | None, files: tuple[str, ...], output: str | None, *, quiet: bool
) -> int:
    if rules is None or output is None or not files:
        raise click.UsageError("--engine spark needs -r RULES, -o DIR and files with URLs")
    from undust.cli import on_spark as spark
    from undust.rule_files import load_rules

    count = spark.normalize(master, load_rules(rules), files, output)
    say(f"{count:,} URLs", quiet=quiet)
    return 0


def _one(preset: str, rules: str | None, key: bool) -> Callable[[str], str]:
    """Give the function for one URL, which should not wait for Arrow and Numba."""
    if rules is not None:
        from undust.rule_files import load_rules

        rule_set = load_rules(rules)
        return rule_set.key if key else rule_set.normalize
    from undust.urls.normalize import PRESETS, normalize

    return lambda url: normalize(url, PRESETS[preset])


def _many(preset: str, rules: str | None, key: bool) -> Callable[[Any], "NormalizedUrls"]:
    """Give the function for a column of URLs."""
    from undust.urls.batch import NormalizedUrls, normalize_many
    from undust.urls.normalize import PRESETS

    if rules is None:
        return lambda urls: normalize_many(urls, PRESETS[preset])
    from undust.rule_files import load_rules

    rule_set = load_rules(rules)

    def by_rules(urls: Any) -> NormalizedUrls:
        normal = normalize_many(urls)
        made = rule_set.key_many(normal.urls) if key else rule_set.normalize_many(normal.urls)
        return NormalizedUrls(made, normal.unusable, normal.problems)

    return by_rules


def _normalize_given(urls: tuple[str, ...], normalize: Callable[[str], str]) -> int:
    code = 0
    for url in urls:
        try:
            click.echo(normalize(url))
        except UrlError as error:
            say(f"undust: {error}")
            code = error.exit_code
    return code


def _normalize_stdin(normalize: Callable[[Any], "NormalizedUrls"], *, quiet: bool) -> None:
    from undust.urls.lines import normalize_lines

    line, unusable, listed = 1, 0, 0
    # In a pipe nobody wants to hear of it, and a terminal that shows the URLs has no room for it.
    unseen = quiet or sys.stdout.isatty() or not sys.stderr.isatty()
    with working("normalizing", quiet=unseen, unit="lines") as moved:
        for block, whole in _blocks(sys.stdin.buffer):
            if not whole:  # part of a line that is too long to be a URL
                sys.stdout.buffer.write(block)
                unusable += block.endswith(b"\n")
                line += block.endswith(b"\n")
                continue
            normal = normalize_lines(block, normalize)
            sys.stdout.buffer.write(normal.text)
            sys.stdout.buffer.flush()
            for place, why in normal.problems[: SHOWN - listed]:
                listed += 1
                say(f"line {line + place}: {why}", quiet=quiet)
            line += normal.lines
            unusable += normal.unusable
            moved(line - 1, 0)
    if unusable:
        say(f"{unusable:,} of {line - 1:,} lines hold no usable URL and stayed as they were", quiet=quiet)


def _blocks(stream: BinaryIO) -> Iterator[tuple[bytes, bool]]:
    """Cut a stream after line ends, as soon as there are lines; the last line gets its end if it has none.

    A line longer than a block comes in pieces that are marked as not whole, so that memory stays bounded.
    """
    rest, cut = b"", False
    while data := stream.read1(BLOCK_BYTES):  # type: ignore[attr-defined] # stdin is buffered
        if cut:
            head, end, data = data.partition(b"\n")
            yield head + end, False
            cut = not end
        rest += data
        whole, end, rest = rest.rpartition(b"\n")
        if end:
            yield whole + end, True
        if len(rest) > BLOCK_BYTES:
            yield rest, False
            rest, cut = b"", True
    if rest or cut:
        yield rest + b"\n", not cut
