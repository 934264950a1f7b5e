"""The encoding of a page, decided as browsers do, and its bytes as UTF-8.

Names and labels are those of the WHATWG encoding standard; the order of the evidence is that of the HTML standard,
13.2.3.2: byte order mark, HTTP header, the first 1024 bytes, and only then a guess.
"""

import codecs
import functools
import re

_ISO = {  # numbers of ISO 8859 with a codec of their own, and the labels that do not follow the pattern
    2: "csisolatin2 iso-ir-101 iso_8859-2:1987 l2 latin2",
    3: "csisolatin3 iso-ir-109 iso_8859-3:1988 l3 latin3",
    4: "csisolatin4 iso-ir-110 iso_8859-4:1988 l4 latin4",
    5: "csisolatincyrillic cyrillic iso-ir-144 iso_8859-5:1988",
    6: "arabic asmo-708 csiso88596e csiso88596i csisolatinarabic ecma-114 iso-8859-6-e iso-8859-6-i iso-ir-127"
    " iso_8859-6:1987",
    7: "csisolatingreek ecma-118 elot_928 greek greek8 iso-ir-126 iso_8859-7:1987 sun_eu_greek",
    8: "csiso88598e csisolatinhebrew hebrew iso-8859-8-e iso-ir-138 iso_8859-8:1988 visual"
    " csiso88598i iso-8859-8-i logical",
    10: "csisolatin6 iso-ir-157 l6 latin6",
    13: "",
    14: "",
    15: "csisolatin9 l9",
}
_LABELS = {
    "utf-8": "unicode-1-1-utf-8 unicode11utf8 unicode20utf8 utf-8 utf8 x-unicode20utf8",
    "ibm866": "866 cp866 csibm866 ibm866",
    "koi8-r": "cskoi8r koi koi8 koi8-r koi8_r",
    "koi8-u": "koi8-ru koi8-u",
    "macintosh": "csmacintosh mac macintosh x-mac-roman",
    "windows-874": "dos-874 iso-8859-11 iso8859-11 iso885911 tis-620 windows-874",
    "windows-1252": "ansi_x3.4-1968 ascii cp1252 cp819 csisolatin1 ibm819 iso-8859-1 iso-ir-100 iso8859-1 iso88591"
    " iso_8859-1 iso_8859-1:1987 l1 latin1 us-ascii windows-1252 x-cp1252",
    "windows-1254": "cp1254 csisolatin5 iso-8859-9 iso-ir-148 iso8859-9 iso88599 iso_8859-9 iso_8859-9:1989 l5 latin5"
    " windows-1254 x-cp1254",
    "x-mac-cyrillic": "x-mac-cyrillic x-mac-ukrainian",
    "gb18030": "chinese csgb2312 csiso58gb231280 gb2312 gb_2312 gb_2312-80 gbk iso-ir-58 x-gbk gb18030",
    "big5": "big5 big5-hkscs cn-big5 csbig5 x-x-big5",
    "euc-jp": "cseucpkdfmtjapanese euc-jp x-euc-jp",
    "iso-2022-jp": "csiso2022jp iso-2022-jp",
    "shift_jis": "csshiftjis ms932 ms_kanji shift-jis shift_jis sjis windows-31j x-sjis",
    "euc-kr": "cseuckr csksc56011987 euc-kr iso-ir-149 korean ks_c_5601-1987 ks_c_5601-1989 ksc5601 ksc_5601"
    " windows-949",
    "replacement": "csiso2022kr hz-gb-2312 iso-2022-cn iso-2022-cn-ext iso-2022-kr replacement",
    "utf-16be": "unicodefffe utf-16be",
    "utf-16le": "csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff utf-16 utf-16le",
    "x-user-defined": "x-user-defined",
}
_LABELS |= {f"windows-{n}": f"cp{n} windows-{n} x-cp{n}" for n in (1250, 1251, 1253, 1255, 1256, 1257, 1258)}
_LABELS |= {
    f"iso-8859-{n}": f"iso-8859-{n} iso8859-{n} iso8859{n} {more}" + (f" iso_8859-{n}" if n < 10 or n == 15 else "")
    for n, more in _ISO.items()
} | {"iso-8859-16": "iso-8859-16"}
_NAMES = {label: name for name, labels in _LABELS.items() for label in labels.split()}

