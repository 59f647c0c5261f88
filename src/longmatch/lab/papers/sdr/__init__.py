"""SDR (Ginzburg et al., 2021): a sentence encoder trained without labels.

Read it beside the paper in this order:

- `pairs.py`: intra- and inter-document sampling of sentence pairs (section 3.2), as they are and with masked words;
  validation without labels, ours; masks, the head for masked words and their loss are in
  `longmatch.lab.training.masked_words`, which SMITH shares;
- `training.py`: the backbone and the sentence vectors (3.2), the contrastive loss (equations 1 and 2), the total loss
  (equation 3), the paper's values (section 4.7), ablations (4.6).

Inference (section 3.3, equations 4 to 6) is `longmatch.models.sdr`: it needs no training, so the product has it.
docs/sdr.md maps each equation and section to its function.
"""
