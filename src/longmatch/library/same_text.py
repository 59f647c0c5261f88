"""Documents that were just added and hold the text of another one: one letter as DOCX and as PDF, or two drafts."""

from collections.abc import Iterator, Sequence

import numpy as np

from longmatch.library.search.candidates import highest
from longmatch.library.search.same import same_documents
from longmatch.library.search.searcher import Searcher
from longmatch.matching.same_document import SameDocument

MOST_CHECKED = 1_000  # documents added at once: of more, `pairs` lists the copies
NEAREST, NEAR = 3, 0.9  # documents by vector that may hold the same text, and their least cosine
BLOCK = 64  # documents compared with all vectors together
LISTED = 10  # sentences
RELATIONS = {"copy": "holds the same text as", "version": "is another version of"}


def same_text_remarks(searcher: Searcher, added: Sequence[str]) -> list[str]:
    """Sentences on the documents added whose text another document of the library holds, or a version of it."""
    if len(added) > MOST_CHECKED:
        return []
    reported: set[frozenset[str]] = set()
    sentences = []
    for id, other in _same(searcher, added):
        if frozenset((id, other.id)) not in reported:
            reported.add(frozenset((id, other.id)))
            sentences.append(f"{id} {RELATIONS[other.relation]} {other.id}.")
    more = len(sentences) - LISTED
    others = f"{more:,} more {'is' if more == 1 else 'are'} in the library twice; longmatch pairs lists them."
    return sentences[:LISTED] + ([others] if more > 0 else [])


def _same(searcher: Searcher, added: Sequence[str]) -> Iterator[tuple[str, SameDocument]]:
    """A document added and the nearest other that holds its text, a copy rather than a version."""
    index, ids = searcher.index, searcher.scope().ids
    place = {id: number for number, id in enumerate(ids)}
    known = [id for id in added if id in place]  # another process may have removed some
    means = index.live_column("means") if known else np.zeros((0, 0))
    for start in range(0, len(known), BLOCK):
        block = known[start : start + BLOCK]
        cosines = means @ means[[place[id] for id in block]].T  # (documents, block)
        for id, column in zip(block, cosines.T, strict=True):
            column[place[id]] = -1.0
            nearest = sorted((-round(float(column[i]), 6), ids[i]) for i in highest(column, NEAREST, ids.__getitem__))
            near = [other for distance, other in nearest if -distance >= NEAR]
            encodings = {encoding.document.id: encoding for encoding in searcher.encodings([id, *near] if near else [])}
            if id in encodings:
                candidates = [encodings[other] for other in near if other in encodings]
                same = sorted(same_documents(encodings[id], candidates), key=lambda one: one.relation)
                yield from ((id, other) for other in same[:1])
