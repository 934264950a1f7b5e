"""Languages: what pages declare, and what their words and scripts tell."""

import pyarrow as pa
import pytest

from undust.detect.languages import DETECTED, detect_languages, language_code

SENTENCES = {
    "en": "The cat is not on the mat, and it was never there for the rest of us to see.",
    "de": "Die Katze ist nicht auf der Matte, und sie war auch nie für die anderen zu sehen.",
    "fr": "Le chat n'est pas sur le tapis, et il est plus grand que les autres dans la maison.",
    "es": "El gato no está en la alfombra, y los otros que viven en la casa no lo ven por las noches.",
    "pt": "O gato não está no tapete, e os outros que vivem em uma casa como a dele são mais felizes.",
    "it": "Il gatto non è sul tappeto, e gli altri che sono nella casa non lo vedono come si deve.",
    "nl": "De kat is niet op de mat, en het was ook niet voor de anderen om er van te genieten.",
    "sv": "Katten är inte på mattan, och det var inte för att de andra som bor i huset är stora.",
    "da": "Katten er ikke på måtten, og det blev også set af de andre, der bor i huset efter krigen.",
    "no": "Katten er ikke på matten, og det ble også sett av de andre som bor i huset etter krigen.",
    "fi": "Kissa ei ole matolla, ja se on myös niin suuri, että kun hän oli siellä, se ei voi nukkua.",
    "pl": "Kot nie jest na macie, ale to nie jest ważne dla innych, którzy są w domu od rana do nocy.",
    "cs": "Kočka není na rohoži, ale to je jedno, protože se na to dívá jako na věc, které jsou v domě.",
    "hu": "A macska nem volt a szőnyegen, és ez is csak azt mutatja, hogy az egy olyan állat, mint a többi.",
    "ro": "Pisica nu este pe covor, și nu mai este nici în casă, pentru că a plecat cu un prieten din sat.",
    "tr": "Kedi halının üzerinde değil ve bu çok önemli bir konu, çünkü o da bir hayvan gibi daha çok uyur.",
    "id": "Kucing itu tidak ada di atas tikar dan ini adalah hal yang penting untuk orang dari rumah itu.",
    "vi": "Con mèo không ở trên tấm thảm và đó là một điều quan trọng cho những người trong nhà của nó.",
    "ru": "Кошка не на коврике, и это было так, но если он из дома, то только для того, что и как видно.",
    "uk": "Кішка не на килимку, і це було так, але якщо він із дому, то та річ для всіх, що є у нас.",
    "bg": "Котката не е на килима, и това се вижда от всички, които са в къщата, като да са със мен.",
    "sr": "Мачка није на простирци, и то се види као да је у кући, али не за оне који су из града.",
    "el": "Η γάτα δεν είναι στο χαλί και δεν ήταν ποτέ εκεί.",
    "ar": "القطة ليست على السجادة، وهذا ما كان في البيت من قبل أن نعود إلى المدينة مع الذي هو لا يزال هنا.",
    "fa": "گربه در خانه است و این را به ما گفت که از آن برای بازی با بچه ها استفاده می شود.",
    "he": "החתול לא על השטיח והוא מעולם לא היה שם.",
    "hi": "बिल्ली चटाई पर नहीं है और यह घर के लोगों को पता है कि वह उस में से एक है।",
    "bn": "বিড়ালটি মাদুরে নেই এবং কখনও সেখানে ছিল না।",
    "ta": "பூனை பாயில் இல்லை, அது ஒருபோதும் அங்கு இல்லை.",
    "th": "แมวไม่ได้อยู่บนเสื่อและไม่เคยอยู่ที่นั่น",
    "ka": "კატა ხალიჩაზე არ არის და არასოდეს ყოფილა იქ.",
    "ko": "고양이는 매트 위에 없으며 거기에 있었던 적이 없습니다.",
    "zh": "猫不在垫子上，它从来没有在那里。",
    "ja": "猫はマットの上にいません。そこにいたことはありません。",
}


@pytest.mark.parametrize("language", SENTENCES)
def test_a_sentence_tells_its_language(language: str) -> None:
    assert detect_languages(pa.array([SENTENCES[language]])).to_pylist() == [language]


def test_languages_in_a_batch_are_those_of_each_text() -> None:
    assert detect_languages(pa.array(list(SENTENCES.values()))).to_pylist() == list(SENTENCES)


@pytest.mark.parametrize("text", ["", "a b c", "2024-01-01 17:45 3.2M", "qwerty asdf zxcv " * 20, "猫", "for (i = 0)"])
def test_what_shows_no_language_has_none(text: str) -> None:
    assert detect_languages(pa.array([text])).to_pylist() == [None]


def test_case_does_not_matter() -> None:
    for language in ("de", "ru", "cs", "tr", "fr"):
        assert detect_languages(pa.array([SENTENCES[language].upper()])).to_pylist() == [language]


def test_codes_are_those_of_iso_639_1() -> None:
    assert {language_code(code) for code in DETECTED} == DETECTED
    assert [language_code(tag) for tag in ("EN-us", "zh_Hant_TW", " nb ", "fil", "", "x-klingon")] == [
        "en", "zh", "nb", None, None, None,
    ]  # fmt: skip
