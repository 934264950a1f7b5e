"""How many sentences each text has, by the rules and abbreviations of its language."""

import functools

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import xxhash

from undust.detect.words import Words, language_codes, language_salts
from undust.kernels.sentences import ABBREVIATION, BEFORE_NUMBER, count_sentences
from undust.kernels.unicode_tables import unicode_tables

# Written as words are: folded, without the last full stop. Single letters and words with a full stop inside (e.g,
# z.B, т.е) need no entry; nor what often ends a sentence (etc, usw), as a small letter after it tells when it does not.
# After | those that are abbreviations only before a number.
_ABBREVIATIONS = {
    "en": "mr mrs ms dr prof sr jr st rev gen col capt lt sgt gov sen rep hon vs cf viz approx dept est inc ltd corp"
    " bros ave blvd rd jan feb apr aug sept oct nov dec al | no nos p pp vol fig figs sec ch ed art",
    "de": "dr prof hr fr str bzw vgl ca evtl ggf inkl exkl bspw sog geb gest hrsg jan feb aug sept okt nov dez mio"
    " mrd tel zzgl abzgl dipl ing st lt gem max min | nr s bd abb kap art abs ziff",
    "fr": "m mm mme mlle dr pr me st ste av bd env janv févr avr juil sept oct nov déc cf tél apr | n no p pp vol"
    " fig art chap éd",
    "es": "sr sra srta dr dra d dña ud uds vd vds prof ing lic gral avda av pza apdo tel aprox admón ee uu"
    " | núm nº pág págs vol fig cap art",
    "ru": "г гг в вв им ул пр просп пл обл тыс млн млрд руб коп др проф акад доц см ср напр тел кв корп"
    " | рис табл стр гл с № ст п",
    "ar": "د أ م ص ب ق هـ",
    "hi": "डॉ श्री प्रो पं कु सु रु स्व",
    "it": "sig sigg dott dr prof ing avv arch dott.ssa sig.ra tel | n p pp pag vol fig art cap",
    "pt": "sr sra srta dr dra prof exmo av tel aprox | n nº p pág págs vol fig art cap",
    "nl": "dhr mevr mw dr drs prof ing ir bijv evt incl excl jl ca tel | nr blz p art fig",
    "pl": "dr prof mgr inż hab ks św ul al tzw tzn np m.in godz tel płk gen | nr str s r w art poz",
    "sv": "dr prof bl dvs t.ex ca kl m.fl | nr s sid fig",
    "cs": "dr mgr ing prof tzv tzn např sv ul tel hod | č s str obr",
}
_ORDINALS = frozenset(["de", "cs", "da", "et", "fi", "hr", "hu", "no", "pl", "sk", "sl", "sr", "lv", "is"])


@functools.cache
def _table() -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint8]]:
    """Build the open-addressing table of abbreviations. Texts of unknown language use those of all languages."""
    entries: dict[int, int] = {}
    for code, listed in _ABBREVIATIONS.items():
        always, _, before_number = listed.partition("|")
        for words, kind in ((always, ABBREVIATION), (before_number, BEFORE_NUMBER)):
            for word in words.split():
                key = xxhash.xxh3_64_intdigest(word.encode())
                entries[key ^ xxhash.xxh3_64_intdigest(code.encode())] = kind
                entries[key] = max(kind, entries.get(key, 0))
    keys, classes = np.zeros(4096, dtype=np.uint64), np.zeros(4096, dtype=np.uint8)
    for key, kind in entries.items():
        slot = key & 4095
        while classes[slot]:
            slot = (slot + 1) & 4095
        keys[slot], classes[slot] = key, kind
    return keys, classes


def sentence_counts(words: Words, languages: pa.Array | None = None) -> npt.NDArray[np.int32]:
    """Count the sentences of each text. A new line ends one too: it stands between the blocks of a page.

    >>> from undust.detect.words import split
    >>> text = 'Dr. Smith paid 3.14 dollars. "Why?" he asked... Nobody knew! Contents'
    >>> sentence_counts(split(pa.array([text])), pa.array(["en"])).tolist()
    [4]
    """
    return _sentences(words, languages, np.empty(0, dtype=np.uint8))


def sentence_ends(words: Words, languages: pa.Array | None = None) -> npt.NDArray[np.int64]:
    """Give the number of the word after each sentence of each text.

    >>> from undust.detect.words import split
    >>> sentence_ends(split(pa.array(["One two. Three! Four", "Five"]))).tolist()
    [2, 3, 4, 5]
    """
    last = np.zeros(len(words.hashes), dtype=np.uint8)
    _sentences(words, languages, last)
    some = words.rows[1:] > words.rows[:-1]
    last[words.rows[1:][some] - 1] = 1
    return np.flatnonzero(last) + 1


def _sentences(words: Words, languages: pa.Array | None, last: npt.NDArray[np.uint8]) -> npt.NDArray[np.int32]:
    codes, of_row = language_codes(languages, len(words.rows) - 1)
    salts = language_salts([code if code in _ABBREVIATIONS else "" for code in codes], of_row)
    ordinals = np.array([code in _ORDINALS for code in codes], dtype=np.bool_)[of_row]
    tables = unicode_tables()
    counts = np.empty(len(of_row), dtype=np.int32)
    count_sentences(
        words.data, words.offsets, words.hashes, words.starts, words.ends, words.rows, tables.pages, tables.kinds,
        *_table(), salts, ordinals, counts, last,
    )  # fmt: skip
    return counts
