"""Which aligned passages to show first: whole sentences that say something, before fragments and debris.

What a pair contributes to the score has no part in this: the strongest pairs are searched, and keep their order.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable
from functools import cache, lru_cache
from itertools import islice
from typing import TypeVar

from longmatch.documents.language import COMMON_WORDS, words_of
from longmatch.documents.paragraph_kinds import is_caption

Pair = TypeVar("Pair")

_SEARCHED = 300  # of the strongest pairs
_MIN_WORDS, _MIN_CONTENT = 6, 4  # of a sentence that says something

_MARKER = re.compile(r"(?:[•◦▪‣●○■*·–—-]\s+|\(?(?:\d{1,3}|[a-zA-Z]|[ivxlc]{1,5})[.)]\s*|\[\d{1,4}\]\s*){1,3}(?=\S)")
_START = re.compile(r"[\"'“”‘’«„(\[]*(?:[^\W\d_]|\d)")
_END = re.compile(r"[.!?。！？…।؟۔։።][\"'”’»)\]」』]*$")
_CITATION = re.compile(
    r"\((?=[^()]*+\))[^()]*\b(?:1[6-9]|20)\d\d[a-z]?\b[^()]*\)"
    r"|\[(?=[^\[\]]*+\])[^\[\]]*\b(?:1[6-9]|20)\d\d[a-z]?\b[^\[\]]*\]|\[[\d,;\s–-]+\]"
    r"|\[\?\w+\?\]|\bet al\b\.?|\b(?:1[6-9]|20)\d\d[a-z]?\b"
)
_NAME_IN_REFERENCE = re.compile(r"\b(?:[A-Z]\.[\s-]?){1,3}[A-Z][^\W\d_]+|\b[A-Z][^\W\d_]+,\s(?:[A-Z]\.[\s-]?){1,3}")
_SOURCE = re.compile(
    r"\b(?:In Proceedings|Proceedings of|Proc\.|arXiv|pages \d|pp?\.\s?\d|vol\.\s?\d|[Dd]oi)\b|\d\(\d+\):\d"
)
_NOTE = re.compile(r"\d{1,3}[^\W\d_][a-z]")  # the mark of a footnote, run into its first word
_ELLIPSIS = re.compile(r"…|\.\s?\.\s?\.")
_RULE = re.compile(r"[-_=.~*]{4,}|\|")  # drawn lines, and the edges of cells
_NOTATION = re.compile(  # f(x), `1, a full stop after a symbol that was lost, a letter alone
    r"\b[A-Za-z]\((?=[^)\s])|`\d|\s[.!?]$|(?<![(\w.'’°-])[B-HJ-Zb-z](?![\w.)'’-])"
)
_AROUND_WORDS = ".,;:()[]\"'“”‘’"
_WORDS_OF_ONE_LETTER = frozenset("aiyoeuàéóøåвиксоуя")


@lru_cache(maxsize=4096)  # a query's passages are judged with every hit
def is_readable(text: str) -> bool:
    """Whether a passage can be read, if only as a fragment: it is no formula, no row of a table, no citations alone.

    >>> is_readable("English."), is_readable("k = 3, p < .01")
    (True, False)
    """
    return not _is_debris(_unmarked(" ".join(text.split())))


@lru_cache(maxsize=4096)
def is_sentence(text: str) -> bool:
    """Whether a passage is a whole sentence that says something.

    >>> is_sentence("The court held that the lease had ended in May.")
    True
    """
    whole = " ".join(text.split())
    body = _unmarked(whole)
    start = _START.match(body)
    if start is None or start[0][-1].islower() or _NOTE.match(body):
        return False
    if not _END.search(body) or _ELLIPSIS.search(body[:-3]) or is_caption(whole) or _RULE.search(whole):
        return False
    if body.count("(") != body.count(")") or body.count("[") != body.count("]") or _capitalised(body) > 0.7:
        return False
    words = words_of(_CITATION.sub(" ", body))
    long = (word for word in words if word[0].isalpha() and (len(word) > 2 or not word.isascii()))
    if len(words) < _MIN_WORDS or len(set(long) - COMMON_WORDS) < _MIN_CONTENT or _is_debris(body):
        return False
    if body[:1] > "\u2e7f":  # without Latin letters
        return True
    # variables and formulas all over, as in "let s and t be nodes with d(s, t) < k"; initials ("J. Doe"), clauses
    # ("(b)") and a single "vitamin C" are none
    return len(_NOTATION.findall(body)) + _count_kinds(body)[2] <= 2 + len(body) / 250


def _unmarked(text: str) -> str:
    """A text without the marker of a list's item."""
    marker = _MARKER.match(text)
    return text[marker.end() :] if marker else text


