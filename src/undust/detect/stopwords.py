"""Stop words of many languages, from the versioned lists of `stopwordsiso` (MIT licence)."""

import functools
from importlib.metadata import version

import stopwordsiso

from undust.kernels.unicode_tables import fold

VERSION = f"stopwordsiso {version('stopwordsiso')}"
"""Which lists these are; recorded with every signature that was made with them."""

LANGUAGES = frozenset(stopwordsiso.langs())
"""ISO 639-1 codes of the languages that have a list."""


@functools.cache
def stop_words(language: str) -> frozenset[str]:
    """Return the stop words of a language (ISO 639-1), folded as words are; none for an unknown language.

    >>> {"the", "of", "don't"} <= stop_words("en"), len(stop_words("xx"))
    (True, 0)
    """
    if language not in LANGUAGES:
        return frozenset()
    return frozenset("".join(chr(fold(ord(c))) for c in word) for word in stopwordsiso.stopwords(language))
