"""The words that results carry with them: numbers with nouns, names of sections, verdicts of lists, and remarks.

What is said of a single match stands in `render/wording.py`, which goes on from here.
"""

from collections.abc import Collection, Iterable, Sequence
from typing import Literal, Protocol

from longmatch.documents.document import Document

LIKELY = 0.5  # the probability from which two documents are called related
MAY = 0.30  # the probability from which two documents may belong together
NoVerdict = Literal["model", "languages", "language", "question", "kind"]
"""Why nobody can say whether two documents belong together: the model's scores are not calibrated; they are in two
languages, of which the model knows one; there are no statistics of their language; one is too short; or there are too
few documents of their kind.
"""
VERDICTS = (  # from this probability on, how sure, and whether they do
    (0.95, "almost certainly", True),
    (0.70, "probably", True),
    (MAY, "may", True),
    (0.05, "probably", False),
    (0.00, "almost certainly", False),
)
WHY_NOT: dict[NoVerdict, str] = {
    "model": "this model's scores are not calibrated",
    "languages": "the model cannot compare two languages with each other; --backbone multilingual can",
    "language": "longmatch has no statistics of their language",
    "question": "a text this short says too little",
    "kind": "it takes more documents of their kind, in one folder or library",
}
NOTHING_STANDS_OUT = "Nothing here stands out for this question; the closest are listed."
NOTHING_CLOSE = "Nothing here shares more than such documents always do; the closest are listed."
_LANGUAGES = {
    **{"ar": "Arabic", "de": "German", "el": "Greek", "en": "English", "es": "Spanish", "fi": "Finnish"},
    **{"fr": "French", "he": "Hebrew", "hi": "Hindi", "it": "Italian", "ja": "Japanese", "ko": "Korean"},
    **{"nl": "Dutch", "pl": "Polish", "pt": "Portuguese", "ru": "Russian", "sv": "Swedish", "th": "Thai"},
    **{"tr": "Turkish", "zh": "Chinese"},
}


def count(number: int, noun: str) -> str:
    """A number and its noun.

    >>> count(1, "section"), count(2000, "word")
    ('1 section', '2,000 words')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def listed(words: Sequence[str]) -> str:
    """Words as a sentence lists them.

    >>> listed(["red", "green", "blue"])
    'red, green and blue'
    """
    return " and ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))


def label(heading: str, opening: str, words: int = 6) -> str:
    """What to call a section: its heading, else its first words in quotation marks.

    >>> label("", "It rained all day in the valley, and we stayed in.")
    '“It rained all day in the …”'
    """
    if heading.strip():
        return " ".join(heading.split())
    first = opening.split()
    return f"“{' '.join(first[:words])}{' …' if len(first) > words else ''}”" if first else "(no heading)"


def facts(document: Document) -> str:
    """A document's size in a few words.

    >>> facts(Document("a", "A", "", (), "de"))
    '0 words, 0 sections, German'
    """
    language = _LANGUAGES.get(document.language, document.language)
    return f"{count(document.words, 'word')}, {count(len(document.sections), 'section')}, {language}"


def how_likely(probability: float) -> tuple[str, bool]:
    """How sure it is whether two documents belong together, and whether they do."""
    return next((how, positive) for least, how, positive in VERDICTS if probability >= least)


def likelihood(probability: float) -> str:
    """Whether two documents belong together, in a word or two for lists.

    >>> likelihood(0.96), likelihood(0.4), likelihood(0.1)
    ('almost certainly', 'may', 'probably not')
    """
    how, positive = how_likely(probability)
    return how if positive else f"{how} not"


class Judged(Protocol):
    """A document of a list, judged."""

    @property
    def probability(self) -> float | None: ...  # noqa: D102
    @property
    def no_verdict(self) -> NoVerdict | None: ...  # noqa: D102


def ranking_remarks(hits: Iterable[Judged], stands_out: bool | None = None) -> list[str]:
    """What to know before reading a ranking: that none may belong with the query, or why nobody can say.

    For a question `stands_out` says whether there is an answer.
    """
    found = list(hits)
    if stands_out is False:
        return [NOTHING_STANDS_OUT]
    if found and all(hit.probability is not None and hit.probability < MAY for hit in found):
        return [NOTHING_CLOSE]
    reasons = dict.fromkeys(hit.no_verdict for hit in found)
    these = "some of these" if len(reasons) > 1 else "these"
    said = f"Whether {these} belong with it cannot be said, only which come first"
    return [f"{said}: {WHY_NOT[reason]}." for reason in reasons if reason is not None]


def read_by(reader: str) -> str:
    """Who put the sections that answer a question in order.

    >>> read_by("MiniLM")
    'The best sections were read by MiniLM.'
    """
    return f"The best sections were read by {reader}."


def pairs_remarks(reasons: Collection[NoVerdict | None]) -> list[str]:
    """Why pairs of a library have no verdict, by the reasons that there are; None where some have one."""
    pairs = "pairs that share no text" if len(reasons) == 1 else "some pairs that share no text"
    said = f"Whether {pairs} belong together cannot be said, only which come first"
    return [f"{said}: {why}." for reason, why in WHY_NOT.items() if reason in reasons]


def language_remarks(languages: Iterable[str], known: Collection[str] | None) -> list[str]:
    """One sentence on documents in languages that a model was not trained on; `known` is None if nobody can tell.

    >>> language_remarks(["en", "zh", "ru", "zh"], {"en"})
    ['The model was trained on English: documents in Chinese and Russian are matched by words more than by meaning.']
    >>> language_remarks(["sv"], {"de", "en"})
    ['The model was trained on English and German: documents in Swedish may be matched poorly.']
    >>> language_remarks(["en"], {"en"}), language_remarks(["zh"], None)
    ([], [])
    """
    foreign = sorted({_LANGUAGES.get(code, code) for code in languages if known is not None and code not in known})
    if not foreign:
        return []
    trained_on = listed(sorted(_LANGUAGES.get(code, code) for code in known or ()))
    alone = len(known or ()) == 1  # then words stand in for meaning
    matched = "are matched by words more than by meaning" if alone else "may be matched poorly"
    return [f"The model was trained on {trained_on}: documents in {listed(foreign)} {matched}."]


def left_out(key: str, lacking: int, documents: int) -> str:
    """One sentence on documents that a condition cannot judge.

    >>> left_out("year", 12, 40), left_out("year", 1, 40)
    ('12 of 40 documents have no year and were left out.', '1 of 40 documents has no year and was left out.')
    """
    have, were = ("has", "was") if lacking == 1 else ("have", "were")
    return f"{lacking:,} of {count(documents, 'document')} {have} no {key} and {were} left out."


def none_matches(where: str, absent: Sequence[str], place: str = "") -> str:
    """One sentence where no document matches a condition; `absent` are the keys that no document has.

    >>> none_matches("yeer > 2019", ["yeer"], "papers")
    'No document of papers has a value for yeer, so none matches the condition yeer > 2019'
    >>> none_matches("year > 2019", [])
    'No document matches the condition year > 2019'
    """
    documents = f"No document of {place}" if place else "No document"
    if absent:
        return f"{documents} has a value for {' or '.join(absent)}, so none matches the condition {where}"
    return f"{documents} matches the condition {where}"
