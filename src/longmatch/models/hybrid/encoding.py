"""One document as the default matcher sees it: sentence vectors and hashed terms."""

from collections.abc import Iterable
from dataclasses import dataclass

from longmatch.documents.document import Document
from longmatch.encoders.backbone import Backbone
from longmatch.matching.chance import Background
from longmatch.matching.levels import Side
from longmatch.matching.sentences import Sentences
from longmatch.models.lexical.terms import Terms, terms_of
from longmatch.models.matcher import Progress
from longmatch.models.vectors import vectors_of_tokens
from longmatch.units import Tokens


@dataclass(frozen=True)
class Encoding:
    """A document's sentences (long ones cut to what the backbone reads) with their vectors and terms."""

    sentences: Sentences
    side: Side
    terms: Terms

    @property
    def document(self) -> Document:
        """The document encoded."""
        return self.sentences.document

    @property
    def words(self) -> int:
        """How many words were read."""
        return len(self.terms.words.ids)

    def __len__(self) -> int:
        return len(self.sentences)


def encode_tokens(
    documents: Iterable[Tokens], backbone: Backbone, background: Background, progress: Progress | None = None
) -> list[Encoding]:
    """Encode documents that are tokenised, each alone."""
    return [
        Encoding(sentences, Side(vectors, background.expectations(vectors)), _terms(sentences))
        for sentences, vectors in vectors_of_tokens(documents, backbone, progress)
    ]


def _terms(sentences: Sentences) -> Terms:
    spans = zip(sentences.starts.tolist(), sentences.ends.tolist(), strict=True)
    return terms_of(sentences.document, spans)
