"""Options of the verbs that read pages."""

from collections.abc import Callable
from typing import Any

import click

inputs_argument = click.argument("inputs", nargs=-1, required=True, metavar="INPUT...")

_OPTIONS = (
    click.option(
        "-j",
        "--jobs",
        type=click.IntRange(min=1),
        metavar="N",
        help="Read N files at once.  [default: number of cores]",
    ),
    click.option("--any-status", is_flag=True, help="Take pages whatever their HTTP status, not only 200."),
    click.option("--base-url", metavar="URL", help="Where a folder of HTML files comes from, to give its files URLs."),
)


def reading_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say how pages are read."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command
