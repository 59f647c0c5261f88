"""The sentence graph and the cluster network: by hand, independent of the rest of the batch, and trainable."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch_geometric.nn import DMoNPooling

from longmatch.documents.read import read_text_string
from longmatch.encoders.backbone import Backbone
from longmatch.errors import LongmatchError
from longmatch.lab.encoders.backbone import TorchBackbone
from longmatch.lab.papers.sst.cluster_training import agreement_loss, separation_loss, subtopic_loss
from longmatch.lab.papers.sst.network import (
    AdaptiveClustering,
    ClusterConfig,
    ClusterModel,
    FirstSentenceVectors,
    SentenceGraph,
    first_sentence_vectors,
)
from longmatch.lab.store.layer import Unreadable
from longmatch.lab.store.tokens import TokenCollection
from longmatch.units import tokenize
from tests.forked import start
from tests.lab.papers.sst.planted import EACH, WIDTH, planted
from tests.lab.papers.sst.without_geometric import make_network
from tests.lab.store.essays import source_of

LINE = torch.tensor([[1.0, 0.0], [0.6, 0.8], [0.0, 1.0]])  # cosines 0.6, 0.8 and, of the ends, 0
TEXT = "The river rose. Houses were flooded. Many people left the town.\n\nA bridge is closed. Help came late."
TEXTS = ("The river rose. Houses were flooded. Help came.", "It rained.", "A bridge is closed. People left the town.")


def dense(graph: SentenceGraph) -> torch.Tensor:
    found = torch.zeros(len(graph.vectors), len(graph.vectors))
    found[graph.edges[1], graph.edges[0]] = graph.weights
    return found


def unit(rows: int, seed: int) -> torch.Tensor:
    return torch.nn.functional.normalize(torch.randn(rows, 8, generator=torch.Generator().manual_seed(seed)), dim=1)


def test_weights_are_cosines_over_the_roots_of_both_row_sums():
    """Row sums with the loops: 1 + 0.6, 0.6 + 1 + 0.8, 0.8 + 1."""
    sums = [1.6, 2.4, 1.8]
    cosines = [[1, 0.6, 0], [0.6, 1, 0.8], [0, 0.8, 1]]
    by_hand = [[c / math.sqrt(sums[i] * sums[j]) for j, c in enumerate(row)] for i, row in enumerate(cosines)]
    torch.testing.assert_close(dense(SentenceGraph.of(LINE, torch.tensor([[1, 2]]))), torch.tensor(by_hand))


def test_a_sentence_keeps_its_nearest_and_those_that_keep_it():
    """With one neighbour each, the first keeps the second, which keeps the third: the second has both."""
    graph = SentenceGraph.of(LINE, torch.tensor([[1, 2]]), neighbours=1)
    assert (dense(graph) > 0).tolist() == [[True, True, False], [True, True, True], [False, True, True]]
    apart = unit(30, 0)
    few = SentenceGraph.of(apart, torch.tensor([[10, 20]]), neighbours=3)
    best = (apart @ apart.T).fill_diagonal_(0).topk(3, dim=1).indices
    kept = {(i, j) for i, row in enumerate(best.tolist()) for j in row if apart[i] @ apart[j] > 0}
    expected = kept | {(j, i) for i, j in kept} | {(i, i) for i in range(30)}
    assert set(map(tuple, few.edges.T.tolist())) == expected


def test_sentences_that_point_away_from_all_others_have_themselves():
    graph = SentenceGraph.of(torch.tensor([[1.0, 0.0], [-1.0, 0.0]]), torch.tensor([[1, 1]]))
    assert graph.edges.tolist() == [[0, 1], [0, 1]] and graph.weights.tolist() == [1, 1]


def test_of_equally_near_sentences_the_earlier_are_kept():
    same = torch.tensor([[1.0, 0.0]]).repeat(6, 1)
    graph = SentenceGraph.of(same, torch.tensor([[3, 3]]), neighbours=1)
    assert dense(graph)[5].nonzero().flatten().tolist() == [0, 5]


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=5), st.integers(0, 999))
def test_the_graph_of_several_pairs_is_their_graphs_one_by_one(sizes, seed):
    counts = torch.tensor(sizes)
    vectors = unit(int(counts.sum()), seed)
    batch = dense(SentenceGraph.of(vectors, counts, neighbours=2))
    parts = vectors.split(counts.sum(1).tolist())
    alone = [dense(SentenceGraph.of(part, counts[i : i + 1], neighbours=2)) for i, part in enumerate(parts)]
    torch.testing.assert_close(batch, torch.block_diag(*[part for part in alone if len(part)])[: len(batch)])


@pytest.mark.parametrize("scale", [1.0, 0.5])
def test_the_graph_is_symmetric_and_no_row_outweighs_its_root(scale):
    matrix = dense(SentenceGraph.of(unit(12, 3) * scale**0.5, torch.tensor([[5, 7]])))
    torch.testing.assert_close(matrix, matrix.T)
    assert torch.linalg.eigvalsh(matrix).max() <= 1 + 1e-5  # D^-1/2 A D^-1/2


def tiny(seed: int = 0, **settings) -> ClusterModel:
    torch.manual_seed(seed)
    return ClusterModel(ClusterConfig(**{"vector_width": WIDTH, "hidden": 64, "cluster_size": 12, **settings}))


def some(sizes: list[tuple[int, int]]) -> tuple[torch.Tensor, torch.Tensor]:
    counts = torch.tensor(sizes)
    seeded = torch.Generator().manual_seed(1)
    return torch.nn.functional.normalize(torch.randn(int(counts.sum()), WIDTH, generator=seeded), dim=1), counts


def test_there_is_one_cluster_for_every_six_sentences_two_at_least_and_thirteen_at_most():
    counts = ClusterConfig().cluster_counts(torch.tensor([[20, 22], [1, 2], [40, 40], [50, 60]]))
    assert counts.tolist() == [7, 2, 13, 13] and ClusterConfig().max_clusters == 13


def test_each_sentence_has_a_distribution_over_the_clusters_of_its_pair():
    vectors, sizes = some([(3, 4), (20, 16)])
    model = tiny(cluster_size=6)
    found = model(model.graph(vectors, sizes))
    torch.testing.assert_close(found.sum(1), torch.ones(43))
    assert (found[:7, :2] > 0).all() and not found[:7, 2:].any()
    assert (found[7:, :6] > 0).all() and not found[7:, 6:].any()


def test_a_batch_of_pairs_is_the_pairs_one_by_one():
    vectors, sizes = some([(3, 4), (20, 16), (1, 1), (9, 2)])
    model = tiny(cluster_size=6)
    batch = model(model.graph(vectors, sizes))
    parts = vectors.split(sizes.sum(1).tolist())
    alone = [model(model.graph(part, sizes[i : i + 1])) for i, part in enumerate(parts)]
    torch.testing.assert_close(batch, torch.cat(alone), atol=1e-5, rtol=1e-5)


def test_attention_is_that_of_the_graph_attention_paper_with_a_weight_on_edges():
    """Sentence by sentence: a_ij from both ends and the edge, leaky, brought to sum 1; then the skip connection."""
    vectors, sizes = some([(4, 5)])
    model = tiny(heads=1, hidden=8)
    graph, layer = model.graph(vectors, sizes), model.attention
    x = vectors - vectors.mean(0)
    x = x / x.square().mean().sqrt()
    h = x @ layer.lin.weight.T
    rows = []
    for i in range(9):
        edges = [(int(j), w) for (j, t), w in zip(graph.edges.T, graph.weights, strict=True) if t == i]
        own = [
            (h[j] * layer.att_src[0, 0]).sum()
            + (h[i] * layer.att_dst[0, 0]).sum()
            + (w * layer.lin_edge.weight[:, 0] * layer.att_edge[0, 0]).sum()
            for j, w in edges
        ]
        shares = torch.nn.functional.leaky_relu(torch.stack(own), 0.2).softmax(0)
        rows.append(sum(share * h[j] for share, (j, _) in zip(shares, edges, strict=True)))
    hidden = torch.nn.functional.selu(torch.stack(rows) + x @ layer.res.weight.T + layer.bias)
    by_hand = model.head(hidden)[:, :2].softmax(1)
    torch.testing.assert_close(model(graph)[:, :2], by_hand, atol=1e-5, rtol=1e-5)


def test_the_head_and_its_separation_are_those_of_dmon_where_all_pairs_have_one_size():
    """torch-geometric's layer over padded matrices, with the same weights, has the same clusters and orthogonality."""
    vectors, sizes, _ = planted(4, seed=0)
    model = tiny(cluster_size=12, max_sentences=12)  # two clusters for all
    theirs = DMoNPooling(64, 2)
    theirs.mlp.lins[0].load_state_dict(model.head.state_dict())
    seen: list[torch.Tensor] = []
    model.head.register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0]))
    ours = model(model.graph(vectors, sizes))
    states = seen[0].view(4, 4 * EACH, 64)
    found, *_, orthogonality, _ = theirs(states, torch.ones(4, 4 * EACH, 4 * EACH))
    torch.testing.assert_close(ours.view(found.shape), found)
    own = separation_loss(ours, sizes, torch.full((4,), 2)).mean()
    assert own.item() == pytest.approx(orthogonality.item(), abs=1e-5)


