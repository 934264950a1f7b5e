"""Options of the verbs that find duplicates."""

from collections.abc import Callable
from typing import Any

import click

_THRESHOLD = click.option(
    "--threshold",
    type=click.FloatRange(0, 1, min_open=True),
    help="Least Jaccard similarity of shingles (minhash), or of words (bag).  [default: 0.8; 0.9 for bag]",
)

_DISTANCE = click.option(
    "--distance",
    type=click.IntRange(0, 16),
    default=3,
    show_default=True,
    help="Most bits in which simhashes differ, for simhash and cascade.",
)

memory_option = click.option(
    "--memory",
    metavar="SIZE",
    help="Memory to use at most, such as 2GB; what has no room goes to files.  [default: half of the machine's]",
)

content_option = click.option(
    "--content",
    type=click.Choice(["all", "main"]),
    default="main",
    show_default=True,
    help="Which text of a page counts: all of it, or its main content without navigation and the like.",
)


def detection_options(by: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add the options that say what duplicates are, with one of the ways to group them as the default."""
    grouping = click.option(
        "--by",
        type=click.Choice(["center", "star", "components"]),
        default=by,
        show_default=True,
        help="center: the most similar pairs become centres, and each page is like its centre; star: pages of most"
        " pairs do, so that no two centres are alike either; components: all that pairs connect.",
    )

    def add(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in (memory_option, _DISTANCE, _THRESHOLD, grouping):
            command = option(command)
        return command

    return add
