"""Writes the pages that come from the code: docs/cli.md from the help texts, docs/settings.md from the sources."""

import ast
import inspect
from itertools import pairwise
from pathlib import Path

import click

from undust import cli, errors, settings

DOCS = Path(__file__).parent


def command_line() -> str:
    """The help of every verb."""
    parts = [
        "# Command line\n",
        "Results go to stdout and to files, talk to stderr. Exit code 0 is success, 2 wrong usage, 1 anything else,\n"
        "with one line that says where, what, and what to do.\n",
        _help([]),
    ]
    for verb in cli.VERBS:
        parts.append(f"## undust {verb}\n\n{_help([verb])}")
        command = cli.undust.get_command(click.Context(cli.undust), verb)
        if isinstance(command, click.Group):
            parts += [f"### undust {verb} {name}\n\n{_help([verb, name])}" for name in command.commands]
    return "\n".join(parts)


def settings_and_errors() -> str:
    """Every setting with its default and its reason; every error."""
    parts = ["# Settings and errors\n", "## Settings\n", "`undust.settings`; what each is by default, and why.\n"]
    body = ast.parse(inspect.getsource(settings)).body
    for node, after in pairwise(body):
        if isinstance(node, ast.Assign) and isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
            (target,) = node.targets
            value = getattr(settings, ast.unparse(target))
            parts.append(f"- `{ast.unparse(target)}` = {value:,}. {inspect.cleandoc(str(after.value.value))}")
    tree = inspect.getdoc(errors) or ""
    parts.append(f"\n## Errors\n\n```text\n{tree}\n```\n")
    return "\n".join(parts)


def _help(verb: list[str]) -> str:
    command = cli.undust if not verb else cli.undust.get_command(click.Context(cli.undust), verb[0])
    if isinstance(command, click.Group) and len(verb) > 1:
        command = command.commands[verb[1]]
    assert command is not None  # noqa: S101 - a verb of the list
    name = " ".join(["undust", *verb])
    context = click.Context(command, info_name=name, terminal_width=100, help_option_names=["-h", "--help"])
    return f"```text\n{command.get_help(context)}\n```\n"


PAGES = {"cli.md": command_line, "settings.md": settings_and_errors}

if __name__ == "__main__":
    for name, page in PAGES.items():
        (DOCS / name).write_text(page(), encoding="utf-8")
