"""A pretrained transformer that turns pieces of text into vectors."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import torch
from tokenizers import Tokenizer
from torch import Tensor, nn

from longmatch.encoders.batches import token_batches
from longmatch.encoders.pretrained import Pooling, checkpoint_errors, locate, read_pooling
from longmatch.encoders.tokenizer import open_tokenizer, special_tokens

Precision = Literal["float32", "bfloat16"]
Progress = Callable[[int], None]  # told how many tokens were encoded since the last call
Vectors = npt.NDArray[np.float32]

CPU_BUDGET, GPU_BUDGET = 1_024, 65_536  # tokens a batch: small ones stay in a CPU's cache, large ones fill a GPU


class Backbone:
    """Any Hugging Face or sentence-transformers encoder, by folder or hub id; the packaged MiniLM by default.

    Device and precision choose themselves: a GPU if there is one, bfloat16 where the processor multiplies it natively.
    """

    def __init__(
        self, model: nn.Module, tokenizer: Tokenizer, pooling: Pooling, specials: tuple[int, int], name: str
    ) -> None:
        self.model, self.tokenizer, self.pooling, self.name = model, tokenizer, pooling, name
        self.first_token, self.last_token = specials
        parameter = next(model.parameters())
        self.device, self.dtype = parameter.device, parameter.dtype
        self.token_budget = CPU_BUDGET if self.device.type == "cpu" else GPU_BUDGET

    @classmethod
    def load(cls, name: str | None = None, device: str | None = None, precision: Precision | None = None) -> "Backbone":
        """Open a folder or hub id; nothing is downloaded for the default."""
        from transformers import AutoModel
        from transformers.utils import logging

        logging.set_verbosity_error()
        logging.disable_progress_bar()
        place = locate(name)
        chosen = torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu"))
        dtype = getattr(torch, precision or native_precision(chosen))
        advice = "Name a folder that holds config.json, tokenizer.json and model.safetensors, or a Hugging Face id."
        with checkpoint_errors(f"The model {place}", advice):
            tokenizer = open_tokenizer(place)
            model = AutoModel.from_pretrained(place, dtype=dtype).to(chosen).eval()
        specials = special_tokens(tokenizer, place)
        return cls(model, tokenizer.backend_tokenizer, read_pooling(place), specials, name or place)

    @property
    def width(self) -> int:
        """Numbers in a vector."""
        return int(self._config.hidden_size)

    @property
    def max_tokens(self) -> int:
        """The most tokens a piece may have, special tokens not counted."""
        limit = int(self._config.max_position_embeddings) - self._first_position
        return min(limit, self.pooling.max_length or limit) - 2

    @property
    def _first_position(self) -> int:
        """RoBERTa and its kin count positions from the one after that of padding, BERT from 0."""
        table = getattr(getattr(self.model, "embeddings", None), "position_embeddings", None)
        padding = getattr(table, "padding_idx", None)
        return 0 if padding is None else int(padding) + 1

    @property
    def _config(self) -> Any:
        return self.model.config

    def encode_texts(self, texts: Sequence[str]) -> Vectors:
        """One vector a text; each text must fit into `max_tokens` (units/ cuts longer ones)."""
        found = self.tokenizer.encode_batch(list(texts), add_special_tokens=False)
        return self.encode([np.array(e.ids, dtype=np.int64) for e in found])

    @torch.inference_mode()
    def encode(self, pieces: Sequence[npt.NDArray[np.int64]], progress: Progress | None = None) -> Vectors:
        """One vector of length 1 a piece of token ids, whatever the order: (pieces, width)."""
        lengths = np.array([len(piece) for piece in pieces], dtype=np.int64)
        if len(lengths) and lengths.max() > self.max_tokens:
            raise ValueError(f"a piece of {lengths.max()} tokens; {self.name} reads {self.max_tokens}")
        vectors = torch.zeros((len(pieces), self.width), dtype=torch.float32)
        for batch in token_batches(lengths + 2, self.token_budget):
            ids, mask = self._pad([pieces[i] for i in batch], lengths[batch])
            vectors[torch.from_numpy(batch)] = self._pool(ids, mask).float().cpu()
            if progress:
                progress(int(lengths[batch].sum()))
        return np.asarray(vectors.numpy(), dtype=np.float32)

    def _pad(self, pieces: list[npt.NDArray[np.int64]], lengths: npt.NDArray[np.int64]) -> tuple[Tensor, Tensor]:
        width = int(lengths.max()) + 2
        ids = np.zeros((len(pieces), width), dtype=np.int64)
        ids[:, 0] = self.first_token
        for row, piece in zip(ids, pieces, strict=True):
            row[1 : len(piece) + 1] = piece
            row[len(piece) + 1] = self.last_token
        mask = np.arange(width) < (lengths + 2)[:, None]
        return torch.from_numpy(ids).to(self.device), torch.from_numpy(mask).to(self.device)

    def _pool(self, ids: Tensor, mask: Tensor) -> Tensor:
        hidden = self.model(input_ids=ids, attention_mask=mask).last_hidden_state  # (batch, tokens, width)
        if self.pooling.mode == "cls":
            pooled = hidden[:, 0]
        elif self.pooling.mode == "max":
            pooled = hidden.masked_fill(~mask[..., None], float("-inf")).amax(1)
        else:
            weights = mask[..., None].to(hidden.dtype)
            pooled = (hidden * weights).sum(1).float() / weights.sum(1).float()
        return nn.functional.normalize(pooled.float(), dim=1)


def native_precision(device: torch.device) -> Precision:
    """bfloat16 where the hardware multiplies it natively, else float32."""
    if device.type == "cuda":
        return "bfloat16" if torch.cuda.is_bf16_supported() else "float32"
    with suppress(AttributeError, RuntimeError):
        if torch.cpu.get_capabilities().get("amx_bf16"):
            return "bfloat16"
    return "float32"
