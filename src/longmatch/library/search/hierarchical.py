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
from longmatch.library.rows import SENTENCE_COLUMNS, DocumentRow
from longmatch.library.search.explain import Ranking
from longmatch.library.search.searcher import Searcher
from longmatch.library.store import Store
from longmatch.matching.hits import Reasons
from longmatch.matching.matcher import SHOWN, percentile
from longmatch.matching.sentences import run_offsets
from longmatch.models.sdr.matcher import SdrEncoding, SdrMatcher
from longmatch.models.sdr.score import Paragraphs, directional_scores, sdr_scores
from longmatch.ragged import Floats, as_numbers

DOCUMENTS, PARAGRAPHS = 256, 8
SENTENCES = ["pieces", *SENTENCE_COLUMNS]
"""The columns of a document's sentence vectors and where they stand."""


def rank_by_sdr(searcher: Searcher, query: Query, k: int, matcher: SdrMatcher, where: str | None = None) -> Ranking:
    """The k best by SDR's score: of a small library all documents are scored, of a large one the candidates."""
    scope = searcher.scope(where, without=query.stored_id)
    ids, own = searcher.candidate_ids(query, scope, where), _sdr(query.encoding)

    def explain(candidates: Sequence[Encoding]) -> list[Reasons]:
        return [Reasons(matcher.explain(own, _sdr(candidate)).best(SHOWN)) for candidate in candidates]

    rows = searcher.store.fetch(ids, SENTENCES)  # another process may have removed some
    if not rows:
        return Ranking(query, (), np.zeros(0), np.zeros(0), 0, explain)
    candidates = Paragraphs.join([paragraphs_of(row) for row in rows])
    sample = None if searcher.is_small(scope) else sample_paragraphs(searcher.store, scope.ids)
    scores = normalised_scores(own.paragraphs, candidates, sample)
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
    parts = []
    for row in rows:
        paragraph = row.pieces()[3]
        vectors = row.vectors().sentences.vectors
        order = {number: _order(f"{row.id}\0{number}") for number in np.unique(paragraph).tolist()}
        mine = (vectors[paragraph == number] for number in sorted(order, key=order.__getitem__)[:each])
        parts += [Paragraphs.of(part, np.array([0, len(part)])) for part in mine]
    return Paragraphs.join(parts)


def paragraphs_of(row: DocumentRow) -> Paragraphs:
    """A document's sentence vectors by paragraph."""
    paragraph = row.pieces()[3]
    return Paragraphs.of(row.vectors().sentences.vectors, run_offsets(paragraph))


def _order(name: str) -> bytes:
    return blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest()


def _sdr(encoding: Encoding) -> SdrEncoding:
    sentences = encoding.sentences
    return SdrEncoding(sentences, Paragraphs.of(encoding.sentence_vectors.vectors, sentences.paragraphs))
