"""CIG's matcher: opens a trained model's folder and explains pairs by their concepts.

A concept's contribution is the drop of the margin between the two classes when the pair is scored without it, its
sentences and its links, at least 0. If no concept has a positive contribution, contributions are measured from the
lowest one. A concept's contribution is divided among its sentences by their similarity to the other document's
sentences at that concept.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from torch import Tensor, nn

from longmatch.documents.document import Document
from longmatch.lab.baselines.cig.concepts import ConceptGraph, ConceptGraphBuilder, GraphBatch, PairGraph
from longmatch.lab.baselines.cig.encoder import CigModel
from longmatch.lab.matchers import TokenPairMatcher, match_probability, open_trained, tokens_of
from longmatch.lab.words import TokenWords, WordMatrixCache, concatenated, word_hashes, written_words
from longmatch.matching.align import Evidence, Floats, Ints, alignments, merge
from longmatch.matching.match import Match, Passage
from longmatch.matching.matcher import Scores
from longmatch.matching.sentence_vectors import best_cosine_grid, pair_cosines
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


@torch.no_grad()
def margins(model: CigModel, batch: GraphBatch) -> Tensor:
    """The logit of a match minus that of a non-match: (pairs,), on the CPU."""
    logits = model(batch.to(model.device)).double().cpu()
    return torch.as_tensor(logits[:, 1] - logits[:, 0])


def match_probabilities(margins: Tensor) -> Scores:
    """The probability of a match, as an array."""
    return np.asarray(match_probability(margins).numpy(), dtype=np.float64)


class CigMatcher(TokenPairMatcher):
    """The probability that two documents match, from their similarity at each concept."""

    name = "cig"

    def __init__(self, model: CigModel, tokenizer: Any) -> None:
        self.model, self.tokenizer = model.eval(), tokenizer
        self.words = TokenWords.of(tokenizer.backend_tokenizer)
        self.graphs = ConceptGraphBuilder(
            WordMatrixCache(self.words.words),
            model.frequencies,
            int(model.config.keywords),
            bool(model.config.siamese),
        )

    @classmethod
    def load(cls, folder: str | Path, device: str | None = None) -> Self:
        """Open a model folder written by `longmatch train cig`."""
        return cls(*open_trained(CigModel, folder, device, cls.name))

    @property
    def networks(self) -> Sequence[nn.Module]:
        """The network; document frequencies are stored with its weights."""
        return (self.model,)

    @property
    def threshold(self) -> float | None:
        """The probability from which a pair counts as a match, chosen on validation pairs."""
        threshold: float | None = self.model.config.threshold
        return threshold

    pairs_per_batch = PAIRS_PER_BATCH

    def score_tokens(self, pairs: Sequence[tuple[Tokens, Tokens]], for_ranking: bool = False) -> Scores:
        """The probability of each pair."""
        return match_probabilities(
            self._margins([self.graphs.pair_graph(self.graphs.graph(*pair), *pair) for pair in pairs])
        )

    def compare(self, a: Document, b: Document) -> Match:
        """The match of two documents, explained by their concepts."""
        pair = tokens_of(a, self.tokenizer), tokens_of(b, self.tokenizer)
        graph, margin, gains = self._scored(*pair)
        sentences = _sentences(pair[0]), _sentences(pair[1])
        vectors = self._vectors(*pair)
        cosines = (vectors[0] @ vectors[1].T).clamp(0, 1).double().numpy()
        forward = _evidence(graph.a, graph.b, cosines, gains)
        backward = _evidence(graph.b, graph.a, cosines.T, gains)
        probability = float(match_probabilities(torch.tensor([margin]))[0])
        names = self._surface_by_hash(a) | self._surface_by_hash(b)
        keywords = [self._sentence_keywords(tokens, graph) for tokens in pair]
        sides = (sentences[0], vectors[0]), (sentences[1], vectors[1])
        return Match(
            a=a,
            b=b,
            score=probability,
            sections=best_cosine_grid(*sides, "sections"),
            alignments=alignments(
                merge([forward], [backward]),
                (sentences[0].passage, sentences[1].passage),
                lambda i, j: pair_cosines(*vectors, i, j),
                lambda i, j: _surface_forms(sorted(keywords[0][i] & keywords[1][j]), names),
            ),
            model=self.name,
            probability=probability,
            threshold=self.threshold,
            parts={"meaning": 1.0},
            grids=lambda level: best_cosine_grid(*sides, level),
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

    def _scored(self, a: Tokens, b: Tokens) -> tuple[ConceptGraph, float, Floats]:
        """The graph of a pair, its margin, and the concepts' contributions, which sum to 1."""
        graph = self.graphs.graph(a, b)
        whole = self.graphs.pair_graph(graph, a, b)
        margins = self._margins([whole, *(whole.without(node) for node in range(len(whole)))])
        gains = (margins[0] - margins[1:]).numpy()
        gains = gains.clip(min=0) if gains.max() > 0 else gains - gains.min()
        total = gains.sum()
        return graph, float(margins[0]), gains / total if total > 0 else np.full(len(gains), 1 / len(gains))

    def _margins(self, graphs: Sequence[PairGraph]) -> Tensor:
        parts = [graphs[start : start + PAIRS_PER_BATCH] for start in range(0, len(graphs), PAIRS_PER_BATCH)]
        return torch.cat([margins(self.model, GraphBatch.of(part)) for part in parts])

    def _vectors(self, a: Tokens, b: Tokens) -> tuple[Tensor, Tensor]:
        """The TF-IDF vectors of each sentence over the words of both documents, of length 1: (sentences, words)."""
        stream = concatenated(self.words.words(a), self.words.words(b))
        words, place = np.unique(stream.ids, return_inverse=True)
        count = len(stream.offsets) - 1
        table = torch.zeros(count, len(words))
        table.index_put_((torch.from_numpy(stream.sentence), torch.from_numpy(place)), torch.ones(1), accumulate=True)
        table = torch.where(table > 0, 1 + table.clamp(min=1).log(), 0) * torch.from_numpy(self.graphs.idf.idf(words))
        first = len(a.sentence_offsets) - 1
        unit = nn.functional.normalize(table.float(), dim=1)
        return unit[:first], unit[first:]

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
