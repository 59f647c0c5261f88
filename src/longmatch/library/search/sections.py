"""The sections of a library that answer a question.

A question is compared with every chunk of about 250 tokens, so that a long section has no advantage: by the best
partner that each of its sentences finds there, corrected for chance, and by the share of its words, weighed by their
rarity, that stand there. A section is as good as its best chunk. Of a long query each section asks by itself.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from longmatch.default.comparison import Query
from longmatch.default.encoding import Encoding
from longmatch.default.rarity import Rarity
from longmatch.default.term_rarity import BACKGROUND_DOCUMENTS
from longmatch.default.unrelated import PRIOR_DOCUMENTS, drawn_documents
from longmatch.documents.document import Document
from longmatch.encoders.reader import Reader
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
READ = 20  # sections of which a reader reads the best chunk; more where more are asked for
FIRST_SCORE = 20.0  # log odds that the score by which a section was found is worth beside the reader's


@dataclass(frozen=True)
class FoundSection:
    """A section of a document, how well it answers, and the number of its best chunk."""

    encoding: Encoding
    number: int
    score: float
    chunk: int

    @property
    def best_chunk(self) -> str:
        """Its text, the markup blanked."""
        return self.encoding.sentences.chunks.spans[self.chunk].of(self.encoding.document.readable)

    def hit(self, query: Query, present: Callable[[Document], Document]) -> SectionHit:
        """With the sentence of its best chunk nearest to any of the query, a whole one if there is one."""
        sentences = self.encoding.sentences
        rows = np.arange(*sentences.chunks.offsets[self.chunk : self.chunk + 2].tolist())
        vectors = self.encoding.sentence_vectors.vectors[rows]
        cosines = as_numbers(vectors @ query.encoding.sentence_vectors.vectors.T).max(axis=1)
        passages = sentences.passages(rows[np.argsort(-cosines, kind="stable")])
        whole = (passage for passage in passages if is_sentence(passage.shown))
        return SectionHit(present(self.encoding.document), self.number, self.score, next(whole, passages[0]))


@dataclass(frozen=True)
class Sections:
    """Sections found for a query, best first, and who has read them."""

    query: Query
    found: Sequence[FoundSection]
    stands_out: bool
    reader: str | None = None

    def read_by(self, reader: Reader, count: int) -> "Sections":
        """Only the best, at least `count` where there are so many, in the order of a reader; ties break by place.

        It reads the best chunk of each; the score by which a section was found counts beside its own. Where it knows
        the language of the question or of most sections not, they stay as they are.
        """
        best = self.found[: max(READ, count)]
        known = [section.encoding.document.language in reader.languages for section in best]
        if self.query.language not in reader.languages or 2 * sum(known) <= len(known):
            return self
        read = reader.scores(self.query.encoding.document.readable, [section.best_chunk for section in best])
        odds = read + FIRST_SCORE * (np.array([section.score for section in best]) - ANSWERS)
        scores = (1 / (1 + np.exp(-odds))).tolist()
        sections = [replace(section, score=score) for section, score in zip(best, scores, strict=True)]
        return replace(self, found=sorted(sections, key=lambda one: -one.score), reader=reader.name)

    @property
    def documents(self) -> list[str]:
        """The ids of their documents, each at its best section."""
        return list(dict.fromkeys(section.encoding.document.id for section in self.found))

    def hits(self, k: int, present: Callable[[Document], Document] = lambda document: document) -> SectionHits:
        """The k best as a user sees them; `present` makes a stored document one that a user can open."""
        hits = SectionHits((section.hit(self.query, present) for section in self.found[:k]), self.stands_out)
        hits.reader = self.reader
        return hits


def find_sections(searcher: Searcher, query: Query, where: str | None = None) -> Sections:
    """All sections of the candidates for a query, of the documents that fulfil a condition; ties break by document."""
    scope, rarity = searcher.scope(where, without=query.stored_id), searcher.index.rarity
    candidates = searcher.encodings(searcher.candidate_ids(query, scope, where))
    scored = [_chunk_scores(query.encoding, encoding, rarity) for encoding in candidates]
    found = []
    for encoding, scores in zip(candidates, scored, strict=True):
        section = encoding.sentences.section[encoding.sentences.chunks.offsets[:-1]]
        order = np.lexsort((-scores, section))  # by section, its best chunk first
        best = order[np.flatnonzero(np.diff(section[order], prepend=-1))]
        found += [
            FoundSection(encoding, *values)
            for values in zip(section[best].tolist(), scores[best].tolist(), best.tolist(), strict=True)
        ]
    found.sort(key=lambda one: -one.score)
    return Sections(query, found, _stands_out(searcher, query, scope, scored))


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
