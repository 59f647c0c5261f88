"""SMITH (Yang et al., CIKM 2020): a siamese hierarchical transformer over blocks of sentences.

Read it beside the paper in this order:

- `encoder.py`: the parts and sizes of a model (sections 4.1 and 5.2.3); documents as blocks (4.1.1; greedy sentence
  filling itself is `longmatch.units.pieces.block_ranges`); sentence level, document level (4.1.2), ways to combine
  them (4.1.4);
- `pretraining.py`: masks (4.2.1), predictions of masked words and blocks (4.2.2), the masked-block loss (equations 4 to
  6), the recipe (equation 7); masked words, which SDR shares, are in `longmatch.lab.training.masked_words`;
- `training.py`: model settings that both recipes share (variants of 5.2.1), the fine-tuning recipe (4.3);
- `matcher.py`: a trained model compares documents (4.3); the paper has no explanation.

docs/smith.md maps each equation and section to its function.
"""
