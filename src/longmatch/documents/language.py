"""Language detection and word splitting, as precise as sentence and word splitting need."""

import re
from collections import Counter

_SAMPLE = 20_000  # characters examined

_SCRIPTS = {
    "ja": re.compile(r"[\u3040-\u30ff]"),
    "zh": re.compile(r"[\u3400-\u9fff]"),
    "ko": re.compile(r"[\uac00-\ud7af]"),
    "ru": re.compile(r"[\u0400-\u04ff]"),
    "el": re.compile(r"[\u0370-\u03ff]"),
    "ar": re.compile(r"[\u0600-\u06ff]"),
    "he": re.compile(r"[\u0590-\u05ff]"),
    "hi": re.compile(r"[\u0900-\u097f]"),
    "th": re.compile(r"[\u0e00-\u0e7f]"),
}

_COMMON_WORDS = {
    "en": "the of and to in is that for it with as was on by are this be which or from",
    "de": "der die und das nicht ist den von zu mit sich des auf für dem im ein eine werden auch",
    "fr": "de la le les et des en du une est que dans qui par pour au sur pas plus ne",
    "es": "de la que el en los del se las por un para con una su al lo como más es",
    "pt": "de que do da em um para com não uma os no se na por mais as dos como mas",
    "it": "di che la il un per in del una della con sono non le si nel dei alla anche più",
    "nl": "de het een van en in is dat op te zijn met voor niet aan er om ook als dan",
    "pl": "w i na z do się nie że jest to o jak ale po co tak za od przez dla",
    "sv": "och i att det som en på är av för med den till inte om ett han men var sig",
    "fi": "ja on ei se että oli mutta hän ovat myös kun niin tai joka sen kuin ole vain sekä ollut",
    "tr": "ve bir bu da de için ile olarak daha çok olan gibi kadar en sonra ancak ne her var ise",
}

_COMMON = {language: frozenset(words.split()) for language, words in _COMMON_WORDS.items()}
COMMON_WORDS = frozenset().union(*_COMMON.values())  # of all languages that are detected by their words
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|[^\W_\u3040-\u30ff\u3400-\u9fff]+(?:['’][^\W_]+)*")
_ASCII_WORD = re.compile(r"[0-9A-Za-z]++(?:'[0-9A-Za-z]++)*+")  # the same words of ASCII text, twice as fast
_ASCII = re.compile(r"[\x00-\x7f]+")
_ASCII_OTHERS = bytes(code for code in range(128) if not chr(code).isalpha())  # all but letters


def detect_language(text: str) -> str:
    """Guess the two-letter language code from the script and the most common words; "en" when in doubt.

    >>> detect_language("Der Hund und die Katze sind nicht im Haus, das ist klar."), detect_language("本院认为")
    ('de', 'zh')
    """
    sample = text[:_SAMPLE]
    foreign = _ASCII.sub("", sample)
    letters = len(sample.encode("ascii", "ignore").translate(None, _ASCII_OTHERS)) + sum(map(str.isalpha, foreign)) or 1
    for language, script in _SCRIPTS.items():
        share = len(script.findall(foreign)) / letters
        if share > (0.05 if language == "ja" else 0.2):  # Japanese mixes kana with Chinese characters
            return language
    words = words_of(sample)
    counts = Counter(filter(COMMON_WORDS.__contains__, words))
    scores = {language: sum(map(counts.__getitem__, common)) for language, common in _COMMON.items()}
    best = max(scores, key=lambda language: scores[language])
    return best if scores[best] > max(2, 0.02 * len(words)) else "en"


def words_of(text: str) -> list[str]:
    """Split a text into lower-case words; each Chinese or Japanese character is a word.

    >>> words_of("Don't panic: 本院认为.")
    ["don't", 'panic', '本', '院', '认', '为']
    """
    return _split(text.lower())


def count_words(text: str) -> int:
    """Number of words of a text; each Chinese or Japanese character counts as one."""
    return len(_split(text))


def _split(text: str) -> list[str]:
    return (_ASCII_WORD if text.isascii() else _WORD).findall(text)
