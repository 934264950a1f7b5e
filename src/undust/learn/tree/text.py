"""Writes pattern trees for people: the regular expression of each node, and the tree in lines."""

import re
from collections.abc import Iterator

import numpy as np

from undust.learn.state import IGNORED
from undust.learn.tree.forms import LAST, Rows
from undust.learn.tree.pattern_tree import Constraint, PatternTree
from undust.urls.keys import Key

MAX_DEPTH = 6
MAX_CHILDREN = 8
MAX_WIDTH = 140
MAX_LINES = 200
"""How much of a tree is drawn: levels, children of a node, characters of a line, and lines."""
_ALTERNATIVES = 3  # values of a key that are written out

_SPECIAL = re.compile(r"[.\\+*?()\[\]{}^$|]")
_DIGITS = re.compile("[0-9]+")


def pattern(tree: PatternTree, node: int) -> str:
    """Write a node as a regular expression that all of its URLs match, if their arguments are in order.

    A key that has one value is spelled out, one that has a few as alternatives; one that may be missing is in `(…)?`.
    """
    rows = tree.members(node)
    site = tree.forms.site.site
    labels = sorted((key for key in tree.forms.columns if key.part == "host"), reverse=True)
    host = "".join(_optional(tree, key, rows, "{}\\.", "[^.]+") for key in labels)
    port = "" if ":" in site else _optional(tree, Key("port"), rows, ":{}", "[0-9]+")
    params = sorted(key for key in tree.forms.columns if key.part == "param")
    tail = "".join(_optional(tree, key, rows, f";{_escape(str(key.name))}={{}}", "[^;/?]*") for key in params)
    scheme = _value(tree, Key("scheme"), rows, "[a-z]+")
    return f"{scheme}://{host}{_escape(site)}{port}{_path(tree, rows)}{tail}{_query(tree, rows)}"


def draw(tree: PatternTree, *, max_depth: int = MAX_DEPTH, max_children: int = MAX_CHILDREN) -> str:
    """Draw a tree, one line a node: how many URLs and clusters it has, what it asks for, and a leaf's pattern."""
    lines = [f"{'URLs':>9} {'clusters':>9}  {tree.forms.site.site}"]
    lines += _lines(tree, 0, "", "", max_depth, max_children)
    if len(lines) > MAX_LINES:
        lines[MAX_LINES:] = [f"{'':>19}  … {len(lines) - MAX_LINES} more lines"]
    return "\n".join(line if len(line) <= MAX_WIDTH else line[: MAX_WIDTH - 1] + "…" for line in lines)


def _lines(tree: PatternTree, node: int, lead: str, below: str, max_depth: int, max_children: int) -> Iterator[str]:
    children = sorted(tree.children(node), key=lambda child: (-_urls(tree, child), child))
    asked = describe(tree, tree.constraint(node)) if node else "all"
    shown = children[:max_children] if max_depth > 0 else []
    text = asked if shown else f"{asked}   {pattern(tree, node)}"
    yield f"{_urls(tree, node):>9,} {len(tree.clusters(node)[0]):>9,}  {lead}{text}"
    for place, child in enumerate(shown):
        last = place == len(children) - 1
        yield from _lines(
            tree,
            child,
            below + ("└ " if last else "├ "),
            below + ("  " if last else "│ "),
            max_depth - 1,
            max_children,
        )
    if shown and len(children) > len(shown):
        hidden = children[len(shown) :]
        urls = sum(_urls(tree, child) for child in hidden)
        yield f"{urls:>9,} {'':>9}  {below}└ … {len(hidden)} more"


def describe(tree: PatternTree, constraint: Constraint) -> str:
    """Say in a few signs what a node asks for: `?do = login`, `?rev = ⊥`, `?rev = *`, `?do = other`."""
    said = {"absent": "⊥", "present": "*", "other": "other", "is": ""}[constraint.test]
    if constraint.test == "is":
        code = constraint.values[0]
        said = "*" if code == IGNORED else repr(tree.forms.site.value(code))
    return f"{constraint.key} = {said}"


def _urls(tree: PatternTree, node: int) -> int:
    return int(tree.forms.weights[tree.order[tree.start[node] : tree.end[node]]].sum())


def _path(tree: PatternTree, rows: Rows) -> str:
    depths = tree.forms.depth[rows]
    least, most = int(depths.min()), int(depths.max())
    last = tree.forms.codes(LAST, rows)
    ends = least > 0 and least < most and bool((last == last[0]).all()) and last[0] not in (0, IGNORED)
    fixed = "".join("/" + _value(tree, Key("path", place), rows, "[^/]*") for place in range(least - ends))
    if ends:
        return f"{fixed}(/[^/]*)*/{_escape(tree.forms.site.value(int(last[0])) or '')}"
    return fixed if least == most else f"{fixed}(/[^/]*){'?' if most == least + 1 else '*'}"


def _query(tree: PatternTree, rows: Rows) -> str:
    found: list[tuple[str, bool]] = []
    for key in sorted(key for key in tree.forms.columns if key.part == "query"):
        codes = tree.forms.codes(key, rows)
        name = f"{_escape(str(key.name))}=" if key.name else ""
        if codes.any():
            found.append((name + _value(tree, key, rows[codes != 0], "[^&]*"), not codes.all()))
    if not any(optional for _, optional in found):
        return "\\?" + "&".join(text for text, _ in found) if found else ""
    return "".join(f"([?&]{text})?" if optional else f"[?&]{text}" for text, optional in found)


def _optional(tree: PatternTree, key: Key, rows: Rows, form: str, general: str) -> str:
    codes = tree.forms.codes(key, rows)
    if not codes.any():
        return ""
    text = form.format(_value(tree, key, rows[codes != 0], general))
    return text if codes.all() else f"({text})?"


def _value(tree: PatternTree, key: Key, rows: Rows, general: str) -> str:
    """Write what the values of a key have in common."""
    codes = tree.forms.codes(key, rows)
    found = np.unique(codes[(codes != 0) & (codes != IGNORED)])
    if (codes == IGNORED).any() or not len(found):
        return general
    texts = [tree.forms.site.value(int(code)) or "" for code in found[:256]]
    if len(found) == 1:
        return _escape(texts[0])
    if len(found) <= _ALTERNATIVES and len(found) < len(rows):
        return "(" + "|".join(_escape(text) for text in sorted(texts)) + ")"
    return "[0-9]+" if len(found) <= 256 and all(_DIGITS.fullmatch(text) for text in texts) else general


def _escape(text: str) -> str:
    return _SPECIAL.sub(lambda found: "\\" + found[0], text)
