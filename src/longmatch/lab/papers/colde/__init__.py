"""CoLDE (Jha et al., TKDD 2023; arXiv 2021): a supervised contrastive encoder, explained at three levels.

Read it beside the TKDD paper in this order:

- `encoder.py`: the defaults (4.1.2) and the ablations (4.5); Aug(x), documents cut into sections and chunks (3.1);
  section and chunk embeddings (3.1), chunkwise attention, Bi-LSTM and projection (3.2);
- `longmatch.lab.losses`: the loss (3.3), which lies there because a baseline shares it;
- `training.py`: batches, positives and validation (3.3, 4.1.2);
- `matcher.py`: one vector per document, compared by cosine (4.2); document, section and chunk similarities (4.3); the
  same model by other vectors than the document's; figure 4.

docs/colde.md maps each equation and section to its function.
"""
