"""Whether two documents that share most of their wording are versions of one text, or two documents of one template.

A new version keeps most dates, amounts and other numbers of its text. Two contracts, judgments or election rules of one
template share the wording and hardly any number. Documents with few numbers do not say.
"""

import re
from collections.abc import Iterable, Set

from longmatch.documents.document import Span

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


def particular_numbers(text: str, spans: Iterable[Span]) -> frozenset[str]:
    """The numbers of a text that belong to it alone: dates, amounts, years; not those of clauses, nor small ones.

    >>> text = "Under 2.1 and clause 12, EUR 12,500 is due on 3 May 2019, within 30 days."
    >>> sorted(particular_numbers(text, [Span(0, len(text))]))
    ['12,500', '3 may 2019']
    """
    found = (match[0] for span in spans for match in _PARTICULAR.finditer(text, span.start, span.end))
    return frozenset(" ".join(number.lower().split()) for number in found if _is_particular(number))


def _is_particular(number: str) -> bool:
    return sum(map(str.isdigit, number)) >= _FEWEST_DIGITS and not _OUTLINE.fullmatch(number)


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
