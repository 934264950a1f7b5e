"""The language of a page: what it declares, else what its script and its most frequent words say, else nothing."""

import functools
import re

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from undust.detect.words import buffers
from undust.kernels import languages as kernel

MODEL = "1"
"""Goes up when the same text is given another language."""

LOOK_BYTES = 4096
"""How much of a text is looked at: a page that has not shown its language by then has several."""

MIN_LETTERS, MIN_HITS, MIN_SHARE, MIN_LEAD = 24, 4, 0.08, 1.15
"""Less than this many letters, frequent words, share of those among all words, or lead before the next language: null.
Prose has 25 to 45 % of them; lists of names and code have next to none."""

_WORDS = {
    "en": "the of and to in is that it for was on are with as be this by from or have not at you which can an if",
    "de": "der die das und ist nicht ein eine mit von zu den auf für des im dem sich auch werden wird oder als bei",
    "fr": "le la les de des et est un une du dans que pour qui par sur pas au plus sont avec ce il être ou cette",
    "es": "el la los las de que y en un una es por con para del se no al como más su lo o son si este",
    "pt": "o a os as de que e em um uma é por com para do da dos das não ao no na como mais se ou são pelo",
    "it": "il la i gli le di che e è un una per con del della non in si da sono nel come più o anche alla dei",
    "nl": "de het een en van is dat op te in zijn niet voor met die aan er ook als door om worden wordt bij of",
    "sv": "och att det som en är på för av med den inte till i har de ett om kan eller från var",
    "da": "og at det er en af til på for med den ikke i der som har et de kan eller fra ved også blev efter",
    "no": "og å det er en av til på for med den ikke i som har et de kan eller fra ved også ble etter",
    "fi": "ja on ei se että oli hän mutta kun tai ovat myös voi joka jos niin kuin sen tämä ole",
    "pl": "i w na z się nie do jest to że o jak po przez dla od lub są który oraz może jego",
    "cs": "a v na se je že s z do o to i jako pro by ale nebo jsou podle který které při není",
    "sk": "a v na sa je že s z do o to ako pre by ale alebo sú podľa ktorý ktoré pri nie",
    "hu": "a az és hogy nem is egy ez van volt meg de ha csak vagy el lehet mint ki",
    "ro": "și şi de în la a cu pe nu este să că o din care pentru mai un sau sunt fi al",
    "hr": "i u je na se da za su od s o koji kao ne ili iz će bi biti ako što može samo",
    "sl": "in je v na se da za so z ki ne pa kot s od po bi ali lahko tudi če ni",
    "tr": "ve bir bu için ile de da olarak daha çok olan gibi en ne ya kadar sonra değil veya",
    "id": "yang dan di dengan untuk dari ini pada tidak adalah dalam itu akan atau oleh ke sebagai juga",
    "vi": "của và là các có được cho trong một không người với những này để đã",
    "et": "ja on ei see et oma mis kui ka või oli aga ning seda ta siis",
    "lv": "un ir ar no uz par kas tas ka nav bet vai tiek pēc kā lai",
    "lt": "ir yra kad su į iš kaip bet tai buvo apie nuo arba jo tik",
    "ca": "el la els les de que i en un una és per amb del no al com més o són dels aquest",
    "ru": "и в не на что с по как это он но от для или из если был так же только к",
    "uk": "і в не на що з до як це та для або із від якщо був але у є й",
    "bg": "и в не на че с за от да се е по като или това при са със",
    "sr": "и у је на се да за са од не који као или из ће би што",
    "mk": "и во на се да за од не е со кои како или што ќе",
    "be": "і ў не на што з да як гэта для або ад калі быў але",
    "ar": "في من على إلى أن التي الذي هذا هذه عن مع لا ما كان أو و",
    "fa": "در به از که این را با است برای آن یا می های شود",
    "ur": "کے میں کی ہے اور سے کا کو پر نے یہ ہیں",
    "hi": "के में है की और से का को पर ने यह हैं कि",
    "mr": "आहे आणि च्या या ते हे मध्ये आहेत होते",
    "ne": "छ र को मा लाई यो हुन् गर्न भएको",
}
_SCRIPTS = {  # of the languages whose words are not Latin
    kernel.CYRILLIC: ("ru", "uk", "bg", "sr", "mk", "be"),
    kernel.ARABIC: ("ar", "fa", "ur"),
    kernel.DEVANAGARI: ("hi", "mr", "ne"),
}
_SCRIPT_OF = np.array(
    [next((script for script, names in _SCRIPTS.items() if name in names), kernel.LATIN) for name in _WORDS]
)
DETECTED = frozenset(_WORDS) | frozenset(kernel.SINGLE) | {"zh", "ja"}
"""ISO 639-1 codes of the languages that are recognized."""