@pytest.mark.parametrize("only", ["matches", "others"])
def test_gradients_reach_every_weight_from_either_loss(only):
    vectors, sizes, labels = planted(8, seed=0)
    model = tiny()
    found = model(model.graph(vectors, sizes))
    losses = agreement_loss(found, sizes), separation_loss(found, sizes, model.config.cluster_counts(sizes))
    subtopic_loss(*losses, torch.full_like(labels, int(only == "matches"))).backward()
    for name, weight in model.named_parameters():
        assert weight.grad is not None and weight.grad.isfinite().all() and weight.grad.any(), name


@pytest.mark.parametrize("seed", range(3))
def test_training_aligns_matches_that_have_no_sentence_alike_and_tells_other_pairs_apart(seed):
    vectors, sizes, labels = planted(16, seed)
    model = tiny(seed)
    graph, clusters = model.graph(vectors, sizes), model.config.cluster_counts(sizes)

    def losses(graph: SentenceGraph) -> tuple[torch.Tensor, torch.Tensor]:
        found = model(graph)
        return agreement_loss(found, sizes), separation_loss(found, sizes, clusters)

    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    before = subtopic_loss(*losses(graph), labels)
    for _ in range(120):
        optimizer.zero_grad()
        subtopic_loss(*losses(graph), labels).backward()
        optimizer.step()
    unseen = model.graph(planted(16, seed + 100)[0], sizes)
    agreement, separation = losses(unseen)
    assert before > 0.5 > 10 * subtopic_loss(agreement, separation, labels)
    assert agreement[labels == 1].max() < 0.1 and agreement[labels == 0].min() > 2
    assert separation[labels == 0].max() < 0.1  # near orthonormal, where 0.77 is one cluster
    document = model(unseen).argmax(1).view(-1, 2, 2 * EACH)[labels == 0]  # other pairs: a subtopic a document
    assert (document == document[..., :1]).all() and (document[:, 0] != document[:, 1]).all()


