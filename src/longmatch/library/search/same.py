"""The library's own entry of a query that comes from outside: a copy of it, or another version of the same text."""

from collections.abc import Sequence

import numpy as np

from longmatch.default.encoding import Encoding
from longmatch.lexical.terms import Hashes
from longmatch.matching.hits import SameDocument
from longmatch.reuse.reuse import VERSION, find_reuse
from longmatch.reuse.shingles import shingles

MOST = 5  # entries that are set apart
PATIENCE = 2  # candidates that are not the query, after which no other is looked at
LENGTH = 6  # words of a run
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
            if reuse.relation == "copy":
                found.append(SameDocument(candidate.document, "copy"))
            elif reuse.relation == "version" and not reuse.may_be_template:
                found.append(SameDocument(candidate.document, "version"))
    return found


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
