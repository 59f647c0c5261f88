"""CIG's concept graph sentence by sentence and node by node, the obvious way: the judge of the fast one."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from longmatch.lab.baselines.cig.concepts import FEATURES, K1, KEYWORDS, SEED, ConceptGraph
from longmatch.lexical.terms import Counts, Hashes, Stream
from longmatch.lexical.weights import Idf, TermMatrix, Weighted, tfidf

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def concept_graph(a: Stream, b: Stream, idf: Idf, keywords: int = KEYWORDS) -> ConceptGraph:
    """The graph of two documents, each given as the words of its sentences; `idf` tells rare words from common ones."""
    sentences = [*a.sentence_counts(), *b.sentence_counts()]
    found = communities(keywords_of([a.counts, b.counts], idf, keywords), sentences)
    node = assign(sentences, found, idf)
    used = np.unique(node)  # a concept that no sentence prefers is no node
    node, first = np.searchsorted(used, node), len(a.offsets) - 1
    texts = [(_bag(a, node[:first] == n), _bag(b, node[first:] == n)) for n in range(len(used))]
    concepts = tuple(found[n] if n < len(found) else np.empty(0, np.uint64) for n in used.tolist())
    told = [
        [*similarities(x, y, idf), float(len(x.ids) > 0 < len(y.ids)), float(not len(c))]
        for (x, y), c in zip(texts, concepts, strict=True)
    ]
    weights = [tfidf(_joined(x, y), idf) for x, y in texts]
    matrix = TermMatrix.of(weights)
    links = np.array([matrix.scores(one) for one in weights]).reshape(len(used), len(used))
    np.fill_diagonal(links, 1.0)
    features = np.array(told).reshape(-1, FEATURES)
    whole = similarities(a.counts, b.counts, idf)
    return ConceptGraph(concepts, node[:first], node[first:], features, links, whole)


def keywords_of(documents: Sequence[Counts], idf: Idf, most: int = KEYWORDS) -> Hashes:
    """The heaviest words of each document by TF-IDF, of all documents together, each once."""
    heaviest = [
        weights.ids[np.argsort(-weights.values, kind="stable")[:most]] for weights in (tfidf(d, idf) for d in documents)
    ]
    return np.unique(np.concatenate(heaviest))


def communities(keywords: Hashes, sentences: Sequence[Counts]) -> list[Hashes]:
    """Keywords that stand in the same sentences, as concepts; one that stands with no other is a concept of its own.

    The keywords are in rising order, each once.
    """
    import networkx  # type: ignore[import-untyped]

    graph = networkx.Graph()
    graph.add_nodes_from(range(len(keywords)))
    held = np.zeros((len(sentences), len(keywords)))
    sentence, _, place, known = _found(sentences, keywords)
    held[sentence[known], place[known]] = 1.0
    together = held.T @ held  # in how many sentences two keywords stand
    first, second = np.triu_indices(len(keywords), 1)
    ties = zip(first.tolist(), second.tolist(), together[first, second].tolist(), strict=True)
    graph.add_weighted_edges_from(tie for tie in ties if tie[2])
    found = networkx.community.louvain_communities(graph, seed=SEED) if len(keywords) else []
    return [keywords[sorted(members)] for members in sorted(found, key=min)]


def assign(sentences: Sequence[Counts], concepts: Sequence[Hashes], idf: Idf) -> Ints:
    """The concept each sentence is most like, of equals the first; len(concepts) for one that holds no keyword."""
    bags = [tfidf(Counts(ids, np.ones(len(ids), dtype=np.int64)), idf) for ids in concepts]
    words = np.concatenate([np.empty(0, np.uint64), *concepts])
    order = np.argsort(words)
    owner = np.repeat(np.arange(len(bags)), [len(ids) for ids in concepts])[order]
    weight = np.concatenate([np.empty(0), *(bag.values for bag in bags)])[order]
    sentence, counts, place, known = _found(sentences, words[order])
    ids = np.concatenate([np.empty(0, np.uint64), *(one.ids for one in sentences)])
    own = (1 + np.log(counts)) * idf.idf(ids)
    lengths = np.sqrt(np.bincount(sentence, own**2, len(sentences)))
    scores = np.zeros((len(sentences), len(bags) + 1))
    np.add.at(scores, (sentence[known], owner[place[known]]), own[known] * weight[place[known]])
    scores /= np.where(lengths > 0, lengths, 1.0)[:, None]
    scores = scores.round(9)
    scores[:, -1] = 1e-10  # more than nothing: a sentence without a keyword goes there
    return np.asarray(scores.argmax(1), dtype=np.int64)


def _found(sentences: Sequence[Counts], words: Hashes) -> tuple[Ints, Ints, Ints, npt.NDArray[np.bool_]]:
    """Of each word of each sentence: which sentence, how often, its place among `words` (rising), and is it one?"""
    sentence = np.repeat(np.arange(len(sentences)), [len(one.ids) for one in sentences])
    ids = np.concatenate([np.empty(0, np.uint64), *(one.ids for one in sentences)])
    counts = np.concatenate([np.empty(0, np.int64), *(one.counts for one in sentences)])
    if not len(words):
        return sentence, counts, np.zeros(len(ids), dtype=np.int64), np.zeros(len(ids), dtype=bool)
    place = np.minimum(np.searchsorted(words, ids), len(words) - 1)
    return sentence, counts, place, words[place] == ids


def similarities(x: Counts, y: Counts, idf: Idf) -> Floats:
    """TF-IDF cosine, TF cosine, BM25 (as a share of the texts' own, both directions), Jaccard, Ochiai: from 0 to 1."""
    if not len(x.ids) or not len(y.ids):
        return np.zeros(5)
    shared = len(np.intersect1d(x.ids, y.ids, assume_unique=True))
    either = len(x.ids) + len(y.ids) - shared
    return np.array(
        [
            tfidf(x, idf).dot(tfidf(y, idf)),
            _plain(x).dot(_plain(y)) / np.sqrt(_plain(x).dot(_plain(x)) * _plain(y).dot(_plain(y))),
            (_bm25(x, y, idf) + _bm25(y, x, idf)) / max(_bm25(x, x, idf) + _bm25(y, y, idf), 1e-12),
            shared / either,
            shared / np.sqrt(len(x.ids) * len(y.ids)),
        ]
    ).clip(0.0, 1.0)


def _bm25(query: Counts, text: Counts, idf: Idf) -> float:
    """The distinct words of one looked for in the other, both being of middling length."""
    saturated = text.counts / (text.counts + K1)
    return Weighted(query.ids, idf.idf(query.ids)).dot(Weighted(text.ids, saturated))


def _plain(text: Counts) -> Weighted:
    return Weighted(text.ids, text.counts.astype(np.float64))


def _bag(stream: Stream, chosen: npt.NDArray[np.bool_]) -> Counts:
    """The words of some sentences."""
    return Counts.of(stream.ids[chosen[stream.sentence]])


def _joined(x: Counts, y: Counts) -> Counts:
    ids, place = np.unique(np.concatenate([x.ids, y.ids]), return_inverse=True)
    return Counts(ids, np.bincount(place, np.concatenate([x.counts, y.counts]), len(ids)).astype(np.int64))
