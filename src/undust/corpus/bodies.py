"""Takes an HTTP response apart and undoes the encodings of its body, within a limit."""

import re
import zlib
from typing import NamedTuple

import brotli
import zstandard

from undust.corpus.decompress import ZSTD_FEED_BYTES, ZSTD_WINDOW_BYTES

Bytes = bytes | bytearray | memoryview

MAX_HEAD_BYTES = 64 * 2**10
"""Longer HTTP headers are taken as damage; servers stop at 8 to 64 kB."""

MAX_ENCODINGS = 4

_MAX_GZIP_MEMBERS = 64
"""Each member costs a copy of what follows it, so that thousands of empty ones would cost minutes."""

_STATUS = re.compile(rb"HTTP/\d(?:\.\d)?[ \t]+(\d{3})(?!\d)")
_FIELDS = re.compile(rb"\n(content-type|content-encoding|transfer-encoding)[ \t]*:[ \t]*([^\r\n]*)", re.IGNORECASE)
_BLANK_LINE = re.compile(rb"\n\r?\n")
_CHUNK = re.compile(rb"(?:\r?\n)?[ \t]*([0-9A-Fa-f]{1,15})[ \t]*(?:;[^\r\n]{0,4096})?(\r?\n)")
_NOT_TEXT = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")


class BodyTooLarge(Exception):  # noqa: N818 - a reason to count, caught by the reader, not an error of ours
    """The body passes the limit once its encodings are undone."""


class BodyDamaged(Exception):  # noqa: N818 - the same
    """The body is not what its headers say."""


class Response(NamedTuple):
    """Status, the headers that matter here, and the body as it was sent. A tuple: one is made for each record."""

    status: int
    content_type: bytes | None
    content_encoding: bytes
    transfer_encoding: bytes
    body: memoryview


def parse_response(block: bytes) -> Response | None:
    """A response out of the bytes that a server sent; nothing where they are no HTTP.

    >>> parse_response(b"HTTP/1.1 200 OK\\r\\nContent-Type: text/html\\r\\n\\r\\n<p>").content_type
    b'text/html'
    """
    start = 0
    while True:
        status_line = _STATUS.match(block, start)
        if status_line is None:
            return None
        status = int(status_line[1])
        end = block.find(b"\r\n\r\n", start, start + MAX_HEAD_BYTES)
        body = end + 4
        # Some writers end header lines with a bare newline. The search stops where the usual end was found.
        if end < 0 or block.find(b"\n\n", start, end) >= 0:
            bare = _BLANK_LINE.search(block, start, start + MAX_HEAD_BYTES)
            if bare is None and len(block) - start > MAX_HEAD_BYTES:
                return None
            end, body = bare.span() if bare else (len(block), len(block))
        if status >= 200 or not block.startswith(b"HTTP/", body):
            break
        start = body  # "100 Continue" and its like stand before the answer
    content_type = None
    content_encoding = transfer_encoding = b""
    for name, value in _FIELDS.findall(block, start, end):
        if len(name) == 12:
            content_type = value if content_type is None else content_type
        elif len(name) == 16:
            content_encoding += b"," + value
        else:
            transfer_encoding += b"," + value
    return Response(status, content_type, content_encoding, transfer_encoding, memoryview(block)[body:])


def decode_body(response: Response, limit: int) -> Bytes:
    """The body with transfer and content encodings undone; as it is where they are undone already.

    A body that was cut gives what came before the cut, as browsers show it.
    """
    body: Bytes = response.body
    if not (response.content_encoding or response.transfer_encoding):
        if len(body) > limit:
            raise BodyTooLarge
        return body
    encodings = [*_names(response.content_encoding), *_names(response.transfer_encoding)]
    for encoding in reversed(encodings[:MAX_ENCODINGS]):
        decode = _DECODERS.get(encoding)
        if decode is not None:
            body = decode(body, limit)
    if len(body) > limit:
        raise BodyTooLarge
    return body


