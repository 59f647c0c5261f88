"""Losses that several models share, one per file, as functions of embeddings and labels.

Losses of a single paper are in that paper's folder.
"""

from longmatch.lab.losses.cosine import cosine_loss
from longmatch.lab.losses.cross_entropy import pair_cross_entropy_loss
from longmatch.lab.losses.info_nce import info_nce_loss
from longmatch.lab.losses.supervised_contrastive import supervised_contrastive_loss

__all__ = [
    "cosine_loss",
    "info_nce_loss",
    "pair_cross_entropy_loss",
    "supervised_contrastive_loss",
]
