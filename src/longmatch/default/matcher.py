"""The default matcher: several sides of a pair, each measured against chance, weighed as labelled pairs taught.

`sides.py` defines the sides. A user needs no labels, and no transformer: sentences are sums of token vectors.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from longmatch.default.collection import Collection
from longmatch.default.encoding import Encoding
from longmatch.default.explanation import Explanation, compare_each, explain_hits, explain_within
from longmatch.default.meaning import AnyBackbone, Meaning, Tokenised, encode_texts, load_backbone, meaning_of
from longmatch.default.rarity import QUESTION_WORDS, Rarity
from longmatch.default.statistics import Statistics, statistics_of
from longmatch.documents.document import Document
from longmatch.encoders.backbone import TokenProgress
from longmatch.matching.hits import Reasons
from longmatch.matching.match import Match
from longmatch.matching.matcher import SHOWN, Encoder, Progress, Scores


class HybridMatcher(Encoder[Encoding, Collection]):
    """Words, phrases and sentence meaning in one score, and the probability that two documents belong together."""

    name = "default"

    def __init__(self, backbone: AnyBackbone | None = None, statistics: Statistics | None = None) -> None:
        self.backbone = backbone or load_backbone()
        self.statistics = statistics or statistics_of(self.backbone)
        self.meaning = meaning_of(self.backbone, self.statistics.sentences)

    def encode(self, documents: Sequence[Document], progress: Progress | None = None) -> list[Encoding]:
        """Encode documents, each alone: sentence vectors and hashed terms."""
        return self.encode_tokens(map(self.meaning.tokenize, documents), progress)

    def tokenize(self, documents: Sequence[Document]) -> list[Tokenised[Any]]:
        """The first half of encoding: sentences, terms and tokens."""
        return [self.meaning.tokenize(document) for document in documents]

    def encode_tokens(
        self,
        documents: Iterable[Tokenised[Any]],
        progress: Progress | None = None,
        on_tokens: TokenProgress | None = None,
    ) -> list[Encoding]:
        """The second half; `progress` counts documents, `on_tokens` the tokens of each small batch."""
        meaning: Meaning[Any] = self.meaning
        found = list(meaning.encode(documents, progress, on_tokens))
        titles = encode_texts(self.backbone, [document.sentences.document.title for document, _ in found])
        return [
            Encoding(document.sentences, document.terms, vectors, title)
            for (document, vectors), title in zip(found, titles, strict=True)
        ]

    def collect(self, encodings: Sequence[Encoding]) -> Collection:
        """Lay encodings out flat."""
        return Collection.of(encodings, self.statistics)

    def score(self, query: Encoding, collection: Collection) -> Scores:
        """The calibrated score of a query with every document of a collection."""
        return collection.scores(query)

    def explain(self, a: Encoding, b: Encoding, collection: Collection | None = None) -> Match:
        """Compare two encodings at all levels."""
        rarity = collection.rarity if collection else Rarity.of([a, b], self.statistics)
        return Explanation.of(a, b, rarity).match(self.name, is_question=min(a.words, b.words) <= QUESTION_WORDS)

    def explain_hits(self, query: Encoding, found: Sequence[Encoding], collection: Collection) -> list[Reasons]:
        """The passages that say most, of all hits at once, and the probabilities."""
        questions = [min(query.words, other.words) <= QUESTION_WORDS for other in found]
        return explain_hits(compare_each(query, found, collection.rarity), SHOWN, questions)

    def within(self, document: Document) -> Match:
        """A document's sections against each other, as in CoLDE's figure 4."""
        return explain_within(self.encode([document])[0], self.statistics, self.name)
