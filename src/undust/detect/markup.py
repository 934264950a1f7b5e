"""Bodies of pages as UTF-8, with how each is to be read: HTML, XML, plain text, or not at all."""

import functools
import re
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from undust.detect.encodings import charset_of, declared_encoding, guessed_encoding, to_utf8
from undust.detect.words import buffers
from undust.kernels.html_bytes import (
    BE_MARK,
    BINARY,
    CONTROLS,
    ESCAPES,
    HEAD_BYTES,
    LE_MARK,
    NOT_ASCII,
    NOT_UTF8,
    UTF8_MARK,
    inspect,
)
from undust.kernels.html_state import HOW_HTML, HOW_PLAIN, HOW_XHTML, HOW_XML
from undust.settings import MAX_BODY_BYTES

_HTML, _XHTML, _XML, _PLAIN = int(HOW_HTML), int(HOW_XHTML), int(HOW_XML), int(HOW_PLAIN)
_SNIFF, _BINARY = 8, 9

_HTML_TAG = re.compile(
    rb"<(?:!doctype html|!--|/?(?:html|head|body|title|meta|link|script|style|h[1-6]|div|p|a|b|i|br|hr|table|tr|td|ul"
    rb"|ol|li|span|img|font|center|iframe|form|pre|main|section|article|nav|header|footer)[\s/>])",
    re.I,
)
_XML_START = re.compile(rb"\s*+<\?xml\s")
_HTML_ROOT = re.compile(rb"<(?:!doctype\s+)?+html\b", re.I)
# Formats whose first bytes say what they are, and no text begins with (MIME sniffing standard, section 6).
_MAGIC = (
    b"%PDF-", b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"PK\x03\x04", b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"7z\xbc\xaf",
    b"Rar!\x1a", b"\x7fELF", b"MZ\x90", b"RIFF", b"OggS", b"ID3", b"fLaC", b"wOFF", b"wOF2", b"\x00\x01\x00\x00",
    b"\x00\x00\x01\x00", b"\x28\xb5\x2f\xfd", b"\xd0\xcf\x11\xe0", b"\xca\xfe\xba\xbe", b"\x1aE\xdf\xa3", b"%!PS",
)  # fmt: skip
_CONTROL_BYTES = bytes(np.flatnonzero(BINARY)[1:].astype(np.uint8))
_BINARY_TYPES = ("image/", "audio/", "video/", "font/")
_BINARY_SUBTYPES = (
    "pdf zip gzip x-gzip x-tar x-bzip2 x-xz x-7z-compressed x-rar-compressed vnd.rar wasm msword java-archive"
    " x-shockwave-flash vnd.ms-excel vnd.ms-powerpoint epub+zip zstd"
)


@dataclass(frozen=True, slots=True)
class Markup:
    """Bodies of a batch in valid UTF-8. Body i is `data[starts[i]:ends[i]]`, to be read as `hows[i]`."""

    data: npt.NDArray[np.uint8]
    starts: npt.NDArray[np.int64]
    ends: npt.NDArray[np.int64]
    hows: npt.NDArray[np.uint8]
    cut: npt.NDArray[np.bool_]  # longer than undust reads
    undecodable: npt.NDArray[np.bool_]  # some bytes do not belong to the encoding
    binary: npt.NDArray[np.bool_]  # no text; the body is empty here


def read_markup(bodies: pa.Array, content_types: pa.Array | None) -> Markup:
    """Decode bodies (`binary`) by what their headers and first bytes say. Those in ASCII or UTF-8 are not copied."""
    data, offsets = buffers(bodies.fill_null(b"") if bodies.null_count else bodies)
    first = int(offsets[0])
    data, offsets = data[first : int(offsets[-1])], offsets - first
    starts, ends = offsets[:-1].copy(), offsets[1:].copy()
    cut = ends - starts > MAX_BODY_BYTES
    for row in np.flatnonzero(cut).tolist():
        ends[row] = _whole(data, int(starts[row]) + MAX_BODY_BYTES)
    found = np.empty(len(starts), np.uint8)
    inspect(data, starts, ends, found)
    hows, charsets = _stated(content_types, len(starts))
    markup = Markup(data, starts, ends, hows, cut, np.zeros(len(starts), np.bool_), hows == _BINARY)
    odd = (found & ~np.uint8(NOT_ASCII)) != 0
    foreign = (found & NOT_ASCII != 0) & (charsets != "utf-8")
    look = (odd | foreign | (hows == _SNIFF) | (hows == _XML)) & ~markup.binary
    decoded: list[bytes] = []
    size = len(data)
    for row in np.flatnonzero(look).tolist():
        body = _look(markup, row, int(found[row]), charsets[row])
        if body is not None:
            markup.starts[row], markup.ends[row] = size, size + len(body)
            size += len(body)
            decoded.append(body)
    markup.ends[markup.binary] = markup.starts[markup.binary]
    hows[markup.binary] = _PLAIN
    if not decoded:
        return markup
    rest = data
    if len(decoded) == len(starts):  # nothing of the bodies as they came is needed
        rest, starts, ends = data[:0], starts - len(data), ends - len(data)
    joined = np.concatenate([rest, *(np.frombuffer(body, np.uint8) for body in decoded)])
    return Markup(joined, starts, ends, hows, cut, markup.undecodable, markup.binary)