# Python's codecs that come nearest to the decoders of the standard. Those of one byte get their gaps filled below.
_CODECS = {
    "utf-8": "utf-8", "gb18030": "gb18030", "big5": "big5hkscs", "euc-jp": "euc_jis_2004", "shift_jis": "cp932",
    "iso-2022-jp": "iso2022_jp_ext", "euc-kr": "cp949", "utf-16be": "utf-16-be", "utf-16le": "utf-16-le",
}  # fmt: skip
_ONE_BYTE = {
    "ibm866": "cp866", "koi8-r": "koi8_r", "koi8-u": "koi8_u", "macintosh": "mac_roman", "windows-874": "cp874",
    "x-mac-cyrillic": "mac_cyrillic",
}  # fmt: skip

# What browsers assume of a page that says nothing, by its language (the table at the end of 13.2.3.2).
_BY_LANGUAGE = {
    "ar": "windows-1256", "az": "windows-1254", "ba": "windows-1251", "be": "windows-1251", "bg": "windows-1251",
    "cs": "windows-1250", "el": "iso-8859-7", "et": "windows-1257", "fa": "windows-1256", "he": "windows-1255",
    "hr": "windows-1250", "hu": "iso-8859-2", "ja": "shift_jis", "kk": "windows-1251", "ko": "euc-kr",
    "ku": "windows-1254",
    "ky": "windows-1251", "lt": "windows-1257", "lv": "windows-1257", "mk": "windows-1251", "pl": "iso-8859-2",
    "ru": "windows-1251", "sk": "windows-1250", "sl": "iso-8859-2", "sr": "windows-1251", "tg": "windows-1251",
    "th": "windows-874", "tr": "windows-1254", "tt": "windows-1251", "uk": "windows-1251", "vi": "windows-1258",
    "zh": "gb18030",
}  # fmt: skip

_CHARSET = re.compile(
    rb"""charset[\t\n\f\r ]*+=[\t\n\f\r ]*+(?:"([^"]*+)"|'([^']*+)'|([^"'\t\n\f\r ;][^\t\n\f\r ;]*+))""", re.I
)
_VALUE = rb"""(?:"[^"]*+"|'[^']*+'|[^"'>\t\n\f\r ][^>\t\n\f\r ]*+)"""
_TOKENS = re.compile(
    rb"<!--.*?-->|<meta(?=[\t\n\f\r /])((?:\"[^\"]*+\"|'[^']*+'|[^>\"'])*+)>"
    rb"|</?[a-z](?:\"[^\"]*+\"|'[^']*+'|[^>\"'])*+>|<[!/?][^>]*+>",
    re.I | re.S,
)
_ATTRIBUTES = re.compile(rb"([^\t\n\f\r /=>]++)(?:[\t\n\f\r ]*+=[\t\n\f\r ]*+(" + _VALUE + rb"))?+")
_XML_ENCODING = re.compile(rb"""<\?xml[^>]*?\sencoding\s*+=\s*+["']([A-Za-z0-9._:\-]++)["']""")
_LANGUAGE = re.compile(rb"""<html\b[^>]*?\slang\s*+=\s*+["']?([A-Za-z]{2})\b""", re.I)


@functools.lru_cache(1024)
def encoding_named(label: str) -> str | None:
    """Give the name of the encoding that a label means.

    >>> encoding_named(" Latin1 "), encoding_named("GB2312"), encoding_named("utf-7")
    ('windows-1252', 'gb18030', None)
    """
    return _NAMES.get(label.strip("\t\n\f\r ").lower())


