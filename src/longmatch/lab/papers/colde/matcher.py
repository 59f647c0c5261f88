"""CoLDE as a matcher, and read in other ways, for evaluation: `colde-sections@FOLDER`.

Other vectors than the document's show which one of a checkpoint matches best; explanations are those of the document
vector, so these matchers give none. Shuffled sections are the paper's study of perturbed texts (section 4.4.3).
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from torch import Tensor, nn

from longmatch.documents.document import Document
from longmatch.errors import LongmatchError
from longmatch.lab.encoders.backbone import Precision
from longmatch.lab.encoders.checkpoint import special_tokens
from longmatch.lab.matchers import TrainedMatcher
from longmatch.lab.papers.colde.encoder import ChunkLayout, ChunkRanges, ColdeModel
from longmatch.lab.papers.colde.explanation import ColdeEncoding, encode_documents, explain_pair, explain_within
from longmatch.matching.match import Match
from longmatch.units import Tokens


class ColdeMatcher(TrainedMatcher[ColdeEncoding]):
    """Section 4.2: the cosine of one vector per document, explained by sections and chunks.

    Documents are read whole; `max_tokens` truncates them, which `coverage` shows.
    """

    name = "colde"
    Model = ColdeModel
    model: ColdeModel

    def __init__(
        self, model: ColdeModel, tokenizer: Any, max_tokens: int | None = None, precision: Precision | None = None
    ) -> None:
        super().__init__(model, tokenizer, precision)
        self.layout = self.changed(model.layout(special_tokens(tokenizer, self.name), max_tokens))

    def changed(self, layout: ChunkLayout) -> ChunkLayout:
        """How documents are cut, given how the model was trained to read them."""
        return layout

    def encode_tokens(self, documents: Sequence[Tokens]) -> Iterator[ColdeEncoding]:
        """Encode documents independently."""
        return encode_documents(self.model, self.layout, documents)

    def length(self, tokens: Tokens) -> int:
        """All tokens, or `max_tokens`."""
        return len(tokens.truncated(self.layout.max_tokens))

    def explain(self, a: ColdeEncoding, b: ColdeEncoding, collection: Tensor | None = None) -> Match:
        """Compare two documents at the three levels."""
        return explain_pair(self.model, a, b, self.name)

    def within(self, document: Document) -> Match:
        """Compare a document's own sections and chunks with each other."""
        return explain_within(self.encode([document])[0], self.name)


class ReadoutMatcher(ColdeMatcher):
    """Documents by another of CoLDE's vectors than the document's."""

    def vector_of(self, encoding: ColdeEncoding) -> Tensor:
        """The vector to compare: (width,)."""
        return encoding.vector

    @property
    def threshold(self) -> None:
        """None: the stored one was chosen for the document vector."""

    def encode_tokens(self, documents: Sequence[Tokens]) -> Iterator[ColdeEncoding]:
        """Encode documents independently."""
        for encoding in super().encode_tokens(documents):
            yield replace(encoding, vector=nn.functional.normalize(self.vector_of(encoding), dim=0))

    def explain(self, a: ColdeEncoding, b: ColdeEncoding, collection: Tensor | None = None) -> Match:
        """Not available."""
        raise LongmatchError(f"{self.name} is for evaluation only. Name the folder itself to compare documents.")


class SectionMeanMatcher(ReadoutMatcher):
    """The mean of the section vectors, which the paper's loss trains."""

    def vector_of(self, encoding: ColdeEncoding) -> Tensor:
        """The mean of the sections."""
        return encoding.sections.mean(0)


class ColdeChunksMatcher(ReadoutMatcher):
    """The mean of the chunk vectors, weighted by tokens: the backbone alone."""

    @property
    def width(self) -> int:
        """Dimensions of a chunk vector."""
        return int(self.model.backbone.config.hidden_size)

    def vector_of(self, encoding: ColdeEncoding) -> Tensor:
        """The weighted mean of the chunks."""
        return encoding.vectors.new_tensor(encoding.chunks.lengths) @ encoding.vectors


class UnprojectedMatcher(ReadoutMatcher):
    """The document vector before the projection."""

    def __init__(
        self, model: ColdeModel, tokenizer: Any, max_tokens: int | None = None, precision: Precision | None = None
    ) -> None:
        self._width = model.summary_width
        model.projection = nn.Identity()
        super().__init__(model, tokenizer, max_tokens, precision)

    @property
    def width(self) -> int:
        """Dimensions of what the projection reads."""
        return self._width


@dataclass(frozen=True)
class ShuffledLayout(ChunkLayout):
    """A document's sections in random order, with the section and chunk numbers that they had."""

    seed: int = 0

    def ranges(self, tokens: Tokens) -> ChunkRanges:
        """The chunks, section after section in an order drawn from the seed and the document's id."""
        cut = super().ranges(tokens)
        sections = np.unique(cut.section).tolist()
        random.Random(f"{self.seed} {tokens.document.id}").shuffle(sections)
        rows = np.concatenate([np.flatnonzero(cut.section == section) for section in sections])
        return ChunkRanges(cut.first[rows], cut.last[rows], cut.section[rows], cut.position[rows])


class ShuffledSectionsMatcher(ColdeMatcher):
    """CoLDE on documents whose sections are shuffled but keep the embeddings of their original order."""

    def changed(self, layout: ChunkLayout) -> ChunkLayout:
        """With shuffled sections."""
        return ShuffledLayout(**vars(layout))


class UndividedMatcher(ColdeMatcher):
    """CoLDE on documents that are not cut into sections, as the paper tests it (section 4.2)."""

    def changed(self, layout: ChunkLayout) -> ChunkLayout:
        """With one section."""
        return replace(layout, sections=1)
