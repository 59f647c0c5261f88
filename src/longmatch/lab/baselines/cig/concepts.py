"""CIG's concept graph of two documents: concepts, the sentences assigned to each, and their similarities.

B. Liu, D. Niu, H. Wei, J. Lin, Y. He, K. Lai, Y. Xu: "Matching Article Pairs with Graphical Decomposition and
Convolutions", ACL 2019.

Keywords of both documents are linked if a sentence contains both, and communities of linked keywords are concepts. Each
sentence is assigned to its most similar concept by TF-IDF; those without keywords form a separate node. A node's
features are five lexical similarities between the sentences of both documents (the paper's term-based features), and
two nodes are linked by the similarity of all their sentences. A graph network then classifies the pair.

Differences from the paper: keywords are each document's heaviest words by TF-IDF (the paper uses named entities and its
own keyword extraction), and concepts are found by modularity (Louvain), not by edge betweenness, which takes a second
per pair. The network, with the paper's further features of a convolution over word vectors, is in matcher.py.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
import numpy.typing as npt
import torch
from scipy.sparse import csr_array
from torch import Tensor

from longmatch.lab.words import Floats, WordMatrix, WordMatrixCache
from longmatch.lexical.terms import Hashes
from longmatch.lexical.weights import Idf, log_tf, tfidf_rows
from longmatch.units.tokens import Ints, Tokens

KEYWORDS = 20  # of each document
FEATURES = 7  # five similarities; has sentences of both documents; has no keywords
K1 = 1.5  # of BM25
SEED = 0


@dataclass(frozen=True)
class ConceptGraph:
    """Nodes with their keywords, sentences and features, and the links between nodes."""

    concepts: tuple[Hashes, ...]  # keywords of each node; none for the node of sentences without keywords
    a: Ints  # the node of each sentence of a
    b: Ints
    features: Floats  # (nodes, FEATURES)
    links: Floats  # (nodes, nodes), 1 on the diagonal
    whole: Floats  # the five similarities of the whole documents

    def __len__(self) -> int:
        return len(self.concepts)


@dataclass(frozen=True)
class PairWords:
    """The words of two documents as columns of a shared vocabulary."""

    words: Hashes  # sorted
    counts: csr_array  # (sentences of a and then of b, words)
    first: int  # sentences of a
    idf: Floats  # (words,)

    @staticmethod
    def of(a: WordMatrix, b: WordMatrix, idf: Idf) -> "PairWords":
        """Map both documents to one vocabulary."""
        words = np.union1d(a.words, b.words)
        columns = [np.searchsorted(words, side.words)[side.counts.indices] for side in (a, b)]
        offsets = np.concatenate([a.counts.indptr, a.counts.nnz + b.counts.indptr[1:].astype(np.int64)])
        cells = np.concatenate([a.counts.data, b.counts.data]), np.concatenate(columns), offsets
        return PairWords(words, csr_array(cells, shape=(len(offsets) - 1, len(words))), len(a.lengths), idf.idf(words))

    def bags(self, node: Ints, count: int) -> tuple[Floats, Floats]:
        """The word counts of each document's sentences at each node: (nodes, words) twice."""
        sentences = np.arange(len(node))
        side = (sentences >= self.first) * count
        members = csr_array((np.ones(len(node)), (node + side, sentences)), shape=(2 * count, len(node)))
        totals: Floats = (members @ self.counts).toarray()
        return totals[:count], totals[count:]


def concept_graph(a: WordMatrix, b: WordMatrix, idf: Idf, keywords: int = KEYWORDS) -> ConceptGraph:
    """The concept graph of two documents, given as the words of their sentences."""
    pair = PairWords.of(a, b, idf)
    documents = pair.bags(np.zeros(pair.counts.shape[0], dtype=np.int64), 1)
    groups = communities(keywords_of(np.concatenate(documents), pair.idf, keywords), pair.counts)
    used, node = np.unique(assign(pair.counts, groups, pair.idf), return_inverse=True)  # without empty nodes
    x, y = pair.bags(node, len(used))
    concepts = tuple(pair.words[groups[n]] if n < len(groups) else np.empty(0, np.uint64) for n in used.tolist())
    flags = [(x.any(1) & y.any(1)).astype(np.float64), np.array([float(not len(c)) for c in concepts])]
    features = np.column_stack([similarities(x, y, pair.idf), *flags])
    weights = tfidf_rows(x + y, pair.idf)
    links: Floats = weights @ weights.T
    np.fill_diagonal(links, 1.0)
    whole = similarities(*documents, pair.idf)[0]
    return ConceptGraph(concepts, node[: pair.first], node[pair.first :], features, links, whole)


