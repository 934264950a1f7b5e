"""HTML from text that nobody vouches for: only what went through `text` or `tag` is HTML."""

import html
import re
from typing import NewType

Html = NewType("Html", str)
"""Text that is HTML. Crawled text becomes that by `text` only, which escapes it."""

MAX_TEXT = 300
"""Characters of a URL or title that are shown."""

_VOID = {"input", "meta", "br", "col", "path", "line", "rect", "circle"}
_HIDDEN = re.compile("[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")


def text(value: object, *, most: int | None = MAX_TEXT) -> Html:
    """Escape text. What cannot be seen, or turns the direction of writing round, is spelled out; long text is cut.

    >>> text("<b>"), text("a\\u202eb"), text("abcdef", most=4)
    ('&lt;b&gt;', 'a\\\\u202eb', 'abc…')
    """
    said = str(value)
    if most is not None and len(said) > most:
        said = said[: most - 1] + "…"
    return Html(html.escape(_HIDDEN.sub(lambda found: f"\\u{ord(found[0]):04x}", said)))


def tag(name: str, /, *children: Html, **attributes: str | float | bool | None) -> Html:
    """Write an element. Attributes are escaped; `class_` is class, `data_x` is data-x; True has no value, None is none.

    >>> tag("a", text("1 < 2"), href="#x", class_="n")
    '<a href="#x" class="n">1 &lt; 2</a>'
    """
    said = "".join(
        _attribute(key, value) for key, value in attributes.items() if value is not None and value is not False
    )
    if name in _VOID:
        return Html(f"<{name}{said}>" if name in ("input", "meta", "br", "col") else f"<{name}{said}/>")
    return Html(f"<{name}{said}>{''.join(children)}</{name}>")


def join(parts: "list[Html] | tuple[Html, ...]", between: str = "") -> Html:
    """Put pieces of HTML one after the other; what is between them is escaped."""
    return Html(text(between, most=None).join(parts))


def titled(shape: str, title: str, /, **attributes: str | float | bool | None) -> Html:
    """Write a shape of a drawing with its title, which browsers show and read out."""
    said = "".join(_attribute(key, value) for key, value in attributes.items() if value is not None)
    return Html(f"<{shape}{said}><title>{text(title)}</title></{shape}>")


def _attribute(key: str, value: str | float | bool) -> str:
    name = key.rstrip("_").replace("_", "-")
    if value is True:
        return f" {name}"
    said = f"{value:.1f}".removesuffix(".0") if isinstance(value, float) else html.escape(str(value))
    return f' {name}="{said}"'
