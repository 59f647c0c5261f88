"""Match-Ignition's filter of words: many rows at once against one row at a time, and the network that uses it."""

import json

import numpy as np
import pytest
import torch
from torch import nn

from longmatch.errors import LongmatchError
from longmatch.lab.baselines.cross.batch import CrossBatch
from longmatch.lab.baselines.cross.encoder import CrossModel
from longmatch.lab.baselines.cross.scoring import PairReader, layout_for, read
from longmatch.lab.baselines.cross.selection import Opening
from longmatch.lab.baselines.filtering.matcher import IgnitionMatcher, IgnitionModel
from longmatch.lab.baselines.filtering.pagerank import central_words, pagerank
from longmatch.lab.baselines.filtering.word_filter import (
    LayerWords,
    attention,
    check_backbone,
    special_places,
    word_ranks,
)
from longmatch.lab.encoders.checkpoint import open_tokenizer
from tests.lab.baselines.cross.tiny_cross import enlarge

SIDES = [(range(10, 25), range(30, 42)), (range(12, 15), range(50, 59)), ([20], [21, 22])]
pytestmark = pytest.mark.filterwarnings("ignore::longmatch.errors.LongmatchWarning")


def made(backbone, kind=IgnitionModel, **settings):
    torch.manual_seed(0)
    model = kind.from_backbone(str(backbone), **settings).eval()
    enlarge(model, 0.3)
    return model


def batch_of(sides):
    return CrossBatch.of([(np.array(a, dtype=np.int64), np.array(b, dtype=np.int64)) for a, b in sides], (2, 3))


def padded(sides):
    """Ids, mask and types of rows side by side."""
    rows = [[2, *a, 3, *b, 3] for a, b in sides]
    ids = torch.zeros(len(rows), max(map(len, rows)), dtype=torch.long)
    types = torch.zeros_like(ids)
    for number, (row, (a, _)) in enumerate(zip(rows, sides, strict=True)):
        ids[number, : len(row)] = torch.tensor(row)
        types[number, len(a) + 2 : len(row)] = 1
    return ids, ids > 0, types


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
    told = model.backbone(**model._inputs(ids, mask, types), output_attentions=True, output_hidden_states=True)
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
    states = (PairReader(model, layout_for(model, Opening(), (2, 3))).states(row) for model in (plain, filtering))
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
    with pytest.raises(LongmatchError, match=r"The words of a Linear cannot be filtered.*--set word_filter=false"):
        check_backbone(nn.Linear(2, 2))
