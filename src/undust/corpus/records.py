"""What one WARC record says of a page: its URL, body, digest, status and time, or why it is none."""

import warnings
from typing import NamedTuple

from undust.corpus.batches import Page
from undust.corpus.bodies import BodyDamaged, BodyTooLarge, Response, decode_body, parse_response
from undust.corpus.reading import Reading

with warnings.catch_warnings():
    # FastWARC warns of its own old names when it is imported, which nobody who uses undust can change.
    warnings.simplefilter("ignore", DeprecationWarning)
    from fastwarc.warc import HeaderMap, WarcHeader, WarcRecordType

RESPONSE = int(WarcRecordType.response)
RESOURCE = int(WarcRecordType.resource)
REVISIT = int(WarcRecordType.revisit)
CONVERSION = int(WarcRecordType.conversion)
_PAGES = {RESPONSE, RESOURCE, REVISIT, CONVERSION}
_QUIET = {
    int(WarcRecordType.request): "request record",
    int(WarcRecordType.metadata): "metadata record",
    int(WarcRecordType.warcinfo): "warcinfo record",
    int(WarcRecordType.continuation): "continuation record",
}

_URI = WarcHeader.WARC_TARGET_URI
_DATE = WarcHeader.WARC_DATE
_DIGEST = WarcHeader.WARC_PAYLOAD_DIGEST
_TYPE = WarcHeader.CONTENT_TYPE
_WARC_TYPE = WarcHeader.WARC_TYPE


class Skipped(NamedTuple):
    """A record that is whole, but no page."""

    reason: str


class Damaged(NamedTuple):
    """A record that cannot be used."""

    what: str


class Limited(NamedTuple):
    """A page that stays without its body, which is too large: its digest says what it is."""

    page: Page


Outcome = Page | Skipped | Damaged | Limited


def outcome_of(kind: int, headers: HeaderMap, block: bytes, reading: Reading) -> Outcome:
    """The page of a record (its type as FastWARC's number), or what else became of it."""
    url = _url_of(kind, headers)
    if not isinstance(url, bytes):
        return url
    if kind == RESPONSE:
        return _response(url, headers, block, reading)
    if kind == REVISIT:
        return _revisit(url, headers, block, reading)
    if len(block) > reading.max_body_bytes:
        return _bodiless(url, headers, None, reading)
    content_type = headers.get_bytes(_TYPE)
    time = headers.get_bytes(_DATE)
    if kind == RESOURCE:
        return Page(url, html=block, digest=headers.get_bytes(_DIGEST), content_type=content_type, time=time)
    if not (content_type or b"").lower().startswith(b"text/plain"):
        return Skipped("conversion record that is not text")
    return Page(url, text=block, content_type=content_type, time=time)


def outcome_of_large(kind: int, headers: HeaderMap, start: bytes, reading: Reading) -> Outcome:
    """The same for a record whose block is too large to be read; `start` is how it begins."""
    url = _url_of(kind, headers)
    if not isinstance(url, bytes):
        return url
    response = parse_response(start) if kind in (RESPONSE, REVISIT) else None
    return _bodiless(url, headers, response, reading)


def _url_of(kind: int, headers: HeaderMap) -> "bytes | Skipped | Damaged":
    if kind in _QUIET:
        return Skipped(_QUIET[kind])
    url = headers.get_bytes(_URI)
    if url is None:
        return Skipped("no URL") if headers.get_bytes(_WARC_TYPE) else Damaged("record without WARC-Type")
    if not url.startswith(b"http"):
        # wget once wrote angle brackets around it.
        url = url.strip().removeprefix(b"<").removesuffix(b">")
        if not url[:8].lower().startswith((b"http://", b"https://")):
            return Skipped("not http")
    if kind not in _PAGES:
        return Skipped("record of unknown type")
    return url


def _response(url: bytes, headers: HeaderMap, block: bytes, reading: Reading) -> Outcome:
    response = parse_response(block)
    if response is None:
        return Damaged("no HTTP response in the record")
    if response.status != 200 and not reading.any_status:
        return Skipped(f"status {response.status}")
    try:
        body = decode_body(response, reading.max_body_bytes)
    except BodyDamaged as error:
        return Damaged(str(error))
    except BodyTooLarge:
        return _bodiless(url, headers, response, reading)
    return Page(
        url, body, None, headers.get_bytes(_DIGEST), response.status, response.content_type, headers.get_bytes(_DATE)
    )


def _revisit(url: bytes, headers: HeaderMap, block: bytes, reading: Reading) -> Outcome:
    """The page is what it was before, so that its digest is all there is."""
    digest = headers.get_bytes(_DIGEST)
    response = parse_response(block)
    status = None if response is None else response.status
    if not digest:
        return Skipped("revisit record without digest")
    if status not in (None, 200, 304) and not reading.any_status:
        return Skipped(f"status {status}")
    content_type = None if response is None else response.content_type
    return Page(url, digest=digest, status=status, content_type=content_type, time=headers.get_bytes(_DATE))


def _bodiless(url: bytes, headers: HeaderMap, response: Response | None, reading: Reading) -> Outcome:
    status = None if response is None else response.status
    if status not in (None, 200) and not reading.any_status:
        return Skipped(f"status {status}")
    digest = headers.get_bytes(_DIGEST)
    if not digest:
        return Skipped(reading.body_over)
    content_type = headers.get_bytes(_TYPE) if response is None else response.content_type
    time = headers.get_bytes(_DATE)
    return Limited(Page(url, digest=digest, status=status, content_type=content_type, time=time))
