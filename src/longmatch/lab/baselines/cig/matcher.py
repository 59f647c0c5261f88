"""CIG's network, which combines the features of each concept over the concept graph, and its matcher.

B. Liu, D. Niu, H. Wei, J. Lin, Y. He, K. Lai, Y. Xu: "Matching Article Pairs with Graphical Decomposition and
Convolutions", ACL 2019: the variant with siamese and lexical features of concepts and lexical features of the whole
documents (CIG-Siam-Sim-GCN with Sim of the documents), and the one without siamese features. concepts.py builds the
graph.

The matcher explains pairs by their concepts. A concept's contribution is the drop of the margin between the two classes
when the pair is scored without it, its sentences and its links, at least 0. If no concept has a positive contribution,
contributions are measured from the lowest one. A concept's contribution is divided among its sentences by their
similarity to the other document's sentences at that concept.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from transformers import PretrainedConfig, PreTrainedModel

from longmatch.documents.document import Document
from longmatch.lab.baselines.cig.concepts import (
    FEATURES,
    KEYWORDS,
    ConceptGraph,
    ConceptGraphBuilder,
    GraphBatch,
    PairGraph,
    PairWords,
)
from longmatch.lab.baselines.siamese.token_networks import FromEmbeddings, TokenEmbeddings
from longmatch.lab.encoders.backbone import Precision
from longmatch.lab.encoders.ragged import offsets_of, segment_max, segment_mean
from longmatch.lab.explanation import best_cosine_grid, explained_match
from longmatch.lab.matchers import TokenPairMatcher, match_probability, tokens_of
from longmatch.lab.words import TokenWords, WordMatrixCache, word_hashes, written_words
from longmatch.lexical.weights import Frequencies, tfidf_rows
from longmatch.matching.align import Evidence, Floats, Ints
from longmatch.matching.match import Match, Passage
from longmatch.matching.matcher import Scores
from longmatch.matching.sentences import Sentences
from longmatch.units import Tokens
from longmatch.units.pieces import pieces_from

WHOLE = 5  # similarities of the whole documents
WINDOW = 3  # words, of the convolution
PAIRS_PER_BATCH = 32


class CigConfig(PretrainedConfig):  # type: ignore[misc]
    """CIG's configuration."""

    model_type = "longmatch-cig"
    siamese: bool = True  # whether the words at a concept are encoded; without, its similarities alone are read
    vocabulary: int = 30_522  # of the token embeddings
    word_width: int = 384  # of the token embeddings
    channels: int = 128  # of the convolution over the words at a concept
    hidden: int = 128  # the width of a concept's vector
    layers: int = 2  # graph convolutions
    dropout: float = 0.1  # of the token embeddings and of the pair's vector
    keywords: int = KEYWORDS  # per document, from which concepts are formed
    known_words: int = 0  # whose document frequencies are stored with the weights
    threshold: float | None = None  # the probability from which a pair counts as a match, chosen on validation pairs


class GraphLayer(nn.Module):
    """Graph convolution (Kipf and Welling, 2017): D^-1/2 A D^-1/2 X W with self-loops."""

    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.dense = nn.Linear(width, hidden)

    def forward(self, nodes: Tensor, edges: Tensor, weights: Tensor) -> Tensor:
        """(nodes, width) -> (nodes, hidden); edge e leads from node edges[0, e] to edges[1, e], self-loops included."""
        neighbours = torch.zeros_like(nodes).index_add(0, edges[1], nodes[edges[0]] * weights[:, None])
        return torch.relu(self.dense(neighbours))


