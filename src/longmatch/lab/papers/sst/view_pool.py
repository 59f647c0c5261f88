"""Training on views that are reordered by how well they represent the documents (SST section 5.4, figure 7)."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from cachetools import LRUCache

from longmatch.lab.baselines.cross.selection import SelectedSentences, Selection, digest_of
from longmatch.lab.papers.sst.selection import CACHED_PAIRS, TokenPairs
from longmatch.lab.words.similarity import Floats
from longmatch.lab.words.token_words import TokenWords
from longmatch.lexical.terms import hash_word
from longmatch.units.tokens import Ints, Tokens

POOL = 40  # views of a pair


@dataclass(frozen=True)
class ReorderedViews(Selection):
    """Epoch t reads one view from the t-th of `epochs` equal parts of the first `width` views of a pool of POOL.

    The pool is ordered by query likelihood: the mean log probability of a view's words under the language models of
    its documents, the highest first. All words of a view occur in its document, so nothing is smoothed.
    """

    views: Selection
    words: TokenWords
    width: int
    epochs: int
    _recent: LRUCache[bytes, Ints] = field(default_factory=lambda: LRUCache(CACHED_PAIRS), repr=False, compare=False)

    def prepare(self, pairs: TokenPairs) -> None:
        """As for the views themselves."""
        self.views.prepare(pairs)

    def choose(self, a: Tokens, b: Tokens, limit: int, views: Sequence[int], seed: int) -> list[SelectedSentences]:
        """The sentences of the view that each epoch reads; `views` are epochs."""
        key = digest_of(a) + digest_of(b)
        if (order := self._recent.get(key)) is None:
            order = self._recent[key] = self._order(a, b, limit, seed)
        ids = hash_word(a.document.id), hash_word(b.document.id)
        ranks = [np.random.default_rng([seed, epoch, *ids]).integers(*self.part(epoch)) for epoch in views]
        return self.views.choose(a, b, limit, order[ranks].tolist(), seed)

    def part(self, epoch: int) -> tuple[int, int]:
        """The ranks, first and past the last, from which an epoch's view is drawn."""
        epoch = min(epoch, self.epochs - 1)
        first = epoch * self.width // self.epochs
        return first, max(first + 1, (epoch + 1) * self.width // self.epochs)

    def _order(self, a: Tokens, b: Tokens, limit: int, seed: int) -> Ints:
        """The numbers of the pool's views, the most likely first."""
        drawn = self.views.choose(a, b, limit, range(POOL), seed)
        sides = [(sentence_likelihoods(self.words, a), 0), (sentence_likelihoods(self.words, b), 1)]
        likelihood = [sum(_mean(*of_sentences, view[side]) for of_sentences, side in sides) for view in drawn]
        return np.argsort(-np.array(likelihood), kind="stable")


def sentence_likelihoods(words: TokenWords, document: Tokens) -> tuple[Floats, Ints]:
    """Of each sentence, the log likelihood of its words in the document's unigram model, and their number."""
    stream = words.words(document)
    _, place, counts = np.unique(stream.ids, return_inverse=True, return_counts=True)
    total = np.concatenate([[0.0], np.log(counts / max(1, len(stream.ids)))[place].cumsum()])
    return np.diff(total[stream.offsets]), np.diff(stream.offsets)


def _mean(likelihoods: Floats, lengths: Ints, sentences: Ints) -> float:
    return float(likelihoods[sentences].sum() / max(1, lengths[sentences].sum()))
