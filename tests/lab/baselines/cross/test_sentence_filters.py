"""Match-Ignition's filters: PageRank solved as equations, and worked by hand, against the iteration."""

import json

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment, linprog
from scipy.sparse import csr_array

from longmatch.errors import LongmatchError
from longmatch.lab.baselines.cross.encoder import CrossModel, read
from longmatch.lab.baselines.cross.matcher import CrossMatcher
from longmatch.lab.baselines.cross.selection import CrossBatch
from longmatch.lab.baselines.cross.sentence_filters import (
    IgnitionConfig,
    IgnitionMatcher,
    IgnitionModel,
    LayerWords,
    attention,
    best_within,
    joint_pagerank,
    partial_transport,
    special_places,
    transported_sentences,
    word_ranks,
)
from longmatch.lab.encoders.checkpoint import open_tokenizer
from tests.lab.baselines.cross.padding import padded
from tests.lab.baselines.cross.plain_pagerank import central_sentences, central_words, pagerank
from tests.lab.baselines.cross.tiny_cross import enlarge

SIDES = [(range(10, 25), range(30, 42)), (range(12, 15), range(50, 59)), ([20], [21, 22])]
pytestmark = pytest.mark.filterwarnings("ignore::longmatch.errors.LongmatchWarning")


def solved(weights: np.ndarray, damping: float) -> np.ndarray:
    """The same as linear equations: r = d W' r + (1 - d) / n."""
    count = len(weights)
    ways = weights - np.diag(np.diag(weights))
    ways = np.array([row / row.sum() if row.sum() else np.full(count, 1 / count) for row in ways])
    return np.linalg.solve(np.eye(count) - damping * ways.T, np.full(count, (1 - damping) / count))


@given(st.integers(1, 12), st.integers(0, 1000), st.sampled_from([0.0, 0.5, 0.85]))
def test_the_iteration_ends_where_the_equations_are_solved(count, seed, damping):
    rng = np.random.default_rng(seed)
    weights = rng.random((count, count)) * (rng.random((count, count)) < 0.4)
    found = pagerank(weights, damping)
    np.testing.assert_allclose(found, solved(weights, damping), atol=1e-7)
    assert found.sum() == pytest.approx(1)


def central_of(similarity: np.ndarray, lengths: np.ndarray, first: int, limit: int, most: int | None = None):
    ranks = pagerank(similarity)
    return central_sentences((ranks[:first], ranks[first:]), (lengths[:first], lengths[first:]), limit, most)


@given(st.integers(1, 8), st.integers(1, 8), st.integers(0, 1000), st.sampled_from([0.1, 0.4, 1.0]))
def test_a_graph_in_two_parts_has_the_ranks_of_the_whole(first, second, seed, density):
    rng = np.random.default_rng(seed)
    size = first + second
    weights = np.triu(rng.random((size, size)) * (rng.random((size, size)) < density), 1)
    weights += weights.T
    parts = csr_array(weights[:first, :first]), csr_array(weights[first:, first:])
    found = joint_pagerank(parts, csr_array(weights[:first, first:]))
    np.testing.assert_allclose(np.concatenate(found), pagerank(weights), atol=1e-9)


def test_a_star_worked_by_hand():
    # The middle c is reached from all three leaves: c = .05 + .8 (3 l), l = .05 + .8 (c / 3) with n = 4, d = .8.
    # So c = .05 + 2.4 (.05 + .8 c / 3) = .17 + .64 c: c = .17 / .36.
    star = np.zeros((4, 4))
    star[0, 1:] = star[1:, 0] = 1
    found = pagerank(star, damping=0.8)
    assert found[0] == pytest.approx(0.17 / 0.36, abs=1e-8)
    assert found[1:] == pytest.approx([(1 - 0.17 / 0.36) / 3] * 3, abs=1e-8)


def test_what_a_sentence_has_with_itself_does_not_count():
    weights = np.array([[5.0, 1.0], [1.0, 0.0]])
    assert pagerank(weights).tolist() == pytest.approx([0.5, 0.5])


