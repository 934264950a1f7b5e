"""The command line: one small file a verb, each of which parses, calls one function and prints."""

import importlib
import os
import sys
from typing import Any

import click

from undust.errors import UndustError

VERBS = (
    "run",
    "fingerprint",
    "cluster",
    "dedup",
    "learn",
    "evaluate",
    "compare",
    "crawl",
    "normalize",
    "explain",
    "rules",
    "export",
    "import",
    "related",
    "serve",
    "synth",
    "demo",
)

MODULES = {"import": "import_"}  # verbs that are keywords of Python

OVERVIEW = """Find duplicate web pages, and learn from them which URLs lead to the same page.

\b
Examples:
  undust demo                                        the whole thing on a sample that ships with undust
  undust fingerprint crawl.warc.gz -o pages.parquet  content signatures of the pages of a crawl
  undust cluster pages.parquet -o clusters.parquet   which of them are duplicates
  undust learn clusters.parquet -o rules.json        how its sites spell one page in many ways
  undust normalize -r rules.json < urls.txt          one URL for each page
"""


class _Verbs(click.Group):
    """Imports a verb when it is asked for, so that no run waits for another verb's libraries."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in VERBS:
            return None
        command: click.Command = importlib.import_module(f"undust.cli.{MODULES.get(cmd_name, cmd_name)}").command
        return command


@click.command(
    cls=_Verbs, help=OVERVIEW, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}
)
@click.version_option(
    None, "-V", "--version", package_name="undust", prog_name="undust", message="%(prog)s %(version)s"
)
def undust() -> None:
    """Hold the verbs."""


def main(arguments: list[str] | None = None) -> int:
    """Run a command; return its exit code: 0, 2 for wrong usage, 1 with one line on stderr for anything else."""
    try:
        return _run(arguments)
    except click.UsageError as error:
        error.show()
        return 2
    except (click.Abort, KeyboardInterrupt):
        return _say("stopped; nothing was left half-written", 130)
    except UndustError as error:
        return _say(str(error), error.exit_code)
    except BrokenPipeError:
        # Whoever read our output has seen enough. Python would complain once more when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        return _say(f"{place}{error.strerror or error}", 1)


def _run(arguments: list[str] | None) -> int:
    result: Any = undust.main(args=arguments, prog_name="undust", standalone_mode=False)
    sys.stdout.flush()
    return result if isinstance(result, int) else 0


def _say(message: str, code: int) -> int:
    one_line = " ".join(message.split())
    click.echo(f"undust: {one_line}", err=True)
    return code
