"""Listwise ranking loss: a query's answers above all other documents."""

import torch
from torch import Tensor


def listwise_loss(scores: Tensor, answers: Tensor, listed: Tensor | None = None) -> Tensor:
    """The cross-entropy of each answer among the non-answers, averaged over a query's answers, then over queries.

        L_q = mean over answers a of -log( exp s_a / (exp s_a + sum over others o of exp s_o) )

    So the answers of a query do not compete with each other. `scores` and `answers` are (queries, documents); `listed`
    masks the documents in a query's list. Queries without answers are ignored.

    >>> scores, answers = torch.zeros(1, 3), torch.tensor([[True, True, False]])
    >>> round(listwise_loss(scores, answers).item(), 4)  # ln 2: one other beside each answer
    0.6931
    """
    scores, answers = scores.float(), answers.bool()
    listed = torch.ones_like(answers) if listed is None else listed.bool()
    answers = answers & listed
    others = scores.masked_fill(answers | ~listed, float("-inf")).logsumexp(1, keepdim=True)
    losses = torch.nn.functional.softplus(others - scores).masked_fill(~answers, 0.0)
    count = answers.sum(1)
    return (losses.sum(1) / count.clamp(min=1)).sum() / (count > 0).sum().clamp(min=1)