def test_a_sentence_that_only_the_other_document_supports_stays_before_one_that_none_supports():
    # a: two sentences, b: two. Sentence 1 of a shares words with both of b; sentence 0 of a with none.
    similarity = np.zeros((4, 4))
    similarity[1, 2] = similarity[2, 1] = similarity[1, 3] = similarity[3, 1] = 1.0
    lengths = np.full(4, 10)
    mine, theirs = central_of(similarity, lengths, first=2, limit=10)
    assert mine.tolist() == [1] and theirs.tolist() == [0]  # of equals the earlier


def test_both_documents_are_one_graph():
    # Alone, sentence 0 of a is the most central of a; what b shares with sentence 2 lifts that above it.
    similarity = np.zeros((6, 6))
    for i, j, weight in [(0, 1, 1.0), (0, 2, 1.0), (2, 3, 1.0), (2, 4, 1.0), (2, 5, 1.0)]:
        similarity[i, j] = similarity[j, i] = weight
    alone = best_within(pagerank(similarity[:3, :3]), np.full(3, 1), limit=1)
    together, _ = central_of(similarity, np.full(6, 1), first=3, limit=1)
    assert alone.tolist() == [0] and together.tolist() == [2]


@given(st.integers(1, 8), st.integers(1, 8), st.integers(1, 60), st.none() | st.integers(1, 4), st.integers(0, 99))
def test_what_is_kept_fits_and_stands_in_reading_order(first, second, limit, most, seed):
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, 20, first + second)
    found = central_of(rng.random((first + second,) * 2), lengths, first, limit, most)
    for numbers, own in zip(found, (lengths[:first], lengths[first:]), strict=True):
        assert len(numbers) and (np.diff(numbers) > 0).all() and numbers.max() < len(own)
        assert len(numbers) == 1 or own[numbers].sum() <= limit
        assert most is None or len(numbers) <= most


def test_the_least_central_words_go_and_the_first_stays_whatever_it_is():
    # Five words: all attend to words 1 and 4, so 2 and 3 are least central; nothing attends to word 0, which is fixed.
    head = np.array([[0, 0.5, 0, 0, 0.5]] * 5)
    attention = np.stack([head, head])
    assert central_words(attention, kept=0.5).tolist() == [0, 1, 4]
    assert central_words(attention, kept=1.0).tolist() == [0, 1, 2, 3, 4]
    assert central_words(attention, kept=0.5, fixed=()).tolist() == [0, 1, 4]  # three of five stay: 2.5 rounded up
    assert central_words(attention, kept=0.5, fixed=(0, 3)).tolist() == [0, 1, 3, 4]


def test_heads_count_alike():
    rng = np.random.default_rng(0)
    attention = rng.dirichlet(np.ones(9), size=(4, 9))
    mean = attention.mean(0, keepdims=True)
    assert central_words(attention, 0.7).tolist() == central_words(mean, 0.7).tolist()


def made(backbone, kind=IgnitionModel, **settings):
    torch.manual_seed(0)
    model = kind.from_backbone(str(backbone), **settings).eval()
    enlarge(model, 0.3)
    return model


def batch_of(sides):
    return CrossBatch.of([(np.array(a, dtype=np.int64), np.array(b, dtype=np.int64)) for a, b in sides], (2, 3))


def random_attention(lengths, seed=0):
    """Rows of some lengths, padded: what each word attends to, and which are words."""
    longest, random = max(lengths), np.random.default_rng(seed)
    weights, real = np.zeros((len(lengths), longest, longest)), np.zeros((len(lengths), longest), dtype=bool)
    for row, length in enumerate(lengths):
        weights[row, :length, :length] = random.dirichlet(np.full(length, 0.3), length)
        real[row, :length] = True
    return torch.from_numpy(weights), torch.from_numpy(real)


