"""Losses: one a file, each a function of embeddings and labels, testable without a model."""

from longmatch.losses.cosine import cosine_loss
from longmatch.losses.cross_entropy import pair_cross_entropy_loss
from longmatch.losses.info_nce import info_nce_loss
from longmatch.losses.margin import margin_contrastive_loss
from longmatch.losses.masked_blocks import masked_block_loss
from longmatch.losses.masked_words import mask_words, masked_word_loss
from longmatch.losses.modularity import modularity_loss
from longmatch.losses.subtopics import agreement_loss, separation_loss, subtopic_loss
from longmatch.losses.supervised_contrastive import supervised_contrastive_loss

__all__ = [
    "agreement_loss",
    "cosine_loss",
    "info_nce_loss",
    "margin_contrastive_loss",
    "mask_words",
    "masked_block_loss",
    "masked_word_loss",
    "modularity_loss",
    "pair_cross_entropy_loss",
    "separation_loss",
    "subtopic_loss",
    "supervised_contrastive_loss",
]
