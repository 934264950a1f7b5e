"""Errors of Spark as errors of undust: what a task said on purpose, or the first line of what Spark says."""

import contextlib
import re
from collections.abc import Iterator

from undust import errors
from undust.errors import UndustError

_OURS = re.compile(r"^undust\.errors\.(\w+): (.*)$", re.MULTILINE)
_CAUSE = re.compile(r"^(?:[\w.$]*(?:Error|Exception))(?:: )(.*)$", re.MULTILINE)


@contextlib.contextmanager
def named() -> Iterator[None]:
    """Turn what Spark raises into an `UndustError` of one line."""
    try:
        yield
    except UndustError:
        raise
    except Exception as error:
        if not type(error).__module__.startswith(("pyspark", "py4j")):
            raise
        raise _ours(str(error)) from error


def _ours(text: str) -> UndustError:
    """Give what a task raised, of its own kind.

    >>> _ours("Traceback …\\nundust.errors.InputError: a.warc: is empty; give another\\n")
    InputError('a.warc: is empty; give another')
    """
    found = _OURS.search(text)
    if found is not None:
        kind = getattr(errors, found[1], UndustError)
        return kind(found[2]) if isinstance(kind, type) and issubclass(kind, UndustError) else UndustError(found[2])
    causes = _CAUSE.findall(text)
    why = causes[-1] if causes else text.strip().partition("\n")[0]
    return UndustError(f"Spark could not finish: {why[:300]}; see the logs of its tasks")
