"""Models that read both documents together: they rerank the results of a first stage, and score pairs; and which scorer
a matcher has.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Any, Literal, cast, get_args

import numpy as np

from longmatch.addresses import resolve
from longmatch.default.matcher import HybridMatcher
from longmatch.documents.document import Document
from longmatch.lab.evaluation.corpus import Corpus
from longmatch.lab.evaluation.encodings.layers import VectorEncoder, network_facts
from longmatch.lab.evaluation.measures import Floats, Ints
from longmatch.lab.evaluation.provenance import code_of
from longmatch.lab.evaluation.scoring.default import CorpusScorer
from longmatch.lab.evaluation.scoring.lexical import LexicalScorer
from longmatch.lab.evaluation.scoring.scorer import InMemoryScorer, Scorer
from longmatch.lab.evaluation.scoring.sentences import VectorScorer
from longmatch.lab.matchers import TokenPairMatcher
from longmatch.lab.store.files import StoredLayer
from longmatch.lab.store.tokens import TokenLayer, restore_tokens
from longmatch.lexical.matcher import bm25_matcher
from longmatch.matching.matcher import DEPTH, Matcher, PairMatcher, average_ranks
from longmatch.models.loading import load
from longmatch.models.registry import declaration_of
from longmatch.models.sdr.matcher import SdrMatcher
from longmatch.units import Tokens

FirstStage = Literal["bm25", "default"]
FIRST_STAGES: tuple[FirstStage, ...] = get_args(FirstStage)


@dataclass(frozen=True)
class Reranking:
    """Which documents of a query a model reads together with it, and how they are ordered."""

    depth: int = DEPTH  # the best of the first stage
    first: FirstStage = "bm25"
    combined: bool = False  # by the mean of the first stage's rank and the model's, not by the model's alone

    @property
    def label(self) -> str:
        """What sets a row apart from one that reranks BM25's documents by the model alone.

        >>> Reranking(20, "default", combined=True).label
        'combined=True first=default'
        """
        named = {"combined=True": self.combined, f"first={self.first}": self.first != "bm25"}
        return " ".join(name for name, shown in named.items() if shown)


class PairScorer(Scorer):
    """Scores the first stage's best documents of a query's pool; all others score minus infinity.

    With a depth of 0 it scores pairs alone, and a model that reads tokens needs nothing of the first stage.
    """

    matcher: PairMatcher
    block = 4

    def __init__(self, matcher: PairMatcher, reranking: Reranking | None = None) -> None:
        super().__init__(matcher)
        self.reranking = reranking or Reranking()
        first = self.reranking.first
        self._first = (
            LexicalScorer(bm25_matcher()) if first == "bm25" else CorpusScorer(cast(HybridMatcher, load(first)))
        )
        self._needs_first = self.reranking.depth > 0 or not isinstance(matcher, TokenPairMatcher)
        self._documents: dict[int, Document] = {}
        self._tokens: dict[int, Tokens] = {}
        self._pools: dict[int, Ints] = {}
        self._first_scores: dict[int, Floats] = {}  # of the documents in the pools
        self.layers = self._first.layers if self._needs_first else ()
        if isinstance(matcher, TokenPairMatcher):  # it reads tokens alone
            self.layers = (*self.layers, TokenLayer(matcher.tokenizer.backend_tokenizer))

    @cached_property
    def facts(self) -> Mapping[str, Any]:  # type: ignore[override]
        """The networks, and which documents they score."""
        networks = [network_facts(network) for network in self.matcher.networks]
        described = [type(self.matcher).__name__, str(getattr(self.matcher, "precision", "")), networks]
        digest = sha256(json.dumps(described, sort_keys=True, default=str).encode()).hexdigest()[:16]
        facts = {"matcher": digest, "first": self.reranking.first, "depth": self.reranking.depth}
        if self.reranking.first != "bm25":
            facts["first_facts"] = dict(self._first.facts)
        return facts | ({"combined": True} if self.reranking.combined else {})

    @property
    def code(self) -> Sequence[str]:
        """The matcher's, and the first stage's."""
        return (*code_of(self.matcher), *self._first.code)

    def open(self, stored: Sequence[StoredLayer], corpus: Corpus) -> None:
        """Open the first stage; documents are read once it is known which."""
        self._corpus, self._stored = corpus, stored[-1]
        self.unhandled = dict(self._stored.unhandled)
        if self._needs_first:
            self._first.open(stored[: len(self._first.layers)], corpus)
            self.unhandled |= self._first.unhandled

    def scores(self, numbers: Sequence[int]) -> Iterator[tuple[int, Floats | None]]:
        """The first stage for all queries, so that documents are read once; then the pairs."""
        self._pools, self._first_scores = {}, {}
        corpus = self._corpus
        for number, scores in self._first.scores(numbers):
            if scores is not None:
                # the first stage's best documents of the query's pool; ties broken as in every ranking
                pool = np.array([corpus.number[id] for id in corpus.folder.pool(corpus.ids[number])], dtype=np.int64)
                pool = pool[scores[pool] > -np.inf]
                self._pools[number] = pool[np.lexsort((-corpus.order[pool], -scores[pool]))[: self.reranking.depth]]
                self._first_scores[number] = scores[self._pools[number]]
        self._read({*self._pools, *(int(n) for pool in self._pools.values() for n in pool)})
        yield from super().scores(numbers)

    def score_block(self, numbers: Sequence[int]) -> list[Floats]:
        """All pairs of a few queries together."""
        pool_scores = self._score({number: self._pools[number].tolist() for number in numbers}, for_ranking=True)
        block = []
        for number in numbers:
            scores = np.full(len(self._corpus), -np.inf)
            own = pool_scores[number]
            if self.reranking.combined:
                own = np.where(own > -np.inf, average_ranks(own, self._first_scores[number]), own)
            scores[self._pools[number]] = own
            block.append(scores)
        return block

    def of_pairs(self, targets: Mapping[int, Sequence[int]]) -> Iterator[tuple[int, Floats]]:
        """The scores of each document with its targets."""
        self._read({*targets, *(target for others in targets.values() for target in others)})
        numbers, size = sorted(targets), 16 * self.block
        for start in range(0, len(numbers), size):
            yield from self._score({number: targets[number] for number in numbers[start : start + size]}).items()

    def _score(self, targets: Mapping[int, Sequence[int]], for_ranking: bool = False) -> dict[int, Floats]:
        """Minus infinity where either document cannot be handled."""
        every = ((a, b) for a, others in targets.items() for b in others)
        pairs = [pair for pair in every if not self.unhandled.keys() & set(pair)]
        if isinstance(self.matcher, TokenPairMatcher):
            tokens, size = [(self._tokens[a], self._tokens[b]) for a, b in pairs], self.matcher.pairs_per_batch
            batches = (tokens[start : start + size] for start in range(0, len(tokens), size))
            parts = [self.matcher.score_tokens(batch, for_ranking) for batch in batches]
            found = np.concatenate([np.zeros(0), *parts])
        else:
            documents = [(self._documents[a], self._documents[b]) for a, b in pairs]
            found = self.matcher.score_pairs(documents, for_ranking=for_ranking)
        scores = dict(zip(pairs, found.tolist(), strict=True))
        return {a: np.array([scores.get((a, b), -np.inf) for b in others]) for a, others in targets.items()}

    def _read(self, numbers: Iterable[int]) -> None:
        """Keep these documents in memory, and no others."""
        ids = self._corpus.ids
        wanted = {number for number in numbers if number not in self.unhandled}
        matcher = self.matcher
        if isinstance(matcher, TokenPairMatcher) and not matcher.needs_text:
            self._documents = {number: Document(ids[number], "", "", ()) for number in wanted}
        else:
            documents = self._corpus.documents(ids[number] for number in wanted) if wanted else {}
            self._documents = {self._corpus.number[id]: document for id, document in documents.items()}
        if isinstance(matcher, TokenPairMatcher):
            self._tokens = {n: restore_tokens(self._stored.document(n), d) for n, d in sorted(self._documents.items())}


def scorer_of(matcher: Matcher, reranking: Reranking | None = None) -> Scorer:
    """The scorer that a matcher's declaration names; else one over stored vectors where it has any, or in memory.

    A model that reads both documents together reranks the best of a first stage.
    """
    if isinstance(matcher, PairMatcher):
        return PairScorer(matcher, reranking)
    if isinstance(matcher, VectorEncoder):
        return VectorScorer(matcher)
    declared = declaration_of(matcher)
    if declared is None or not declared.scorer or (isinstance(matcher, SdrMatcher) and matcher.symmetric):
        return InMemoryScorer(matcher)
    scorer: type[Scorer] = resolve(declared.scorer)
    return scorer(matcher)
