"""The sections of a library that answer a question.

A question is compared with every chunk of about 250 tokens, so that a long section has no advantage: by the best
partner that each of its sentences finds there, corrected for chance, and by the share of its words, weighed by their
rarity, that stand there. A section is as good as its best chunk. Of a long query each section asks by itself.
"""

from collections.abc import Callable, Sequence

import numpy as np

from longmatch.default.comparison import Query
from longmatch.default.encoding import Encoding
from longmatch.default.rarity import Rarity
from longmatch.default.term_rarity import BACKGROUND_DOCUMENTS
from longmatch.default.unrelated import PRIOR_DOCUMENTS, drawn_documents
from longmatch.documents.document import Document
from longmatch.lexical.links import group_coverage
from longmatch.library.search.candidates import Scope
from longmatch.library.search.searcher import Searcher
from longmatch.matching.hits import SectionHit, SectionHits
from longmatch.matching.levels import directed_group_scores
from longmatch.matching.presentable import is_sentence
from longmatch.ragged import Floats, as_numbers

ONE_RARE_WORD = float(np.log(1 + BACKGROUND_DOCUMENTS))  # its weight; that much of every question counts as not found
USUAL_LEVEL = 0.06  # of the best chunk of a document that has nothing to do with a question
STANDS_OUT = 0.2  # above the level of the library's documents
ANSWERS = 0.4  # from this score on a section answers, though all documents may


def rank_sections(
    searcher: Searcher,
    query: Query,
    k: int,
    where: str | None = None,
    present: Callable[[Document], Document] = lambda document: document,
) -> SectionHits:
    """The k sections that answer a query best, of the documents that fulfil a condition; ties break by document.

    `present` makes a stored document one that a user can open.
    """
    scope, rarity = searcher.scope(where, without=query.stored_id), searcher.index.rarity
    candidates = searcher.encodings(searcher.candidate_ids(query, scope, where))
    scored = [_chunk_scores(query.encoding, encoding, rarity) for encoding in candidates]
    found = []
    for encoding, chunks in zip(candidates, scored, strict=True):
        section = encoding.sentences.section[encoding.sentences.chunks.offsets[:-1]]
        numbers, place = np.unique(section, return_inverse=True)
        scores = np.zeros(len(numbers))
        np.maximum.at(scores, place, chunks)
        best_chunks = [int(np.argmax(np.where(section == number, chunks, -1.0))) for number in numbers]
        found += list(zip(scores.tolist(), [encoding] * len(numbers), numbers.tolist(), best_chunks, strict=True))
    hits = []
    for score, encoding, number, chunk in sorted(found, key=lambda one: -one[0])[:k]:
        # the passage is the sentence of the best chunk nearest to any of the query, a whole one if there is one
        rows = np.arange(*encoding.sentences.chunks.offsets[chunk : chunk + 2].tolist())
        vectors = encoding.sentence_vectors.vectors[rows]
        cosines = as_numbers(vectors @ query.encoding.sentence_vectors.vectors.T).max(axis=1)
        passages = encoding.sentences.passages(rows[np.argsort(-cosines, kind="stable")])
        whole = (passage for passage in passages if is_sentence(passage.shown))
        hits.append(SectionHit(present(encoding.document), number, score, next(whole, passages[0])))
    return SectionHits(hits, _stands_out(searcher, query, scope, scored))


def _chunk_scores(query: Encoding, encoding: Encoding, rarity: Rarity) -> Floats:
    """A document's chunks as answers to a question."""
    rows, columns = query.sentences.sections, encoding.sentences.chunks
    vectors = query.sentence_vectors, encoding.sentence_vectors
    meaning = as_numbers(directed_group_scores(*vectors, rows.offsets, columns.offsets)).clip(0, 1)
    streams = query.terms.words, encoding.terms.words
    words = group_coverage(*streams, rows, columns, rarity.words, ONE_RARE_WORD)
    language = rarity.trust[0]  # where it is unknown, meaning cannot tell
    scores = (words + language * meaning) / (1 + language)  # (sections of the query, chunks)
    return np.asarray(scores.max(axis=0, initial=0.0))


def _stands_out(searcher: Searcher, query: Query, scope: Scope, scored: Sequence[Floats]) -> bool:
    """Whether the best section exceeds what the library's documents, most of them unrelated, have for the question."""
    best = max((float(chunks.max(initial=0.0)) for chunks in scored), default=0.0)
    if best >= ANSWERS:
        return True
    sample = scored
    if len(scored) < len(scope):
        ids = sorted(scope.ids)
        drawn = searcher.encodings([ids[i] for i in drawn_documents(len(ids))])
        sample = [_chunk_scores(query.encoding, encoding, searcher.index.rarity) for encoding in drawn]
    levels = [float(chunks.max(initial=0.0)) for chunks in sample]
    share = len(levels) / (len(levels) + PRIOR_DOCUMENTS)
    usual = share * float(np.median(levels or [0.0])) + (1 - share) * USUAL_LEVEL
    return best - usual >= STANDS_OUT
