"""Opens rule files: JSON is read, the binary form is only mapped. Needs no reader of pages and no kernel."""

import mmap
import os
from pathlib import Path

from undust.errors import InputError
from undust.rules.binary import MAGIC
from undust.rules.reading import read_rules
from undust.rules.ruleset import RuleSet


def load_rules(path: str | os.PathLike[str]) -> RuleSet:
    """Read a rule file; one in binary form is only mapped, and shared with all processes that map it."""
    try:
        with Path(path).open("rb") as file:
            start = file.read(len(MAGIC))
            if start == MAGIC and Path(path).is_file():
                return read_rules(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ), os.fspath(path))
            text = start + file.read()
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}; give a rule file") from error
    return read_rules(text, os.fspath(path))
