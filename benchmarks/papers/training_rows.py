"""The rows of the benchmarks that are trained: a model and the settings that differ from its defaults, by name."""

from collections.abc import Mapping
from typing import Any

from longmatch.encoders.pretrained import DEFAULT_NAME

Rows = Mapping[str, tuple[str, Mapping[str, Any]]]

ADAPTIVE = {"clustering": "adaptive", "clusters": "@sst-clusters"}  # @ROW is the folder of that row, trained first
ALONE = {"temporal": False, "views": 1}  # SST without aggregation
BOTH = {"pretrained": "@smith-pretrain-wp-sp"}  # words and blocks were masked
MEAN = {"document_pooling": "mean", "centred": True}  # SMITH's documents by the mean of their blocks, not the first
MINILM = {"backbone": DEFAULT_NAME, "block_pooling": "mean"}  # MiniLM's sentences are means of their tokens
SMALL_BLOCKS = {"block_tokens": 32, "max_blocks": 64}  # SMITH's own; with a backbone the default is 4 of 128 tokens
FRESH = {"readout": "fresh", "swap": True}  # a new pooler, and either document first
MAIN_ROWS: Rows = {
    "colde": ("colde", {}),
    "colde-paper": ("colde", {"preset": "paper"}),
    "colde-no-sections": ("colde", {"augmented": False}),  # CoLDE's table 2: -Aug
    "colde-no-lstm": ("colde", {"recurrent": False}),  # -LSTM
    "colde-no-contrast": ("colde", {"contrastive": False}),  # -CL
    "first": ("first", {}),
    "first-contrastive": ("first", {"loss": "contrastive"}),
    "mean": ("mean", {}),
    "sdr": ("sdr", {}),
    "sdr-paper": ("sdr", {"preset": "paper"}),
    "sdr-no-contrast": ("sdr", {"preset": "paper", "contrastive": False}),  # SDR's table 3 (v): words only
    "sdr-margin-2": ("sdr", {"preset": "paper", "margin": 2.0}),
    "sdr-no-words": ("sdr", {"preset": "paper", "word_weight": 0.0}),
    "sdr-masked-pairs": ("sdr", {"preset": "paper", "masked_pairs": True}),  # the pairs' sentences are masked too
    "sdr-paragraphs": ("sdr", {"preset": "paper", "unit": "paragraph", "score_by": "paragraph"}),
    "sbert": ("sdr", {"preset": "paper", "margin": 2.0, "word_weight": 0.0}),  # SDR 4.3: SBERT's loss, pseudo-labels
    "smith-pretrain-wp": ("smith-pretrain", {"masked_blocks": 0}),
    "smith-pretrain-wp-sp": ("smith-pretrain", {}),
    "smith": ("smith", {}),  # SMITH's table 5: NP
    "smith-wp": ("smith", {"pretrained": "@smith-pretrain-wp"}),
    "smith-wp-sp": ("smith", BOTH),
    "smith-sum-concat": ("smith", BOTH | {"combine": "sum-concat"}),  # SMITH's table 7
    "smith-mean-concat": ("smith", BOTH | {"combine": "mean-concat"}),
    "smith-attention": ("smith", BOTH | {"combine": "attention"}),
    "smith-pretrain-2-layers": ("smith-pretrain", {"layers": 2}),
    "smith-pretrain-4-layers": ("smith-pretrain", {"layers": 4}),
    "smith-2-layers": ("smith", {"pretrained": "@smith-pretrain-2-layers"}),  # SMITH's table 6
    "smith-4-layers": ("smith", {"pretrained": "@smith-pretrain-4-layers"}),
    "smith-short": ("smith", {"backbone": DEFAULT_NAME}),
    "smith-mean": ("smith", BOTH | MEAN),
    "smith-mean-np": ("smith", MEAN),
    "smith-mean-wp": ("smith", MEAN | {"pretrained": "@smith-pretrain-wp"}),
    "smith-mean-parts": ("smith", BOTH | {"combine": "mean-concat", "normalise_parts": True}),
    "smith-minilm": ("smith", MINILM | MEAN),
    "smith-minilm-small-blocks": ("smith", MINILM | MEAN | SMALL_BLOCKS),
    "smith-pretrain-minilm-sp": ("smith-pretrain", MINILM | SMALL_BLOCKS | {"masked_words": 0.0}),
    "smith-pretrain-minilm-wp-sp": ("smith-pretrain", MINILM | SMALL_BLOCKS),
    "smith-minilm-sp": ("smith", MEAN | {"pretrained": "@smith-pretrain-minilm-sp"}),
    "smith-minilm-wp-sp": ("smith", MEAN | {"pretrained": "@smith-pretrain-minilm-wp-sp"}),
    "dssm": ("dssm", {}),
    "arc-i": ("arc-i", {}),
    "han": ("han", {}),
    "smash": ("smash", {}),
    "s-long": ("s-long", {}),
    "cross": ("cross", {}),
    "cross-fresh": ("cross", FRESH),
    "cross-mean": ("cross", {"readout": "mean", "swap": True}),
    "cross-pooler": ("cross", {"swap": True}),
    "bert-pli": ("bert-pli", {}),
    "match-ignition": ("match-ignition", {}),
    "opt-match": ("opt-match", {}),
    "cig": ("cig", {}),
    "cig-similarities": ("cig", {"siamese": False}),
    "sst-clusters": ("sst-clusters", {}),
    "sst-clusters-modularity": ("sst-clusters", {"modularity": 1.0}),  # with DMoN's own loss
    "sst-modularity": ("sst", ADAPTIVE | {"clusters": "@sst-clusters-modularity"}),
    "sst-direct-hard": ("sst", {"sampling": "hard"}),  # SST's table 2
    "sst-direct-soft": ("sst", {}),
    "sst-adaptive-hard": ("sst", ADAPTIVE | {"sampling": "hard"}),
    "sst-adaptive-soft": ("sst", ADAPTIVE),
    "sst-one-view": ("sst", ADAPTIVE | {"views": 1}),  # SST's table 4: w/o aggregation inference
    "sst-not-temporal": ("sst", ADAPTIVE | {"temporal": False}),
    "sst-with-attention": ("sst", ADAPTIVE | {"attention": True}),
    "sst-uniform": ("sst", ADAPTIVE | {"sampling": "uniform"}),
    "sst-negative": ("sst", ADAPTIVE | {"sampling": "negative"}),
    "sst-random": ("sst", {"sampling": "random"}),
    "sst-clusters-no-separation": ("sst-clusters", {"separation": 0.0}),
    "sst-clusters-no-agreement": ("sst-clusters", {"agreement": 0.0}),
    "sst-clusters-no-losses": ("sst-clusters", {"agreement": 0.0, "separation": 0.0, "modularity": 1.0}),
    "sst-no-separation": ("sst", ADAPTIVE | ALONE | {"clusters": "@sst-clusters-no-separation"}),  # w/o L_n
    "sst-no-agreement": ("sst", ADAPTIVE | ALONE | {"clusters": "@sst-clusters-no-agreement"}),  # w/o L_p
    "sst-no-losses": ("sst", ADAPTIVE | ALONE | {"clusters": "@sst-clusters-no-losses"}),  # w/o both
    "sst-dual-direct-hard": ("sst-dual", {"sampling": "hard"}),  # SST's table 3
    "sst-dual-direct-soft": ("sst-dual", {}),
    "sst-dual-adaptive-hard": ("sst-dual", ADAPTIVE | {"sampling": "hard"}),
    "sst-dual-adaptive-soft": ("sst-dual", ADAPTIVE),
}
STUDIES: dict[str, tuple[str, Mapping[str, Any]]] = {}
for documents in (50, 75, 200):  # CoLDE's robustness: section 4.4.1
    STUDIES[f"colde-documents-{documents}"] = "colde", {"documents": documents}
