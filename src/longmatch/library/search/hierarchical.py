"""SDR's hierarchical score over a library, in place of the default score.

Its scores are normalised over the paragraphs of all candidates (section 3.3). Over a library that would read every
vector for every query, so the mean and deviation come from a fixed random sample: up to PARAGRAPHS of each of the
DOCUMENTS whose hashed ids are smallest. It depends on nothing but the documents themselves, need not be stored,
and does not change with the order in which they were added.
"""

from collections.abc import Iterable, Sequence
from hashlib import blake2b

import numpy as np

from longmatch.default.comparison import Query
from longmatch.default.encoding import Encoding
from longmatch.encoders.backbone import Vectors
from longmatch.lexical.terms import Ints
from longmatch.library.rows import DocumentRow, unpack_vectors
from longmatch.library.search.explain import PASSAGES, Ranking
from longmatch.library.search.searcher import Searcher
from longmatch.library.store import Store
from longmatch.matching.match import Alignment
from longmatch.matching.matcher import percentile
from longmatch.matching.sentences import run_offsets
from longmatch.models.sdr.matcher import SdrEncoding, SdrMatcher
from longmatch.models.sdr.score import Paragraphs, directional_scores, sdr_scores
from longmatch.ragged import Floats, as_numbers

DOCUMENTS, PARAGRAPHS = 256, 8
SENTENCES = ["id", "pieces", "vectors"]
"""The columns of a document's sentence vectors and where they stand."""


def rank_by_sdr(searcher: Searcher, query: Query, k: int, matcher: SdrMatcher, where: str | None = None) -> Ranking:
    """The k best by SDR's score: of a small library all documents are scored, of a large one the candidates."""
    scope = searcher.scope(where, without=query.stored_id)
    ids = searcher.candidate_ids(query, scope, where)

    def explain(candidates: Sequence[Encoding]) -> list[tuple[Alignment, ...]]:
        return [matcher.explain(_sdr(query.encoding), _sdr(candidate)).best(PASSAGES) for candidate in candidates]

    rows = searcher.store.fetch(ids, SENTENCES)  # another process may have removed some
    if not rows:
        return Ranking.empty(query)
    candidates = Paragraphs.join([paragraphs_of(row) for row in rows])
    sample = None if searcher.is_small(scope) else sample_paragraphs(searcher.store, scope.ids)
    scores = normalised_scores(_sdr(query.encoding).paragraphs, candidates, sample)
    best = np.argsort(-scores, kind="stable")[:k]
    not_scored = len(scope) - len(scores)
    lower = np.array([percentile(scores, i) * len(scores) / 100 + not_scored for i in best.tolist()])
    encodings = {encoding.document.id: encoding for encoding in searcher.encodings([rows[i].id for i in best])}
    present = [place for place, i in enumerate(best.tolist()) if rows[i].id in encodings]
    best, lower = best[present], lower[present]
    found = [encodings[rows[i].id] for i in best]
    return Ranking(query, found, scores[best], 100.0 * lower / len(scope), len(scope), explain)


def normalised_scores(query: Paragraphs, candidates: Paragraphs, sample: Paragraphs | None) -> Floats:
    """S(query, candidate) for every candidate, normalised over a sample, or over all candidates without one."""
    scores = sdr_scores(query, candidates) if sample is None else directional_scores(query, candidates, sample)
    return as_numbers(scores)


def sample_paragraphs(
    store: Store, ids: Iterable[str], documents: int = DOCUMENTS, each: int = PARAGRAPHS
) -> Paragraphs:
    """The fixed random sample of the library's paragraphs: up to `each` of some `documents`."""
    rows = store.fetch(sorted(ids, key=_order)[:documents], SENTENCES)
    return Paragraphs.join([_sample(row, each) for row in rows])


def paragraphs_of(row: DocumentRow) -> Paragraphs:
    """A document's sentence vectors by paragraph."""
    vectors, paragraph = _vectors(row)
    return Paragraphs.of(vectors, run_offsets(paragraph))


def _vectors(row: DocumentRow) -> tuple[Vectors, Ints]:
    paragraph = row.pieces()[3]
    return unpack_vectors(row.array("vectors"), len(paragraph)), paragraph


def _sample(row: DocumentRow, count: int) -> Paragraphs:
    """Some paragraphs of a document, the same every time."""
    vectors, paragraph = _vectors(row)
    chosen = sorted(np.unique(paragraph).tolist(), key=lambda number: _order(f"{row.id}\0{number}"))[:count]
    parts = [vectors[paragraph == number] for number in chosen]
    return Paragraphs.join([Paragraphs.of(part, np.array([0, len(part)])) for part in parts])


def _order(name: str) -> bytes:
    return blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest()


def _sdr(encoding: Encoding) -> SdrEncoding:
    sentences = encoding.sentences
    return SdrEncoding(sentences, Paragraphs.of(encoding.sentence_vectors.vectors, sentences.paragraphs))
