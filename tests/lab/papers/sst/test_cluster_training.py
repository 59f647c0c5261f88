"""Adaptive clustering learns from labelled pairs what the subtopics of two documents are."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import load_file
from torch_geometric.nn import DMoNPooling

import longmatch
from longmatch.errors import LongmatchError
from longmatch.lab.papers.sst.cluster_training import (
    FLOOR,
    ClusterRecipe,
    ClusterSettings,
    agreement_loss,
    cluster_shares,
    modularity_loss,
    separation_loss,
    subtopic_loss,
)
from longmatch.lab.papers.sst.network import AdaptiveClustering, ClusterModel
from longmatch.lab.training.settings import TrainingSettings
from longmatch.lab.training.train import train
from tests.lab.training.synthetic.subtopics import SENTENCES, write_two_subtopics

SHAPE = {"cluster_size": 8, "hidden": 64}
SIX = torch.tensor([[0.9, 0.1], [0.8, 0.2], [0.3, 0.7], [0.6, 0.4], [0.2, 0.8], [0.4, 0.6]])  # three of either document
SIZES, TWO = torch.tensor([[3, 3]]), torch.tensor([2])
TRIANGLES = torch.tensor([(i, j) for block in ((0, 1, 2), (3, 4, 5)) for i in block for j in block if i != j]).T
EVEN = torch.full((6, 2), 0.5)
HALVES = torch.tensor([[1.0, 0.0]] * 3 + [[0.0, 1.0]] * 3)


@pytest.fixture(scope="module")
def made(tiny_bert: Path, tmp_path_factory) -> Path:
    words = [word for word in (tiny_bert / "vocab.txt").read_text().split() if word.isalpha() and len(word) > 3]
    return write_two_subtopics(tmp_path_factory.mktemp("made") / "made", words)


@pytest.fixture(scope="module")
def cache(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def recipe(made, cache, tiny_bert):
    """Makes a recipe over the made collection."""

    def make(seed: int = 0, documents: int = 32, **own) -> ClusterRecipe:
        torch.manual_seed(seed)
        settings = TrainingSettings(seed=seed, documents=documents, device="cpu")
        return ClusterRecipe.make([made], cache, settings, ClusterSettings(backbone=str(tiny_bert), **SHAPE | own))

    return make


def learn(recipe: ClusterRecipe, steps: int) -> tuple[dict[str, float], dict[str, float]]:
    """The measures before and after some steps."""
    with torch.no_grad():
        before = recipe.validate(recipe.model)
    optimizer = torch.optim.AdamW(recipe.model.parameters(), lr=1e-3)
    for step in range(steps):
        optimizer.zero_grad()
        recipe.backward(recipe.model, recipe.draw(step))
        optimizer.step()
    with torch.no_grad():
        return before, recipe.validate(recipe.model)


def chosen(recipe: ClusterRecipe, a: str, b: str) -> list[int]:
    """The likeliest cluster of each sentence of two documents."""
    sides = [recipe.vectors[recipe.data.tokens.number(id)] for id in (a, b)]
    sizes = torch.tensor([[len(side) for side in sides]])
    return recipe.model(recipe.model.graph(torch.from_numpy(np.concatenate(sides)), sizes)).argmax(1).tolist()


@pytest.mark.parametrize("seed", range(2))
def test_the_subtopics_of_documents_never_seen_are_found(recipe, seed):
    learnt = recipe(seed)
    before, after = learn(learnt, 100)
    assert before["loss"] > 0.25 and after["loss"] < 0.05
    assert after["agreement_loss"] < 0.05 and after["agreement_of_others"] > 3
    match, other = chosen(learnt, "xy-0", "xy-1"), chosen(learnt, "x-0", "y-1")
    x, y = other[0], other[-1]
    assert x != y and other == [x] * 2 * SENTENCES + [y] * 2 * SENTENCES
    first, second = match[0], match[-1]
    assert first != second and match == ([first] * SENTENCES + [second] * SENTENCES) * 2


def test_without_separation_all_may_be_one_cluster(recipe):
    _, after = learn(recipe(separation=0.0), 60)
    assert after["loss"] == pytest.approx(after["agreement_loss"]) and after["agreement_loss"] < 0.05


def test_without_agreement_other_pairs_alone_are_told_apart(recipe):
    _, after = learn(recipe(agreement=0.0), 100)
    assert after["loss"] == pytest.approx(after["separation_loss"]) and after["separation_loss"] < 0.25


def test_without_both_the_subtopics_are_what_the_graph_has_edges_within(recipe):
    learnt = recipe(agreement=0.0, separation=0.0, modularity=1.0)
    before, after = learn(learnt, 100)
    assert after["loss"] == pytest.approx(after["modularity_loss"]) and after["loss"] < before["loss"] - 0.2
    other = chosen(learnt, "x-0", "y-1")
    assert other[0] != other[-1] and other == [other[0]] * 2 * SENTENCES + [other[-1]] * 2 * SENTENCES


def test_the_loss_is_the_weighted_sum_of_its_terms(recipe):
    one = recipe(agreement=2.0, separation=10.0, modularity=3.0)
    losses = one.backward(one.model, one.draw(0))
    parts = 2 * losses["agreement_loss"] + 10 * losses["separation_loss"] + 3 * losses["modularity_loss"]
    assert losses["loss"].item() == pytest.approx(parts.item(), abs=1e-4)


def test_a_batch_holds_as_many_matches_as_others_though_others_are_twice_as_many(recipe):
    one = recipe()
    labels = [one.draw(step).label for step in range(one.steps_per_epoch)]
    assert all(abs(int(part.sum()) - len(part) / 2) <= 1 for part in labels)
    assert sum(int((1 - part).sum()) for part in labels) == int((1 - one.pairs.label).sum())  # each once


def test_a_batch_depends_on_the_seed_and_the_step_alone(recipe):
    one, same, other = recipe(), recipe(), recipe(seed=1)
    one.draw(5)
    assert torch.equal(one.draw(2).graph.vectors, same.draw(2).graph.vectors)
    assert not torch.equal(one.draw(2).graph.vectors, other.draw(2).graph.vectors)
    assert not torch.equal(one.draw(2).graph.vectors, one.draw(3).graph.vectors)


def test_validation_is_that_of_the_pairs_one_by_one_and_the_same_whatever_the_seed(recipe):
    one, other = recipe(), recipe(seed=7)
    other.model.load_state_dict(one.model.state_dict())
    with torch.no_grad():
        found = one.validate(one.model)
        assert found == pytest.approx(other.validate(other.model), abs=1e-5)
        alone = [one.pair_losses(one.lay_out(one.held_out, np.array([row])).graph) for row in range(len(one.held_out))]
    matches = one.held_out.label == 1
    agreement, separation, modularity = torch.cat(alone, dim=1).numpy()
    assert found["agreement_loss"] == pytest.approx(agreement[matches].mean(), abs=1e-4)
    assert found["separation_loss"] == pytest.approx(separation[~matches].mean(), abs=1e-4)
    assert found["modularity_loss"] == pytest.approx(modularity.mean(), abs=1e-4)


def test_a_trained_folder_opens_again_and_the_same_seed_gives_the_same_weights(made, tiny_bert, tmp_path):
    settings = {"backbone": str(tiny_bert), "steps": 4, "validate_every": 2, "device": "cpu", "documents": 16, **SHAPE}
    outs = [
        train("sst-clusters", made, tmp_path / name, seed=seed, **settings)
        for name, seed in (("a", 0), ("b", 0), ("c", 1))
    ]
    a, b, c = (load_file(out / "model.safetensors") for out in outs)
    assert all(torch.equal(a[name], b[name]) for name in a)
    assert not all(torch.equal(a[name], c[name]) for name in a)
    record = json.loads((outs[0] / "longmatch.json").read_text())
    assert record["model"] == "sst-clusters" and next(iter(record["scores"])) == "loss"
    assert ClusterModel.from_pretrained(outs[0]).config.max_sentences == 40
    card = (outs[0] / "README.md").read_text(encoding="utf-8")
    assert f"--set clusters={outs[0]}" in card and "lm.load" not in card
    with pytest.raises(LongmatchError, match="matches nothing by itself"):
        longmatch.load(outs[0])
    clustering = AdaptiveClustering.load(outs[0], device="cpu")
    again = ClusterRecipe.make(
        [made], tmp_path / "cache", TrainingSettings(device="cpu"), ClusterSettings(backbone=str(tiny_bert), **SHAPE)
    )
    tokens = [again.data.tokens[again.data.tokens.number(id)] for id in ("xy-0", "x-1")]
    found = clustering.assign(*tokens)
    assert found.shape == (4 * SENTENCES, 2)
    np.testing.assert_allclose(found.sum(1), 1, atol=1e-5)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"agreement": 0.0, "separation": 0.0}, "nothing is left to learn"),
        ({"neighbours": 0}, "The setting neighbours is 0; it must be 1 or more"),
        ({"cluster_size": 0.0}, "The setting cluster_size is 0.0; it must be above 0"),
        ({"dropout": 1.0}, "The setting dropout is 1.0; it must be 0 or more and below 1"),
    ],
)
def test_settings_that_make_no_sense_are_refused_in_a_sentence(settings, sentence):
    with pytest.raises(LongmatchError, match=sentence):
        ClusterSettings(**settings)


def test_a_documents_cluster_shares_are_the_means_of_its_sentences_largest_chances():
    """The first two are largest in cluster 1 (0.9, 0.8), the third in cluster 2 (0.7); then 0.6; 0.8, 0.6."""
    expected = [[[1.7 / 3, 0.7 / 3], [0.6 / 3, 1.4 / 3]]]
    torch.testing.assert_close(cluster_shares(SIX, SIZES), torch.tensor(expected))


def test_agreement_as_written_by_hand():
    """Half of both divergences: (17 - 6)/30 * ln(17/6) + (7 - 14)/30 * ln(7/14), halved."""
    by_hand = (11 / 30 * math.log(17 / 6) + 7 / 30 * math.log(2)) / 2
    assert by_hand == pytest.approx(0.27180, abs=1e-5)
    assert agreement_loss(SIX, SIZES).item() == pytest.approx(by_hand, abs=1e-6)


def test_agreement_by_jensen_shannon_by_hand():
    """Against the means of both, 23/60 and 21/60."""
    p, q, middle = (34 / 60, 14 / 60), (12 / 60, 28 / 60), (23 / 60, 21 / 60)
    by_hand = sum(a * math.log(a / m) + b * math.log(b / m) for a, b, m in zip(p, q, middle, strict=True)) / 2
    assert by_hand == pytest.approx(0.06551, abs=1e-5)
    assert agreement_loss(SIX, SIZES, "jensen-shannon").item() == pytest.approx(by_hand, abs=1e-6)


def test_separation_as_written_by_hand():
    """B^T B: 0.81 + 0.64 + 0.09 + 0.36 + 0.04 + 0.16 = 2.1, and 0.01 + 0.04 + 0.49 + 0.16 + 0.64 + 0.36 = 1.7 on the
    diagonal; 0.09 + 0.16 + 0.21 + 0.24 + 0.16 + 0.24 = 1.1 beside it. Less I: 1.1, 0.7 and twice 1.1."""
    assert separation_loss(SIX, SIZES, TWO, "written").item() == pytest.approx(math.sqrt(3 * 1.21 + 0.49), abs=1e-6)


def test_separation_scaled_by_hand():
    """The same matrix brought to length 1, less I / sqrt(2)."""
    length = math.sqrt(2.1**2 + 1.7**2 + 2 * 1.1**2)
    rest = (2.1 / length - math.sqrt(0.5), 1.7 / length - math.sqrt(0.5), 1.1 / length, 1.1 / length)
    assert separation_loss(SIX, SIZES, TWO).item() == pytest.approx(math.hypot(*rest), abs=1e-6)


def test_the_adaptive_loss_of_a_match_and_another_pair_by_hand():
    """L_u = L_p of the first + 10 * L_n of the second; what either adds of the other kind does not count."""
    both, sizes = torch.cat([SIX, SIX]), torch.tensor([[3, 3], [3, 3]])
    losses = agreement_loss(both, sizes), separation_loss(both, sizes, torch.tensor([2, 2]))
    by_hand = agreement_loss(SIX, SIZES).item() + 10 * separation_loss(SIX, SIZES, TWO).item()
    assert subtopic_loss(*losses, torch.tensor([1, 0]), weight=10).item() == pytest.approx(by_hand, abs=1e-5)


def test_documents_of_one_distribution_agree_and_those_of_different_clusters_do_not():
    assert agreement_loss(SIX[[0, 2, 0, 2]], torch.tensor([[2, 2]])).item() == pytest.approx(0, abs=1e-7)
    assert agreement_loss(HALVES, SIZES, "jensen-shannon").item() == pytest.approx(math.log(2), abs=1e-6)


def test_a_cluster_that_one_document_lacks_counts_as_if_it_held_a_trace():
    by_hand = (1 - FLOOR) * math.log(1 / FLOOR)  # twice, halved
    assert agreement_loss(HALVES, SIZES).item() == pytest.approx(by_hand, abs=1e-4)


def test_as_written_separation_rewards_doubt_and_scaled_it_rewards_distinct_clusters():
    written = [separation_loss(b, SIZES, TWO, "written").item() for b in (HALVES, EVEN)]
    assert written == pytest.approx([math.sqrt(8), math.sqrt(5)], abs=1e-6)
    scaled = [separation_loss(b, SIZES, TWO).item() for b in (HALVES, EVEN)]
    assert scaled == pytest.approx([0, math.sqrt(2 - math.sqrt(2))], abs=1e-6)


@pytest.mark.parametrize("divergence", ["jensen-shannon", "symmetrised-kl"])
@pytest.mark.parametrize("orthogonality", ["scaled", "written"])
def test_gradients_are_finite_where_a_cluster_is_empty_and_a_column_unused(divergence, orthogonality):
    b = torch.cat([HALVES, torch.zeros(6, 1)], dim=1).requires_grad_()
    agreement = agreement_loss(b, SIZES, divergence)
    (agreement + separation_loss(b, SIZES, TWO, orthogonality)).sum().backward()
    assert b.grad is not None and b.grad.isfinite().all()


def test_a_batch_of_matches_alone_has_no_separation_to_learn():
    assert subtopic_loss(
        torch.tensor([0.5, 0.1]), torch.tensor([2.0, 3.0]), torch.tensor([1, 1])
    ).item() == pytest.approx(0.3)


def loops(b, sizes, clusters):
    """Equations 4 and 5 as they are written, pair by pair and sentence by sentence."""
    found, start = [], 0
    for (a, d), m in zip(sizes, clusters, strict=True):
        own = b[start : start + a + d, :m].double()
        start += a + d
        shares = torch.zeros(2, m, dtype=torch.double)
        for i, row in enumerate(own):
            shares[int(i >= a), row.argmax()] += row.max() / (d if i >= a else a)
        p, q = shares.clamp(min=FLOOR)
        agreement = (0.5 * (p * (p / q).log() + q * (q / p).log())).sum()
        found.append((agreement.item(), (own.T @ own - torch.eye(m)).norm().item()))
    return found


@given(
    st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5), st.integers(2, 4)), min_size=1, max_size=4),
    st.integers(0, 9999),
)
def test_flat_pairs_equal_the_plain_loops(shapes, seed):
    sizes, clusters = [(a, d) for a, d, _ in shapes], [m for _, _, m in shapes]
    seeded = torch.Generator().manual_seed(seed)
    rows = [torch.rand(a + d, m, generator=seeded).softmax(1) for a, d, m in shapes]
    b = torch.cat([torch.nn.functional.pad(row, (0, 4 - row.shape[1])) for row in rows])
    found = zip(
        agreement_loss(b, torch.tensor(sizes)).tolist(),
        separation_loss(b, torch.tensor(sizes), torch.tensor(clusters), "written").tolist(),
        strict=True,
    )
    for one, other in zip(found, loops(b, sizes, clusters), strict=True):
        assert one == pytest.approx(other, abs=1e-4)


def test_two_triangles_in_two_clusters_by_hand():
    """All 12 edges' ends lie inside, by chance 2 * 6 * 6 / 12 = 6 would; even clusters add nothing: -(12 - 6) / 12."""
    halves = torch.tensor([[1.0, 0.0]] * 3 + [[0.0, 1.0]] * 3)
    assert modularity_loss(halves, TRIANGLES, torch.ones(12), SIZES, TWO).item() == pytest.approx(-0.5, abs=1e-6)


