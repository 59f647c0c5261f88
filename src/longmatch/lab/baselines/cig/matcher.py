"""CIG as a matcher: a trained model's folder, opened; it explains a pair by its concepts and their sentences.

What a concept carries is measured: the pair is judged again without it, its sentences and its links, and by how much
the margin between the two classes falls is its contribution, at least 0. Where no concept carries anything each counts
by how much more it speaks for the match than the one that speaks most against it. The sentences at a concept share in
what it carries by how alike they are to the other document's at that concept.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from torch import Tensor, nn

from longmatch.documents.document import Document
from longmatch.encoders.pretrained import checkpoint_errors
from longmatch.encoders.tokenizer import open_tokenizer
from longmatch.lab.baselines.cig.concepts import ConceptGraph, Floats, Ints
from longmatch.lab.baselines.cig.encoder import CigModel
from longmatch.lab.baselines.cig.graphs import Concepts, GraphBatch, PairGraph
from longmatch.lab.matchers import TokenPairMatcher, tokens_of
from longmatch.lab.words.matrix import Matrices
from longmatch.lab.words.text_words import joined, written_words
from longmatch.lab.words.token_words import TokenWords, word_hashes
from longmatch.matching.align import Evidence, alignments, merge
from longmatch.matching.match import Match, Passage
from longmatch.matching.matcher import Scores
from longmatch.matching.sentence_vectors import best_cosine_grid, pair_cosines
from longmatch.matching.sentences import Sentences
from longmatch.units import Tokens
from longmatch.units.pieces import pieces_from

PAIRS_PER_BATCH = 32  # pairs read at a time


@dataclass(frozen=True)
class Concept:
    """What two documents speak of, or one of them: its keywords as written, its sentences, what it carries."""

    words: tuple[str, ...]  # none for the sentences that hold no keyword
    a: tuple[Passage, ...]
    b: tuple[Passage, ...]
    contribution: float  # all concepts of a pair sum to 1


@torch.no_grad()
def margins(model: CigModel, batch: GraphBatch) -> Tensor:
    """By how much the logit of belonging together exceeds the other: (pairs,), on the CPU."""
    logits = model(batch.to(model.device)).double().cpu()
    return torch.as_tensor(logits[:, 1] - logits[:, 0])


def chances(found: Tensor) -> Scores:
    """That two documents belong together; rounding alone tells no copies of a document apart."""
    return np.asarray(found.round(decimals=4).sigmoid().numpy(), dtype=np.float64)


class CigMatcher(TokenPairMatcher):
    """The chance that two documents belong together, from what they share at each of their concepts."""

    name = "cig"

    def __init__(self, model: CigModel, tokenizer: Any) -> None:
        self.model, self.tokenizer = model.eval(), tokenizer
        self.words = TokenWords.of(tokenizer.backend_tokenizer)
        self.graphs = Concepts(Matrices(self.words.words), model.frequencies, int(model.config.keywords))

    @classmethod
    def load(cls, folder: str | Path, device: str | None = None) -> Self:
        """Open what `longmatch train cig` made."""
        from transformers.utils import logging

        logging.set_verbosity_error()
        logging.disable_progress_bar()
        with checkpoint_errors(f"The model {folder}", f"Name a folder `longmatch train {cls.name}` made."):
            model: Any = CigModel.from_pretrained(folder)
            tokenizer = open_tokenizer(str(folder))
        place = torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu"))
        return cls(model.to(place), tokenizer)

    @property
    def networks(self) -> Sequence[nn.Module]:
        """The one that judges; how rare words are is stored with its weights."""
        return (self.model,)

    @property
    def threshold(self) -> float | None:
        """The chance from which two documents belong together, as chosen on validation pairs."""
        found: float | None = self.model.config.threshold
        return found

    pairs_per_batch = PAIRS_PER_BATCH

    def score_tokens(self, pairs: Sequence[tuple[Tokens, Tokens]], for_ranking: bool = False) -> Scores:
        """The chance of each pair."""
        return chances(self._margins([self.graphs.laid_out(self.graphs.graph(*pair), *pair) for pair in pairs]))

    def compare(self, a: Document, b: Document) -> Match:
        """Two documents compared, explained by their concepts."""
        pair = tokens_of(a, self.tokenizer), tokens_of(b, self.tokenizer)
        graph, margin, gains = self._judged(*pair)
        sentences = _sentences(pair[0]), _sentences(pair[1])
        vectors = self._vectors(*pair)
        cosines = (vectors[0] @ vectors[1].T).clamp(0, 1).double().numpy()
        forward = _evidence(graph.a, graph.b, cosines, gains)
        backward = _evidence(graph.b, graph.a, cosines.T, gains)
        chance = float(chances(torch.tensor([margin]))[0])
        names = self._names(a) | self._names(b)
        held = [self._held(tokens, graph) for tokens in pair]
        sides = (sentences[0], vectors[0]), (sentences[1], vectors[1])
        return Match(
            a=a,
            b=b,
            score=chance,
            sections=best_cosine_grid(*sides, "sections"),
            alignments=alignments(
                merge([forward], [backward]),
                (sentences[0].passage, sentences[1].passage),
                lambda i, j: pair_cosines(*vectors, i, j),
                lambda i, j: _written(sorted(held[0][i] & held[1][j]), names),
            ),
            model=self.name,
            probability=chance,
            threshold=self.threshold,
            parts={"meaning": 1.0},
            grids=lambda level: best_cosine_grid(*sides, level),
        )

    def concepts(self, a: Document, b: Document) -> tuple[Concept, ...]:
        """What the two documents speak of, what carries the match most first."""
        pair = tokens_of(a, self.tokenizer), tokens_of(b, self.tokenizer)
        graph, _, gains = self._judged(*pair)
        names = self._names(a) | self._names(b)
        mine, theirs = _sentences(pair[0]), _sentences(pair[1])
        found = [
            Concept(
                _written(graph.concepts[node].tolist(), names),
                tuple(mine.passage(s) for s in np.flatnonzero(graph.a == node).tolist()),
                tuple(theirs.passage(s) for s in np.flatnonzero(graph.b == node).tolist()),
                float(gains[node]),
            )
            for node in np.argsort(-gains, kind="stable").tolist()
        ]
        return tuple(found)

    def _judged(self, a: Tokens, b: Tokens) -> tuple[ConceptGraph, float, Floats]:
        """The graph of a pair, its margin, and the share of it that each concept carries."""
        graph = self.graphs.graph(a, b)
        whole = self.graphs.laid_out(graph, a, b)
        found = self._margins([whole, *(whole.without(node) for node in range(len(whole)))])
        gains = (found[0] - found[1:]).numpy()
        gains = gains.clip(min=0) if gains.max() > 0 else gains - gains.min()
        total = gains.sum()
        return graph, float(found[0]), gains / total if total > 0 else np.full(len(gains), 1 / len(gains))

    def _margins(self, graphs: Sequence[PairGraph]) -> Tensor:
        parts = [graphs[start : start + PAIRS_PER_BATCH] for start in range(0, len(graphs), PAIRS_PER_BATCH)]
        return torch.cat([margins(self.model, GraphBatch.of(part)) for part in parts])

    def _vectors(self, a: Tokens, b: Tokens) -> tuple[Tensor, Tensor]:
        """The TF-IDF weights of each sentence over the words of both documents, of length 1: (sentences, words)."""
        stream = joined(self.words.words(a), self.words.words(b))
        words, place = np.unique(stream.ids, return_inverse=True)
        count = len(stream.offsets) - 1
        table = torch.zeros(count, len(words))
        table.index_put_((torch.from_numpy(stream.sentence), torch.from_numpy(place)), torch.ones(1), accumulate=True)
        table = torch.where(table > 0, 1 + table.clamp(min=1).log(), 0) * torch.from_numpy(self.graphs.idf.idf(words))
        first = len(a.sentence_offsets) - 1
        unit = nn.functional.normalize(table.float(), dim=1)
        return unit[:first], unit[first:]

    def _held(self, tokens: Tokens, graph: ConceptGraph) -> list[set[int]]:
        """The keywords in each sentence."""
        keywords = {word for concept in graph.concepts for word in concept.tolist()}
        return [keywords & set(counts.ids.tolist()) for counts in self.words.words(tokens).sentence_counts()]

    def _names(self, document: Document) -> dict[int, str]:
        """How the words of a document are written, by what the model knows them by."""
        text = document.readable
        written = {word for s in document.sentences for _, word in written_words(s.of(text), document.language, True)}
        forms = sorted(written)
        found = word_hashes(self.tokenizer.backend_tokenizer, [*forms, *(f" {form}" for form in forms)])
        return dict(zip(found.tolist(), [*forms, *forms], strict=True))


def _sentences(tokens: Tokens) -> Sentences:
    return Sentences.of(pieces_from(tokens, tokens.sentence_offsets[:-1], tokens.sentence_offsets[1:]))


def _written(words: Sequence[int], names: dict[int, str]) -> tuple[str, ...]:
    """Keywords as they are written; one that cannot be told from its tokens is left out."""
    return tuple(names[word] for word in words if word in names)


def _evidence(mine: Ints, theirs: Ints, cosines: Floats, gains: Floats) -> Evidence:
    """What each sentence carries of its concept, and the other document's most like it there, or else anywhere."""
    same = mine[:, None] == theirs  # (sentences, the other's sentences)
    best = np.where(same, cosines, 0.0).max(1)
    partner = (cosines + 2.0 * same).argmax(1)
    weights = best + 1e-9  # where none is alike all share equally
    share = weights / np.bincount(mine, weights, len(gains))[mine]
    return Evidence(partner.astype(np.int64), gains[mine] * share)