class CigModel(FromEmbeddings, PreTrainedModel):  # type: ignore[misc]
    """Siamese and lexical features of concepts, graph convolutions, and a classifier.

    A convolution with max-pooling encodes the words of each document at a concept as x and y; |x - y| and x * y are the
    siamese features, and with the similarities of concepts.py they form the concept's vector. Graph layers, the mean
    over the concepts, concatenation with the similarities of the whole documents, and two dense layers follow. If only
    one document has sentences at a concept, the other's encoding is 0. The score is symmetric.
    """

    config_class = CigConfig
    base_model_prefix = "cig"
    known_words: Tensor
    known_counts: Tensor
    known_documents: Tensor

    def __init__(self, config: CigConfig) -> None:
        super().__init__(config)
        if config.siamese:
            self.words = TokenEmbeddings(config.vocabulary, config.word_width, config.dropout)
            self.convolution = nn.Conv1d(config.word_width, config.channels, WINDOW, padding=WINDOW // 2)
            self.matched = nn.Linear(2 * config.channels, config.hidden)
        widths = [config.hidden * config.siamese + FEATURES, *[config.hidden] * config.layers]
        self.layers = nn.ModuleList(GraphLayer(width, config.hidden) for width in widths[:-1])
        self.dense = nn.Linear(config.hidden + WHOLE, config.hidden)
        self.dropout = nn.Dropout(config.dropout)
        self.classifier = nn.Linear(config.hidden, 2)
        self.register_buffer("known_words", torch.zeros(config.known_words, dtype=torch.long))  # hashes as int64
        self.register_buffer("known_counts", torch.zeros(config.known_words, dtype=torch.long))
        self.register_buffer("known_documents", torch.zeros(1, dtype=torch.long))
        self.post_init()

    @property
    def frequencies(self) -> Frequencies:
        """Document frequencies of words in the training data."""
        ids, counts = self.known_words.cpu().numpy().view(np.uint64), self.known_counts.cpu().numpy()
        return Frequencies(float(self.known_documents.item()), ids, counts.astype(np.float64))

    def store_frequencies(self, frequencies: Frequencies) -> None:
        """Store document frequencies with the weights."""
        self.config.known_words = len(frequencies.ids)
        self.known_words = torch.from_numpy(frequencies.ids.view(np.int64).copy()).to(self.device)
        self.known_counts = torch.from_numpy(frequencies.counts.astype(np.int64)).to(self.device)
        self.known_documents = torch.tensor([int(frequencies.documents)], device=self.device)

    def forward(self, batch: GraphBatch, **unused: Any) -> Tensor:
        """The logits of each pair; the second class is a match: (pairs, 2)."""
        with torch.autocast(batch.ids.device.type, enabled=False):
            nodes = batch.features
            if self.config.siamese:
                x, y = self._encode_texts(batch).unflatten(0, (-1, 2)).unbind(1)  # (nodes, channels) per document
                nodes = torch.cat([self.matched(torch.cat([(x - y).abs(), x * y], dim=1)).relu(), nodes], dim=1)
            for layer in self.layers:
                nodes = layer(nodes, batch.edges, batch.weights)
            pooled = segment_mean(nodes, offsets_of(batch.nodes).to(nodes.device))
            vectors = self.dense(torch.cat([pooled, batch.whole], dim=1)).relu()
            return torch.as_tensor(self.classifier(self.dropout(vectors)))

    def _init_weights(self, module: nn.Module) -> None:
        """Keep torch's initial values: those for deep transformers are too small for such networks."""

    def _encode_texts(self, batch: GraphBatch) -> Tensor:
        """The maxima of the convolution over each text, 0 for an empty one: (texts, channels).

        All texts are concatenated into one long row, with gaps between them.
        """
        lengths, device = batch.lengths, batch.ids.device
        gaps = torch.arange(len(lengths)).repeat_interleave(lengths)
        position = (torch.arange(len(batch.ids)) + gaps).to(device)
        words = self.words(batch.ids)
        row = words.new_zeros(len(batch.ids) + len(lengths) + WINDOW, words.shape[1]).index_copy(0, position, words)
        features = self.convolution(row.T[None])[0].T[position].relu()
        return segment_max(features, offsets_of(lengths).to(device)).clamp(min=0)  # -inf for an empty text


@torch.no_grad()
def margins(model: CigModel, batch: GraphBatch) -> Tensor:
    """The logit of a match minus that of a non-match: (pairs,), on the CPU."""
    logits = model(batch.to(model.device)).double().cpu()
    return torch.as_tensor(logits[:, 1] - logits[:, 0])


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
            WordMatrixCache(self.words.words), model.frequencies, model.config.keywords, model.config.siamese
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
        words = PairWords.of(self.graphs.matrices(pair[0]), self.graphs.matrices(pair[1]), self.graphs.idf)
        tfidf = torch.from_numpy(tfidf_rows(words.counts.toarray(), words.idf)).float()  # (sentences, words)
        vectors = tfidf[: words.first], tfidf[words.first :]
        cosines = (vectors[0] @ vectors[1].T).clamp(0, 1).double().numpy()
        probability = float(match_probability(margin))
        names = self._surface_by_hash(a) | self._surface_by_hash(b)
        known = {word for concept in graph.concepts for word in concept.tolist()}
        sentences = [self.words.words(tokens).sentence_counts() for tokens in pair]
        keywords = [[known & set(counts.ids.tolist()) for counts in side] for side in sentences]
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
                tuple(mine.passages(np.flatnonzero(graph.a == node))),
                tuple(theirs.passages(np.flatnonzero(graph.b == node))),
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
