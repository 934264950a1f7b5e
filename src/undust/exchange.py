"""Rules to and from the files of other programs, around `rules.exports` and `rules.imports`."""

import os
from collections.abc import Iterable
from pathlib import Path

from undust.errors import InputError
from undust.outputs import write_whole
from undust.rules.exports import formats as exports
from undust.rules.exports.fates import Exported
from undust.rules.imports import formats as imports
from undust.rules.imports.entries import Imported
from undust.rules.imports.lists import MAX_BYTES
from undust.rules.rule import Rule

File = str | os.PathLike[str]


def export_rules(rules: Iterable[Rule], to: str, output: File | None = None) -> Exported:
    """Write rules in the format of another program, such as `nutch`; what it cannot say is listed with the reason.

    The text is in the result; with `output` it is also written to a file, whole or not at all.
    """
    made = exports.export_rules(rules, to)
    if output is not None:
        write_whole(output, made.text.encode())
    return made


def import_rules(file: File, from_: str, sites: Iterable[str] | File | None = None) -> Imported:
    """Read a hand-made list, such as that of `clearurls`, as rules.

    `sites` are URLs, or a file of them (lines, or a table of clusters): entries for every site become rules of their
    sites, and regular expressions become the names of arguments that occur in them.
    """
    imports.require_format(from_)
    path = Path(file)
    try:
        if path.stat().st_size > MAX_BYTES:
            raise InputError(f"{file}: larger than {MAX_BYTES:,} bytes; no list is")
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise InputError(f"{file}: cannot be read: {error.strerror}; give a list in a file") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{file}: not UTF-8 at byte {error.start:,}; give the file as it was published") from error
    if not text.strip():
        raise InputError(f"{file}: empty; give the file as it was published")
    return imports.import_text(text, from_, os.fspath(file), _urls(sites))


def _urls(sites: Iterable[str] | File | None) -> Iterable[str]:
    if sites is None:
        return ()
    if not isinstance(sites, str | os.PathLike):
        return sites
    if str(sites).endswith(".txt"):
        try:
            return [line for line in Path(sites).read_text("utf-8", "replace").splitlines() if line.strip()]
        except OSError as error:
            raise InputError(f"{sites}: cannot be read: {error.strerror}; give URLs, or clusters") from error
    from undust.corpus import read_clusters

    urls: list[str] = read_clusters(os.fspath(sites))["url"].to_pylist()
    return urls