def test_the_ranks_of_many_rows_are_those_of_each_alone():
    lengths = [9, 4, 1, 30]
    weights, real = random_attention(lengths)
    found = word_ranks(weights, real)
    for row, length in enumerate(lengths):
        wanted = pagerank(weights[row, :length, :length].numpy()) * length
        np.testing.assert_allclose(found[row, :length].numpy(), wanted, atol=1e-4)
    assert (found[~real] == 0).all()


@pytest.mark.parametrize("kept", [0.5, 0.9, 1.0])
def test_the_words_that_go_on_are_those_of_each_row_alone(kept):
    lengths = [21, 8, 3, 30]
    weights, real = random_attention(lengths, 1)
    places = torch.arange(real.shape[1]).expand(real.shape)
    fixed = torch.zeros_like(real)
    fixed[:, [0, 2]] = True
    hidden = places[..., None].float() + 100 * torch.arange(len(lengths))[:, None, None]
    found = LayerWords(hidden, places, real, fixed).keep_most_central(word_ranks(weights, real), kept)
    for row, length in enumerate(lengths):
        wanted = central_words(weights[row : row + 1, :length, :length].numpy(), kept, fixed=(0, 2))
        assert found.places[row][found.real[row]].tolist() == wanted.tolist()
        assert found.hidden[row][found.real[row], 0].tolist() == [100 * row + place for place in wanted.tolist()]
        assert found.fixed[row].nonzero()[:, 0].tolist() == [wanted.tolist().index(0), wanted.tolist().index(2)]


@torch.no_grad()
def test_the_graph_is_the_mean_attention_of_the_heads(tiny_bert):
    model = made(tiny_bert)
    model.backbone.set_attn_implementation("eager")
    ids, mask, types = padded(SIDES)
    told = model.backbone(**model.inputs(ids, mask, types), output_attentions=True, output_hidden_states=True)
    found = attention(model.backbone.encoder.layer[1].attention.self, told.hidden_states[1], mask)
    torch.testing.assert_close(found[mask], told.attentions[1].mean(1)[mask], atol=1e-5, rtol=1e-4)


@torch.no_grad()
@pytest.mark.parametrize("backbone", ["tiny_bert", "tiny_roberta"])
def test_a_filter_that_keeps_all_words_changes_nothing(backbone, request):
    folder = request.getfixturevalue(backbone)
    plain, filtering = made(folder, CrossModel), made(folder, word_filter=True, words_kept=1.0)
    batch = batch_of(SIDES)
    torch.testing.assert_close(read(filtering, batch).logits, read(plain, batch).logits, atol=1e-5, rtol=1e-4)
    row = tuple(np.array(side) for side in SIDES[0])
    tokenizer = open_tokenizer(str(folder))
    states = (CrossMatcher(model, tokenizer, "float32").states(row) for model in (plain, filtering))
    for one, other in zip(*states, strict=True):
        torch.testing.assert_close(one, other, atol=1e-5, rtol=1e-4)


@torch.no_grad()
def test_a_layer_reads_only_what_the_one_before_left(tiny_bert):
    model = made(tiny_bert, word_filter=True, words_kept=0.5)
    (a, b), layers = SIDES[0], model.backbone.encoder.layer
    ids, mask, types = padded([(a, b)])
    before, between, after = model.layer_words(ids, mask, types)
    hidden = model.backbone.embeddings(input_ids=ids, token_type_ids=types)
    graph = attention(layers[0].attention.self, hidden, mask)
    specials = [0, len(a) + 1, len(a) + len(b) + 2]
    kept = central_words(graph.double().numpy(), 0.5, specials)
    assert len(kept) == 3 + 14 and between.places[0].tolist() == kept.tolist() == after.places[0].tolist()
    assert set(specials) <= set(kept.tolist()) and len(before.places[0]) == len(a) + len(b) + 3
    wanted = layers[1](layers[0](hidden)[:, kept])
    torch.testing.assert_close(after.hidden, wanted, atol=1e-5, rtol=1e-4)
    vector = torch.tanh(model.pooler(wanted[:, 0]))
    torch.testing.assert_close(model.pooled(ids, mask, types), vector, atol=1e-5, rtol=1e-4)


