"""A text as words with the visible characters around them, as numbers, so that two texts compare as arrays.

Shared passages are found by the words alone: case, signs, ligatures and hyphens do not matter there, and each Chinese
or Japanese character is a word. What is called the same agrees in every visible character: only white space, ligatures
and the hyphenation at line ends are undone.

Whether two documents that share most of their wording are versions of one text, or two documents of one template.

A new version keeps most dates, amounts and other numbers of its text. Two contracts, judgments or election rules of one
template share the wording and hardly any number. Documents with few numbers do not say.
"""

import re
from collections.abc import Hashable, Iterable, Set
from dataclasses import dataclass, replace
from itertools import accumulate, chain
from typing import NamedTuple
from unicodedata import normalize

import numpy as np
import numpy.typing as npt

from longmatch.documents.document import Document, Span

FEWEST = 3  # numbers of a document that say anything
WORDS_PER_NUMBER = 250  # at most: longer texts with few numbers are no filled-in forms
KEPT_IN_TEMPLATE = 0.3  # largest share of the numbers that two documents of one template have in common
KEPT_IN_VERSION = 0.4  # smallest share that two versions have
LONG = 2_000  # words of a text that is no form

_NUMBER = r"\d++(?:[.,:/-]\d++)*+"
_BETWEEN = r"(?:(?:st|nd|rd|th|\.)?\s++[^\W\d_]{1,20}+,?\s++|,\s++|\s*+[年月日时時分]\s*+)"
_PARTICULAR = re.compile(rf"{_NUMBER}(?:{_BETWEEN}{_NUMBER}){{0,4}}+")  # a date is one number
_OUTLINE = re.compile(r"\d{1,2}(?:\.\d{1,2})*")  # of a clause, or a small number
_FEWEST_DIGITS = 3
Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
Hashes = npt.NDArray[np.uint64]

_MIX = np.uint64(0x9E3779B97F4A7C15)  # odd, so that multiplying by it loses nothing
_SHIFT = np.uint64(29)
CJK = r"\u3040-\u30ff\u3400-\u9fff"
_ACCENTS = r"\u0300-\u036f"  # that stand behind their letter
_LETTERS = rf"[^\W_{CJK}]++(?:[{_ACCENTS}]++[^\W_{CJK}]*+)*+"
WORD = re.compile(  # an amount is one word: it changes as a whole
    rf"\d++(?:[.,'’]\d++)++|[{CJK}]|{_LETTERS}(?:(?:\u00ad|[-\u2010\u2011]\s*+){_LETTERS})*+"
)
_SIGNS = r"[\W_]"  # and white space: up to the last space they go with the word before them
_WITH_SIGNS = rf"(?:{WORD.pattern})(?:{_SIGNS}*\s|{_SIGNS}*+)"
_TOKEN = re.compile(rf"{_SIGNS}++(?:{_WITH_SIGNS})?|{_WITH_SIGNS}")
_JOINT = re.compile(r"[\u00ad\u2010\u2011\s-]+")
BROKEN = re.compile(r"(?<=[^\W\d_])[-\u2010\u2011][^\S\n]*\n\s*(?=[^\W\d_])")  # a word at the end of a line
_LIGATURE = re.compile(r"[\u0132\u0133\ufb00-\ufdff\ufe70-\ufefc]")
_UNSEEN = re.compile(r"[\u00ad\u200b\u2060\ufeff]")
_HYPHEN = re.compile(r"[\u2010\u2011]")
_CHARACTER = re.compile(f"[{CJK}]")
PER_WORD = 2  # characters that say about as much as a word does


def visible(text: str, hyphen: str = "") -> str:
    """The characters that a reader sees; `hyphen` stands for one that breaks a word at the end of a line.

    >>> visible("The \\ufb01rst exam-\\nple: -5 % of €42,500")
    'Thefirstexample:-5%of€42,500'
    """
    if "\n" in text:
        text = BROKEN.sub(hyphen, text)
    if not text.isascii():
        text = _LIGATURE.sub(lambda match: normalize("NFKC", match[0]), _HYPHEN.sub("-", _UNSEEN.sub("", text)))
        text = normalize("NFC", text)
    return "".join(text.split())


def tokens(text: str, span: Span) -> list[str]:
    """A span cut into words with the signs and the white space around them; nothing is left out.

    >>> tokens(" “Yes,” he - said (5 %) .", Span(0, 25))
    [' “Yes,” ', 'he - ', 'said ', '(5 %) .']
    """
    found = _TOKEN.findall(text, span.start, span.end)
    if len(found) > 1 and not WORD.search(found[-1]):
        found[-2:] = ["".join(found[-2:])]  # signs behind the last word
    return [] if len(found) == 1 and found[0].isspace() else found


class Token(NamedTuple):
    """A token as numbers."""

    word: int
    form: int  # of the visible characters
    with_hyphens: int  # the same, with hyphens at line ends
    lead: int  # characters of white space before them
    end: int  # where they end


class Vocabulary(dict[str, Token]):
    """Numbers for words and for their visible characters, given in the order of their first use."""

    def __init__(self) -> None:
        self._words: dict[str, int] = {}
        self._forms: dict[str, int] = {}
        self.characters: set[int] = set()  # the words that are a single Chinese or Japanese character

    def __missing__(self, token: str) -> Token:
        match = WORD.search(token)
        written = match[0] if match else token
        key = normalize("NFKC", _JOINT.sub("", written) or written).casefold()
        word = self._words.setdefault(key, len(self._words))
        if _CHARACTER.fullmatch(written):
            self.characters.add(word)
        form = with_hyphens = self._forms.setdefault(visible(token), len(self._forms))
        if "\n" in token:
            with_hyphens = self._forms.setdefault(visible(token, "-"), len(self._forms))
        lead, end = len(token) - len(token.lstrip()), len(token.rstrip())
        self[token] = known = Token(word, form, with_hyphens, lead, end)
        return known


