"""Each loss against its formula worked by hand, or written out as plain loops."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from longmatch.lab.losses import (
    cosine_loss,
    info_nce_loss,
    listwise_loss,
    pair_cross_entropy_loss,
    supervised_contrastive_loss,
)


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


def slow(scores: list[list[float]], answers: list[list[bool]], listed: list[list[bool]]) -> float:
    """Query by query, answer by answer."""
    losses = []
    for line, mine, there in zip(scores, answers, listed, strict=True):
        right = [s for s, a, t in zip(line, mine, there, strict=True) if a and t]
        wrong = [s for s, a, t in zip(line, mine, there, strict=True) if not a and t]
        each = [-math.log(math.exp(s) / (math.exp(s) + sum(map(math.exp, wrong)))) for s in right]
        if each:
            losses.append(sum(each) / len(each))
    return sum(losses) / len(losses)


def test_it_is_each_answer_against_all_that_are_none() -> None:
    generator = torch.Generator().manual_seed(0)
    scores = torch.randn(5, 7, generator=generator)
    answers, listed = (torch.rand(5, 7, generator=generator) < share for share in (0.3, 0.8))
    expected = slow(scores.tolist(), answers.tolist(), listed.tolist())
    assert math.isclose(listwise_loss(scores, answers, listed).item(), expected, rel_tol=1e-5)


def test_a_query_without_answers_counts_for_nothing_and_gives_no_bad_gradient() -> None:
    scores = torch.zeros(2, 3, requires_grad=True)
    answers = torch.tensor([[True, False, False], [False, False, False]])
    loss = listwise_loss(scores, answers)
    loss.backward()
    assert math.isclose(loss.item(), math.log(3), rel_tol=1e-6)
    assert scores.grad is not None
    assert scores.grad[1].tolist() == [0, 0, 0]
    assert torch.isfinite(scores.grad).all()


def test_a_list_of_answers_alone_has_nothing_to_learn() -> None:
    scores = torch.zeros(1, 2, requires_grad=True)
    loss = listwise_loss(scores, torch.ones(1, 2))
    loss.backward()
    assert loss.item() == 0
    assert scores.grad is not None
    assert scores.grad.tolist() == [[0, 0]]
