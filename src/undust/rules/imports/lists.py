"""What readers of lists share: JSON with the place of what is wrong, paths and names as standard URLs spell them."""

import json
from typing import Any

from undust.errors import InputError, UrlError
from undust.urls.keys import split_query
from undust.urls.normalize import normalize
from undust.urls.parse import split

MAX_BYTES = 50_000_000
"""Bytes of a list; the largest known have one million."""


def load_json(text: str, source: str) -> Any:
    """Read JSON."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(
            f"{source}:{error.lineno}: not JSON: {error.msg}; give the file as it was published"
        ) from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"{source}: not JSON: {error}; give the file as it was published") from error


def require(value: Any, kind: type, where: str, what: str) -> Any:
    """Give a value of a list, if it is of its kind."""
    if not isinstance(value, kind):
        names: dict[type, str] = {dict: "an object", list: "a list", str: "a text"}
        raise InputError(f"{where}: {what} must be {names.get(kind, kind.__name__)}, and is {str(value)[:60]!r}")
    return value


def texts(value: Any, where: str, what: str) -> list[str]:
    """Give a list of texts."""
    return [require(each, str, where, f"each of {what}") for each in require(value, list, where, what)]


def standard_name(name: str) -> str | None:
    """Give the name of an argument as it is in URLs in standard form; nothing if it cannot be one."""
    try:
        query = split(
            normalize(f"http://h/?{name.replace('&', '%26').replace(';', '%3B').replace('#', '%23')}=1")
        ).query
    except UrlError:
        return None
    arguments = split_query(query or "")
    return arguments[0].name or None if len(arguments) == 1 and arguments[0].value == "1" else None


def standard_path(path: str) -> tuple[str, ...] | None:
    """Give the segments of a path as they are in standard form; nothing if it has something else in it."""
    if not path or path == "/":
        return ()
    try:
        parts = split(normalize(f"http://h{path}"))
    except UrlError:
        return None
    if parts.host != "h" or parts.query is not None or ";" in parts.path or "#" in path:
        return None
    return tuple(parts.path.split("/")[1:])