def keywords_of(documents: Floats, idf: Floats, most: int = KEYWORDS) -> Ints:
    """The columns of the documents' heaviest words by TF-IDF, `most` per document, without duplicates.

    `documents` holds word counts: (documents, words).
    """
    orders = np.argsort(-tfidf_rows(documents, idf), axis=1, kind="stable")[:, :most]
    present = np.take_along_axis(documents, orders, axis=1) > 0  # a short document has fewer
    return np.unique(orders[present])


def communities(keywords: Ints, counts: csr_array) -> list[Ints]:
    """Concepts: communities of keywords that co-occur in sentences; isolated keywords form their own.

    `keywords` are sorted columns of `counts`, which is (sentences, words).
    """
    import networkx  # type: ignore[import-untyped]

    graph = networkx.Graph()
    graph.add_nodes_from(range(len(keywords)))
    present = (counts[:, keywords].toarray() > 0).astype(np.float64)
    together = np.triu(present.T @ present, 1)  # the number of sentences with both keywords
    first, second = together.nonzero()
    graph.add_weighted_edges_from(zip(first.tolist(), second.tolist(), together[first, second].tolist(), strict=True))
    groups = networkx.community.louvain_communities(graph, seed=SEED) if len(keywords) else []
    return [keywords[sorted(members)] for members in sorted(groups, key=min)]


def assign(counts: csr_array, concepts: Sequence[Ints], idf: Floats) -> Ints:
    """Each sentence's most similar concept, the first on ties; len(concepts) for a sentence without keywords."""
    weights = csr_array(counts, dtype=np.float64, copy=True)
    weights.data = log_tf(weights.data) * idf[weights.indices]
    lengths = np.sqrt(weights.multiply(weights).sum(1))
    columns = np.concatenate([np.empty(0, np.int64), *concepts])
    owner = np.repeat(np.arange(len(concepts)), [len(c) for c in concepts])
    bags = np.zeros((len(columns), len(concepts)))  # each concept's words, of length 1
    bags[np.arange(len(columns)), owner] = idf[columns] / np.sqrt(np.bincount(owner, idf[columns] ** 2))[owner]
    scores = (weights[:, columns] @ bags) / np.where(lengths > 0, lengths, 1.0)[:, None]
    unassigned = np.full((len(scores), 1), 1e-10)  # wins if a sentence has no keyword
    best: Ints = np.concatenate([scores.round(9), unassigned], axis=1).argmax(1).astype(np.int64)
    return best


def similarities(x: Floats, y: Floats, idf: Floats) -> Floats:
    """TF-IDF cosine, TF cosine, BM25 (both directions, relative to self-scores), Jaccard, Ochiai: from 0 to 1.

    Compares row i of x with row i of y, both word counts: (texts, words) twice -> (texts, 5). A text without words has
    similarity 0.
    """
    shared, sizes = ((x > 0) & (y > 0)).sum(1), ((x > 0).sum(1), (y > 0).sum(1))
    norms = np.sqrt((x * x).sum(1) * (y * y).sum(1))
    columns = [
        (tfidf_rows(x, idf) * tfidf_rows(y, idf)).sum(1),
        _ratio((x * y).sum(1), norms),
        _ratio(_bm25(x, y, idf) + _bm25(y, x, idf), _bm25(x, x, idf) + _bm25(y, y, idf)),
        _ratio(shared, sizes[0] + sizes[1] - shared),
        _ratio(shared, np.sqrt(sizes[0] * sizes[1])),
    ]
    return np.stack(columns, axis=1).clip(0.0, 1.0)


def _bm25(query: Floats, text: Floats, idf: Floats) -> Floats:
    """BM25 of the query's distinct words in a text of average length."""
    return np.asarray(((query > 0) * text / (text + K1)) @ idf)


def _ratio(part: npt.NDArray[np.generic], whole: npt.NDArray[np.generic]) -> Floats:
    """part / whole; 0 where whole is 0."""
    ratio: Floats = np.divide(part, whole, out=np.zeros(len(part)), where=np.asarray(whole) > 0)
    return ratio


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
        sides = []
        for tokens, node in ((a, graph.a), (b, graph.b)):
            home = np.repeat(node, np.diff(tokens.sentence_offsets))  # of each token
            ordered = tokens.ids[np.argsort(home, kind="stable")].astype(np.int64)
            sides.append(np.split(ordered, np.bincount(home, minlength=len(graph)).cumsum()[:-1]))
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
        edges, weights = [], []
        for pair, start in zip(pairs, starts.tolist(), strict=False):
            source, target = np.nonzero(pair.links)
            roots = np.sqrt(pair.links.sum(1))
            edges.append(np.stack([source, target]) + start)
            weights.append(pair.links[source, target] / roots[source] / roots[target])
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
