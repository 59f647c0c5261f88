"""TF-IDF, BM25 and LDA, over the same stored words."""

from collections.abc import Sequence

import numpy as np

from longmatch.lab.baselines.topics.lda import LdaMatcher
from longmatch.lab.evaluation.corpus import Corpus
from longmatch.lab.evaluation.encodings.layers import WordLayer, restore_stream
from longmatch.lab.evaluation.measures import Floats
from longmatch.lab.evaluation.scoring.scorer import Scorer, no_sentences
from longmatch.lab.store.files import StoredLayer
from longmatch.lexical.matcher import LexicalEncoding, LexicalMatcher
from longmatch.lexical.terms import Stream, phrases_of


class LexicalScorer(Scorer):
    """A lexical matcher's own weights and scores, over stored words."""

    matcher: LexicalMatcher

    def __init__(self, matcher: LexicalMatcher) -> None:
        super().__init__(matcher)
        self.layers = (WordLayer(),)
        self.facts = {"kind": matcher.kind, "weighting": matcher.weighting}

    def open(self, stored: Sequence[StoredLayer], corpus: Corpus) -> None:
        """Weigh the terms of all documents."""
        self.unhandled = stored[0].unhandled
        self._words = [restore_stream(arrays) for arrays in stored[0].documents("words", "bounds")]
        self._handled = [number for number in range(len(corpus)) if number not in self.unhandled]
        self._collection = self.matcher.collect([self._encoding(number) for number in self._handled])

    def score_block(self, numbers: Sequence[int]) -> list[Floats]:
        """One sparse product per query."""
        block = []
        for number in numbers:
            scores = np.full(len(self._words), -np.inf)
            scores[self._handled] = self.matcher.score(self._encoding(number), self._collection)
            block.append(scores)
        return block

    def _encoding(self, number: int) -> LexicalEncoding:
        """With a new stream, so that counts cached for one use are not kept for all."""
        stream = Stream(self._words[number].ids, self._words[number].offsets)
        return LexicalEncoding(no_sentences(), stream if self.matcher.kind == "words" else phrases_of(stream))


class LdaScorer(LexicalScorer):
    """The matcher's own fit and scores, over stored words."""

    matcher: LdaMatcher  # type: ignore[assignment]

    def __init__(self, matcher: LdaMatcher) -> None:
        Scorer.__init__(self, matcher)
        self.layers = (WordLayer(),)
        self.facts = {"counts": list(matcher.counts)}