def choose(pairs: Iterable[Pair], count: int, texts: Callable[[Pair], Iterable[str]]) -> list[Pair]:
    """The first `count` pairs of whole sentences; if there are none, of readable fragments; else simply the first.

    `texts` gives those of a pair; the second is not asked for where the first is no whole sentence. No text is shown in
    two pairs.
    """
    searched = list(islice(pairs, _SEARCHED))
    for suits in (is_sentence, is_readable, lambda text: True):
        chosen: list[Pair] = []
        seen: set[str] = set()
        for pair in searched:
            if len(chosen) < count and all(map(suits, texts(pair))) and seen.isdisjoint(both := set(texts(pair))):
                chosen.append(pair)
                seen |= both
        if chosen:
            return chosen
    return []


def _is_debris(text: str) -> bool:
    words = text.split()
    spaces, letters, mathematical = _count_kinds(text)
    if not letters or letters < 0.6 * (len(text) - spaces):
        return True
    numeric = sum(not word.isalpha() and any(map(str.isdigit, word)) for word in words)
    short = [bare for word in words if len(bare := word.strip(_AROUND_WORDS)) == 1]
    lone = sum(word.isalpha() and word.isascii() for word in short)
    lone -= sum(word.lower() in _WORDS_OF_ONE_LETTER for word in short)
    if mathematical > 1 + len(text) / 150 or 3 * numeric > len(words) > 2 or lone > 2 + len(words) / 20:
        return True
    # an entry of a reference list, or little remains without the citations
    names, cited = _NAME_IN_REFERENCE.findall(text), _CITATION.findall(text)
    if len(names) > 1 and (cited or _SOURCE.search(text)) and 16 * len(names) > len(words):
        return True
    if not cited:
        return False
    remaining = len(words_of(_CITATION.sub(" ", text)))
    return remaining < _MIN_WORDS or 2 * remaining < len(words_of(text)) or _capitalised(text) > 0.6


def _count_kinds(text: str) -> tuple[int, int, int]:
    """The number of spaces, letters and mathematical signs."""
    if text.isascii():
        characters = text.encode("ascii")
        spaces, letters, mathematical = (len(text) - len(characters.translate(None, kind)) for kind in _ascii_kinds())
        return spaces, letters, mathematical
    counts = Counter(text)  # few characters are distinct
    spaces, letters, mathematical = (
        sum(count for character, count in counts.items() if _kinds(character)[kind]) for kind in range(3)
    )
    return spaces, letters, mathematical


@cache
def _ascii_kinds() -> list[bytes]:
    """The characters of ASCII that are spaces, letters, mathematical signs."""
    return [bytes(code for code in range(128) if _kinds(chr(code))[kind]) for kind in range(3)]


@lru_cache(maxsize=4096)
def _kinds(character: str) -> tuple[bool, bool, bool]:
    """Whether a character is a space, a letter, a mathematical sign."""
    sign = unicodedata.category(character) in {"Sm", "Co"} or character in "∗ˆ´˜¯�" or "α" <= character <= "ω"
    sign = sign or "\u2190" <= character <= "\u21ff"  # arrows: what symbols of a font become that has no names for them
    return character.isspace(), character.isalpha(), sign


def _capitalised(text: str) -> float:
    """The share of words that begin with a capital or a digit."""
    words = [bare for word in text.split() if (bare := word.strip(_AROUND_WORDS))]
    return sum(word[0].isupper() or word[0].isdigit() for word in words) / max(len(words), 1)
