"""What the HTML kernels look up: classes of bytes, elements with their properties, character references.

Names are known by their 64-bit FNV-1a hash; building the tables fails if two names of one table share a hash.
"""

from collections.abc import Iterable, Mapping
from html.entities import html5

import numpy as np
import numpy.typing as npt

_BASIS, _PRIME = 0xCBF29CE484222325, 0x100000001B3
HASH_BASIS, HASH_PRIME = np.uint64(_BASIS), np.uint64(_PRIME)


def name_hash(name: str) -> np.uint64:
    """Hash a name as the kernels do.

    >>> hex(name_hash("a"))
    '0xaf63dc4c8601ec8c'
    """
    value = _BASIS
    for byte in name.encode():
        value = (value ^ byte) * _PRIME & 0xFFFFFFFFFFFFFFFF
    return np.uint64(value)


# What a byte of text means to the tokenizer.
TEXT, SPACE, LESS, AMPERSAND, CONTROL, LATIN, BRACKET = range(7)
BYTE_CLASS: npt.NDArray[np.uint8] = np.zeros(256, np.uint8)
BYTE_CLASS[:32] = CONTROL  # invisible; WHATWG drops NUL in the body, we drop the others with it
BYTE_CLASS[127] = CONTROL
BYTE_CLASS[[9, 10, 11, 12, 13, 28, 29, 30, 31, 32]] = SPACE
BYTE_CLASS[ord("<")] = LESS
BYTE_CLASS[ord("&")] = AMPERSAND
BYTE_CLASS[ord("]")] = BRACKET  # may begin the end of a CDATA section
BYTE_CLASS[0xC2] = LATIN  # begins U+0080 to U+00BF: controls, no-break space and soft hyphen among them


def _lowered(stops: str) -> npt.NDArray[np.uint64]:
    lowered = np.arange(256, dtype=np.uint64)
    lowered[65:91] += np.uint64(32)
    lowered[0] = 256  # not a stop
    for stop in stops:
        lowered[ord(stop)] = 0
    return lowered


TAG_LETTER = _lowered("\t\n\f\r />")  # WHATWG 13.2.5.8, tag name state; 0 ends the name
ATTRIBUTE_LETTER = _lowered("\t\n\f\r />=")  # 13.2.5.33, attribute name state
BLANK: npt.NDArray[np.bool_] = np.array([i in b"\t\n\f\r " for i in range(256)])
ALPHANUMERIC: npt.NDArray[np.bool_] = np.array([chr(i).isalnum() and i < 128 for i in range(256)])


def _hashed(names: Iterable[str], bits: int) -> tuple[npt.NDArray[np.uint64], dict[str, int]]:
    """Put names in a table with 2**bits places, open addressing; give the keys and the place of each name."""
    keys = np.zeros(1 << bits, np.uint64)
    places = {}
    for name in names:
        key = name_hash(name)
        place = int(key) >> (64 - bits)
        while keys[place] != 0:
            if keys[place] == key:
                raise AssertionError(f"{name}: its hash is taken")
            place = (place + 1) & ((1 << bits) - 1)
        keys[place] = key
        places[name] = place
    return keys, places


# Properties of elements.
BLOCK = 1  # begins and ends a line
APART = 2  # separates words, as an image between them does
HEAD = 4  # does not end the head (13.2.6.4.4)
SPECIAL = 8  # its start tag needs more than its end to be found
ROOT = 16  # can be the root of a region, since its end tag must not be left out
EDGE = 32  # navigation and the like, by its name
SHOWN_RAW = 64  # its content is no markup, but text

# Codes of the elements with a treatment of their own.
(OTHER, LINK_A, AREA, IMAGE, INPUT, TITLE, SCRIPT, RAWTEXT, TEXTAREA, XMP, PLAINTEXT, TEMPLATE, FOREIGN) = range(13)
(LINK, META, BASE, HTML, BODY, PRE, CELL, ROW, MAIN, ARTICLE, HEADER, BREAK) = range(13, 25)