_CODES = (
    "aa ab ae af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv dz ee el en"
    " eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik io is it iu ja jv"
    " ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na nb nd ne"
    " ng nl nn no nr nv ny oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg si sk sl sm sn so sq sr ss st"
    " su sv sw ta te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu"
)
_CODE_SET = frozenset(_CODES.split())
_OTHER_NAMES = dict(  # codes withdrawn, wrong ones, and those of three letters that pages use all the same
    re.findall(
        r"(\w+):(\w+)",
        "iw:he in:id ji:yi jw:jv mo:ro sh:sr cn:zh jp:ja kr:ko cz:cs gr:el dk:da ua:uk vn:vi eng:en deu:de"
        " ger:de fra:fr fre:fr spa:es por:pt ita:it nld:nl dut:nl rus:ru jpn:ja zho:zh chi:zh kor:ko ara:ar"
        " pol:pl tur:tr ces:cs cze:cs swe:sv dan:da fin:fi hun:hu ukr:uk ron:ro rum:ro ell:el gre:el fas:fa"
        " per:fa hin:hi ind:id vie:vi cmn:zh yue:zh",
    )
)


@functools.lru_cache(4096)
def language_code(tag: str) -> str | None:
    """Give the ISO 639-1 code of a language tag, or of the first of a list; null if it is none.

    >>> language_code("pt-BR"), language_code("DE_at, en"), language_code("ger"), language_code("{{lang}}")
    ('pt', 'de', 'de', None)
    """
    code = tag[:64].split(",")[0].strip().replace("_", "-").split("-")[0].lower()
    code = _OTHER_NAMES.get(code, code)
    return code if code in _CODE_SET else None


def detect_languages(texts: pa.Array) -> pa.Array:
    """Say in which language texts (`string` or `large_string`) are, null where that is not clear.

    >>> detect_languages(pa.array(["Das ist ein Satz, und er ist nicht lang.", "12 34", None])).to_pylist()
    ['de', None, None]
    """
    data, offsets = buffers(texts)
    keys, masks = _table()
    letters = np.empty((len(texts), kernel.SCRIPTS), np.int64)
    hits = np.empty((len(texts), len(_WORDS)), np.int64)
    words = np.empty(len(texts), np.int64)
    kernel.count_signs(data, offsets, LOOK_BYTES, keys, masks, letters, hits, words)
    return pa.array(_decide(letters, hits, words), pa.string())


def _decide(
    letters: npt.NDArray[np.int64], hits: npt.NDArray[np.int64], words: npt.NDArray[np.int64]
) -> list[str | None]:
    if not len(letters):
        return []
    weighed = letters * np.where(np.isin(np.arange(kernel.SCRIPTS), (kernel.HAN, kernel.KANA)), 3, 1)  # long words
    weighed[:, kernel.HAN] += weighed[:, kernel.KANA]
    script = weighed.argmax(axis=1)
    many = letters.sum(axis=1) >= MIN_LETTERS
    hits = np.where(_SCRIPT_OF[None, :] == script[:, None], hits, 0)
    best = hits.argmax(axis=1)
    rows = np.arange(len(hits))
    top = hits[rows, best]
    rest = hits.copy()
    rest[rows, best] = 0
    clear = (top >= MIN_HITS) & (top >= MIN_SHARE * words) & (top >= MIN_LEAD * rest.max(axis=1))
    japanese = 20 * letters[:, kernel.KANA] >= letters[:, kernel.HAN]
    names, single = list(_WORDS), list(kernel.SINGLE)
    languages: list[str | None] = []
    for row, kind in enumerate(script.tolist()):
        if kind >= kernel.FIRST_SINGLE:
            found = single[kind - kernel.FIRST_SINGLE] if 3 * letters[row].sum() >= MIN_LETTERS else None
        elif kind in (kernel.HAN, kernel.KANA):
            found = ("ja" if japanese[row] else "zh") if 3 * letters[row].sum() >= MIN_LETTERS else None
        else:
            found = names[best[row]] if many[row] and clear[row] else None
        languages.append(found)
    return languages


@functools.cache
def _table() -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64]]:
    """Put the words of all languages into one table of hashes, with a bit for each language."""
    of_word: dict[int, int] = {}
    for place, words in enumerate(_WORDS.values()):
        for word in words.split():
            value = kernel.word_hash(word)
            of_word[value] = of_word.get(value, 0) | 1 << place
    keys, masks = np.zeros(2048, np.uint64), np.zeros(2048, np.uint64)
    for value, mask in of_word.items():
        place = value & (len(keys) - 1)
        while keys[place]:
            place = (place + 1) & (len(keys) - 1)
        keys[place], masks[place] = value, mask
    return keys, masks
