"""Where a verb runs: on this machine, or on Spark."""

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import click

_OPTIONS = (
    click.option(
        "--engine",
        type=click.Choice(["embedded", "spark"]),
        default="embedded",
        show_default=True,
        help="Where to run: in this process, or on Spark (needs undust[spark] and Java), with the same result.",
    ),
    click.option(
        "--master", metavar="URL", help="With --engine spark: spark://…, yarn, local[4].  [default: local[*]]"
    ),
)


def engine_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say where a verb runs."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def on_spark(engine: str, master: str | None, **refused: Any) -> bool:
    """Tell whether a verb runs on Spark; wrong usage where an option was given that it does not know there."""
    if engine == "embedded":
        if master is not None:
            raise click.UsageError("--master is for --engine spark; add that, or leave --master out")
        return False
    for name, value in refused.items():
        if value:
            raise click.UsageError(f"--{name.replace('_', '-')} does not go with --engine spark; leave it out")
    return True


@contextlib.contextmanager
def session(master: str | None) -> Iterator[Any]:
    """Give a Spark session, and stop it after use if it was started here. What fails in a task is one line."""
    from undust.spark.failures import named
    from undust.spark.session import is_given, open_session

    with named():
        given = is_given()
        opened = open_session(master)
        try:
            yield opened
        finally:
            if not given:
                opened.stop()
