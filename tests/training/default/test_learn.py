"""Learning a change of the backbone."""

import copy

import pytest
import torch
from transformers import BertConfig, BertModel

from longmatch.encoders.low_rank import change_of
from longmatch.errors import LongmatchError
from longmatch.training.default.batches import Shape, batches
from longmatch.training.default.learn import Pace, learn
from longmatch.training.default.material import Material

SHAPE = Shape(anchors=12, negatives=1, sentences=4, tokens=8)


def small_bert() -> BertModel:
    torch.manual_seed(0)
    sizes = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32}
    return BertModel(BertConfig(vocab_size=60, **sizes), add_pooling_layer=False)


def test_it_learns_what_the_lexical_sides_cannot_see(material: Material) -> None:
    losses: list[float] = []
    pace = Pace(steps=40, rank=16, learning_rate=1e-2)
    learn(small_bert(), batches([material], SHAPE, (1, 2), seed=0), pace, lambda _, loss: losses.append(loss))
    assert sum(losses[-5:]) < 0.6 * sum(losses[:5])


def test_the_network_itself_stays_as_it_was(material: Material) -> None:
    model = small_bert()
    before = copy.deepcopy(model.state_dict())
    learn(model, batches([material], SHAPE, (1, 2), seed=0), Pace(steps=2))
    after = {name.replace(".plain", ""): value for name, value in model.state_dict().items()}
    assert all(torch.equal(after[name], value) for name, value in before.items())
    assert any(value.abs().sum() > 0 for name, value in change_of(model).items() if name.endswith(".up"))


def test_the_same_seed_learns_the_same(material: Material) -> None:
    found = []
    for _ in range(2):
        model = small_bert()
        model.config.hidden_dropout_prob = 0
        torch.manual_seed(3)
        learn(model, batches([material], SHAPE, (1, 2), seed=0), Pace(steps=3))
        found.append(change_of(model))
    assert all(torch.equal(found[0][name], found[1][name]) for name in found[0])


def test_a_loss_that_is_no_number_stops_with_a_sentence(material: Material) -> None:
    model = small_bert()
    model.embeddings.word_embeddings.weight.data.fill_(float("nan"))
    with pytest.raises(LongmatchError, match="smaller learning rate"):
        learn(model, batches([material], SHAPE, (1, 2), seed=0), Pace(steps=2))