@dataclass(frozen=True)
class Words:
    """The words of a text: their numbers, what is visible of them, and where each begins and ends with its signs."""

    ids: Ints
    forms: Ints  # of the visible characters (tokens, 2): without and with hyphens at line ends
    starts: Ints
    ends: Ints
    characters: bool  # whether most words are single characters, as in Chinese
    numbers: frozenset[str] = frozenset()  # dates, amounts and the like

    def __len__(self) -> int:
        return len(self.ids)

    @staticmethod
    def of(text: str, spans: Iterable[Span], vocabulary: Vocabulary) -> "Words":
        """The words of some spans of a text, in order.

        >>> words = Words.of("The exam-\\nple, THE Example.", [Span(0, 27)], Vocabulary())
        >>> words.ids.tolist(), words.forms[:, 0].tolist(), words.starts.tolist()
        ([0, 1, 0, 1], [0, 1, 3, 4], [0, 4, 15, 19])
        """
        return cut(((text, span, 0) for span in spans), vocabulary)[0]

    def agree(self, own: Ints | slice, other: "Words", others: Ints | slice) -> Flags:
        """Whether each of some words has the visible characters of its counterpart.

        A hyphen at a line end may be part of the word or not.
        """
        same: Flags = (self.forms[own] == other.forms[others]).any(axis=1)
        return same


def cut(texts: Iterable[tuple[str, Span, int]], vocabulary: Vocabulary) -> tuple[Words, list[list[str]]]:
    """The words of spans of some texts, and the tokens of each; the third value is what to add to its places."""
    found: list[list[str]] = []
    starts: list[int] = []
    for text, span, shift in texts:
        parts = tokens(text, span)
        found.append(parts)
        starts += accumulate(map(len, parts[:-1]), initial=span.start + shift) if parts else ()
    numbers = chain.from_iterable(map(vocabulary.__getitem__, chain.from_iterable(found)))
    known = np.fromiter(numbers, np.int64, 5 * len(starts)).reshape(-1, 5)
    word, form, with_hyphens, lead, end = known.T
    places = np.array(starts, dtype=np.int64)
    single = sum(map(vocabulary.characters.__contains__, word.tolist()))
    forms = np.stack([form, with_hyphens], 1)
    return Words(word.copy(), forms, places + lead, places + end, 2 * single > len(starts)), found


def running_words(document: Document, vocabulary: Vocabulary) -> Words:
    """The words of a document's running text: reference lists and tables are shared honestly, and do not count."""
    words = Words.of(document.readable, document.running, vocabulary)
    return replace(words, numbers=particular_numbers(document.readable, document.running))


def numbered(*sides: Iterable[Hashable]) -> list[Ints]:
    """Numbers for what several sequences hold, equal for what is equal.

    >>> [numbers.tolist() for numbers in numbered("abca", "cd")]
    [[0, 1, 2, 0], [2, 3]]
    """
    numbers: dict[Hashable, int] = {}
    return [np.array([numbers.setdefault(thing, len(numbers)) for thing in side], dtype=np.int64) for side in sides]


def shingles(words: npt.NDArray[np.generic], length: int) -> Hashes:
    """The hash of every run of `length` words, given as numbers or as hashes.

    >>> a, b = shingles(np.array([1, 2, 3, 4]), 3), shingles(np.array([2, 3, 4]), 3)
    >>> len(a), bool(a[1] == b[0]), bool(a[0] == b[0])
    (2, True, False)
    """
    count = max(0, len(words) - length + 1)
    known = words.astype(np.uint64)
    mixed = np.full(count, length, dtype=np.uint64)
    for position in range(length):
        mixed = (mixed ^ known[position : position + count]) * _MIX
        mixed ^= mixed >> _SHIFT
    return mixed


def occurrence_ranks(values: npt.NDArray[np.generic]) -> Ints:
    """How many times each value has occurred before.

    >>> occurrence_ranks(np.array([7, 5, 7, 7])).tolist()
    [0, 0, 1, 2]
    """
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    first = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]])) if len(values) else order
    ranks = np.empty(len(values), dtype=np.int64)
    ranks[order] = np.arange(len(values)) - np.repeat(first, np.diff(np.append(first, len(values))))
    return ranks


def particular_numbers(text: str, spans: Iterable[Span]) -> frozenset[str]:
    """The numbers of a text that belong to it alone: dates, amounts, years; not those of clauses, nor small ones.

    >>> text = "Under 2.1 and clause 12, EUR 12,500 is due on 3 May 2019, within 30 days."
    >>> sorted(particular_numbers(text, [Span(0, len(text))]))
    ['12,500', '3 may 2019']
    """
    found = [match[0] for span in spans for match in _PARTICULAR.finditer(text, span.start, span.end)]
    long = (number for number in found if sum(map(str.isdigit, number)) >= _FEWEST_DIGITS)
    return frozenset(" ".join(number.lower().split()) for number in long if not _OUTLINE.fullmatch(number))


def of_one_template(a: Set[str], b: Set[str], words: int) -> bool | None:
    """Whether documents with these numbers, which share their wording, have a template in common; None: unknown.

    `words` is the length of the shorter one.
    """
    fewest = min(len(a), len(b))
    kept = len(a & b)
    dense = fewest * WORDS_PER_NUMBER >= words
    if fewest >= FEWEST and dense and kept < KEPT_IN_TEMPLATE * fewest:
        return True
    if words >= LONG or (fewest >= FEWEST and kept >= KEPT_IN_VERSION * fewest):
        return False
    return None
