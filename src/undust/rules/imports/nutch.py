"""Apache Nutch: `regex-normalize.xml`, those of its replacements that take arguments away."""

import re
from xml.etree import ElementTree

from undust.errors import InputError
from undust.rules.imports.entries import EVERYWHERE, Entry, Place, Read, host_place
from undust.rules.imports.lists import standard_name, standard_path
from undust.rules.imports.names import EndlessError, expanded

_SITE = re.compile(
    r"\^?\(?https\?://(?P<host>[^/()\[\]|]+?)(?P<path>(?:/[^()\[\]|?\\]*(?:\\.[^()\[\]|?\\]*)*)?)\\\?\)?"
)
_BEFORE = re.compile(r"(?:\(\?i\))?(?:\(?(?:\[[;_?&\\]+\]\??|;\?|\\b|\[\\\?&\]|\(\[\?&\]\))*)*")
_VALUE = re.compile(r"(?P<value>\.\*\??|\[\^&[#;?]*\][*+]\??)")
_AFTER = re.compile(r"\)?(?:&\??|\((?:\?:)?(?:\\\?|&|;|#|\$|\|)+\)|\(?\.\*\)?\$?|\$|\(\?=[^()]*\)|\[&#\]\??)*")


def read(text: str, source: str) -> Read:
    """Read the file; replacements of another kind are left out, and listed."""
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise InputError(f"{source}: it declares entities, which lists do not need; give the file without them")
    try:
        root = ElementTree.fromstring(text.removeprefix("\ufeff").encode())  # noqa: S314 - it has no entities
    except ElementTree.ParseError as error:
        raise InputError(
            f"{source}:{error.position[0]}: not XML: {error.msg}; give the file as Nutch reads it"
        ) from error
    if root.tag != "regex-normalize":
        raise InputError(f"{source}: <{root.tag}> is no <regex-normalize>; give the regex-normalize.xml of Nutch")
    made = Read()
    for number, item in enumerate(root.iter("regex"), 1):
        pattern, substitution = item.findtext("pattern", ""), item.findtext("substitution", "")
        try:
            if not re.fullmatch(r"(?:\$\d)*", substitution.strip()):
                raise EndlessError("it writes something")
            made.entries.append(_entry(pattern.strip())._replace(line=f"{number}: {pattern}"[:200]))
        except EndlessError as error:
            made.skip(f"{number}: {pattern}", f"no replacement that only takes arguments away: {error}")
    return made


def _entry(pattern: str) -> Entry:
    site, place = EVERYWHERE, Place()
    start = _SITE.match(pattern[:4_000])
    if start:
        (host,) = expanded(start["host"], dot=".")[:1] or [""]
        (path,) = expanded(start["path"], dot=".")[:1] or [""]
        segments = standard_path(path)
        found = None if segments is None else host_place(host, segments, closed=bool(path))
        if found is None:
            raise EndlessError("where it holds")
        site, place = found
        pattern = pattern[start.end() :]
    rest = pattern[_BEFORE.match(pattern[:200]).end() :]  # type: ignore[union-attr] # it fits everything
    name, mark, after = rest.partition("=")
    value = _VALUE.match(after)
    if not mark or value is None or not _AFTER.fullmatch(after[value.end() :][:200]):
        raise EndlessError("its form is another")
    names = [known for each in expanded(name) if (known := standard_name(each))]
    if not names:
        raise EndlessError("it names no argument")
    return Entry(site, place, frozenset(names))