def charset_of(content_type: bytes) -> str | None:
    """Give the encoding that a Content-Type header or `<meta content>` states.

    >>> charset_of(b"text/html; Charset='UTF8'")
    'utf-8'
    """
    found = _CHARSET.search(content_type)
    return _named(found[1] or found[2] or found[3] or b"") if found else None


def declared_encoding(head: bytes) -> str | None:
    """Give the encoding that the first bytes of a page state in a `<meta>` or an XML declaration.

    >>> declared_encoding(b'<!-- <meta charset=utf-8> --><META CHARSET="koi8-r">')
    'koi8-r'
    """
    for tag in _TOKENS.finditer(head):
        if tag[1] is not None and (name := _of_meta(tag[1])):
            # A page that can be read as ASCII so far cannot be UTF-16.
            return {"utf-16le": "utf-8", "utf-16be": "utf-8", "x-user-defined": "windows-1252"}.get(name, name)
    stated = _XML_ENCODING.match(head)
    name = _named(stated[1]) if stated else None
    return "utf-8" if name in ("utf-16le", "utf-16be") else name


def guessed_encoding(body: bytes) -> str:
    """Guess the encoding of a page that states none and is not valid UTF-8.

    UTF-8 with a few faults if most of what is not ASCII is; else what browsers assume for the page's language.
    """
    sample = body[:65536]
    read = sample.decode("utf-8", "replace")
    faults = read.count("\ufffd")
    if len(sample) - len(read) > 4 * faults:  # bytes saved by whole characters, which accidents rarely make
        return "utf-8"
    language = _LANGUAGE.search(sample[:1024])
    return _BY_LANGUAGE.get(language[1].decode().lower(), "windows-1252") if language else "windows-1252"


def to_utf8(body: bytes, encoding: str) -> tuple[bytes, bool]:
    """Decode bytes; give them as UTF-8, and whether some were not of that encoding, which are U+FFFD then.

    >>> to_utf8(b"\\x80\\x81", "windows-1252")[0].decode(), to_utf8(b"a\\xff", "utf-8")
    ('€\\x81', (b'a\\xef\\xbf\\xbd', True))
    """
    if encoding == "replacement":  # encodings that let ASCII mean something else: dangerous, so nothing is read
        return ("\ufffd".encode() if body else b""), bool(body)
    codec = _CODECS.get(encoding)
    if codec is None:
        text, _ = codecs.charmap_decode(body, "replace", _characters(encoding))
        return text.encode(), "\ufffd" in text
    try:
        return body.decode(codec).encode(), False
    except UnicodeError:
        return body.decode(codec, "replace").encode("utf-8", "replace"), True


def _named(label: bytes) -> str | None:
    return encoding_named(label[:64].decode("ascii", "replace"))


def _of_meta(attributes: bytes) -> str | None:
    values: dict[bytes, bytes] = {}
    for name, value in _ATTRIBUTES.findall(attributes):
        values.setdefault(name.lower(), value.strip(b"\"'") if value[:1] in (b'"', b"'") else value)
    if (stated := values.get(b"charset")) is not None and (name := _named(stated)):
        return name
    if values.get(b"http-equiv", b"").strip().lower() == b"content-type":
        return charset_of(values.get(b"content", b""))
    return None


@functools.cache
def _characters(encoding: str) -> str:
    """Give the 256 characters of an encoding of one byte; a gap in 0x80 to 0x9F is the control of that number."""
    if encoding == "x-user-defined":
        return "".join(chr(i if i < 128 else 0xF700 + i) for i in range(256))
    codec = _ONE_BYTE.get(encoding) or encoding.replace("windows-", "cp")
    read = [bytes([i]).decode(codec, "replace") for i in range(256)]
    return "".join(chr(i) if c == "\ufffd" and 0x80 <= i < 0xA0 else c for i, c in enumerate(read))