for tokens in (1_000, 4_000, 8_000):  # 4.4.2
    STUDIES[f"colde-max-tokens-{tokens}"] = "colde", {"max_tokens": tokens}
for sections in (3, 4, 5):  # 4.5.4
    STUDIES[f"colde-sections-{sections}"] = "colde", {"sections": sections}
for tokens in (256, 512, 1_024, 2_048):  # SMITH's figure 4
    STUDIES[f"smith-minilm-{tokens}"] = "smith", MINILM | MEAN | {"max_blocks": tokens // 128}
    STUDIES[f"smith-mean-{tokens}"] = "smith", BOTH | MEAN | {"max_blocks": tokens // 32}
    STUDIES[f"han-{tokens}"] = "han", {"opening": tokens}
    STUDIES[f"smash-{tokens}"] = "smash", {"opening": tokens}
for epochs in (1, 4, 32):  # SMITH by the length of its pre-training
    STUDIES[f"smith-pretrain-{epochs}-epochs"] = "smith-pretrain", {"epochs": epochs}
    STUDIES[f"smith-{epochs}-epochs"] = "smith", MEAN | {"pretrained": f"@smith-pretrain-{epochs}-epochs"}
STUDIES["smith-pretrain-wp-32-epochs"] = "smith-pretrain", {"epochs": 32, "masked_blocks": 0}  # on words alone
STUDIES["smith-wp-32-epochs"] = "smith", MEAN | {"pretrained": "@smith-pretrain-wp-32-epochs"}
WHOLE = {"patience": None}  # no early stopping
for epochs in (3, 10, 20):
    STUDIES[f"sst-{epochs}-epochs"] = "sst", ADAPTIVE | WHOLE | {"epochs": epochs}
for epochs in (3, 10, 20):
    STUDIES[f"cross-{epochs}-epochs"] = "cross", FRESH | WHOLE | {"epochs": epochs}
for times in (1, 50):
    STUDIES[f"cross-head-{times}x"] = "cross", FRESH | {"head_learning_rate": times * 5e-5}
for count in (20, 80, 200):  # SST's figure 5
    STUDIES[f"sst-sentences-{count}"] = "sst", {"sentences": count}
for size in (3, 12, 24):  # SST's figure 6
    STUDIES[f"sst-size-{size}"] = "sst", {"size": size}
for sampling in ("soft", "uniform"):  # SST's figure 7
    for width in (10, 20, 40):
        drawn = {"sampling": sampling, "view_range": width, "epochs": 10}
        STUDIES[f"sst-{sampling}-range-{width}"] = "sst", ADAPTIVE | WHOLE | drawn
for weight in (0.1, 1, 10):  # SST's figure 9: lambda, with DMoN's own loss and without
    for suffix, modularity in (("", 1.0), ("-plain", 0.0)):
        clusters = f"sst-clusters-lambda-{weight}{suffix}"
        STUDIES[clusters] = "sst-clusters", {"separation": weight, "modularity": modularity}
        STUDIES[f"sst-lambda-{weight}{suffix}"] = "sst", ADAPTIVE | {"clusters": f"@{clusters}"}
ROWS: Rows = {**MAIN_ROWS, **STUDIES}
