"""The stored names of SMITH's rows with one budget of fine-tuning (416 steps of 32 pairs), table by table."""

from collections.abc import Mapping, Sequence

Rows = Mapping[str, Sequence[str]]  # stored names by label

LENGTHS = (2_048, 1_024, 512, 256)  # tokens; from scratch the first is the default
NOT_PRETRAINED = "smith centred=True document_pooling=mean learning_rate=0.0002 steps=416"
FIRST_BLOCK = "smith centred=True learning_rate=0.0002 pretrained=smith-pretrain-wp-sp steps=416"
ON_MINILM = (
    "smith backbone=all-MiniLM-L6-v2 block_pooling=mean centred=True document_pooling=mean head_learning_rate=0.0001"
    " learning_rate=2e-05 max_blocks={} steps=416"
)


def pretrained(name: str = "wp-sp", combine: str = "", changed: str = "") -> Sequence[str]:
    """A row of SMITH from scratch, the mean of its blocks as the document.

    >>> pretrained("wp")
    ['smith centred=True document_pooling=mean learning_rate=0.0002 pretrained=smith-pretrain-wp steps=416']
    """
    settings = f"{combine} document_pooling=mean learning_rate=0.0002 {changed} pretrained=smith-pretrain-{name}"
    return [" ".join(f"smith centred=True {settings} steps=416".split())]


def length_rows() -> Rows:
    """SMITH's figure 4, with HAN and SMASH: how many tokens of a document are read."""
    blocks = {tokens: f"max_blocks={tokens // 32}" for tokens in LENGTHS[1:]}
    return (
        {f"SMITH on MiniLM, {tokens:,}": [ON_MINILM.format(tokens // 128)] for tokens in LENGTHS}
        | {f"SMASH, {tokens:,}": [f"smash opening={tokens} steps=416"] for tokens in LENGTHS}
        | {f"HAN, {tokens:,}": [f"han opening={tokens} steps=416"] for tokens in LENGTHS}
        | {f"SMITH-WP+SP, {tokens:,}": pretrained(changed=blocks.get(tokens, "")) for tokens in LENGTHS}
    )


SMITH_TABLES: Mapping[str, Rows] = {
    "From scratch": {
        "SMITH-WP+SP": pretrained(),
        "SMITH-WP": pretrained("wp"),
        "SMITH-NP": [NOT_PRETRAINED],
        "SMITH-WP+SP, first block": [FIRST_BLOCK],
    },
    "By length of pre-training": {
        "32 epochs": pretrained("32-epochs"),
        "16 epochs": pretrained(),
        "4 epochs": pretrained("4-epochs"),
        "1 epoch": pretrained("1-epochs"),
        "none": [NOT_PRETRAINED],
        "words alone, 32 epochs": pretrained("wp-32-epochs"),
        "words alone, 16 epochs": pretrained("wp"),
    },
    "By layers": {
        "6 layers": pretrained(),
        "4 layers": pretrained("4-layers"),
        "2 layers": pretrained("2-layers"),
    },
    "On MiniLM": {
        "SMITH on MiniLM": [ON_MINILM.format(16)],
        "SMASH": ["smash opening=2048 steps=416"],
        "HAN": ["han opening=2048 steps=416"],
        "SMASH, 312 steps": ["smash opening=2048 steps=312"],
        "HAN, 312 steps": ["han opening=2048 steps=312"],
        "first 512 tokens (MatchBERT), 312 steps": [
            "trained first dropout=0.1 epochs=1.5",
            "trained first dropout=0.1 steps=312",
        ],
        "SMITH-WP+SP": pretrained(),
        "TF-IDF": ["tfidf"],
    },
    "By tokens read": length_rows(),
    "Ways to combine": {
        "normal": pretrained(),
        "sum-concat": pretrained(combine="combine=sum-concat"),
        "mean-concat": pretrained(combine="combine=mean-concat"),
        "mean-concat, normalised parts": pretrained(combine="combine=mean-concat", changed="normalise_parts=True"),
        "attention": pretrained(combine="combine=attention"),
    },
}
