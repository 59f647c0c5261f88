"""Write a trained backbone as the folder sentence-transformers and `Backbone.load` both open."""

import json
from pathlib import Path
from typing import Any

from longmatch.lab.encoders.checkpoint import save_checkpoint

MODULES = ("Transformer", "Pooling", "Normalize")
POOLINGS = ("cls_token", "mean_tokens", "max_tokens", "mean_sqrt_len_tokens")


def save_sentence_model(folder: Path, backbone: Any, tokenizer: Any, length: int) -> None:
    """Config, weights, tokenizer, and that the mean of at most `length` tokens is the vector.

    The backbone and the tokenizer are transformers' own. `length` counts the start and end tokens; the vectors have
    length 1.
    """
    folder.mkdir(parents=True, exist_ok=True)
    save_checkpoint(backbone, folder)
    tokenizer.model_max_length = length
    tokenizer.save_pretrained(folder)
    modules = [
        {"idx": i, "name": str(i), "path": f"{i}_{kind}" if i else "", "type": f"sentence_transformers.models.{kind}"}
        for i, kind in enumerate(MODULES)
    ]
    pooling = {f"pooling_mode_{kind}": kind == "mean_tokens" for kind in POOLINGS}
    _write(folder / "modules.json", modules)
    _write(folder / "1_Pooling" / "config.json", {"word_embedding_dimension": backbone.config.hidden_size, **pooling})
    _write(folder / "sentence_bert_config.json", {"max_seq_length": length, "do_lower_case": False})


def _write(path: Path, content: Any) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
