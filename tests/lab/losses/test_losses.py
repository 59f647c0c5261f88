"""Each loss against its formula worked by hand, or written out as plain loops."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from longmatch.lab.losses import (
    cosine_loss,
    info_nce_loss,
    margin_contrastive_loss,
    mask_words,
    masked_word_loss,
    pair_cross_entropy_loss,
    supervised_contrastive_loss,
)
from longmatch.lab.losses.masked_words import IGNORED
from longmatch.lab.papers.smith.loss import masked_block_loss


def loops(vectors, labels, temperature):
    """CoLDE's formula as it is written."""
    z = [v / v.norm() for v in vectors.double()]
    total, anchors = 0.0, 0
    for i in range(len(z)):
        positives = [j for j in range(len(z)) if j != i and labels[j] == labels[i]]
        below = sum(math.exp(z[i] @ z[k] / temperature) for k in range(len(z)) if k != i)
        if positives:
            anchors += 1
            total -= sum(math.log(math.exp(z[i] @ z[p] / temperature) / below) for p in positives) / len(positives)
    return total / max(anchors, 1)


def test_supervised_contrastive_by_hand():
    """Two sections of one document point one way, one of another the other way: ln(1 + e^-2) for each of the pair."""
    vectors = torch.tensor([[1.0, 0.0], [2.0, 0.0], [0.0, 3.0]])
    loss = supervised_contrastive_loss(vectors, torch.tensor([0, 0, 1]), temperature=0.5)
    assert loss.item() == pytest.approx(math.log(1 + math.exp(-2)), abs=1e-6)


@given(st.lists(st.integers(0, 3), min_size=2, max_size=9), st.integers(0, 10_000))
def test_supervised_contrastive_equals_the_plain_loops(labels, seed):
    vectors = torch.randn(len(labels), 5, generator=torch.Generator().manual_seed(seed))
    loss = supervised_contrastive_loss(vectors, torch.tensor(labels))
    assert loss.item() == pytest.approx(loops(vectors, labels, 0.5), abs=1e-4)


def test_supervised_contrastive_without_a_positive_pair_is_zero_with_zero_gradient():
    vectors = torch.randn(3, 4, requires_grad=True)
    loss = supervised_contrastive_loss(vectors, torch.tensor([0, 1, 2]))
    loss.backward()
    assert loss.item() == 0
    assert vectors.grad is not None and not vectors.grad.any()


def test_margin_loss_by_hand():
    """cos = 0.6: a positive costs 0.4, a negative 0.6 with m = 1 and 1.6 with m = 2."""
    p, q = torch.tensor([[1.0, 0.0]]), torch.tensor([[3.0, 4.0]])
    assert margin_contrastive_loss(p, q, torch.tensor([1])).item() == pytest.approx(0.4)
    assert margin_contrastive_loss(p, q, torch.tensor([0])).item() == pytest.approx(0.6)
    assert margin_contrastive_loss(p, q, torch.tensor([0]), margin=2).item() == pytest.approx(1.6)


def test_with_margin_one_opposite_negatives_cost_nothing_and_push_nothing():
    p = torch.tensor([[1.0, 0.2]], requires_grad=True)
    loss = margin_contrastive_loss(p, torch.tensor([[-1.0, 0.0]]), torch.tensor([0]))
    loss.backward()
    assert loss.item() == 0
    assert p.grad is not None and not p.grad.any()


def test_info_nce_by_hand_with_an_extra_negative():
    queries, documents = torch.tensor([[1.0, 0.0]]), torch.tensor([[0.6, 0.8], [1.0, 0.0]])
    expected = -math.log(math.exp(0.6) / (math.exp(0.6) + math.exp(1.0)))
    assert info_nce_loss(queries, documents, temperature=1.0).item() == pytest.approx(expected, abs=1e-6)


def test_info_nce_leaves_out_the_answers_that_are_not_the_querys_own():
    queries, documents = torch.eye(2), torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
    answers = torch.tensor([[True, False, True], [False, True, False]])
    one, other = -math.log(math.e / (math.e + 1)), -math.log(math.e / (math.e + 2))
    found = info_nce_loss(queries, documents, temperature=1.0, answers=answers).item()
    assert found == pytest.approx((one + other) / 2, abs=1e-6)


