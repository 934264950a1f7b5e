"""Words to keywords: stop words left out and the rest stemmed, once for each distinct word."""

import re
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import Stemmer
import xxhash

from undust.detect.stopwords import stop_words
from undust.detect.words import Words, language_codes, language_salts
from undust.kernels.vocabulary import KEY, keep_words, move_words, number_words

STEMMER = f"snowball {Stemmer.version()}"
"""Which stemmers these are; recorded with every signature that was made with them."""

MAX_WORDS = 1 << 19
"""A lexicon forgets everything when it knows more words: bounds its memory to about 100 MB, costs half a second."""

# Articles and the like that lean on the next word, in languages where they are written as one (l'homme, dell'arte).
_ELISIONS = {
    "fr": re.compile(r"\A(?:[ldmtsncj]|qu|jusqu|lorsqu|puisqu|quoiqu)'(?=.)"),
    "it": re.compile(r"\A(?:[ldmtscv]|un|gl|(?:al|da|de|ne|su|co|quel|bel|tutt)l?l?)'(?=.)"),
    "ca": re.compile(r"\A[ldmtsn]'(?=.)"),
}


@dataclass(frozen=True, slots=True)
class Keywords:
    """What is left of the words of a batch of texts, as hashes, in order. Text i has `rows[i]` to `rows[i + 1]`."""

    hashes: npt.NDArray[np.uint64]
    rows: npt.NDArray[np.int64]


class Lexicon:
    """Remembers the stem of each word it has seen, over all batches. What it returns does not depend on that.

    One for each thread: it is not locked. Texts without a language keep all their words, unstemmed; so do texts of
    stop words only.
    """

    def __init__(self, *, stop: bool = True, stem: bool = True, max_words: int = MAX_WORDS) -> None:
        self._stop = stop
        self._stem = stem
        self._max_words = max_words
        self._stemmers: dict[str, Stemmer.Stemmer | None] = {}
        self._forget()

    def _forget(self) -> None:
        self._keys = np.zeros(1 << 14, dtype=np.uint64)
        self._numbers = np.full(1 << 14, -1, dtype=np.int32)
        self._stems = np.zeros(1 << 13, dtype=np.uint64)  # hash of each word's stem, 0 for stop words
        self._names: dict[int, str] = {}
        self._known = 0

    def keywords(self, words: Words, languages: pa.Array | None = None) -> Keywords:
        """Leave out stop words and stem the rest, each text by its language (BCP 47 tags or null).

        >>> from undust.detect.words import split
        >>> lexicon = Lexicon()
        >>> found = lexicon.keywords(split(pa.array(["The cats are running!"])), pa.array(["en-GB"]))
        >>> [lexicon.name(h) for h in found.hashes.tolist()]
        ['cat', 'run']
        """
        if self._known > self._max_words:
            self._forget()
        codes, of_row = language_codes(languages, len(words.rows) - 1)
        salts = language_salts(codes, of_row)
        ids = np.empty(len(words.hashes), dtype=np.int32)
        at = 0
        while at < len(ids):
            before = self._known
            first = np.empty(len(self._keys), dtype=np.int64)
            row = int(np.searchsorted(words.rows, at, side="right")) - 1
            at, self._known = number_words(
                words.hashes, words.rows, salts, self._keys, self._numbers, self._known, row, at, ids, first, KEY
            )
            self._learn(words, codes, of_row, first[before : self._known], before)
            if at < len(ids):
                self._grow()
        kept = np.empty(len(ids) + 1, dtype=np.uint64)
        rows = np.empty(len(words.rows), dtype=np.int64)
        n = keep_words(words.hashes, ids, words.rows, self._stems, kept, rows)
        return Keywords(kept[:n], rows)

    def name(self, keyword: int) -> str:
        """Return the stem that a hash stands for, of a batch this lexicon has just seen."""
        return self._names[keyword]

    def _grow(self) -> None:
        keys = np.zeros(4 * len(self._keys), dtype=np.uint64)
        numbers = np.full(len(keys), -1, dtype=np.int32)
        move_words(self._keys, self._numbers, keys, numbers, KEY)
        self._keys, self._numbers = keys, numbers
        self._stems = np.concatenate([self._stems, np.zeros(len(keys) // 2 - len(self._stems), dtype=np.uint64)])

    def _learn(
        self,
        words: Words,
        codes: list[str],
        of_row: npt.NDArray[np.int64],
        new: npt.NDArray[np.int64],
        number: int,
    ) -> None:
        """Find the stems of the words at some places, which got the numbers from `number` on."""
        strings = words.strings(new)
        own = words.hashes[new].tolist()
        language = of_row[np.searchsorted(words.rows, new, side="right") - 1]
        for code in np.unique(language).tolist():
            mine = np.flatnonzero(language == code).tolist()
            stems = self._stems_of([strings[i] for i in mine], codes[code])
            hashes = [self._hash(stem, strings[i], own[i]) for i, stem in zip(mine, stems, strict=True)]
            self._stems[number + np.array(mine)] = hashes

    def _hash(self, stem: str, word: str, own: int) -> int:
        """Give the hash of a stem, and remember what it stands for; 0 for a stop word, which stands for itself."""
        if stem in ("", word):
            self._names[own] = word
            return own if stem else 0
        found: int = xxhash.xxh3_64_intdigest(stem.encode())
        self._names[found] = stem
        return found

    def _stems_of(self, words: list[str], language: str) -> list[str]:
        """Stem words of one language; a stop word becomes empty."""
        plain = words
        if self._stem and (elision := _ELISIONS.get(language)):
            plain = [elision.sub("", word) if "'" in word else word for word in words]
        dropped = stop_words(language) if self._stop else frozenset()
        stemmer = self._stemmer(language)
        stems = stemmer.stemWords(plain) if stemmer else plain
        return [
            "" if word in dropped or bare in dropped else stem or bare
            for word, bare, stem in zip(words, plain, stems, strict=True)
        ]

    def _stemmer(self, language: str) -> "Stemmer.Stemmer | None":
        if not self._stem or len(language) != 2 or not language.isascii():
            return None
        if language not in self._stemmers:
            try:
                self._stemmers[language] = Stemmer.Stemmer(language, 0)
            except KeyError:
                self._stemmers[language] = None
        return self._stemmers[language]
