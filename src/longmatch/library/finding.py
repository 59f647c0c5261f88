"""Documents that contain words and exact phrases, and the sentences in which they do."""

import re
from dataclasses import dataclass
from functools import cached_property

from longmatch.documents.document import Document
from longmatch.documents.language import COMMON_WORDS, words_of
from longmatch.library.conditions import parse
from longmatch.library.store import Store
from longmatch.matching import wording
from longmatch.matching.match import Passage

SNIPPETS = 3  # of a document
MOST_SEARCHED, AT_A_TIME = 2_000, 64  # documents whose text is searched for a phrase
_PHRASE = re.compile(r'["“„«](?P<phrase>[^"“”„«»]*)["“”»]')
_CHINESE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")


@dataclass(frozen=True)
class Wanted:
    """What to find: all of some words, in any form, and phrases word for word, in capitals or not.

    >>> Wanted.of('mercury "waste  water" filters')
    Wanted(text='mercury waste  water filters', words=('mercury', 'filters'), phrases=('waste water',))
    """

    text: str  # all of it, without quotation marks
    words: tuple[str, ...]
    phrases: tuple[str, ...] = ()

    @staticmethod
    def of(asked: str) -> "Wanted":
        """Read a search as a user writes it: phrases in quotation marks; a lone mark counts for nothing."""
        quoted = [" ".join(match["phrase"].split()) for match in _PHRASE.finditer(asked)]
        phrases = dict.fromkeys(phrase for phrase in quoted if words_of(phrase))
        words = dict.fromkeys(words_of(_PHRASE.sub(" ", asked)))
        return Wanted(_PHRASE.sub(r"\g<phrase>", asked).strip(), tuple(words), tuple(phrases))

    @property
    def is_common(self) -> bool:
        """Whether there are phrases of common words alone, which a full-text index leaves out."""
        return bool(self.phrases) and all(word in COMMON_WORDS for word in words_of(self.text))

    @cached_property
    def patterns(self) -> tuple[re.Pattern[str], ...]:
        """What finds each phrase in a text, across line breaks."""
        return tuple(re.compile(_whole(phrase), re.IGNORECASE) for phrase in self.phrases)

    @property
    def condition(self) -> str:
        """The SQL condition that a text has the phrases."""
        patterns = (rf"(?i)(^|\W){_spaced(phrase)}($|\W)".replace("'", "''") for phrase in self.phrases)
        return " AND ".join(f"regexp_like(text, '{pattern}')" for pattern in patterns)


def _spaced(phrase: str) -> str:
    return r"\s+".join(map(re.escape, phrase.split()))


def _whole(phrase: str) -> str:
    """A phrase that neither begins nor ends within a word; Chinese has no spaces between words."""
    start, end = (
        "" if _CHINESE.match(edge) else mark for edge, mark in ((phrase[0], r"(?<!\w)"), (phrase[-1], r"(?!\w)"))
    )
    return f"{start}{_spaced(phrase)}{end}"


def _any_form(word: str) -> str:
    if _CHINESE.match(word):
        return re.escape(word)
    if len(word) <= 4:
        return rf"(?<!\w){re.escape(word)}(?:e?s)?(?!\w)"
    return rf"(?<!\w){re.escape(word[: max(4, len(word) - 3)])}\w{{0,6}}"


@dataclass(frozen=True)
class Snippet:
    """A sentence that has some of what was searched for."""

    passage: Passage
    page: int | None
    words: tuple[str, ...]  # what was found in it, as it is spelled there


def snippets(document: Document, wanted: Wanted, most: int = SNIPPETS) -> list[Snippet]:
    """The sentences that have most of the words and phrases, in the order of the text; the first of equal ones."""
    words = [word for word in wanted.words if word not in COMMON_WORDS] or wanted.words
    # what is sought, and what it is worth: phrases, and words in any form but common ones
    sought = [(pattern, 2) for pattern in wanted.patterns]
    sought += [(re.compile(_any_form(word), re.IGNORECASE), 1) for word in words]
    found = []
    for sentence, _, section in document.indexed_sentences():
        text = sentence.of(document.readable)
        hits = [(worth, spelled) for pattern, worth in sought if (spelled := pattern.findall(text))]
        if hits:
            marks = tuple(dict.fromkeys(mark for _, spelled in hits for mark in spelled))
            found.append((-sum(worth for worth, _ in hits), sentence.start, sentence, section, marks))
    shown = []
    best = sorted(found, key=lambda row: row[:2])[:most]
    for _, start, sentence, section, marks in sorted(best, key=lambda row: row[1]):
        texts = sentence.of(document.text), start, sentence.end
        passage = Passage(*texts, document.sections[section].heading, document.plain[start : sentence.end])
        shown.append(Snippet(passage, document.page_at(start), marks))
    return shown


def find_ids(store: Store, wanted: Wanted, k: int | None, where: str | None = None) -> list[str]:
    """The ids of the k documents that have all words and phrases, best first, or of all; of those with phrases, among
    the best MOST_SEARCHED by words. `where` is a user's condition.
    """
    kept = store.ids_where(where) if where else None
    if wanted.is_common:
        ids = sorted(store.read(["id"], wanted.condition)["id"].to_pylist())
    else:
        ids = store.find(wanted.text, k if k and kept is None and not wanted.phrases else max(1, len(store)))
    if kept is not None:
        ids = [id for id in ids if id in kept]
    if not wanted.phrases or wanted.is_common:
        return ids[:k]
    found: list[str] = []
    for start in range(0, min(len(ids), MOST_SEARCHED), AT_A_TIME):
        rows = store.fetch(ids[start : min(start + AT_A_TIME, MOST_SEARCHED)], ["id", "text", "plain"])
        texts = {row.id: str(row.value("plain") or row.value("text")) for row in rows}
        found += [id for id, text in texts.items() if all(pattern.search(text) for pattern in wanted.patterns)]
        if k is not None and len(found) >= k:
            break
    return found[:k]


def absent_keys(store: Store, where: str) -> list[str]:
    """The metadata keys in a condition that no document has."""
    total = len(store)
    return [key for key in parse(where).keys if len(_lacking(store, key)) == total]


def left_out(store: Store, where: str | None) -> tuple[str, ...]:
    """Sentences on the documents that a condition leaves out because they lack a value that it names."""
    lacking = {key: _lacking(store, key) for key in parse(where).keys} if where else {}
    if not where or not any(lacking.values()):
        return ()
    kept, total = store.ids_where(where), len(store)
    counts = {key: len(ids - kept) for key, ids in lacking.items()}
    return tuple(wording.left_out(key, count, total) for key, count in counts.items() if 0 < count < total)


def _lacking(store: Store, key: str) -> set[str]:
    """The ids of the documents without a value for a key of the metadata."""
    return store.ids_where(f"metadata.{key} IS NULL")
