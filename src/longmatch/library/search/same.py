"""The library's own entry of a query that comes from outside: a copy of it, or another version of the same text."""

from collections.abc import Sequence
from pathlib import PurePath

import numpy as np

from longmatch.default.encoding import Encoding
from longmatch.lexical.terms import Hashes
from longmatch.matching.same_document import SameDocument
from longmatch.reuse.reuse import VERSION, Reuse, find_reuse
from longmatch.reuse.shingles import shingles

MOST = 5  # entries that are set apart
PATIENCE = 2  # candidates that are not the query, after which no other is looked at
LENGTH = 6  # words of a run
CONTAINED, REFORMATTED = 0.99, 0.95  # shares of the words that are the same, in a copy of another format
LIKELY = 0.15  # share of the runs of the shorter text that two versions have in common at least


def same_documents(query: Encoding, candidates: Sequence[Encoding]) -> list[SameDocument]:
    """Of candidates, best first, those that hold the text of the query: copies and versions score highest."""
    found: list[SameDocument] = []
    runs = _runs(query)
    for looked_at, candidate in enumerate(candidates):
        if looked_at - len(found) == PATIENCE or len(found) == MOST:
            break
        if _may_be_same(query, candidate, runs):
            reuse = find_reuse(query.document, candidate.document)
            if reuse.relation == "copy" or (_formats_differ(query, candidate) and _is_reformatted(reuse)):
                found.append(SameDocument(candidate.document, "copy"))
            elif reuse.relation == "version" and not reuse.may_be_template:
                found.append(SameDocument(candidate.document, "version"))
    return found


def _is_reformatted(reuse: Reuse) -> bool:
    """Whether two texts differ only by what is running text in one format and not in another, such as a table."""
    if not reuse.words_a or not reuse.words_b:
        return False
    less, more = sorted((reuse.same_a / reuse.words_a, reuse.same_b / reuse.words_b))
    return reuse.unchanged == 1.0 and more >= CONTAINED and less >= REFORMATTED


def _formats_differ(query: Encoding, candidate: Encoding) -> bool:
    first, second = (PurePath(each.document.source).suffix.lower() for each in (query, candidate))
    return first != second


def _may_be_same(query: Encoding, candidate: Encoding, runs: Hashes) -> bool:
    """Whether the sizes and the runs of words allow two texts to be versions."""
    shorter, longer = sorted((query.words, candidate.words))
    if 2 * shorter < VERSION * (shorter + longer):
        return False
    other = _runs(candidate)
    common = len(np.intersect1d(runs, other, assume_unique=True))
    return common >= LIKELY * min(len(runs), len(other))


def _runs(encoding: Encoding) -> Hashes:
    return np.unique(shingles(encoding.terms.words.ids, LENGTH))
