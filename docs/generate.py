"""Writes the pages that come from the code: command line, Python, settings, errors, examples, picture of imports."""

import ast
import inspect
import re
import textwrap
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from pathlib import Path

import click
from docs.draw_imports import draw

import undust
from undust import cli, errors, settings

DOCS = Path(__file__).parent
EXAMPLES = {
    "scrapy": "scrapy_project",
    "nutch": "nutch_rules",
    "pywb": "pywb_rules",
    "common_crawl": "common_crawl",
    "text_corpus": "text_corpus",
    "spark": "spark_job",
}
CELL = re.compile(r"^# %%( \[markdown\])?\n", re.MULTILINE)


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


def python_api() -> str:
    """The public names: signatures and what their docstrings say."""
    parts = [
        "# Python\n",
        "What `import undust` gives; everything else may change. Tables are those of Arrow: `.to_pandas()`,\n"
        "`polars.from_arrow(table)`.\n"
        "Errors are `undust.errors.UndustError` ([all of them](settings.md#errors)).\n",
    ]
    for name in undust.__all__:
        thing = getattr(undust, name)
        parts.append(f"## {name}\n\n{_documented(name, thing)}")
        for method, member in inspect.getmembers(thing) if inspect.isclass(thing) else ():
            if not method.startswith("_") and (inspect.isfunction(member) or inspect.ismethod(member)):
                parts.append(f"### {name}.{method}\n\n{_documented(method, member)}")
    return "\n".join(parts)


def _documented(name: str, thing: Callable[..., object]) -> str:
    told = f"{_text(inspect.getdoc(thing) or '')}\n"
    function = vars(thing).get("__init__") if inspect.isclass(thing) else thing
    if getattr(function, "__code__", None) is None or function.__code__.co_filename == "<string>":
        return told  # made by what gives it out, not by users
    return f"```python\n{_signature(name, function)}\n```\n\n{told}"


def _signature(name: str, function: Callable[..., object]) -> str:
    """Types and defaults as the source spells them."""
    node = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    assert isinstance(node, ast.FunctionDef)  # noqa: S101 - which is what functions are
    parameters = [each for each in _parameters(node.args) if each not in ("self", "cls")]
    gives = f" -> {ast.unparse(node.returns)}" if node.returns and node.name != "__init__" else ""
    line = f"{name}({', '.join(parameters)}){gives}"
    if len(line) <= 100:
        return line
    return f"{name}(\n" + "".join(f"    {each},\n" for each in parameters) + f"){gives}"


def _parameters(given: ast.arguments) -> list[str]:
    plain = [*given.posonlyargs, *given.args]
    defaults = [*[None] * (len(plain) - len(given.defaults)), *given.defaults]
    found = [_parameter(each, default) for each, default in zip(plain, defaults, strict=True)]
    if given.vararg or given.kwonlyargs:
        found.append(f"*{ast.unparse(given.vararg)}" if given.vararg else "*")
    found += [_parameter(each, default) for each, default in zip(given.kwonlyargs, given.kw_defaults, strict=True)]
    return [*found, *([f"**{ast.unparse(given.kwarg)}"] if given.kwarg else [])]


def _parameter(each: ast.arg, default: ast.expr | None) -> str:
    return ast.unparse(each) + (f" = {ast.unparse(default)}" if default else "")


def _text(docstring: str) -> str:
    """A docstring as Markdown: its doctests are code."""
    return re.sub(r"((?:^>>>.*\n?(?:^(?!>>>)\S.*\n?)*)+)", r"```python\n\1\n```", docstring, flags=re.MULTILINE)


def how_to(example: str) -> str:
    """An example as a page: its text as text, its code as code."""
    parts = []
    kinds_and_cells = CELL.split((DOCS.parent / "examples" / f"{example}.py").read_text(encoding="utf-8"))[1:]
    for kind, cell in zip(kinds_and_cells[::2], kinds_and_cells[1::2], strict=True):
        if kind:
            parts.append(re.sub(r"^# ?", "", cell.strip(), flags=re.MULTILINE))
        else:
            code = re.sub(r"  # noqa:.*", "", cell.strip())
            parts.append(f"```python\n{code}\n```")
    return "\n\n".join(
        [*parts, f"(This page is [examples/{example}.py](../../examples/{example}.py), which tests run.)\n"]
    )


PAGES: dict[str, Callable[[], str]] = {
    "cli.md": command_line,
    "settings.md": settings_and_errors,
    "api.md": python_api,
    "imports.svg": draw,
    **{f"howto/{page}.md": partial(how_to, example) for page, example in EXAMPLES.items()},
}

if __name__ == "__main__":
    for name, page in PAGES.items():
        (DOCS / name).write_text(page(), encoding="utf-8")
