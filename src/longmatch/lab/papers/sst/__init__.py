"""SST (Zhou et al., 2024): views of two documents, sampled from the subtopics they share.

Read it beside the paper in this order:

- `clustering.py`: the clusters of a pair, and direct clustering (3.2, equation 2; equation 1 is
  `longmatch.lab.words.textrank_similarity`);
- `network.py`: adaptive clustering, the sentence graph and the cluster network (3.2, equation 3);
- `cluster_training.py`: its losses (equations 4 to 6), the recipe sst-clusters;
- `selection.py`: view sampling (3.3, equations 7 to 9), which sentences of a pair the network reads;
- `matcher.py`: the settings of a model (4.3 and B.1), cross-encoder and dual encoder (B.1), a trained model; its views
  are pooled by `longmatch.lab.baselines.cross.encoder` (equations 11 and 12), the baseline that it extends;
- `training.py`: temporal aggregation (3.4, equation 10), the recipes sst and sst-dual;
- `explanation.py`: the subtopics of a pair, as a page (5.5, figure 8).

docs/sst.md maps each equation and section to its function.
"""