def test_cosine_loss_by_hand():
    a, b = torch.tensor([[1.0, 0.0], [1.0, 0.0]]), torch.tensor([[3.0, 4.0], [3.0, 4.0]])
    assert cosine_loss(a, b, torch.tensor([1, 0])).item() == pytest.approx((0.4**2 + 0.6**2) / 2)


def test_pair_cross_entropy_by_hand():
    a, b = torch.tensor([[1.0, 0.0], [1.0, 0.0]]), torch.tensor([[3.0, 4.0], [3.0, 4.0]])  # cosine 0.6
    chance = 1 / (1 + math.exp(-10 * (0.6 - 0.5)))
    expected = -(math.log(chance) + math.log(1 - chance)) / 2
    assert pair_cross_entropy_loss(a, b, torch.tensor([1, 0])).item() == pytest.approx(expected, abs=1e-6)


def test_masking_hides_the_share_asked_for_and_only_real_tokens():
    ids = torch.arange(10, 20_010)
    real = torch.arange(20_000) % 2 == 0
    hidden, labels = mask_words(ids, real, 4, 30_000, generator=torch.Generator().manual_seed(1))
    chosen = labels != IGNORED
    assert not bool((chosen & ~real).any())
    assert chosen[real].float().mean().item() == pytest.approx(0.15, abs=0.01)
    assert (hidden[chosen] == 4).float().mean().item() == pytest.approx(0.8, abs=0.03)
    assert (hidden[chosen] == ids[chosen]).float().mean().item() == pytest.approx(0.1, abs=0.02)


def test_the_same_seed_hides_the_same_words():
    ids, real = torch.arange(500), torch.ones(500, dtype=torch.bool)
    first, second = (mask_words(ids, real, 4, 500, generator=torch.Generator().manual_seed(7)) for _ in range(2))
    assert torch.equal(first[0], second[0]) and torch.equal(first[1], second[1])


def test_masked_word_loss_reads_hidden_tokens_only():
    logits = torch.zeros(1, 3, 4)
    logits[0, 0, 2] = 50.0  # sure and right
    logits[0, 2, 1] = 50.0  # sure and wrong, but not hidden
    assert masked_word_loss(logits, torch.tensor([[2, IGNORED, IGNORED]])).item() == pytest.approx(0, abs=1e-6)
    assert masked_word_loss(logits, torch.tensor([[IGNORED] * 3])).item() == 0


def test_positives_given_pair_by_pair_are_those_of_equal_labels_where_they_form_classes():
    vectors = torch.randn(6, 4, generator=torch.Generator().manual_seed(0))
    labels = torch.tensor([0, 1, 0, 2, 1, 0])
    by_label = supervised_contrastive_loss(vectors, labels)
    assert supervised_contrastive_loss(vectors, labels[:, None] == labels).item() == pytest.approx(by_label.item())


def test_positives_need_not_form_classes():
    """Row 1 belongs with rows 0 and 2, which do not belong together: each anchor by the formula, by hand."""
    vectors = torch.eye(3)
    related = torch.tensor([[1, 1, 0], [1, 1, 1], [0, 1, 1]], dtype=torch.bool)
    assert supervised_contrastive_loss(vectors, related).item() == pytest.approx(math.log(2), abs=1e-6)


def test_masked_blocks_by_hand():
    """Three hidden blocks along the axes. Of the first the model says (2, 0, 0), of the others nothing."""
    predicted = torch.tensor([[2.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    expected = (math.log(1 + 2 * math.exp(-2)) + 2 * math.log(3)) / 3
    assert masked_block_loss(predicted, torch.eye(3)).item() == pytest.approx(expected, abs=1e-6)


def test_masked_blocks_are_picked_by_the_model_s_word_and_not_the_block_s():
    """Both blocks are foretold by the first one's vector: ln(1 + 1/e) and ln(1 + e)."""
    predicted = torch.tensor([[1.0, 0.0], [1.0, 0.0]])
    expected = (math.log(1 + math.exp(-1)) + math.log(1 + math.e)) / 2
    assert masked_block_loss(predicted, torch.eye(2)).item() == pytest.approx(expected, abs=1e-6)


def test_without_a_masked_block_the_loss_is_zero_with_zero_gradient():
    nothing = torch.zeros(0, 4, requires_grad=True)
    loss = masked_block_loss(nothing, torch.zeros(0, 4))
    loss.backward()
    assert loss.item() == 0
