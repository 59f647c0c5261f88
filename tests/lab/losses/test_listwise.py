"""The listwise loss, against the slow obvious one."""

import math

import torch

from longmatch.lab.losses.listwise import listwise_loss


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
