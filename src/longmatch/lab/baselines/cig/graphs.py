"""Batches of concept graphs, with the tokens at each concept."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
import torch
from torch import Tensor

from longmatch.lab.baselines.cig.concepts import ConceptGraph, Floats, concept_graph
from longmatch.lab.words.matrix import WordMatrixCache
from longmatch.lexical.weights import Idf
from longmatch.units.tokens import Ints, Tokens


@dataclass(frozen=True)
class PairGraph:
    """The concept graph of one pair, with the tokens of both documents at each node."""

    texts: tuple[Ints, ...]  # two per node: of a, of b; none where the network reads similarities alone
    features: Floats  # (nodes, FEATURES)
    links: Floats  # (nodes, nodes)
    whole: Floats

    def __len__(self) -> int:
        return len(self.features)

    @property
    def tokens(self) -> int:
        """The number of tokens the network reads."""
        return sum(len(text) for text in self.texts)

    def without(self, node: int) -> "PairGraph":
        """The graph without a concept, its sentences and its links."""
        texts = self.texts[: 2 * node] + self.texts[2 * node + 2 :]
        links = np.delete(np.delete(self.links, node, axis=0), node, axis=1)
        return replace(self, texts=texts, features=np.delete(self.features, node, axis=0), links=links)


@dataclass(frozen=True)
class ConceptGraphBuilder:
    """Builds the concept graphs of pairs."""

    matrices: WordMatrixCache
    idf: Idf
    keywords: int
    texts: bool = True  # whether the network reads the words at a concept

    def graph(self, a: Tokens, b: Tokens) -> ConceptGraph:
        """The concepts of a pair, and the concept of each sentence."""
        return concept_graph(self.matrices(a), self.matrices(b), self.idf, self.keywords)

    def pair_graph(self, graph: ConceptGraph, a: Tokens, b: Tokens) -> PairGraph:
        """A concept graph with the tokens of its sentences, if they are read."""
        if not self.texts:
            return PairGraph((), graph.features, graph.links, graph.whole)
        sides = [_by_node(tokens, node, len(graph)) for tokens, node in ((a, graph.a), (b, graph.b))]
        texts = tuple(text for both in zip(*sides, strict=True) for text in both)
        return PairGraph(texts, graph.features, graph.links, graph.whole)


@dataclass(frozen=True)
class GraphBatch:
    """Several pairs, concatenated. Lengths stay on the CPU."""

    ids: Tensor  # (tokens,) of all texts
    features: Tensor  # (nodes, FEATURES)
    edges: Tensor  # (2, edges) source and target nodes
    weights: Tensor  # (edges,) D^-1/2 A D^-1/2
    whole: Tensor  # (pairs, WHOLE)
    lengths: Tensor  # (2 x nodes,) tokens of each text; on the CPU
    nodes: Tensor  # (pairs,) on the CPU

    @staticmethod
    def of(pairs: Sequence[PairGraph]) -> "GraphBatch":
        """Concatenate pairs; there are no edges between pairs."""
        texts = [text for pair in pairs for text in pair.texts]
        starts = np.concatenate([[0], np.cumsum([len(pair) for pair in pairs])])
        linked = [np.nonzero(pair.links) for pair in pairs]
        edges = [np.stack(nodes) + start for nodes, start in zip(linked, starts.tolist(), strict=False)]
        weights = [normalised(pair.links)[nodes] for pair, nodes in zip(pairs, linked, strict=True)]
        return GraphBatch(
            torch.from_numpy(np.concatenate([np.empty(0, np.int64), *texts])),
            torch.from_numpy(np.concatenate([pair.features for pair in pairs])).float(),
            torch.from_numpy(np.concatenate(edges, axis=1).astype(np.int64)),
            torch.from_numpy(np.concatenate(weights)).float(),
            torch.from_numpy(np.stack([pair.whole for pair in pairs])).float(),
            torch.tensor([len(text) for text in texts], dtype=torch.long),
            torch.tensor([len(pair) for pair in pairs]),
        )

    def to(self, device: torch.device) -> "GraphBatch":
        """A copy on another device."""
        moved = {field.name: getattr(self, field.name).to(device) for field in fields(self)[:5]}
        return replace(self, **moved)


def normalised(links: Floats) -> Floats:
    """D^-1/2 A D^-1/2, where D holds the row sums of A.

    >>> normalised(np.array([[1.0, 3.0], [3.0, 1.0]])).tolist()
    [[0.25, 0.75], [0.75, 0.25]]
    """
    roots = np.sqrt(links.sum(1))
    scaled: Floats = links / roots[:, None] / roots
    return scaled


def _by_node(tokens: Tokens, node: Ints, count: int) -> list[Ints]:
    """The tokens of the sentences at each node, in reading order."""
    home = np.repeat(node, np.diff(tokens.sentence_offsets))
    order = np.argsort(home, kind="stable")
    return np.split(tokens.ids[order].astype(np.int64), np.bincount(home, minlength=count).cumsum()[:-1])
