"""Reads folders of saved HTML files, and single ones."""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pyarrow as pa

from undust.corpus.batches import PageRows
from undust.corpus.decompress import Plain
from undust.corpus.reading import Reading
from undust.corpus.streams import Source
from undust.errors import InputError

# As saved by wget and browsers: page.html, page.php.html, page.php, page.php?id=1, index.html?sort=name
_HTML_NAME = re.compile(r"\.(?:x?html?|shtml?|php\d?|phtml|aspx?|jsp|cgi|cfm|pl|do)(?:[?@].*|\.\d+)?$", re.IGNORECASE)
_HOST_NAME = re.compile(r"(?:[\w-]+\.)+[\w-]+(?:[:+]\d+)?|[\w-]+[:+]\d+|localhost|\[[0-9a-fA-F:]+\](?:[:+]\d+)?")


def read_folder(path: str, reading: Reading) -> Iterator[pa.RecordBatch]:
    """Pages of all HTML files below a folder, in the order of their names."""
    root = Path(path)
    rows = PageRows(path, reading.tally)
    found = False
    for relative in _files(root, reading):
        if not _HTML_NAME.search(relative.rsplit("/", 1)[-1]):
            reading.tally.skip("not an HTML file")
            continue
        found = True
        _add_file(rows, root / relative, page_url(relative, root.resolve().name, reading.base_url), reading)
        if rows.full:
            yield rows.take()
    if not found:
        raise InputError(f"{path}: a folder without HTML files; give the folder that holds the saved pages")
    if len(rows):
        yield rows.take()


def read_file(source: Source, compression: str | None, reading: Reading) -> Iterator[pa.RecordBatch]:
    """The page of a single HTML file."""
    rows = PageRows(source.name, reading.tally)
    parts: list[bytes] = []
    size = 0
    for piece in Plain(source, compression, reading.tally):
        parts.append(piece)
        size += len(piece)
        if size > reading.max_body_bytes:
            reading.tally.skip(reading.body_over)
            return
    name = Path(source.name).name
    folder = Path(source.name).resolve().parent.name
    rows.add(page_url(name, folder, reading.base_url).encode(), html=b"".join(parts))
    if len(rows):
        yield rows.take()


def page_url(relative: str, folder: str, base_url: str | None) -> str:
    """The URL that a saved file stands for.

    >>> page_url("a.test/b c.html", "saved", None)
    'http://a.test/b%20c.html'
    >>> page_url("b.html", "saved", None)
    'http://saved/b.html'
    >>> page_url("list.php?id=1", "saved", "https://a.test/forum/")
    'https://a.test/forum/list.php?id=1'
    """
    first, slash, rest = relative.partition("/")
    if base_url is not None:
        return base_url.rstrip("/") + "/" + _quoted(relative)
    if slash and _HOST_NAME.fullmatch(first):
        return f"http://{first.replace('+', ':')}/{_quoted(rest)}"  # wget writes + for : where : cannot be in names
    return f"http://{quote(folder)}/{_quoted(relative)}"


def _quoted(relative: str) -> str:
    # What is an escape already stays one; names that are not UTF-8 were decoded with surrogates.
    return quote(os.fsencode(relative), safe="/?&=;:@!$'()*+,~%")


def _files(root: Path, reading: Reading) -> Iterator[str]:
    """Paths of all files below the root, relative and sorted; links that lead out of it are not followed."""
    inside = root.resolve()
    for at, folders, names in os.walk(root, onerror=_count_unreadable(reading)):
        folders.sort()
        for name in sorted(names):
            file = Path(at, name)
            if file.is_symlink() and not file.resolve().is_relative_to(inside):
                reading.tally.skip("link out of the folder")
            elif file.is_file():
                yield file.relative_to(root).as_posix()


def _count_unreadable(reading: Reading) -> "os._OnError":
    def count(error: OSError) -> None:
        reading.tally.damage(str(error.filename), f"cannot be opened: {error.strerror}")

    return count


def _add_file(rows: PageRows, file: Path, url: str, reading: Reading) -> None:
    try:
        with file.open("rb", buffering=0) as opened:
            html = opened.read(reading.max_body_bytes + 1) or b""
    except OSError as error:
        reading.tally.damage(str(file), f"cannot be read: {error.strerror}")
        return
    reading.tally.bytes += len(html)
    if len(html) > reading.max_body_bytes:
        reading.tally.skip(reading.body_over)
        return
    rows.add(url.encode("utf-8", "replace"), html=html)
