"""CIG's concept graph: what two documents speak of, which sentences of either do, and how alike these are.

B. Liu, D. Niu, H. Wei, J. Lin, Y. He, K. Lai, Y. Xu: "Matching Article Pairs with Graphical Decomposition and
Convolutions", ACL 2019.

The keywords of both documents are linked where a sentence holds two of them, and closely linked ones are a concept.
Every sentence belongs to the concept it is most like, by TF-IDF; those without a keyword have a place of their own. A
concept is a node: what the sentences of either document at it share is told by five similarities of words (the paper's
term-based features), and two nodes are linked by how alike all their sentences are. A graph network then decides.

Where this departs: keywords are the heaviest words by TF-IDF of each document (the paper: named entities and its own
keyword extraction), and concepts are found by modularity, Louvain's way, not by the betweenness of links, which takes
a second for a pair. What the network makes of a graph, and the features of a convolution over word vectors, which the
paper adds to the five, are in cig.py.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from longmatch.lab.words.matrix import WordMatrix
from longmatch.lexical.terms import Hashes
from longmatch.lexical.weights import Idf

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

KEYWORDS = 20  # of each document
FEATURES = 7  # five similarities; does the node hold sentences of both; is it the one without keywords
K1 = 1.5  # of BM25
SEED = 0


@dataclass(frozen=True)
class ConceptGraph:
    """Nodes, each with its keywords, the sentences of either document, and what these share; and the links."""

    concepts: tuple[Hashes, ...]  # keywords of each node; none for the last, where there are sentences without
    a: Ints  # the node of each sentence
    b: Ints
    features: Floats  # (nodes, FEATURES)
    links: Floats  # (nodes, nodes), 1 on the diagonal
    whole: Floats  # the five similarities of the documents as a whole

    def __len__(self) -> int:
        return len(self.concepts)


@dataclass(frozen=True)
class PairWords:
    """The words of two documents, known by their places among all words of both."""

    words: Hashes  # in rising order
    counts: csr_array  # (sentences of a and then of b, words)
    first: int  # sentences of a
    idf: Floats  # (words,) how rare each is

    @staticmethod
    def of(a: WordMatrix, b: WordMatrix, idf: Idf) -> "PairWords":
        """Both documents in one vocabulary."""
        words = np.union1d(a.words, b.words)
        columns = [np.searchsorted(words, side.words)[side.counts.indices] for side in (a, b)]
        offsets = np.concatenate([a.counts.indptr, a.counts.nnz + b.counts.indptr[1:].astype(np.int64)])
        cells = np.concatenate([a.counts.data, b.counts.data]), np.concatenate(columns), offsets
        return PairWords(words, csr_array(cells, shape=(len(offsets) - 1, len(words))), len(a.lengths), idf.idf(words))

    def bags(self, node: Ints, count: int) -> tuple[Floats, Floats]:
        """How often the sentences of either document at each node hold each word: (nodes, words) twice."""
        sentences = np.arange(len(node))
        side = (sentences >= self.first) * count
        members = csr_array((np.ones(len(node)), (node + side, sentences)), shape=(2 * count, len(node)))
        found: Floats = (members @ self.counts).toarray()
        return found[:count], found[count:]


def concept_graph(a: WordMatrix, b: WordMatrix, idf: Idf, keywords: int = KEYWORDS) -> ConceptGraph:
    """The graph of two documents, each given as the words of its sentences; `idf` tells rare words from common ones."""
    pair = PairWords.of(a, b, idf)
    documents = pair.bags(np.zeros(pair.counts.shape[0], dtype=np.int64), 1)
    found = communities(keywords_of(np.concatenate(documents), pair.idf, keywords), pair.counts)
    used, node = np.unique(assign(pair.counts, found, pair.idf), return_inverse=True)  # what none prefers is no node
    x, y = pair.bags(node, len(used))
    concepts = tuple(pair.words[found[n]] if n < len(found) else np.empty(0, np.uint64) for n in used.tolist())
    told = [(x.any(1) & y.any(1)).astype(np.float64), np.array([float(not len(c)) for c in concepts])]
    features = np.column_stack([similarities(x, y, pair.idf), *told])
    weights = tfidf_rows(x + y, pair.idf)
    links: Floats = weights @ weights.T
    np.fill_diagonal(links, 1.0)
    whole = similarities(*documents, pair.idf)[0]
    return ConceptGraph(concepts, node[: pair.first], node[pair.first :], features, links, whole)


def keywords_of(documents: Floats, idf: Floats, most: int = KEYWORDS) -> Ints:
    """The heaviest words of each document by TF-IDF, of all documents together, each once, as places of words.

    `documents` is how often each holds each word: (documents, words).
    """
    orders = np.argsort(-tfidf_rows(documents, idf), axis=1, kind="stable")[:, :most]
    own = np.take_along_axis(documents, orders, axis=1) > 0  # a short document has fewer
    return np.unique(orders[own])


def communities(keywords: Ints, counts: csr_array) -> list[Ints]:
    """Keywords that stand in the same sentences, as concepts; one that stands with no other is a concept of its own.

    The keywords are places of words, in rising order; `counts` is (sentences, words).
    """
    import networkx  # type: ignore[import-untyped]

    graph = networkx.Graph()
    graph.add_nodes_from(range(len(keywords)))
    held = (counts[:, keywords].toarray() > 0).astype(np.float64)
    together = np.triu(held.T @ held, 1)  # in how many sentences two keywords stand
    first, second = together.nonzero()
    graph.add_weighted_edges_from(zip(first.tolist(), second.tolist(), together[first, second].tolist(), strict=True))
    found = networkx.community.louvain_communities(graph, seed=SEED) if len(keywords) else []
    return [keywords[sorted(members)] for members in sorted(found, key=min)]


def assign(counts: csr_array, concepts: Sequence[Ints], idf: Floats) -> Ints:
    """The concept each sentence is most like, of equals the first; len(concepts) for one that holds no keyword."""
    own = csr_array(counts, dtype=np.float64, copy=True)
    own.data = (1 + np.log(own.data)) * idf[own.indices]
    lengths = np.sqrt(own.multiply(own).sum(1))
    places = np.concatenate([np.empty(0, np.int64), *concepts])
    owner = np.repeat(np.arange(len(concepts)), [len(c) for c in concepts])
    bags = np.zeros((len(places), len(concepts)))  # each concept's words, of length 1
    bags[np.arange(len(places)), owner] = idf[places] / np.sqrt(np.bincount(owner, idf[places] ** 2))[owner]
    scores = (own[:, places] @ bags) / np.where(lengths > 0, lengths, 1.0)[:, None]
    nowhere = np.full((len(scores), 1), 1e-10)  # more than nothing: a sentence without a keyword goes there
    best: Ints = np.concatenate([scores.round(9), nowhere], axis=1).argmax(1).astype(np.int64)
    return best


def similarities(x: Floats, y: Floats, idf: Floats) -> Floats:
    """TF-IDF cosine, TF cosine, BM25 (as a share of the texts' own, both directions), Jaccard, Ochiai: from 0 to 1.

    Of each text x and the text y beside it, both as counts of words: (texts, words) twice -> (texts, 5). Nothing is
    like a text without words.
    """
    shared, sizes = ((x > 0) & (y > 0)).sum(1), ((x > 0).sum(1), (y > 0).sum(1))
    apart = np.sqrt((x * x).sum(1) * (y * y).sum(1))
    found = [
        (tfidf_rows(x, idf) * tfidf_rows(y, idf)).sum(1),
        _share((x * y).sum(1), apart),
        _share(_bm25(x, y, idf) + _bm25(y, x, idf), _bm25(x, x, idf) + _bm25(y, y, idf)),
        _share(shared, sizes[0] + sizes[1] - shared),
        _share(shared, np.sqrt(sizes[0] * sizes[1])),
    ]
    return np.stack(found, axis=1).clip(0.0, 1.0)


def tfidf_rows(counts: Floats, idf: Floats) -> Floats:
    """(1 + ln tf) idf of each text's words, divided by the length of the row: as `tfidf`, of many texts at once."""
    values = np.where(counts > 0, 1 + np.log(np.maximum(counts, 1)), 0.0) * idf
    lengths = np.linalg.norm(values, axis=1, keepdims=True)
    return np.asarray(values / np.where(lengths > 0, lengths, 1.0))


def _bm25(query: Floats, text: Floats, idf: Floats) -> Floats:
    """The distinct words of one looked for in the other, both being of middling length."""
    return np.asarray(((query > 0) * text / (text + K1)) @ idf)


def _share(part: npt.NDArray[np.generic], whole: npt.NDArray[np.generic]) -> Floats:
    """A quotient; 0 where there is nothing to divide by."""
    found: Floats = np.divide(part, whole, out=np.zeros(len(part)), where=np.asarray(whole) > 0)
    return found
