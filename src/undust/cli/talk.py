"""What verbs say on stderr: how far long work has come, and a summary at the end."""

import contextlib
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from undust.cli.watching import Standing, watched

if TYPE_CHECKING:
    from undust.corpus import Tally

quiet_option = click.option("-q", "--quiet", is_flag=True, help="Say nothing on stderr unless something fails.")
json_option = click.option("--json", "as_json", is_flag=True, help="Print the summary as one JSON object on stdout.")


def say(message: str, *, quiet: bool = False) -> None:
    """Print a line on stderr."""
    if not quiet:
        click.echo(message, err=True)


def print_json(values: dict[str, Any]) -> None:
    """Print one JSON object on stdout."""
    import orjson

    click.echo(orjson.dumps(values, option=orjson.OPT_INDENT_2))


def summarize(tally: "Tally", *, quiet: bool, as_json: bool, **more: Any) -> None:
    """Say what was read; on stdout as JSON if that was asked for."""
    if as_json:
        print_json({**tally.to_dict(), **more})
    else:
        say(tally.summary(), quiet=quiet)


def announce_compiling(*, quiet: bool, all_needed: bool = False) -> None:
    """Say, if a terminal looks on, why the first run takes a minute. To be called before kernels are imported.

    Where all of them are needed, other processors help to compile them.
    """
    if not quiet and sys.stderr.isatty():
        from undust.kernels.compiling import announce

        announce(lambda: say("compiling kernels, once on this machine; it takes about a minute …"))
    if all_needed:
        from undust.kernels.compiling_beside import compile_beside

        compile_beside()


@contextlib.contextmanager
def progress(inputs: Sequence[str], *, quiet: bool, doing: str = "reading") -> Iterator[Callable[["Tally"], None]]:
    """Show how much of the inputs was read; give the function that is told of it."""
    standing = Standing(doing, "pages", _total_bytes(inputs))
    with watched(standing, say, quiet=quiet):
        yield lambda tally: standing.move(tally.bytes, tally.pages)


@contextlib.contextmanager
def working(
    doing: str, *, quiet: bool, total: int | None = None, unit: str = "URLs"
) -> Iterator[Callable[[int, int], None]]:
    """Show that work goes on; give the function that is told how much is done, and of how much.

    Who cannot tell that never calls it: then time and memory are shown.
    """
    standing = Standing(doing, unit, total)

    def moved(done: int, of: int) -> None:
        standing.total = of
        standing.move(done, done)

    with watched(standing, say, quiet=quiet):
        yield moved


def _total_bytes(inputs: Sequence[str]) -> int | None:
    """Add up the sizes of the inputs; unknown where one is a pipe or a folder."""
    if any(not Path(path).is_file() for path in inputs):
        return None
    return sum(os.path.getsize(path) for path in inputs)  # noqa: PTH202 - paths as the user gave them
