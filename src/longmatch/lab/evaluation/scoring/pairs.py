"""The rows of models that read two documents together: they rank anew what a first stage found, and score pairs."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from hashlib import sha256
from typing import Any

import numpy as np

from longmatch.documents.document import Document
from longmatch.lab.evaluation.code import LEXICAL_CODE, homes_of
from longmatch.lab.evaluation.corpus import Corpus
from longmatch.lab.evaluation.encodings.vectors import network_facts
from longmatch.lab.evaluation.measures.answers import Floats, Ints
from longmatch.lab.evaluation.scoring.lexical import LexicalScorer
from longmatch.lab.evaluation.scoring.scorer import Scorer
from longmatch.lab.matchers import TokenPairMatcher
from longmatch.lab.store.files import StoredLayer
from longmatch.lab.store.layer import Layer
from longmatch.lab.store.tokens import TokenLayer, restore_tokens
from longmatch.lexical.matcher import bm25_matcher
from longmatch.matching.pair_matcher import PairMatcher
from longmatch.matching.reranking import DEPTH
from longmatch.units import Tokens


class PairScorer(Scorer):
    """For a query the best `depth` of its pool by BM25 are scored; all others score minus infinity, the lowest."""

    matcher: PairMatcher
    block = 4

    def __init__(self, matcher: PairMatcher, depth: int = DEPTH) -> None:
        super().__init__(matcher)
        self.depth, self._first = depth, LexicalScorer(bm25_matcher())
        self._documents: dict[int, Document] = {}
        self._tokens: dict[int, Tokens] = {}
        self._pools: dict[int, Ints] = {}

    @property
    def layers(self) -> Sequence[Layer]:
        """The first stage's, and the tokens of models that read nothing else."""
        if not isinstance(self.matcher, TokenPairMatcher):
            return self._first.layers
        return (*self._first.layers, TokenLayer(self.matcher.tokenizer.backend_tokenizer))

    @cached_property
    def facts(self) -> Mapping[str, Any]:  # type: ignore[override]
        """The networks, and who is scored with them."""
        networks = [network_facts(network) for network in self.matcher.networks]
        told = [type(self.matcher).__name__, str(getattr(self.matcher, "precision", "")), networks]
        digest = sha256(json.dumps(told, sort_keys=True, default=str).encode()).hexdigest()[:16]
        return {"matcher": digest, "first": "bm25", "depth": self.depth}

    @property
    def code(self) -> Sequence[str]:
        """The matcher's own folder and those it builds on, and the first stage's."""
        return (*homes_of(self.matcher), "lab/matchers.py", *LEXICAL_CODE)

    def open(self, stored: Sequence[StoredLayer], corpus: Corpus) -> None:
        """Make the first stage ready; documents are read when it is known which."""
        self._first.open(stored, corpus)
        self._corpus, self._stored = corpus, stored[-1]
        self.unhandled = self._first.unhandled | self._stored.unhandled

    def scores(self, numbers: Sequence[int]) -> Iterator[tuple[int, Floats | None]]:
        """The first stage for all queries, so that the documents are read once; then pair by pair."""
        first = ((number, scores) for number, scores in self._first.scores(numbers) if scores is not None)
        self._pools = {number: self._best(number, scores) for number, scores in first}
        self._read({*self._pools, *(int(n) for pool in self._pools.values() for n in pool)})
        yield from super().scores(numbers)

    def score_block(self, numbers: Sequence[int]) -> list[Floats]:
        """All pairs of a few queries together."""
        found = self._score({number: self._pools[number].tolist() for number in numbers}, for_ranking=True)
        made = []
        for number in numbers:
            scores = np.full(len(self._corpus), -np.inf)
            scores[self._pools[number]] = found[number]
            made.append(scores)
        return made

    def of_pairs(self, targets: Mapping[int, Sequence[int]]) -> Iterator[tuple[int, Floats]]:
        """The scores of each document with those asked about."""
        self._read({*targets, *(target for asked in targets.values() for target in asked)})
        numbers, size = sorted(targets), 16 * self.block
        for start in range(0, len(numbers), size):
            yield from self._score({number: targets[number] for number in numbers[start : start + size]}).items()

    def _score(self, targets: Mapping[int, Sequence[int]], for_ranking: bool = False) -> dict[int, Floats]:
        """Minus infinity where either document cannot be handled."""
        asked = [(a, b) for a, others in targets.items() for b in others]
        able = [pair for pair in asked if not self.unhandled.keys() & set(pair)]
        known = dict(zip(able, self._of(able, for_ranking).tolist(), strict=True))
        return {a: np.array([known.get((a, b), -np.inf) for b in others]) for a, others in targets.items()}

    def _of(self, pairs: Sequence[tuple[int, int]], for_ranking: bool) -> Floats:
        if not isinstance(self.matcher, TokenPairMatcher):
            documents = [(self._documents[a], self._documents[b]) for a, b in pairs]
            return self.matcher.score_pairs(documents, for_ranking=for_ranking)
        tokens, size = [(self._tokens[a], self._tokens[b]) for a, b in pairs], self.matcher.pairs_per_batch
        parts = (tokens[start : start + size] for start in range(0, len(tokens), size))
        return np.concatenate([np.zeros(0), *(self.matcher.score_tokens(part, for_ranking) for part in parts)])

    def _best(self, number: int, scores: Floats) -> Ints:
        """The best of the query's pool that can be handled; ties as in every ranking."""
        corpus = self._corpus
        pool = np.array([corpus.number[id] for id in corpus.folder.pool(corpus.ids[number])], dtype=np.int64)
        pool = pool[scores[pool] > -np.inf]
        return pool[np.lexsort((-corpus.order[pool], -scores[pool]))[: self.depth]]

    def _read(self, numbers: Iterable[int]) -> None:
        """Take these documents into memory, and no others."""
        ids = self._corpus.ids
        wanted = {number for number in numbers if number not in self.unhandled}
        matcher = self.matcher
        if isinstance(matcher, TokenPairMatcher) and not matcher.needs_text:
            self._documents = {number: Document(ids[number], "", "", ()) for number in wanted}
        else:
            found = self._corpus.documents(ids[number] for number in wanted) if wanted else {}
            self._documents = {self._corpus.number[id]: document for id, document in found.items()}
        if isinstance(matcher, TokenPairMatcher):
            self._tokens = {n: restore_tokens(self._stored.document(n), d) for n, d in sorted(self._documents.items())}