_BLOCKS = (
    "address blockquote caption center dd dir dt fieldset figcaption figure frameset h1 h2 h3 h4 h5 h6 hgroup hr"
    " legend li noframes optgroup option p search summary tbody tfoot thead body head html"
)
_ROOTS = "article aside details dialog div dl footer form header main menu nav ol section table ul"
_CODES = {
    "a": (LINK_A, 0),
    "br": (BREAK, APART),
    "area": (AREA, APART),
    "img": (IMAGE, APART),
    "image": (IMAGE, APART),  # 13.2.6.4.7: "change the token's tag name to img"
    "input": (INPUT, APART),
    "title": (TITLE, HEAD),
    "script": (SCRIPT, HEAD),
    "style": (RAWTEXT, HEAD),
    "noscript": (RAWTEXT, HEAD),
    "iframe": (RAWTEXT, APART),
    "noembed": (RAWTEXT, 0),
    "noframes": (RAWTEXT, HEAD),
    "textarea": (TEXTAREA, BLOCK | SHOWN_RAW),
    "xmp": (XMP, BLOCK | SHOWN_RAW),
    "plaintext": (PLAINTEXT, BLOCK | SHOWN_RAW),
    "template": (TEMPLATE, HEAD),
    "svg": (FOREIGN, APART),
    "math": (FOREIGN, APART),
    "link": (LINK, HEAD),
    "meta": (META, HEAD),
    "base": (BASE, HEAD),
    "html": (HTML, HEAD | BLOCK),
    "body": (BODY, BLOCK),
    "pre": (PRE, BLOCK),
    "listing": (PRE, BLOCK),
    "td": (CELL, BLOCK),
    "th": (CELL, BLOCK),
    "tr": (ROW, BLOCK),
}
_ROOT_CODES = {"main": MAIN, "article": ARTICLE, "header": HEADER}
_APART = "audio button canvas embed meter object output progress select video"


def _elements() -> dict[str, tuple[int, int]]:
    elements = dict.fromkeys(_BLOCKS.split(), (OTHER, BLOCK)) | dict.fromkeys(_APART.split(), (OTHER, APART))
    elements |= {name: (_ROOT_CODES.get(name, OTHER), BLOCK | ROOT) for name in _ROOTS.split()}
    elements |= {name: (code, flags | SPECIAL) for name, (code, flags) in _CODES.items()}
    elements["head"] = (OTHER, HEAD | BLOCK)
    for name in ("nav", "aside", "footer", "dialog"):
        elements[name] = (OTHER, BLOCK | ROOT | EDGE)
    return elements


ELEMENT_BITS = 9
_ELEMENTS = _elements()
ELEMENT_KEYS, _places = _hashed(_ELEMENTS, ELEMENT_BITS)
ELEMENT_CODES: npt.NDArray[np.int64] = np.zeros(1 << ELEMENT_BITS, np.int64)
ELEMENT_FLAGS: npt.NDArray[np.int64] = np.zeros(1 << ELEMENT_BITS, np.int64)
for _name, (_code, _flags) in _ELEMENTS.items():
    ELEMENT_CODES[_places[_name]], ELEMENT_FLAGS[_places[_name]] = _code, _flags

# Named character references (13.5). Those that old pages may write without a semicolon have at most six letters.
REFERENCE_BITS = 12
_NAMES: Mapping[str, str] = {name[:-1]: value for name, value in html5.items() if name.endswith(";")}
REFERENCE_KEYS, _places = _hashed(_NAMES, REFERENCE_BITS)
REFERENCE_VALUES: npt.NDArray[np.int32] = np.zeros((1 << REFERENCE_BITS, 2), np.int32)
REFERENCE_BARE: npt.NDArray[np.bool_] = np.zeros(1 << REFERENCE_BITS, np.bool_)
for _name, _value in _NAMES.items():
    for _k, _character in enumerate(_value):
        REFERENCE_VALUES[_places[_name], _k] = ord(_character)
    REFERENCE_BARE[_places[_name]] = _name in html5
MAX_REFERENCE, MAX_BARE = max(map(len, _NAMES)), max(len(name) for name in html5 if not name.endswith(";"))

# 13.2.5.80: numbers of C1 controls mean what windows-1252 has there.
C1_MEANINGS: npt.NDArray[np.int32] = np.array(
    [ord(bytes([i]).decode("cp1252", "replace")) for i in range(128, 160)], np.int32
)
for _i in (0x81, 0x8D, 0x8F, 0x90, 0x9D):
    C1_MEANINGS[_i - 128] = _i

# Pieces of class and id names, and roles, that mark what is not the page's own content.
EDGE_ROLES = "navigation banner contentinfo complementary search dialog alertdialog menu menubar tablist toolbar"
EDGE_WORDS = (
    "nav navbar navigation topnav subnav menu menus submenu footer sidebar breadcrumb breadcrumbs cookie"
    " cookies consent gdpr advert adverts advertisement ads sponsored share sharing social newsletter subscribe"
    " popup modal toolbar pagination pager masthead skip skiplink skiplinks"
)
CONTENT_WORDS = "content main article post entry body page wrapper wrap container layout has no with without grid row"
WORD_BITS = 9
_WORDS = dict.fromkeys(EDGE_WORDS.split(), 1) | dict.fromkeys(CONTENT_WORDS.split(), 2)
WORD_KEYS, _places = _hashed(_WORDS, WORD_BITS)
WORD_KINDS: npt.NDArray[np.int64] = np.zeros(1 << WORD_BITS, np.int64)
for _name, _kind in _WORDS.items():
    WORD_KINDS[_places[_name]] = _kind
ROLE_HASHES: npt.NDArray[np.uint64] = np.array([name_hash(role) for role in EDGE_ROLES.split()])
