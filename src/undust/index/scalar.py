"""One page at a time: its fingerprint, made as those of the index were."""

from dataclasses import replace

import pyarrow as pa

from undust.detect.pages import PageFingerprints
from undust.detect.text import CONTENTS
from undust.errors import InputError, UsageError
from undust.index.design import Design
from undust.tables import PAGES

_SIGNATURES = {
    "exact": ("exact",),
    "simhash": ("simhash",),
    "minhash": ("minhash", "shingles"),
    "cascade": ("simhash", "sentences", "keywords"),
}


def page_fingerprints(design: Design, content: str | None) -> PageFingerprints:
    """Give what makes fingerprints as the index has them; `UsageError` if its fingerprints were not made of pages."""
    needed = tuple(dict.fromkeys(["exact", *(name for method in design.methods for name in _SIGNATURES[method])]))
    if not design.is_settled:
        return PageFingerprints(content or "all", signatures=needed)
    if design.parameters is None:
        return PageFingerprints(exact_only=True)
    for one in CONTENTS:
        made = PageFingerprints(one, parameters=replace(design.parameters, text_model="given"), signatures=needed)
        if made.signature_parameters == design.parameters:
            if content not in (None, one):
                raise UsageError(f"the index was made of {one} content, not {content}; open it without content")
            return made
    raise UsageError(
        f"the fingerprints of this index were made otherwise (text model {design.parameters.text_model!r}) than undust"
        " makes them of pages; give fingerprints, by add_many or query_many"
    )


def one_page(url: str, html: bytes | str | None, text: str | None) -> pa.RecordBatch:
    """Make a table of one page, of its HTML or its text."""
    if (html is None) == (text is None):
        raise UsageError("give the page's html, or its text")
    for name, value, kinds in (("url", url, str), ("html", html or "", str | bytes), ("text", text or "", str)):
        if not isinstance(value, kinds):
            raise UsageError(f"{name} is {type(value).__name__}; give it as text")
    try:
        url.encode()
    except UnicodeEncodeError as error:
        raise InputError(f"a URL that is no text ({error}); give it as a str of whole characters") from error
    # Of a text, half a surrogate pair is no reason to fail in the middle of a stream.
    text = text and text.encode("utf-8", "replace").decode()
    kind = "text/html; charset=utf-8" if isinstance(html, str) else None
    body = html.encode("utf-8", "replace") if isinstance(html, str) else html
    page = {"url": url, "html": body, "text": text, "content_type": kind}
    return pa.RecordBatch.from_pylist([page], schema=PAGES)
