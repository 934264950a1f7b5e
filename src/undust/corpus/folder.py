"""Reads folders of saved HTML files, and single ones."""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pyarrow as pa

from undust.corpus.batches import Page, PageRows
from undust.corpus.decompress import Plain
from undust.corpus.reading import Reading
from undust.corpus.streams import Source, shown
from undust.errors import InputError

# As saved by wget and browsers: page.html, page.php.html, page.php, page.php?id=1, index.html?sort=name
_HTML_NAME = re.compile(r"\.(?:x?html?|shtml?|php\d?|phtml|aspx?|jsp|cgi|cfm|pl|do)(?:[?@].*|\.\d+)?$", re.IGNORECASE)
# As saved by crawlers that keep the name of the URL: about, item/7
_HTML_START = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*(?:<!--.{0,400}?-->\s*)*<(?:!doctype\s+html|html|head|body)\b", re.I | re.S
)
_HEAD_BYTES = 4096
_HOST_NAME = re.compile(r"(?:[\w-]+\.)+[\w-]+(?:[:+]\d+)?|[\w-]+[:+]\d+|localhost|\[[0-9a-fA-F:]+\](?:[:+]\d+)?")


def read_folder(path: str, reading: Reading) -> Iterator[pa.RecordBatch]:
    """Pages of all HTML files below a folder, in the order of their names."""
    root = Path(path)
    rows = PageRows(shown(path), reading.tally)
    found = False
    for relative in _files(root, reading):
        html = _html_of(root / relative, reading)
        if html is None:
            continue
        found = True
        if len(html) > reading.max_body_bytes:
            reading.tally.skip(reading.body_over)
            continue
        rows.add(Page(page_url(relative, root.resolve().name, reading.base_url), html=html))
        if rows.full:
            yield rows.take()
    if not found:
        raise InputError(f"{shown(path)}: a folder without HTML files; give the folder that holds the saved pages")
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
    rows.add(Page(page_url(name, folder, reading.base_url), html=b"".join(parts)))
    if len(rows):
        yield rows.take()


def page_url(relative: str, folder: str, base_url: str | None) -> bytes:
    """The URL that a saved file stands for.

    >>> page_url("a.test/b c.html", "saved", None)
    b'http://a.test/b%20c.html'
    >>> page_url("b.html", "saved", None)
    b'http://saved/b.html'
    >>> page_url("list.php?id=1", "saved", "https://a.test/forum/")
    b'https://a.test/forum/list.php?id=1'
    """
    first, slash, rest = relative.partition("/")
    if base_url is not None:
        url = base_url.rstrip("/") + "/" + _quoted(relative)
    elif slash and _HOST_NAME.fullmatch(first):
        # wget writes + for : where : cannot be in names
        url = f"http://{first.replace('+', ':')}/{_quoted(rest)}"
    else:
        url = f"http://{_quoted(folder)}/{_quoted(relative)}"
    return url.encode("utf-8", "replace")


def _quoted(name: str) -> str:
    # What is an escape already stays one; names that are not UTF-8 were decoded with surrogates.
    return quote(os.fsencode(name), safe="/?&=;:@!$'()*+,~%")


def _files(root: Path, reading: Reading) -> Iterator[str]:
    """Paths of all files below the root, relative and sorted; links that lead out of it are not followed."""
    inside = Path(os.path.realpath(root))

    def unreadable(error: OSError) -> None:
        reading.tally.damage(shown(str(error.filename)), f"cannot be opened: {error.strerror}")

    for at, folders, names in os.walk(root, onerror=unreadable):
        folders.sort()
        for name in sorted(names):
            file = Path(at, name)
            # Not Path.resolve, which raises where links run in a circle.
            if file.is_symlink() and not Path(os.path.realpath(file)).is_relative_to(inside):
                reading.tally.skip("link out of the folder")
            elif file.is_file():
                yield file.relative_to(root).as_posix()


def _html_of(file: Path, reading: Reading) -> bytes | None:
    """What is in a file, up to one byte over the limit; nothing, but a count, where that is no HTML."""
    try:
        with file.open("rb", buffering=0) as opened:
            head = opened.read(_HEAD_BYTES) or b""
            if not (_HTML_NAME.search(file.name) or _HTML_START.match(head)):
                reading.tally.skip("not an HTML file")
                return None
            html = head + (opened.read(max(0, reading.max_body_bytes + 1 - len(head))) or b"")
    except OSError as error:
        reading.tally.damage(shown(str(file)), f"cannot be read: {error.strerror}")
        return None
    reading.tally.bytes += len(html)
    return html
