"""SMITH's masked-block loss worked by hand."""

import math

import pytest
import torch

from longmatch.lab.papers.smith.loss import masked_block_loss


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
