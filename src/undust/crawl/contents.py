"""Signatures of what is on a page: its bytes, its text, or its main text."""

from collections.abc import Callable

from undust.crawl.signatures import signature
from undust.errors import UsageError

CONTENTS = ("body", "text", "main")

Signer = Callable[[bytes | str], bytes | None]
"""From a body to its signature; None for a page without content, which is never the same as another."""


def content_signer(content: str, salt: int) -> Signer:
    """Give what makes signatures of the `body`, the `text` of it as readers see it, or its `main` text."""
    if content not in CONTENTS:
        raise UsageError(f"unknown content {content!r}; one of {', '.join(CONTENTS)}")
    if content == "body":
        return lambda body: signature(body, salt) if body else None
    return _text_signer("all" if content == "text" else content, salt)


def _text_signer(part: str, salt: int) -> Signer:
    import pyarrow as pa

    from undust.detect.text import extract
    from undust.detect.words import text_digests

    def sign(body: bytes | str) -> bytes | None:
        html, kind = (
            (body, None) if isinstance(body, bytes) else (body.encode("utf-8", "replace"), "text/html; charset=utf-8")
        )
        page = pa.record_batch({"html": pa.array([html], pa.binary()), "content_type": pa.array([kind], pa.string())})
        made = extract(page, content=part, detect_language=False)
        found = text_digests(made["text"])[0].as_py()
        if found is None:  # a picture, for one: its bytes are its content
            return signature(html, salt) if html else None
        return signature(found, salt)

    return sign
