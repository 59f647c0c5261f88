"""What every system offers that reads two documents together: it scores pairs, and cannot be indexed."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from longmatch.documents.document import Document
from longmatch.models.matcher import Hit, Matcher, Progress, Scores, is_same, percentile
from longmatch.models.trained import tokens_of
from longmatch.units import Tokens

if TYPE_CHECKING:
    from torch import nn

Pairs = Sequence[tuple[Document, Document]]


class PairMatcher(Matcher):
    """A matcher that has to see both documents of a pair: the second stage behind one that can be indexed."""

    @property
    def networks(self) -> "Sequence[nn.Module]":
        """All that it computes scores with; their weights and settings tell one trained model from another."""
        return ()

    @abstractmethod
    def score_pairs(self, pairs: Pairs, progress: Progress | None = None, for_ranking: bool = False) -> Scores:
        """The score of each pair, many at a time; `progress` is told of pairs.

        Some score documents otherwise to put them in order (`for_ranking`) than to tell whether they belong together.
        """

    def rank(
        self, query: Document, documents: Sequence[Document], k: int = 10, progress: Progress | None = None
    ) -> list[Hit]:
        """The k documents that belong most with the query, best first; ties break by id."""
        others = [d for d in documents if not is_same(d, query)]
        scores = self.score_pairs([(query, other) for other in others], progress, for_ranking=True)
        best = sorted(range(len(others)), key=lambda i: (-scores[i], others[i].id))[:k]
        whys = (self.compare(query, others[i]).best(3) for i in best)
        return [Hit(others[i], float(scores[i]), percentile(scores, i), why) for i, why in zip(best, whys, strict=True)]


class TokenPairMatcher(PairMatcher):
    """One that scores a pair by the tokens of its documents: whoever has them already need not make them again."""

    tokenizer: Any

    @property
    def needs_text(self) -> bool:
        """Whether the documents that the tokens stand for have to be whole; else nothing but their ids is read."""
        return False

    @property
    @abstractmethod
    def together(self) -> int:
        """Pairs that are read at a time."""

    @abstractmethod
    def score_tokens(self, pairs: Sequence[tuple[Tokens, Tokens]], for_ranking: bool = False) -> Scores:
        """The score of each pair, `together` of them at the most."""

    def score_pairs(self, pairs: Pairs, progress: Progress | None = None, for_ranking: bool = False) -> Scores:
        """The score of each pair; a document that stands in several, one after the other, is tokenised once."""
        found: list[Scores] = [np.zeros(0)]
        known: dict[int, Tokens] = {}
        for start in range(0, len(pairs), self.together):
            some = pairs[start : start + self.together]
            each = {id(document): document for pair in some for document in pair}
            known = {key: known.get(key) or tokens_of(document, self.tokenizer) for key, document in each.items()}
            found.append(self.score_tokens([(known[id(a)], known[id(b)]) for a, b in some], for_ranking))
            if progress:
                progress(len(some))
        return np.concatenate(found)
