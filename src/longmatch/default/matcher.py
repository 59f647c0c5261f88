"""The default matcher: several sides of a pair, each measured against chance, weighed as labelled pairs taught.

`sides.py` defines the sides. A user needs no labels, and the backbone is the packaged one, as it was published.
"""

from collections.abc import Iterable, Sequence

from longmatch.default.collection import Collection
from longmatch.default.encoding import Encoding, encode_tokens
from longmatch.default.explanation import Explanation, compare_each, explain_hits, explain_within
from longmatch.default.rarity import QUESTION_WORDS, Rarity
from longmatch.default.statistics import Statistics, statistics_of
from longmatch.documents.document import Document
from longmatch.encoders.backbone import Backbone, TokenProgress
from longmatch.matching.hits import Reasons
from longmatch.matching.match import Match
from longmatch.matching.matcher import SHOWN, Encoder, Progress, Scores
from longmatch.units import Tokens, tokenize


class HybridMatcher(Encoder[Encoding, Collection]):
    """Words, phrases and sentence meaning in one score, and the probability that two documents belong together."""

    name = "default"

    def __init__(self, backbone: Backbone | None = None, statistics: Statistics | None = None) -> None:
        self.backbone = backbone or Backbone.load()
        self.statistics = statistics or statistics_of(self.backbone)

    def encode(self, documents: Sequence[Document], progress: Progress | None = None) -> list[Encoding]:
        """Encode documents, each alone: sentence vectors and hashed terms."""
        return self.encode_tokens((tokenize(document, self.backbone.tokenizer) for document in documents), progress)

    def tokenize(self, documents: Sequence[Document]) -> list[Tokens]:
        """The first half of encoding: what the backbone reads."""
        return [tokenize(document, self.backbone.tokenizer) for document in documents]

    def encode_tokens(
        self, documents: Iterable[Tokens], progress: Progress | None = None, on_tokens: TokenProgress | None = None
    ) -> list[Encoding]:
        """The second half; `progress` counts documents, `on_tokens` the tokens of each small batch."""
        return encode_tokens(documents, self.backbone, self.statistics.sentences, progress, on_tokens)

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
