"""CIG's matcher: opens a trained model's folder and explains pairs by their concepts.

A concept's contribution is the drop of the margin between the two classes when the pair is scored without it, its
sentences and its links, at least 0. If no concept has a positive contribution, contributions are measured from the
lowest one. A concept's contribution is divided among its sentences by their similarity to the other document's
sentences at that concept.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from longmatch.documents.document import Document
from longmatch.lab.baselines.cig.concepts import ConceptGraph, ConceptGraphBuilder, GraphBatch, PairGraph, PairWords
from longmatch.lab.baselines.cig.encoder import CigModel, margins
from longmatch.lab.encoders.backbone import Precision
from longmatch.lab.explanation import explained_match
from longmatch.lab.matchers import TokenPairMatcher, match_probability, tokens_of
from longmatch.lab.words import TokenWords, WordMatrixCache, word_hashes, written_words
from longmatch.lexical.weights import tfidf_rows
from longmatch.matching.align import Evidence, Floats, Ints
from longmatch.matching.match import Match, Passage
from longmatch.matching.matcher import Scores
from longmatch.matching.sentence_vectors import best_cosine_grid
from longmatch.matching.sentences import Sentences
from longmatch.units import Tokens
from longmatch.units.pieces import pieces_from

PAIRS_PER_BATCH = 32


@dataclass(frozen=True)
class Concept:
    """A concept of one or both documents: its keywords as written, its sentences, its contribution."""

    words: tuple[str, ...]  # none for the sentences without keywords
    a: tuple[Passage, ...]
    b: tuple[Passage, ...]
    contribution: float  # sums to 1 over a pair's concepts


class CigMatcher(TokenPairMatcher):
    """The probability that two documents match, from their similarity at each concept."""

    name = "cig"
    Model = CigModel
    model: CigModel

    def __init__(self, model: CigModel, tokenizer: Any, precision: Precision | None = None) -> None:
        super().__init__(model, tokenizer, precision)
        self.words = TokenWords.of(tokenizer.backend_tokenizer)
        self.graphs = ConceptGraphBuilder(
            WordMatrixCache(self.words.words),
            model.frequencies,
            int(model.config.keywords),
            bool(model.config.siamese),
        )

    pairs_per_batch = PAIRS_PER_BATCH

    def score_tokens(self, pairs: Sequence[tuple[Tokens, Tokens]], for_ranking: bool = False) -> Scores:
        """The probability of each pair."""
        graphs = [self.graphs.pair_graph(self.graphs.graph(*pair), *pair) for pair in pairs]
        return np.asarray(match_probability(self._margins(graphs)).numpy(), dtype=np.float64)

    def compare(self, a: Document, b: Document) -> Match:
        """The match of two documents, explained by their concepts."""
        pair = tokens_of(a, self.tokenizer), tokens_of(b, self.tokenizer)
        graph, margin, gains = self._scored(*pair)
        x, y = _sentences(pair[0]), _sentences(pair[1])
        vectors = self._vectors(*pair)
        cosines = (vectors[0] @ vectors[1].T).clamp(0, 1).double().numpy()
        probability = float(match_probability(margin))
        names = self._surface_by_hash(a) | self._surface_by_hash(b)
        keywords = [self._sentence_keywords(tokens, graph) for tokens in pair]
        return explained_match(
            (x, y),
            vectors,
            (_evidence(graph.a, graph.b, cosines, gains), _evidence(graph.b, graph.a, cosines.T, gains)),
            lambda level: best_cosine_grid((x, vectors[0]), (y, vectors[1]), level),
            words=lambda i, j: _surface_forms(sorted(keywords[0][i] & keywords[1][j]), names),
            score=probability,
            model=self.name,
            probability=probability,
            threshold=self.threshold,
        )

    def concepts(self, a: Document, b: Document) -> tuple[Concept, ...]:
        """The concepts of both documents, highest contribution first."""
        pair = tokens_of(a, self.tokenizer), tokens_of(b, self.tokenizer)
        graph, _, gains = self._scored(*pair)
        names = self._surface_by_hash(a) | self._surface_by_hash(b)
        mine, theirs = _sentences(pair[0]), _sentences(pair[1])
        concepts = [
            Concept(
                _surface_forms(graph.concepts[node].tolist(), names),
                tuple(mine.passage(s) for s in np.flatnonzero(graph.a == node).tolist()),
                tuple(theirs.passage(s) for s in np.flatnonzero(graph.b == node).tolist()),
                float(gains[node]),
            )
            for node in np.argsort(-gains, kind="stable").tolist()
        ]
        return tuple(concepts)

    def _scored(self, a: Tokens, b: Tokens) -> tuple[ConceptGraph, Tensor, Floats]:
        """The graph of a pair, its margin, and the concepts' contributions, which sum to 1."""
        graph = self.graphs.graph(a, b)
        whole = self.graphs.pair_graph(graph, a, b)
        margins = self._margins([whole, *(whole.without(node) for node in range(len(whole)))])
        gains = (margins[0] - margins[1:]).numpy()
        gains = gains.clip(min=0) if gains.max() > 0 else gains - gains.min()
        total = gains.sum()
        return graph, margins[0], gains / total if total > 0 else np.full(len(gains), 1 / len(gains))

    def _margins(self, graphs: Sequence[PairGraph]) -> Tensor:
        parts = [graphs[start : start + PAIRS_PER_BATCH] for start in range(0, len(graphs), PAIRS_PER_BATCH)]
        return torch.cat([margins(self.model, GraphBatch.of(part)) for part in parts])

    def _vectors(self, a: Tokens, b: Tokens) -> tuple[Tensor, Tensor]:
        """The TF-IDF vectors of each sentence over the words of both documents, of length 1: (sentences, words)."""
        words = PairWords.of(self.graphs.matrices(a), self.graphs.matrices(b), self.graphs.idf)
        vectors = torch.from_numpy(tfidf_rows(words.counts.toarray(), words.idf)).float()
        return vectors[: words.first], vectors[words.first :]

    def _sentence_keywords(self, tokens: Tokens, graph: ConceptGraph) -> list[set[int]]:
        """The keywords in each sentence."""
        keywords = {word for concept in graph.concepts for word in concept.tolist()}
        return [keywords & set(counts.ids.tolist()) for counts in self.words.words(tokens).sentence_counts()]

    def _surface_by_hash(self, document: Document) -> dict[int, str]:
        """The surface forms of a document's words, by the hashes the model uses."""
        text = document.readable
        sentences = (written_words(s.of(text), document.language, common=True) for s in document.sentences)
        forms = sorted({surface for words in sentences for _, surface in words})
        hashes = word_hashes(self.tokenizer.backend_tokenizer, [*forms, *(f" {form}" for form in forms)])
        return dict(zip(hashes.tolist(), [*forms, *forms], strict=True))


def _sentences(tokens: Tokens) -> Sentences:
    return Sentences.of(pieces_from(tokens, tokens.sentence_offsets[:-1], tokens.sentence_offsets[1:]))


def _surface_forms(words: Sequence[int], names: dict[int, str]) -> tuple[str, ...]:
    """Keywords as written in the documents; those whose hash has no surface form are left out."""
    return tuple(names[word] for word in words if word in names)


def _evidence(mine: Ints, theirs: Ints, cosines: Floats, gains: Floats) -> Evidence:
    """Each sentence's share of its concept's contribution, and its most similar partner, at the same concept if any."""
    same = mine[:, None] == theirs  # (sentences, the other's sentences)
    best = np.where(same, cosines, 0.0).max(1)
    partner = (cosines + 2.0 * same).argmax(1)
    weights = best + 1e-9  # if none is similar, all get the same share
    share = weights / np.bincount(mine, weights, len(gains))[mine]
    return Evidence(partner.astype(np.int64), gains[mine] * share)