def test_a_saved_model_opens_again_with_the_same_clusters(tmp_path):
    model = tiny(neighbours=3)
    model.save_pretrained(tmp_path)
    again = ClusterModel.from_pretrained(tmp_path)
    vectors, sizes = some([(5, 6)])
    assert torch.equal(again(again.graph(vectors, sizes)), model(model.graph(vectors, sizes)))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["config.json", "model.safetensors"]


def test_heads_must_divide_the_width():
    with pytest.raises(LongmatchError, match="heads; they must divide its width, 64"):
        tiny(heads=5)


def test_the_package_and_the_network_are_imported_without_torch_geometric(tmp_path):
    """And a model asks for it in a sentence where it is missing."""
    process = start(make_network, out=tmp_path / "out", err=tmp_path / "err")
    process.join(60)
    assert process.exitcode == 0, (tmp_path / "err").read_text()
    assert "pip install 'longmatch[sst]'" in (tmp_path / "out").read_text()


@pytest.fixture(scope="module")
def folder(tmp_path_factory, tiny_bert):
    """A cluster model of random weights over the tiny BERT."""
    torch.manual_seed(0)
    made = ClusterModel(
        ClusterConfig(backbone=str(tiny_bert), vector_width=32, hidden=16, cluster_size=2, max_sentences=4)
    )
    found = tmp_path_factory.mktemp("clusters")
    made.save_pretrained(found)
    return found


@pytest.fixture(scope="module")
def clustering(folder) -> AdaptiveClustering:
    return AdaptiveClustering.load(folder, device="cpu")


@pytest.fixture
def pair(clustering):
    documents = [read_text_string(text) for text in (TEXT, "It rained. The river rose again.")]
    return [tokenize(document, clustering.backbone.tokenizer) for document in documents]


def test_a_pair_has_a_row_for_each_of_the_first_sentences_and_a_column_a_cluster(clustering, pair):
    found = clustering.assign(*pair)
    assert found.shape == (4 + 2, 3)  # of five sentences four are read
    np.testing.assert_allclose(found.sum(1), 1, atol=1e-5)


def test_many_pairs_at_once_are_assigned_as_each_alone(clustering, pair):
    a, b = clustering.vectors(pair)
    together = clustering.assign_vectors([(a, b), (b, a), (a, a)])
    np.testing.assert_allclose(together[0], clustering.assign(*pair), atol=1e-5)
    assert [len(one) for one in together] == [6, 6, 8] and clustering.assign_vectors([]) == []


def test_a_loaded_model_learns_no_more(clustering):
    assert not clustering.model.training
    assert not any(weight.requires_grad for weight in clustering.model.parameters())


