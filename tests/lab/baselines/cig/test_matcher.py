"""CIG's network and matcher: what is read of a pair, that a plain loop makes the same of it, and what it says."""

import numpy as np
import pytest
import torch

from longmatch.documents.read import read_text_string
from longmatch.errors import LongmatchError
from longmatch.lab.baselines.cig.concepts import FEATURES, ConceptGraphBuilder, GraphBatch, PairGraph
from longmatch.lab.baselines.cig.matcher import CigMatcher, CigModel, margins
from longmatch.lab.encoders.checkpoint import open_tokenizer
from longmatch.lab.matchers import tokens_of
from longmatch.lab.words import TokenWords
from longmatch.lexical.weights import Frequencies
from longmatch.models.loading import load
from tests.lab.baselines.cross.tiny_cross import enlarge

A = "The river rose over the bank. Water of the river stood at the bank. A bird sings in the morning."
B = "The bank of the river broke. Towers of stone were cut. He was an old mason."


@pytest.fixture(scope="module")
def tokenizer(tiny_bert):
    return open_tokenizer(str(tiny_bert))


@pytest.fixture(scope="module")
def matcher(tiny_bert, tokenizer, examples):
    torch.manual_seed(0)
    model = CigModel.new(str(tiny_bert), tokenizer, channels=8, hidden=12, keywords=6).eval()
    enlarge(model, 0.3)
    words = TokenWords.of(tokenizer.backend_tokenizer)
    model.store_frequencies(Frequencies.of(words.words(tokens_of(d, tokenizer)).counts for d in examples.values()))
    return CigMatcher(model, tokenizer)


@pytest.fixture(scope="module")
def pair():
    return read_text_string(A, "a"), read_text_string(B, "b")


@pytest.fixture(scope="module")
def tokens(pair, tokenizer):
    return tuple(tokens_of(d, tokenizer) for d in pair)


def made_graph(nodes, seed):
    """A pair of random texts, features and links; of its last node the second document says nothing."""
    random = np.random.default_rng(seed)
    texts = [random.integers(5, 60, size) for size in random.integers(1, 6, 2 * nodes).tolist()]
    texts[-1] = np.empty(0, np.int64)
    links = random.random((nodes, nodes)) * (random.random((nodes, nodes)) > 0.3)
    links = np.maximum(links, links.T)
    np.fill_diagonal(links, 1.0)
    return PairGraph(tuple(texts), random.random((nodes, FEATURES)), links, random.random(5))


def plain(model, graph):
    """The network, node by node and text by text."""

    def text(ids):
        if not len(ids):
            return torch.zeros(model.config.channels)
        words = model.words(torch.from_numpy(ids))
        return model.convolution(words.T[None])[0].relu().amax(1)

    rows = []
    for node in range(len(graph)):
        x, y = text(graph.texts[2 * node]), text(graph.texts[2 * node + 1])
        own = model.matched(torch.cat([(x - y).abs(), x * y])).relu()
        rows.append(torch.cat([own, torch.from_numpy(graph.features[node]).float()]))
    degrees = graph.links.sum(1)
    matrix = torch.from_numpy(graph.links / np.sqrt(np.outer(degrees, degrees))).float()
    nodes = torch.stack(rows)
    for layer in model.layers:
        nodes = layer.dense(matrix @ nodes).relu()
    whole = torch.cat([nodes.mean(0), torch.from_numpy(graph.whole).float()])
    return model.classifier(model.dense(whole).relu())


@torch.no_grad()
def test_pairs_read_together_are_what_a_plain_loop_makes_of_each(matcher):
    graphs = [made_graph(nodes, seed) for seed, nodes in enumerate((3, 1, 5))]
    found = matcher.model(GraphBatch.of(graphs))
    for row, graph in zip(found, graphs, strict=True):
        torch.testing.assert_close(row, plain(matcher.model, graph), atol=1e-5, rtol=1e-4)


def test_the_tokens_at_a_node_are_those_of_its_sentences(matcher, tokens):
    graph = matcher.graphs.graph(*tokens)
    laid = matcher.graphs.pair_graph(graph, *tokens)
    for side, node_of in enumerate((graph.a, graph.b)):
        parts = np.split(tokens[side].ids, tokens[side].sentence_offsets[1:-1])
        for node in range(len(graph)):
            wanted = [token for part, at in zip(parts, node_of, strict=True) if at == node for token in part.tolist()]
            assert laid.texts[2 * node + side].tolist() == wanted
    assert laid.tokens == sum(map(len, tokens)) and len(laid) == len(graph)


def test_without_a_node_its_text_features_and_links_are_gone():
    graph = made_graph(4, 0)
    found = graph.without(1)
    kept = [0, 2, 3]
    assert [text.tolist() for text in found.texts] == [graph.texts[2 * n + s].tolist() for n in kept for s in (0, 1)]
    assert (found.features == graph.features[kept]).all() and (found.links == graph.links[np.ix_(kept, kept)]).all()


@torch.no_grad()
def test_a_graph_without_nodes_is_judged_by_the_documents_as_a_whole(matcher):
    empty, other = made_graph(1, 3).without(0), made_graph(2, 4)
    one, two = matcher.model(GraphBatch.of([empty])), matcher.model(GraphBatch.of([other, empty]))
    torch.testing.assert_close(one[0], two[1])
    whole = torch.cat([torch.zeros(12), torch.from_numpy(empty.whole).float()])
    torch.testing.assert_close(one[0], matcher.model.classifier(matcher.model.dense(whole).relu()))