def _names(header: bytes) -> list[bytes]:
    return [name for part in header.split(b",") if (name := part.strip().lower())] if header else []


def _chunked(body: Bytes, limit: int) -> Bytes:
    whole = bytes(body)
    plain = bytearray()
    at = 0
    certain = False
    while match := _CHUNK.match(whole, at):
        size = int(match[1], 16)
        certain = certain or match[2] == b"\r\n"
        if size == 0 and (certain or at):
            return plain
        at = match.end() + size
        plain += memoryview(whole)[match.end() : at]
    if not certain:
        return body  # undone already; text may well begin with a line of hexadecimal digits
    if not whole[at : at + 3].strip():
        return plain  # cut
    raise BodyDamaged("chunked body is damaged")


def _gzip(body: Bytes, limit: int) -> Bytes:
    data = bytes(body)
    if data[:2] != b"\x1f\x8b":
        return body
    parts: list[bytes] = []
    left = limit + 1
    for _ in range(_MAX_GZIP_MEMBERS):  # members may follow each other; other bytes at the end are padding
        inflater = zlib.decompressobj(31)
        try:
            parts.append(inflater.decompress(data, left))
        except zlib.error as error:
            raise BodyDamaged(f"gzip body is damaged ({error})") from error
        left -= len(parts[-1])
        data = inflater.unused_data
        if left <= 0 or data[:2] != b"\x1f\x8b":
            break
    return _within(parts, limit)


def _deflate(body: Bytes, limit: int) -> Bytes:
    data = bytes(body)
    for window in (15, -15):  # the standard says zlib, some servers send it raw
        try:
            return _within([zlib.decompressobj(window).decompress(data, limit + 1)], limit)
        except zlib.error:
            if not _NOT_TEXT.search(data, 0, 512):
                return data  # undone already; a short text could pass for the beginning of a raw stream
    raise BodyDamaged("deflate body is damaged")


def _brotli(body: Bytes, limit: int) -> Bytes:
    data = bytes(body)
    inflater = brotli.Decompressor()
    parts: list[bytes] = []
    size = 0
    try:
        piece = inflater.process(data, output_buffer_limit=limit + 1)
        while piece:
            parts.append(piece)
            size += len(piece)
            if size > limit or inflater.is_finished() or inflater.can_accept_more_data():
                break
            piece = inflater.process(b"", output_buffer_limit=limit + 1)
    except brotli.error as error:
        if _NOT_TEXT.search(data, 0, 512):
            raise BodyDamaged("br body is damaged") from error
        return data  # brotli has no mark of its own: what does not decode but is text was decoded before
    if size <= limit and not inflater.is_finished() and not _NOT_TEXT.search(data, 0, 512):
        return data
    return _within(parts, limit)


def _zstd(body: Bytes, limit: int) -> Bytes:
    data = bytes(body)
    if data[:4] != b"\x28\xb5\x2f\xfd":
        return body
    inflater = zstandard.ZstdDecompressor(max_window_size=ZSTD_WINDOW_BYTES).decompressobj()
    parts: list[bytes] = []
    size = 0
    try:
        for start in range(0, len(data), ZSTD_FEED_BYTES):
            parts.append(inflater.decompress(data[start : start + ZSTD_FEED_BYTES]))
            size += len(parts[-1])
            if size > limit or inflater.eof:
                break
    except zstandard.ZstdError as error:
        raise BodyDamaged(f"zstd body is damaged ({error})") from error
    return _within(parts, limit)


def _within(parts: list[bytes], limit: int) -> bytes:
    if sum(map(len, parts)) > limit:
        raise BodyTooLarge
    return b"".join(parts)


_DECODERS = {
    b"chunked": _chunked,
    b"gzip": _gzip,
    b"x-gzip": _gzip,
    b"deflate": _deflate,
    b"br": _brotli,
    b"zstd": _zstd,
}
