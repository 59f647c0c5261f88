"""Open a SMITH model's folder."""

import json
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError

from longmatch.encoders.tokenizer import open_tokenizer
from longmatch.errors import LongmatchError
from longmatch.lab.papers.smith.config import SmithConfig
from longmatch.lab.papers.smith.encoder import SmithModel


def open_smith(folder: str | Path) -> tuple[SmithModel, Any]:
    """The encoder and the tokenizer that `longmatch train smith` or `smith-pretrain` left."""
    from transformers.utils import logging

    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        kind = json.loads((Path(folder) / "config.json").read_text(encoding="utf-8"))["model_type"]
        if kind != SmithConfig.model_type:
            raise ValueError(f"it holds a model of the kind {kind}")
        model: SmithModel = SmithModel.from_pretrained(folder, dtype=torch.float32)
        return model, open_tokenizer(str(folder))
    except (OSError, ValueError, KeyError, TypeError, SafetensorError) as error:
        reason = str(error).strip().splitlines()[0].rstrip(".")
        raise LongmatchError(
            f"The SMITH model {folder} cannot be opened ({reason}). Name a folder that `longmatch train smith` or "
            "`longmatch train smith-pretrain` made."
        ) from error
