"""`undust normalize`: URLs in their standard form."""

import sys
from collections.abc import Iterator
from typing import BinaryIO

import click

from undust.cli.talk import quiet_option, say
from undust.errors import UrlError

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
@quiet_option
def command(urls: tuple[str, ...], preset: str, quiet: bool) -> int:
    """Print each URL in its standard form, on a line of its own.

    Without URL, lines are read from stdin and as many are written; a line that holds no usable URL stays as it is,
    and is counted on stderr.

    \b
    Examples:
      undust normalize 'HTTP://Example.com:80/a/../b?x=1#top'
      undust normalize < urls.txt > normalized.txt
    """
    if urls and urls != ("-",):
        return _normalize_given(urls, preset)
    _normalize_stdin(preset, quiet=quiet)
    return 0


def _normalize_given(urls: tuple[str, ...], preset: str) -> int:
    from undust.urls.normalize import PRESETS, normalize  # one URL should not wait for Arrow and Numba

    code = 0
    for url in urls:
        try:
            click.echo(normalize(url, PRESETS[preset]))
        except UrlError as error:
            say(f"undust: {error}")
            code = error.exit_code
    return code


def _normalize_stdin(preset: str, *, quiet: bool) -> None:
    from undust.urls.batch import normalize_many
    from undust.urls.lines import normalize_lines
    from undust.urls.normalize import PRESETS

    steps = PRESETS[preset]
    line, unusable, listed = 1, 0, 0
    for block, whole in _blocks(sys.stdin.buffer):
        if not whole:  # part of a line that is too long to be a URL
            sys.stdout.buffer.write(block)
            unusable += block.endswith(b"\n")
            line += block.endswith(b"\n")
            continue
        normal = normalize_lines(block, lambda urls: normalize_many(urls, steps))
        sys.stdout.buffer.write(normal.text)
        sys.stdout.buffer.flush()
        for place, why in normal.problems[: SHOWN - listed]:
            listed += 1
            say(f"line {line + place}: {why}", quiet=quiet)
        line += normal.lines
        unusable += normal.unusable
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
