"""SDR's hierarchical score over a library.

Its scores are normalised over the paragraphs of all candidates (section 3.3). Over a library that would read every
vector for every question, so the mean and deviation come from a fixed random sample: up to PARAGRAPHS of each of the
DOCUMENTS whose hashed ids are smallest. It depends on nothing but the documents themselves, needs no keeping, and does
not change with the order in which they came.
"""

from collections.abc import Iterable, Sequence
from functools import partial
from hashlib import blake2b

import numpy as np
import torch
from torch import Tensor

from longmatch.default.encoding import Encoding
from longmatch.library.asking import Answer, Asking
from longmatch.library.index.terms import Floats
from longmatch.library.rows import ENCODING_COLUMNS, DocumentRow, unpack_vectors
from longmatch.library.search import Living, Nearest, candidates
from longmatch.matching.match import Alignment
from longmatch.matching.matcher import percentile
from longmatch.sdr.matcher import SdrEncoding, SdrMatcher
from longmatch.sdr.score import Paragraphs, directional_scores, sdr_scores

DOCUMENTS, PARAGRAPHS = 256, 8
NEEDED = ["id", "pieces", "vectors"]


def rank_hierarchically(
    asking: Asking, query: Encoding, living: Living, k: int, count: int, matcher: SdrMatcher, nearest: Nearest | None
) -> list[Answer]:
    """The k best by SDR's score: of few documents all are scored, of many the candidates."""
    few = len(living) <= 3 * count
    ids = sorted(living.ids) if few else sorted(candidates(query, asking.index, living, count, nearest))
    rows = asking.store.fetch(ids, NEEDED)
    if not rows:
        return []
    source = Paragraphs.of(query.sentence_vectors.vectors, query.sentences.paragraphs)
    together = Paragraphs.join([paragraphs_of(row) for row in rows])
    sample = None if few else sample_of(asking, living.ids)
    scores = normalised_scores(source, together, sample)
    best = np.argsort(-scores, kind="stable")[:k]
    answers = []
    for place, row in zip(best.tolist(), asking.store.fetch([ids[i] for i in best], ENCODING_COLUMNS), strict=True):
        encoding = row.encoding()
        why = partial(_why, matcher, query, encoding)
        lower = percentile(scores, place) * len(scores) / 100 + len(living) - len(scores)
        answers.append(Answer(encoding, float(scores[place]), 100.0 * lower / len(living), why))
    return answers


def _why(matcher: SdrMatcher, query: Encoding, found: Encoding) -> tuple[Alignment, ...]:
    return matcher.explain(_sdr(query), _sdr(found)).best(3)


def normalised_scores(source: Paragraphs, together: Paragraphs, sample: Paragraphs | None) -> Floats:
    """S(source, candidate) for every candidate, normalised over a sample, or over all of them without one."""
    found = sdr_scores(source, together) if sample is None else directional_scores(source, together, sample)
    return np.asarray(found.double().numpy())


def sample_of(asking: Asking, ids: Iterable[str], documents: int = DOCUMENTS, each: int = PARAGRAPHS) -> Paragraphs:
    """The fixed random sample of the library's paragraphs."""
    rows = asking.store.fetch(sorted(ids, key=_order)[:documents], NEEDED)
    return Paragraphs.join([_some(row, each) for row in rows])


def paragraphs_of(row: DocumentRow) -> Paragraphs:
    """A document's sentence vectors by paragraph."""
    vectors, home = _vectors(row)
    changes = torch.from_numpy(np.flatnonzero(np.diff(home)) + 1)
    return Paragraphs.of(vectors, torch.cat([torch.zeros(1, dtype=torch.long), changes, torch.tensor([len(vectors)])]))


def _vectors(row: DocumentRow) -> tuple[Tensor, "np.typing.NDArray[np.int64]"]:
    home = row.table["pieces"].chunk(0)[row.position].values.field(3).to_numpy().astype(np.int64)
    return unpack_vectors(row.array("vectors"), len(home)), home


def _some(row: DocumentRow, count: int) -> Paragraphs:
    """Some paragraphs of a document, the same every time."""
    vectors, home = _vectors(row)
    numbers = np.unique(home)
    chosen: Sequence[int] = sorted(numbers.tolist(), key=lambda number: _order(f"{row.id}\0{number}"))[:count]
    parts = [vectors[torch.from_numpy(np.flatnonzero(home == number))] for number in chosen]
    return Paragraphs.join([Paragraphs.of(part, torch.tensor([0, len(part)])) for part in parts])


def _order(name: str) -> bytes:
    return blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest()


def _sdr(encoding: Encoding) -> SdrEncoding:
    return SdrEncoding(
        encoding.sentences, Paragraphs.of(encoding.sentence_vectors.vectors, encoding.sentences.paragraphs)
    )
