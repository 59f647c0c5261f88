"""Masks and the masked-word loss. The head is tested with SDR's encoder."""

import pytest
import torch

from longmatch.lab.training.masked_words import IGNORED, mask_words, masked_word_loss


def test_masking_takes_the_given_share_of_real_tokens_only():
    ids = torch.arange(10, 20_010)
    real = torch.arange(20_000) % 2 == 0
    masked, labels = mask_words(ids, real, 4, 30_000, generator=torch.Generator().manual_seed(1))
    chosen = labels != IGNORED
    assert not bool((chosen & ~real).any())
    assert chosen[real].float().mean().item() == pytest.approx(0.15, abs=0.01)
    assert (masked[chosen] == 4).float().mean().item() == pytest.approx(0.8, abs=0.03)
    assert (masked[chosen] == ids[chosen]).float().mean().item() == pytest.approx(0.1, abs=0.02)


def test_the_same_seed_masks_the_same_words():
    ids, real = torch.arange(500), torch.ones(500, dtype=torch.bool)
    first, second = (mask_words(ids, real, 4, 500, generator=torch.Generator().manual_seed(7)) for _ in range(2))
    assert torch.equal(first[0], second[0]) and torch.equal(first[1], second[1])


def test_masked_word_loss_reads_masked_tokens_only():
    logits = torch.zeros(1, 3, 4)
    logits[0, 0, 2] = 50.0  # sure and right
    logits[0, 2, 1] = 50.0  # sure and wrong, but not masked
    assert masked_word_loss(logits, torch.tensor([[2, IGNORED, IGNORED]])).item() == pytest.approx(0, abs=1e-6)
    assert masked_word_loss(logits, torch.tensor([[IGNORED] * 3])).item() == 0
