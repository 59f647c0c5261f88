"""SDR's contrastive loss worked by hand."""

import pytest
import torch

from longmatch.lab.papers.sdr.loss import margin_contrastive_loss


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