def test_a_sentence_too_long_for_the_backbone_has_the_mean_of_its_pieces(tiny_bert):
    backbone = Backbone.load(str(tiny_bert), device="cpu", precision="float32")
    text = "Short one. " + " ".join(["river house people"] * 40) + ". Another short one."
    tokens = tokenize(read_text_string(text), backbone.tokenizer)
    start, end = tokens.sentence_offsets[1:3].tolist()
    assert end - start > backbone.max_tokens
    (found,) = first_sentence_vectors([tokens], backbone, limit=40)
    assert found.shape == (3, 32)
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1, atol=1e-5)
    short = backbone.encode([tokens.ids[:start], tokens.ids[end:]])
    np.testing.assert_allclose(found[[0, 2]], short, atol=1e-5)


def test_documents_are_encoded_together_as_each_alone(tiny_bert):
    backbone = Backbone.load(str(tiny_bert), device="cpu", precision="float32")
    texts = (TEXT, "It rained.", "Help came. It came late.")
    tokens = [tokenize(read_text_string(text), backbone.tokenizer) for text in texts]
    empty = replace(tokens[1], sentence_offsets=np.zeros(1, dtype=np.int64))
    together = list(first_sentence_vectors([*tokens[:2], empty, tokens[2]], backbone, limit=4))
    assert [len(vectors) for vectors in together] == [4, 1, 0, 2]
    for one, vectors in zip(tokens, (together[0], together[1], together[3]), strict=True):
        np.testing.assert_allclose(next(first_sentence_vectors([one], backbone, limit=4)), vectors, atol=1e-5)


@pytest.mark.parametrize("what", ["nothing", "another model"])
def test_a_folder_without_a_cluster_model_is_named_in_a_sentence(what, tmp_path, tiny_bert):
    with pytest.raises(LongmatchError, match=r"The cluster model .* cannot be opened .*longmatch train sst-clusters"):
        AdaptiveClustering.load(tmp_path if what == "nothing" else tiny_bert)


def test_a_backbone_that_a_folder_names_is_not_fetched(tmp_path, monkeypatch):
    monkeypatch.setattr("longmatch.encoders.pretrained.is_reachable", lambda: pytest.fail("the hub was asked"))
    ClusterModel(ClusterConfig(backbone="people/model", vector_width=32, hidden=16)).save_pretrained(tmp_path)
    with pytest.raises(LongmatchError, match=r"reads with the backbone people/model\. Put that into .* not fetched"):
        AdaptiveClustering.load(tmp_path, device="cpu")


@pytest.fixture(scope="module")
def small(tiny_bert) -> TorchBackbone:
    return TorchBackbone.load(str(tiny_bert), device="cpu")


def read(number: int):
    return Unreadable("bad", "it is blank") if number < 0 else read_text_string(TEXTS[number], id=str(number))


@pytest.fixture
def tokens(tmp_path, small) -> TokenCollection:
    return TokenCollection.build(tmp_path, source_of([0, -1, 1, 2], read), small.tokenizer)


def build(tokens, backbone, documents=(0, 2), most=2) -> FirstSentenceVectors:
    return FirstSentenceVectors.build(tokens, np.array(documents), backbone, most)


def made(tmp_path) -> dict[str, int]:
    return {str(path): path.stat().st_mtime_ns for path in tmp_path.glob("*/first-sentences-*/vectors.npy")}


def test_a_documents_vectors_are_those_of_its_first_sentences(tokens, small):
    vectors = build(tokens, small)
    expected = small.encode(
        [tokens[2].ids[a:b] for a, b in np.lib.stride_tricks.sliding_window_view(tokens[2].sentence_offsets, 2)]
    )
    np.testing.assert_allclose(vectors[2], expected, atol=1e-3)
    assert vectors[0].shape == (2, 32) and vectors[0].dtype == np.float32
    assert len(vectors[1]) == 0  # not asked for


def test_what_is_there_is_not_made_again_but_for_other_documents_lengths_or_weights(tmp_path, tokens, small, tiny_bert):
    build(tokens, small)
    before = made(tmp_path)
    build(tokens, small)
    assert made(tmp_path) == before and len(before) == 1
    build(tokens, small, documents=(0, 1))
    build(tokens, small, most=1)
    changed = TorchBackbone.load(str(tiny_bert), device="cpu")
    next(changed.model.parameters()).data[5] += 1
    build(tokens, changed)
    assert len(made(tmp_path)) == 4


def test_what_was_left_in_part_is_made_again(tmp_path, tokens, small):
    vectors = build(tokens, small)
    (path,) = made(tmp_path)
    folder = next(tmp_path.glob("*/first-sentences-*[!k]"))
    expected = vectors[0].copy()
    partial = folder.with_name(folder.name + ".partial")
    folder.rename(partial)
    (partial / "vectors.npy").write_bytes((partial / "vectors.npy").read_bytes()[:130])
    (partial / "layer.json").unlink()
    np.testing.assert_array_equal(build(tokens, small)[0], expected)
    assert list(made(tmp_path)) == [path] and not partial.exists()
