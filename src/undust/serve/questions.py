"""Reads what a crawler asks: one URL, or a batch, as JSON or as lines of text; and checks it by hand, as it is hot."""

from typing import Any

import orjson
import pyarrow as pa

from undust.serve.answers import refuse
from undust.serve.limits import MAX_BATCH


def kind_of(content_type: str) -> str:
    """Give `json` or `text`, by the header.

    >>> kind_of("application/json; charset=utf-8"), kind_of("text/plain")
    ('json', 'text')
    """
    name = content_type.partition(";")[0].strip().lower()
    if name == "application/json":
        return "json"
    if name == "text/plain":
        return "text"
    return refuse(415, "content_type", "the body must be application/json or text/plain")


def read_json(body: bytes, *allowed: tuple[str, ...]) -> dict[str, Any]:
    """Read a JSON object that has exactly the fields of one of `allowed`."""
    try:
        found = orjson.loads(body)
    except ValueError as error:
        refuse(400, "bad_json", f"the body is not JSON: {error}")
    if not isinstance(found, dict) or not any(found.keys() == set(names) for names in allowed):
        shapes = " or ".join("{" + ", ".join(names) + "}" for names in allowed)
        refuse(422, "bad_fields", f"the body must be an object with the fields {shapes}, and no others")
    return found


def one(value: Any, name: str) -> str:
    """Take a field as a text."""
    if not isinstance(value, str):
        refuse(422, "bad_type", f"{name} must be a string")
    return value


def many(value: Any, name: str, most: int = MAX_BATCH) -> Any:
    """Take a field as a list of texts, as a column."""
    if not isinstance(value, list):
        refuse(422, "bad_type", f"{name} must be a list of strings")
    if len(value) > most:
        refuse(422, "too_many", f"{name} has {len(value):,} items, more than {most:,}; ask in several batches")
    try:
        column = pa.array(value, pa.string())
    except (pa.ArrowException, TypeError, ValueError):
        column = None
    if column is None or column.null_count:
        refuse(422, "bad_type", f"{name} must be a list of strings")
    return column


def pairs(value: Any, name: str) -> tuple[Any, Any]:
    """Take a field as a list of pairs of texts, as two columns."""
    if not isinstance(value, list) or not all(isinstance(pair, list) and len(pair) == 2 for pair in value):
        refuse(422, "bad_type", f"{name} must be a list of lists of two strings")
    return many([pair[0] for pair in value], name), many([pair[1] for pair in value], name)


def lines_of(body: bytes, most: int = MAX_BATCH) -> bytes:
    """Check lines of text; give them with a line end after the last."""
    count = body.count(b"\n") + (not body.endswith(b"\n"))
    if count > most:
        refuse(422, "too_many", f"{count:,} lines, more than {most:,}; ask in several batches")
    if not body:
        refuse(422, "no_lines", "no lines; give a URL on each")
    return body if body.endswith(b"\n") else body + b"\n"
