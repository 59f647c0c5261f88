"""Learning a change of the backbone."""

import copy
from dataclasses import replace
from itertools import islice

import numpy as np
import pytest
import torch
from transformers import BertConfig, BertModel

from longmatch.encoders.low_rank import low_rank_change
from longmatch.errors import LongmatchError
from longmatch.lab.adapting.learning.batches import Shape, batches
from longmatch.lab.adapting.learning.combined import told_scores
from longmatch.lab.adapting.learning.learn import Pace, learn, sentence_vectors
from longmatch.lab.adapting.learning.material import Material

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


def test_it_learns_what_only_titles_say(titled: Material) -> None:
    before, after = small_bert(), small_bert()
    learn(after, batches([titled], SHAPE, (1, 2), seed=0), Pace(steps=120, rank=16, learning_rate=1e-2))
    assert answers_first(after, titled) > answers_first(before, titled) + 0.3


def answers_first(model: BertModel, material: Material) -> float:
    """How often told alone puts an answer with a title first."""
    model.eval()
    found: list[bool] = []
    for batch in islice(batches([material], SHAPE, (1, 2), seed=9), 5):
        with torch.no_grad():
            vectors, titles = sentence_vectors(model, batch, torch.device("cpu"))
            assert titles is not None
            told = told_scores(vectors[:12], torch.from_numpy(batch.present[:12]), titles)
        told = told.masked_fill(~torch.from_numpy(batch.listed & batch.titled), -1.0)
        asked = (batch.answers & batch.titled).any(1)
        found += batch.answers[np.arange(12), told.argmax(1)][asked].tolist()
    return sum(found) / len(found)


def test_rows_are_told_apart_however_they_are_read(titled: Material) -> None:
    """Each row read by itself is the judge."""
    batch = next(batches([titled], replace(SHAPE, telling=3), (1, 2), seed=0))
    model, cpu = small_bert().eval(), torch.device("cpu")
    with torch.no_grad():
        vectors, titles = sentence_vectors(model, batch, cpu)
        lengths = batch.mask.sum(1)
        alone = [
            model(input_ids=torch.from_numpy(ids[:length]).long()[None]).last_hidden_state[0].mean(0)
            for ids, length in zip(batch.ids, lengths, strict=True)
        ]
    assert titles is not None
    found = torch.cat([part.reshape(-1, 32) for part in (vectors, titles.telling, titles.vectors)])
    assert torch.allclose(found, torch.nn.functional.normalize(torch.stack(alone), dim=1), atol=1e-5)


def test_the_network_itself_stays_as_it_was(material: Material) -> None:
    model = small_bert()
    before = copy.deepcopy(model.state_dict())
    learn(model, batches([material], SHAPE, (1, 2), seed=0), Pace(steps=2))
    after = {name.replace(".plain", ""): value for name, value in model.state_dict().items()}
    assert all(torch.equal(after[name], value) for name, value in before.items())
    assert any(value.abs().sum() > 0 for name, value in low_rank_change(model).items() if name.endswith(".up"))


def test_the_same_seed_learns_the_same(material: Material) -> None:
    found = []
    for _ in range(2):
        model = small_bert()
        model.config.hidden_dropout_prob = 0
        torch.manual_seed(3)
        learn(model, batches([material], SHAPE, (1, 2), seed=0), Pace(steps=3))
        found.append(low_rank_change(model))
    assert all(torch.equal(found[0][name], found[1][name]) for name in found[0])


def test_a_loss_that_is_no_number_stops_with_a_sentence(material: Material) -> None:
    model = small_bert()
    model.embeddings.word_embeddings.weight.data.fill_(float("nan"))
    with pytest.raises(LongmatchError, match="smaller learning rate"):
        learn(model, batches([material], SHAPE, (1, 2), seed=0), Pace(steps=2))
