"""Learning a change of the backbone from halves, and the score it is learnt by, against loops over sentences."""

import copy

import numpy as np
import pytest
import torch
from transformers import BertConfig, BertModel

from longmatch.errors import LongmatchError
from longmatch.lab.adapting.learning import (
    MeaningScore,
    Pace,
    best_partner_scores,
    learn,
    mean_scores,
    sentence_vectors,
)
from longmatch.lab.adapting.passages import BatchShape, Halves, batches
from longmatch.lab.encoders.low_rank import low_rank_change

SHAPE = BatchShape(anchors=12, sentences=4, tokens=8)
DOCUMENTS, SENTENCES, TOKENS = 12, 5, 6


@pytest.fixture
def paired() -> Halves:
    """Half of the tokens of a document's halves are the document's own; the others are common."""
    rng = np.random.default_rng(0)
    shape = (2 * DOCUMENTS, SENTENCES, TOKENS)
    own = 10 + np.repeat(np.arange(DOCUMENTS), 2)[:, None, None]
    tokens = np.where(rng.random(shape) < 0.5, own, rng.integers(30, 50, shape))
    ends = np.arange(0, tokens.size + 1, TOKENS), np.arange(0, 2 * DOCUMENTS * SENTENCES + 1, SENTENCES)
    return Halves(tokens.reshape(-1).astype(np.int32), *ends)


def small_bert() -> BertModel:
    torch.manual_seed(0)
    sizes = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32}
    return BertModel(BertConfig(vocab_size=60, **sizes), add_pooling_layer=False)


def test_the_loss_falls(paired: Halves) -> None:
    losses: list[float] = []
    pace = Pace(steps=40, rank=16, upper=1.0, learning_rate=1e-2)
    learn(small_bert(), batches(paired, SHAPE, (1, 2), seed=0), pace, lambda _, loss: losses.append(loss))
    assert sum(losses[-5:]) < 0.6 * sum(losses[:5])


def test_rows_of_all_lengths_are_encoded_as_each_by_itself(paired: Halves) -> None:
    short = Halves(paired.tokens[:-3], np.minimum(paired.sentences, len(paired.tokens) - 3), paired.offsets)
    batch = next(batches(short, BatchShape(anchors=24, sentences=6, tokens=8), (1, 2), seed=0))
    assert len(set(batch.mask.sum(1).tolist())) == 3  # whole sentences, the last one, and missing ones
    model = small_bert().eval()
    with torch.no_grad():
        vectors = sentence_vectors(model, batch, torch.device("cpu"))
        alone = [
            model(input_ids=torch.from_numpy(ids[:length]).long()[None]).last_hidden_state[0].mean(0)
            for ids, length in zip(batch.ids, batch.mask.sum(1), strict=True)
        ]
    expected = torch.nn.functional.normalize(torch.stack(alone), dim=1)
    assert torch.allclose(vectors.reshape(-1, 32), expected, atol=1e-5)


def test_the_network_itself_stays_as_it_was(paired: Halves) -> None:
    model = small_bert()
    before = copy.deepcopy(model.state_dict())
    learn(model, batches(paired, SHAPE, (1, 2), seed=0), Pace(steps=2))
    after = {name.replace(".plain", ""): value for name, value in model.state_dict().items()}
    assert all(torch.equal(after[name], value) for name, value in before.items())
    assert any(np.abs(value).sum() > 0 for name, value in low_rank_change(model).items() if name.endswith(".up"))


def test_the_same_seed_learns_the_same(paired: Halves) -> None:
    changes = []
    for _ in range(2):
        model = small_bert()
        model.config.hidden_dropout_prob = 0
        torch.manual_seed(3)
        learn(model, batches(paired, SHAPE, (1, 2), seed=0), Pace(steps=3))
        changes.append(low_rank_change(model))
    assert all(np.array_equal(changes[0][name], changes[1][name]) for name in changes[0])


def test_a_loss_that_is_no_number_stops_with_a_sentence(paired: Halves) -> None:
    model = small_bert()
    model.embeddings.word_embeddings.weight.data.fill_(float("nan"))
    with pytest.raises(LongmatchError, match="smaller learning rate"):
        learn(model, batches(paired, SHAPE, (1, 2), seed=0), Pace(steps=2))


def drawn() -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    vectors = torch.nn.functional.normalize(torch.randn(5, 4, 8, generator=generator), dim=2)
    present = torch.arange(4) < torch.tensor([4, 3, 1, 2, 4])[:, None]
    return vectors, present


def slow_partners(a: torch.Tensor, b: torch.Tensor) -> float:
    forward = sum(max(float(x @ y) for y in b) for x in a) / len(a)
    backward = sum(max(float(x @ y) for x in a) for y in b) / len(b)
    return (forward + backward) / 2


def test_best_partners_are_found_among_the_sentences_that_are_there() -> None:
    vectors, present = drawn()
    found = best_partner_scores(vectors[:2], present[:2], vectors, present)
    for i in range(2):
        for j in range(5):
            expected = slow_partners(vectors[i][present[i]], vectors[j][present[j]])
            assert abs(found[i, j].item() - expected) < 1e-5


def test_means_are_over_the_sentences_that_are_there() -> None:
    vectors, present = drawn()
    means = [vectors[i][present[i]].mean(0) for i in range(5)]
    found = mean_scores(vectors, present, 2)
    for i in range(2):
        for j in range(5):
            assert abs(found[i, j] - torch.cosine_similarity(means[i], means[j], dim=0)) < 1e-5


def test_the_score_is_the_weighted_sum_of_both() -> None:
    vectors, present = drawn()
    meaning = best_partner_scores(vectors[:2], present[:2], vectors, present)
    expected = 12 * meaning + 4 * mean_scores(vectors, present, 2)
    assert torch.allclose(MeaningScore()(vectors, present, 2), expected, atol=1e-5)
