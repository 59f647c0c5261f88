"""SMITH's masked-block loss worked by hand."""

import math

import pytest
import torch

from longmatch.lab.papers.smith.pretraining_model import identified_blocks, masked_block_loss


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


def test_blocks_are_identified_in_float32_under_autocast_too():
    """Scores of 1.00 and 1.001 are equal in bfloat16."""
    vectors = torch.tensor([[1.0, 0.0], [0.0, 1.0]]), torch.tensor([[1.0, 1.001], [1.001, 1.0]])
    with torch.autocast("cpu", torch.bfloat16):
        assert identified_blocks(vectors[0], vectors[1]) == 0 and identified_blocks(vectors[0], vectors[1].flip(0)) == 2
        inside = masked_block_loss(*vectors)
    assert inside.item() == masked_block_loss(*vectors).item()
    assert identified_blocks(torch.zeros(0, 4), torch.zeros(0, 4)) == 0