@torch.no_grad()
def test_a_pair_is_the_same_alone_and_among_others(tiny_bert):
    model = made(tiny_bert, word_filter=True, words_kept=0.6)
    together = read(model, batch_of(SIDES)).logits
    for row, side in enumerate(SIDES):
        torch.testing.assert_close(read(model, batch_of([side])).logits[0], together[row], atol=1e-5, rtol=1e-4)
    assert not torch.allclose(together, read(made(tiny_bert), batch_of(SIDES)).logits, atol=1e-3)


@torch.no_grad()
def test_the_state_of_a_word_is_the_mean_over_the_layers_it_reaches(tiny_bert):
    model = made(tiny_bert, word_filter=True, words_kept=0.5)
    ids, mask, types = padded(SIDES[:1])
    before, between, after = model.layer_words(ids, mask, types)
    found = model.states(ids, mask, types)[0]
    kept = between.places[0].tolist()
    for place in range(ids.shape[1]):
        layers = [before.hidden[0, place]]
        if place in kept:
            layers += [step.hidden[0, kept.index(place)] for step in (between, after)]
        torch.testing.assert_close(found[place], torch.stack(layers).mean(0), atol=1e-5, rtol=1e-4)


def test_gradients_reach_every_layer(tiny_bert):
    model = made(tiny_bert, word_filter=True, words_kept=0.5)
    read(model, batch_of(SIDES[:1])).logits[0, 1].backward()
    for name, weight in model.backbone.encoder.named_parameters():
        assert weight.grad is not None and weight.grad.isfinite().all(), name
    assert all(layer.attention.self.value.weight.grad.abs().max() > 0 for layer in model.backbone.encoder.layer)


@torch.no_grad()
def test_it_reads_in_half_precision(tiny_bert):
    model = made(tiny_bert, word_filter=True)
    with torch.autocast("cpu", torch.bfloat16):
        found = read(model, batch_of(SIDES)).logits
    torch.testing.assert_close(found, read(model, batch_of(SIDES)).logits, atol=0.3, rtol=0.3)


def test_special_tokens_are_found_in_rows_of_any_length():
    _, mask, types = padded(SIDES)
    wanted = [[0, len(a) + 1, len(a) + len(b) + 2] for a, b in SIDES]
    assert [row.nonzero()[:, 0].tolist() for row in special_places(mask, types) & mask] == wanted


def test_a_model_saved_before_there_was_a_filter_opens_without_one(tiny_bert, tmp_path):
    model = made(tiny_bert)
    model.save_pretrained(tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps({key: config[key] for key in config if "word" not in key}))
    open_tokenizer(str(tiny_bert)).save_pretrained(tmp_path)
    assert not IgnitionMatcher.load(tmp_path).model.config.word_filter


def test_a_backbone_without_such_layers_is_refused_in_a_sentence():
    sizes = {"hidden_size": 16, "intermediate_size": 32, "embedding_size": 8, "vocab_size": 50}
    albert = {"model_type": "albert", "num_hidden_layers": 1, "num_attention_heads": 2, **sizes}
    with pytest.raises(LongmatchError, match=r"The words of a AlbertModel cannot be filtered.*--set word_filter=false"):
        IgnitionModel(IgnitionConfig(backbone=albert, word_filter=True))


def least_cost(cost: np.ndarray, mass: float) -> float:
    """Partial optimal transport as it is defined: rows and columns of at most 1, so much mass in all."""
    rows, columns = cost.shape
    sums = [np.kron(np.eye(rows), np.ones(columns)), np.kron(np.ones(rows), np.eye(columns))]
    found = linprog(cost.ravel(), np.vstack(sums), np.ones(rows + columns), np.ones((1, cost.size)), [mass])
    return float(found.fun)