def test_all_in_one_cluster_by_hand():
    """No more inside than by chance; sqrt(2) / 6 * 6 - 1 for the cluster that takes all."""
    one = torch.tensor([[1.0, 0.0]] * 6)
    assert modularity_loss(one, TRIANGLES, torch.ones(12), SIZES, TWO).item() == pytest.approx(2**0.5 - 1, abs=1e-6)


def test_flat_pairs_equal_torch_geometrics_layer_over_matrices():
    torch.manual_seed(0)
    layer, x = DMoNPooling(8, 3), torch.randn(2, 6, 8)
    matrix = torch.rand(2, 6, 6) * (1 - torch.eye(6))
    matrix = matrix + matrix.transpose(1, 2)
    b, _, _, spectral, _, collapse = layer(x, matrix.clone())
    pair, target, source = matrix.nonzero().T
    edges = torch.stack([source, target]) + 6 * pair
    loops = torch.arange(12).repeat(2, 1)  # of no weight, whatever it is
    edges, weights = torch.cat([edges, loops], dim=1), torch.cat([matrix[pair, target, source], torch.ones(12)])
    flat = modularity_loss(b.flatten(0, 1), edges, weights, torch.tensor([[2, 4], [3, 3]]), torch.tensor([3, 3]))
    assert flat.mean().item() == pytest.approx((spectral + collapse).item(), abs=1e-5)


def test_sentences_without_any_edge_have_a_finite_loss_and_gradient():
    b = torch.full((6, 2), 0.5, requires_grad=True)
    loss = modularity_loss(b, torch.arange(6).repeat(2, 1), torch.ones(6), SIZES, TWO)
    loss.sum().backward()
    assert loss.isfinite().all() and b.grad is not None and b.grad.isfinite().all()
