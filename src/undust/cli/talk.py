"""What verbs say on stderr: progress while a terminal looks on, a summary at the end."""

import contextlib
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

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


def announce_compiling(*, quiet: bool) -> None:
    """Say, if a terminal looks on, why the first run takes some seconds. To be called before kernels are imported."""
    if not quiet and sys.stderr.isatty():
        from undust.kernels.compiling import announce

        announce(lambda: say("compiling kernels, once on this machine …"))


@contextlib.contextmanager
def progress(inputs: Sequence[str], *, quiet: bool, doing: str = "reading") -> Iterator[Callable[["Tally"], None]]:
    """Show how much of the inputs was read, if stderr is a terminal; give the function that moves the bar."""
    if quiet or not sys.stderr.isatty():
        yield lambda tally: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn(doing),
        BarColumn(),
        DownloadColumn(binary_units=True),
        TextColumn("{task.fields[pages]:,} pages"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(doing, total=_total_bytes(inputs), pages=0)
        yield lambda tally: bar.update(task, completed=tally.bytes, pages=tally.pages)


def _total_bytes(inputs: Sequence[str]) -> int | None:
    """Add up the sizes of the inputs; unknown where one is a pipe or a folder."""
    if any(not Path(path).is_file() for path in inputs):
        return None
    return sum(os.path.getsize(path) for path in inputs)  # noqa: PTH202 - paths as the user gave them