@given(st.integers(1, 6), st.integers(1, 6), st.integers(1, 6), st.integers(0, 10_000))
@settings(deadline=None)
def test_no_plan_of_that_mass_costs_less(rows, columns, mass, seed):
    cost = np.random.default_rng(seed).uniform(-0.5, 2, (rows, columns))
    pairs = partial_transport(cost, mass)
    mass = min(mass, rows, columns)
    assert len(pairs) == mass == len(set(pairs[:, 0])) == len(set(pairs[:, 1]))
    assert cost[pairs[:, 0], pairs[:, 1]].sum() == pytest.approx(least_cost(cost, mass), abs=1e-6)
    assert (np.diff(cost[pairs[:, 0], pairs[:, 1]]) >= 0).all()


def square(cost: np.ndarray, mass: int) -> np.ndarray:
    """The same with places to stay out in on both sides: larger, and plainly right."""
    rows, columns = cost.shape
    wide = np.zeros((rows + columns - mass,) * 2)
    wide[:rows, :columns] = cost
    wide[rows:, columns:] = np.inf  # two places to stay out in make no pair
    found = np.stack(linear_sum_assignment(wide), axis=1)
    return found[(found[:, 0] < rows) & (found[:, 1] < columns)]


@given(st.integers(1, 12), st.integers(1, 12), st.data())
@settings(deadline=None)
def test_without_ties_the_pairs_are_those_with_places_on_both_sides(rows, columns, data):
    mass = data.draw(st.integers(1, min(rows, columns)))
    cost = np.random.default_rng(data.draw(st.integers(0, 10_000))).random((rows, columns))
    assert sorted(partial_transport(cost, mass).tolist()) == sorted(square(cost, mass).tolist())


COST = np.array([[0.0, 0.9, 0.9], [0.9, 0.1, 0.9], [0.8, 0.9, 0.7]])


def test_only_a_part_is_carried_so_what_has_no_counterpart_stays_out():
    # Sentences 0 and 1 answer each other; sentence 2 of either is far from all: with half the mass it is not chosen.
    assert partial_transport(COST, 2).tolist() == [[0, 0], [1, 1]]
    assert partial_transport(COST, 3).tolist() == [[0, 0], [1, 1], [2, 2]]


def test_the_cheapest_pair_is_given_up_where_all_together_are_cheaper():
    # Alone (0, 0) at .1 is best; for two pairs (0, 1) + (1, 0) = .5 beats (0, 0) + (1, 1) = 1.0.
    cost = np.array([[0.1, 0.2], [0.3, 0.9]])
    assert partial_transport(cost, 1).tolist() == [[0, 0]]
    assert partial_transport(cost, 2).tolist() == [[0, 1], [1, 0]]


def test_sentences_come_in_reading_order_and_fit_on_both_sides():
    cost = COST[:, [2, 1, 0]]  # b in reverse: its sentence 2 answers sentence 0 of a
    a, b = transported_sentences(cost, (np.array([4, 4, 4]), np.array([4, 4, 4])), limit=8, share=2 / 3)
    assert a.tolist() == [0, 1] and b.tolist() == [1, 2]
    a, b = transported_sentences(cost, (np.array([4, 4, 4]), np.array([4, 9, 4])), limit=8, share=2 / 3)
    assert a.tolist() == [0] and b.tolist() == [2]  # the second pair does not fit on b's side
    a, b = transported_sentences(cost, (np.array([99, 4, 4]), np.array([4, 4, 4])), limit=8)
    assert a.tolist() == [0] and b.tolist() == [2]  # one there always is


def test_documents_may_differ_in_length():
    cost = np.array([[0.5, 0.1, 0.9, 0.4, 0.8]])
    a, b = transported_sentences(cost, (np.array([3]), np.full(5, 3)), limit=100, share=1.0)
    assert a.tolist() == [0] and b.tolist() == [1]
