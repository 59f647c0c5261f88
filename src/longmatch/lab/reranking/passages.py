"""What two documents' sentences say beside the default's sides: best passages and sections, coverage.

The default's side `meaning` is a mean over all sentences. A document that answers a query in one of its sections alone
has a low mean and a high maximum.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from longmatch.lab.encoders.ragged import offsets_of, segment_ids, segment_max, segment_mean
from longmatch.lab.evaluation.encodings.layers import scoring_device
from longmatch.lab.store.files import StoredLayer
from longmatch.matching.levels import ROOM, SentenceVectors, best_in_groups, group_scores
from longmatch.ragged import segment_slices

BEST = 5  # sentences whose mean stands beside the best one
COVERED = (0.2, 0.4)  # corrected for chance: from there on a sentence has a counterpart
CLOSEST = 8  # sentences of either document that are named
KINDS = (
    "best_sentence",
    "best_sentences_query",
    "best_sentences_document",
    *(f"coverage_{side}_{round(100 * share)}" for share in COVERED for side in ("query", "document")),
    "best_section",
    "best_sections",
)


@dataclass(frozen=True)
class SectionedSentences:
    """The sentences of some documents, end to end, and where documents and sections begin."""

    sentences: SentenceVectors
    offsets: Tensor  # of each document in the sentences
    section_offsets: Tensor  # of each section in the sentences
    sections: Tensor  # of each document in the sections

    @staticmethod
    def of(vectors: StoredLayer, chance: StoredLayer, numbers: Sequence[int]) -> "SectionedSentences":
        """Those of the documents with these numbers."""
        device = scoring_device()
        parts = [vectors.document(number, "vectors", "section") for number in numbers]
        expected = [chance.document(number, "expectations")["expectations"] for number in numbers]
        sentences = SentenceVectors(
            torch.from_numpy(np.concatenate([part["vectors"] for part in parts])).to(device, torch.float32),
            torch.from_numpy(np.concatenate(expected)).to(device),
        )
        runs = [np.flatnonzero(np.diff(part["section"], prepend=-1)) for part in parts]
        offsets = offsets_of(torch.tensor([len(part["section"]) for part in parts]))
        starts = torch.from_numpy(np.concatenate(runs)) + offsets[:-1].repeat_interleave(_lengths(runs))
        return SectionedSentences(
            sentences,
            offsets.to(device),
            torch.cat([starts, offsets[-1:]]).to(device),
            offsets_of(_lengths(runs)).to(device),
        )

    def between(self, first: int, last: int) -> "SectionedSentences":
        """The documents first to last, which is left out."""
        start, end = self.offsets[[first, last]].tolist()
        sections = self.sections[first : last + 1]
        return SectionedSentences(
            SentenceVectors(self.sentences.vectors[start:end], self.sentences.expectations[start:end]),
            self.offsets[first : last + 1] - start,
            self.section_offsets[int(sections[0]) : int(sections[-1]) + 1] - start,
            sections - sections[0],
        )


def _lengths(parts: Sequence[np.ndarray]) -> Tensor:
    return torch.tensor([len(part) for part in parts])


@dataclass(frozen=True)
class PassageEvidence:
    """A query's comparison with documents, sentence by sentence."""

    values: Tensor  # (documents, KINDS)
    query_sentences: Tensor  # the closest to the document, best first, -1 for none: (documents, CLOSEST)
    document_sentences: Tensor  # the closest to the query: (documents, CLOSEST)

    @staticmethod
    def cat(parts: Sequence["PassageEvidence"]) -> "PassageEvidence":
        """Of the documents of all parts."""
        columns = zip(*((part.values, part.query_sentences, part.document_sentences) for part in parts), strict=True)
        return PassageEvidence(*map(torch.cat, columns))


def passage_evidence(query: SectionedSentences, documents: SectionedSentences, room: int = ROOM) -> PassageEvidence:
    """The evidence of one query with each document; documents are taken together until the product reaches `room`."""
    rows = room // max(1, len(query.sentences))
    runs = segment_slices(documents.offsets.tolist(), rows)
    return PassageEvidence.cat([_evidence(query, documents.between(first, last)) for first, last in runs])


def _evidence(query: SectionedSentences, documents: SectionedSentences) -> PassageEvidence:
    forward = best_in_groups(query.sentences, documents.sentences, documents.offsets).T  # (documents, sentences)
    found = best_in_groups(documents.sentences, query.sentences, query.offsets)[:, 0]
    backward = _padded(found, documents.offsets)
    sections = group_scores(
        query.sentences, documents.sentences, query.section_offsets, documents.section_offsets
    )  # (sections of the query, sections of all documents)
    best_sections = segment_max(sections.T.contiguous(), documents.sections)  # (documents, sections of the query)
    covered = [
        share
        for least in COVERED
        for share in (
            (forward > least).float().mean(1),
            segment_mean((found > least).float()[:, None], documents.offsets)[:, 0],
        )
    ]
    (first, query_sentences), (second, document_sentences) = (_closest(each) for each in (forward, backward))
    columns = (first[:, 0], _mean(first), _mean(second), *covered, best_sections.amax(1), best_sections.mean(1))
    return PassageEvidence(torch.stack(columns, 1), query_sentences, document_sentences)


def _padded(values: Tensor, offsets: Tensor) -> Tensor:
    """Values of the documents' sentences, each document a row: (documents, most sentences)."""
    longest = int(offsets.diff().max())
    padded = values.new_full((len(offsets) - 1, longest), float("-inf"))
    rows = segment_ids(offsets, len(values))
    padded[rows, torch.arange(len(values), device=values.device) - offsets[rows]] = values
    return padded


def _closest(values: Tensor) -> tuple[Tensor, Tensor]:
    """The highest values of each row and where they stand, -inf and -1 where there are no more: (rows, CLOSEST)."""
    best = values.topk(min(CLOSEST, values.shape[1]), dim=1)
    missing = CLOSEST - best.values.shape[1]
    found = torch.nn.functional.pad(best.values, (0, missing), value=float("-inf"))
    places = torch.nn.functional.pad(best.indices, (0, missing), value=-1)
    return found, places.masked_fill(found.isinf(), -1)


def _mean(closest: Tensor) -> Tensor:
    """The mean of the BEST highest values, or of as many as there are."""
    best = closest[:, :BEST]
    return torch.where(best.isinf(), float("nan"), best).nanmean(1)