def _look(markup: Markup, row: int, found: int, charset: str | None) -> bytes | None:
    """Decide on one page by its first bytes; give its body in UTF-8 if that is not what it is in already."""
    start, end = int(markup.starts[row]), int(markup.ends[row])
    head = markup.data[start : min(end, start + HEAD_BYTES)].tobytes()
    marked = found & (LE_MARK | BE_MARK)
    if found & CONTROLS and charset is None and not marked:
        charset = _unmarked_utf16(head)
    wide = marked or charset in ("utf-16le", "utf-16be")
    if found & (CONTROLS | NOT_UTF8) and not wide and _is_binary(head):
        markup.binary[row] = True
        return None
    if markup.hows[row] in (_SNIFF, _XML):
        markup.hows[row] = _sniffed(head.replace(b"\0", b"") if wide else head, int(markup.hows[row]))
    if found & UTF8_MARK:
        markup.starts[row] += 3
        encoding = "utf-8"
    elif marked:
        markup.starts[row] += 2
        encoding = "utf-16le" if found & LE_MARK else "utf-16be"
    elif charset in ("utf-16le", "utf-16be") and not found & (CONTROLS | NOT_ASCII):
        return None  # the header is wrong: UTF-16 has other bytes than ASCII text
    elif not found & (NOT_ASCII | ESCAPES | CONTROLS):
        return None
    else:
        encoding = charset or declared_encoding(head) or ("" if found & NOT_UTF8 else "utf-8")
    if encoding == "utf-8" and not found & NOT_UTF8:
        return None
    body = markup.data[markup.starts[row] : end].tobytes()
    if not encoding:
        encoding = guessed_encoding(body)
    decoded, markup.undecodable[row] = to_utf8(body, encoding)
    return decoded


def _stated(content_types: pa.Array | None, count: int) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.object_]]:
    """Give how the headers say that each page is to be read, and in which encoding."""
    if content_types is None:
        return np.full(count, _SNIFF, np.uint8), np.full(count, None, np.object_)
    coded = pc.dictionary_encode(content_types.fill_null(""))
    stated = [_by_type(value) for value in coded.dictionary.to_pylist()] or [(_SNIFF, None)]
    places = np.asarray(coded.indices)
    hows = np.array([how for how, _ in stated], np.uint8)
    charsets = np.array([charset for _, charset in stated], np.object_)
    return hows[places], charsets[places]


@functools.lru_cache(4096)
def _by_type(content_type: str) -> tuple[int, str | None]:
    """Read a Content-Type header.

    >>> _by_type("text/html; charset=latin1"), _by_type("image/png"), _by_type("application/rss+xml")
    ((0, 'windows-1252'), (9, None), (2, None))
    """
    kind = content_type.split(";")[0].split(",")[0].strip().lower()
    charset = charset_of(content_type[:1024].encode("utf-8", "replace"))
    subtype = kind.rpartition("/")[2]
    if kind == "text/html":
        return _HTML, charset
    if kind == "application/xhtml+xml":
        return _XHTML, charset
    if subtype == "xml" or subtype.endswith("+xml"):
        return _XML, charset
    if kind.startswith(_BINARY_TYPES) or subtype in _BINARY_SUBTYPES.split() or subtype.startswith("vnd.openxml"):
        return _BINARY, None
    if kind.startswith("text/") or subtype in ("json", "javascript", "x-javascript") or subtype.endswith("+json"):
        return _PLAIN, charset
    return _SNIFF, charset


def _sniffed(head: bytes, how: int) -> int:
    """Say how a page of no stated type, or XML, is to be read."""
    if _XML_START.match(head) or how == _XML:
        return _XHTML if _HTML_ROOT.search(head) else _XML
    return _HTML if _HTML_TAG.search(head) else _PLAIN


def _is_binary(head: bytes) -> bool:
    """Tell whether bytes are no text in any encoding: a known format, or too many controls."""
    if head.startswith(_MAGIC) or head[4:8] == b"ftyp":
        return True
    controls = len(head) - len(head.translate(None, _CONTROL_BYTES))
    return controls > 8 + len(head) // 64 or 5 * head.count(0) > 3 * len(head)


def _unmarked_utf16(head: bytes) -> str | None:
    """Tell UTF-16 without a mark by the null bytes of its ASCII characters, which stand on one side only."""
    before, after = head[::2].count(0), head[1::2].count(0)
    if 5 * after > 2 * len(head) - 5 and before == 0:
        return "utf-16le"
    return "utf-16be" if 5 * before > 2 * len(head) - 5 and after == 0 else None


def _whole(data: npt.NDArray[np.uint8], end: int) -> int:
    """Move the end of a cut body back to the start of the character it lies in."""
    for back in range(4):
        if data[end - back] & 0xC0 != 0x80:
            return end - back
    return end
