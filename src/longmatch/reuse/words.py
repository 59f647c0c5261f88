"""A text's words as numbers, so that two texts compare as arrays. Each Chinese or Japanese character is a word.

Case, punctuation, ligatures and hyphens do not matter: "exam-" at the end of a line and "ple" on the next are one word,
and so are "long-term" and its broken form.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from unicodedata import normalize

import numpy as np
import numpy.typing as npt

from longmatch.documents.document import Document, Span
from longmatch.reuse.template import particular_numbers

Ints = npt.NDArray[np.int64]

CJK = r"\u3040-\u30ff\u3400-\u9fff"
_LETTERS = rf"[^\W_{CJK}]++"
WORD = re.compile(rf"[{CJK}]|{_LETTERS}(?:(?:\u00ad|[-\u2010\u2011]\s*+){_LETTERS})*+")
_JOINT = re.compile(r"[\u00ad\u2010\u2011\s-]+")
_CHARACTER = re.compile(f"[{CJK}]")
PER_WORD = 2  # characters that say about as much as a word does


class Vocabulary:
    """Numbers for words, given in the order of their first use."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}  # by spelling
        self._keys: dict[str, int] = {}  # by what counts of it

    def __call__(self, word: str) -> int:
        """The number of a word; spellings that differ in case, hyphens or ligatures have one."""
        number = self._numbers.get(word)
        if number is None:
            key = normalize("NFKC", _JOINT.sub("", word)).casefold()
            number = self._numbers[word] = self._keys.setdefault(key, len(self._keys))
        return number


@dataclass(frozen=True)
class Words:
    """The words of a text: their numbers, and where each begins and ends."""

    ids: Ints
    starts: Ints
    ends: Ints
    characters: bool  # whether most words are single characters, as in Chinese
    numbers: frozenset[str] = frozenset()  # dates, amounts and the like, see `template.py`

    def __len__(self) -> int:
        return len(self.ids)

    @staticmethod
    def of(text: str, spans: Iterable[Span], vocabulary: Vocabulary) -> "Words":
        """The words of some spans of a text, in order.

        >>> words = Words.of("The exam-\\nple, THE Example.", [Span(0, 27)], Vocabulary())
        >>> words.ids.tolist(), words.starts.tolist()
        ([0, 1, 0, 1], [0, 4, 15, 19])
        """
        found = [match for span in spans for match in WORD.finditer(text, span.start, span.end)]
        words = [match[0] for match in found]
        places = np.array([match.span() for match in found], dtype=np.int64).reshape(-1, 2)
        single = sum(1 for word in words if len(word) == 1 and _CHARACTER.match(word))
        ids = np.fromiter(map(vocabulary, words), np.int64, len(words))
        return Words(ids, places[:, 0], places[:, 1], 2 * single > len(words))


def running_words(document: Document, vocabulary: Vocabulary) -> Words:
    """The words of a document's running text: reference lists and tables are shared honestly, and do not count."""
    words = Words.of(document.readable, document.running, vocabulary)
    return replace(words, numbers=particular_numbers(document.readable, document.running))