def test_links_are_normalised_as_in_a_graph_convolution():
    links = np.array([[1.0, 0.5], [0.5, 1.0]])
    batch = GraphBatch.of([PairGraph((), np.zeros((2, FEATURES)), links, np.zeros(5))])
    assert batch.edges.tolist() == [[0, 0, 1, 1], [0, 1, 0, 1]]
    assert batch.weights.tolist() == pytest.approx((links / 1.5).flatten().tolist())


def test_a_pair_has_one_score_either_way_round_and_alone(matcher, examples):
    documents = list(examples.values())[:3]
    pairs = [(a, b) for a in documents for b in documents if a is not b]
    found = dict(zip([(a.id, b.id) for a, b in pairs], matcher.score_pairs(pairs), strict=True))
    for a, b in pairs:
        assert found[a.id, b.id] == pytest.approx(found[b.id, a.id], abs=1e-5)
        assert found[a.id, b.id] == pytest.approx(matcher.score_pairs([(a, b)])[0], abs=1e-5)
    assert len(set(found.values())) > 1


def test_what_a_concept_carries_is_what_the_margin_loses_without_it(matcher, pair, tokens):
    concepts = matcher.concepts(*pair)
    graph = matcher.graphs.graph(*tokens)
    laid = matcher.graphs.pair_graph(graph, *tokens)
    whole, *without = (
        margins(matcher.model, GraphBatch.of([one])).item() for one in [laid, *map(laid.without, range(len(laid)))]
    )
    drops = np.array([whole - one for one in without])
    gains = drops.clip(min=0) if drops.max() > 0 else drops - drops.min()
    assert len(concepts) == len(graph) > 1 and gains.sum() > 0
    assert [c.contribution for c in concepts] == pytest.approx(sorted(gains / gains.sum(), reverse=True), abs=1e-4)
    assert sum(c.contribution for c in concepts) == pytest.approx(1)


def test_concepts_name_their_keywords_and_hold_every_sentence_once(matcher, pair):
    concepts = matcher.concepts(*pair)
    river = next(c for c in concepts if "river" in c.words)
    assert len(river.a) == 2 and len(river.b) == 1 and "bank" in river.words
    for side, document in zip("ab", pair, strict=True):
        spans = sorted((p.start, p.end) for c in concepts for p in getattr(c, side))
        assert spans == sorted((s.start, s.end) for s in document.sentences)


def test_a_comparison_gives_the_score_and_credits_sentences_of_one_concept_to_each_other(matcher, pair):
    match = matcher.compare(*pair)
    assert match.score == pytest.approx(matcher.score_pairs([pair])[0], abs=1e-5) and match.probability == match.score
    assert sum(one.contribution for one in match.alignments) == pytest.approx(1)
    mine, theirs = ({p.start: c for c in matcher.concepts(*pair) for p in getattr(c, side)} for side in "ab")
    for one in match.alignments:
        home, other = mine[one.a.start], theirs[one.b.start]
        assert home == other or not home.b or not other.a
    river = [one for one in match.alignments if one.b.text == "The bank of the river broke." and "river" in one.a.text]
    assert all({"river", "bank"} <= set(one.words) for one in river)
    assert match.sections.scores.shape == (1, 1)


def test_it_ranks_documents_by_their_scores(matcher, examples):
    query, *others = list(examples.values())[:4]
    hits = matcher.rank(query, [query, *others], k=2)
    scores = dict(zip([d.id for d in others], matcher.score_pairs([(query, d) for d in others]), strict=True))
    assert [hit.id for hit in hits] == sorted(scores, key=lambda id: (-scores[id], id))[:2] and hits[0].why


def test_a_saved_model_opens_with_its_words_and_scores_the_same(matcher, pair, tmp_path):
    matcher.model.save_pretrained(tmp_path)
    matcher.tokenizer.save_pretrained(tmp_path)
    again = load(f"cig@{tmp_path}")
    assert isinstance(again, CigMatcher) and again.model.config.known_words > 100
    old, new = matcher.model.frequencies, again.model.frequencies
    assert old.documents == new.documents > 1 and (old.ids == new.ids).all() and (old.counts == new.counts).all()
    assert again.score_pairs([pair]) == pytest.approx(matcher.score_pairs([pair]), abs=1e-5)


def test_a_text_without_words_is_compared_all_the_same(matcher, pair):
    empty = read_text_string("Of the and. And of the.", "empty")
    assert not len(matcher.words.words(tokens_of(empty, matcher.tokenizer)).ids)
    assert 0 <= matcher.score_pairs([(empty, pair[0])])[0] <= 1 and 0 <= matcher.score_pairs([(empty, empty)])[0] <= 1
    assert matcher.compare(empty, pair[0]).alignments


def test_keywords_are_as_many_as_the_settings_say(matcher, tokens):
    few = ConceptGraphBuilder(matcher.graphs.matrices, matcher.graphs.idf, 1).graph(*tokens)
    assert sum(len(concept) for concept in few.concepts) <= 2 < sum(map(len, matcher.graphs.graph(*tokens).concepts))


def test_the_model_has_to_be_trained_first():
    with pytest.raises(LongmatchError, match="longmatch train cig --data DIR"):
        load("cig")
