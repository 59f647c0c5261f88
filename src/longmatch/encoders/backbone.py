"""A pretrained transformer that turns pieces of text into vectors."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from tokenizers import Tokenizer
from torch import Tensor, nn

from longmatch.encoders.batches import lengths_of, padded_lengths, token_batches
from longmatch.encoders.engine import Batch, Engine, EnginePrecision, Ints, Precision, TorchEngine
from longmatch.encoders.engine_selection import (
    EngineName,
    native_precision,
    precision_and_engine_from_environment,
    probe_pieces,
    select_engine,
)
from longmatch.encoders.low_rank import apply_change
from longmatch.encoders.packed import PackedEngine, uses_packing
from longmatch.encoders.positions import first_position
from longmatch.encoders.pretrained import Pooling, checkpoint_errors, locate, read_pooling
from longmatch.encoders.tokenizer import open_tokenizer, special_tokens
from longmatch.errors import LongmatchError

__all__ = ["Backbone", "Precision", "native_precision"]

TokenProgress = Callable[[int], None]  # called with the number of tokens encoded since the last call
Vectors = npt.NDArray[np.float32]

CPU_BUDGET, GPU_BUDGET = 2_048, 65_536  # tokens per batch: small ones fit a CPU's cache, large ones fill a GPU


class Backbone:
    """Any Hugging Face or sentence-transformers encoder, by folder or hub id; the packaged MiniLM by default.

    By default it runs on a GPU if there is one, else with the fastest engine and precision that give the same vectors.
    """

    def __init__(
        self,
        model: nn.Module,
        tokenizer: Tokenizer,
        pooling: Pooling,
        specials: tuple[int, int],
        name: str,
        engine: Callable[["Backbone"], Engine] | None = None,
        change: str = "",
    ) -> None:
        self.model, self.tokenizer, self.pooling, self.name = model, tokenizer, pooling, name
        self.change = change  # digest of the low-rank change added to the network; empty for none
        self.first_token, self.last_token = specials
        self.device = next(model.parameters()).device
        self.token_budget = CPU_BUDGET if self.device.type == "cpu" else GPU_BUDGET
        self._make_engine = engine or _torch_engine

    @classmethod
    def load(
        cls,
        name: str | None = None,
        device: str | None = None,
        precision: EnginePrecision | None = None,
        engine: EngineName | None = None,
    ) -> "Backbone":
        """Load a folder or hub id; the default needs no download.

        `precision` alone selects torch; `engine` alone its fastest precision that gives the same vectors. Without
        either, the environment variables LONGMATCH_PRECISION and LONGMATCH_ENGINE apply.
        """
        from transformers import AutoModel
        from transformers.utils import logging

        logging.set_verbosity_error()
        logging.disable_progress_bar()
        place = locate(name)
        if precision is None and engine is None:
            precision, engine = precision_and_engine_from_environment()
        target = torch.device(device or ("cuda" if torch.cuda.is_available() and engine != "openvino" else "cpu"))
        if engine == "openvino" and target.type != "cpu":
            raise LongmatchError(f"OpenVINO runs on the CPU, not on {target.type}. Leave out the engine or the device.")
        selects = target.type == "cpu" or precision == "mixed"
        dtype = torch.float32 if selects else getattr(torch, precision or native_precision(target))
        advice = "Choose a folder with config.json, tokenizer.json and model.safetensors, or a Hugging Face id."
        with checkpoint_errors(f"The model {place}", advice):
            tokenizer = open_tokenizer(place)
            model = AutoModel.from_pretrained(place, dtype=dtype).to(target, dtype).eval()
        specials = special_tokens(tokenizer, place)
        make_engine = (lambda backbone: backbone._select_engine(precision, engine)) if selects else None
        backbone = cls(model, tokenizer.backend_tokenizer, read_pooling(place), specials, name or place, make_engine)
        if precision or engine:
            _ = backbone.engine  # report at once what is not available
        return backbone

    @cached_property
    def engine(self) -> Engine:
        """The engine that computes token vectors, created on first use."""
        return self._make_engine(self)

    def _select_engine(self, precision: EnginePrecision | None, engine: EngineName | None) -> Engine:
        def encode_probes(candidate: Engine) -> Vectors:
            """Tokenise only when called: the tokenizer's threads, once started, would not survive a fork."""
            return self._encode(probe_pieces(self.tokenizer, self.max_tokens), candidate)

        return select_engine(self.model, precision, engine, encode_probes, self.pooling.mode)

    @property
    def precision(self) -> EnginePrecision:
        """The precision it computes in."""
        return self.engine.precision

    @property
    def runtime(self) -> str:
        """Precision, engine and device, for example "float32, torch on cpu"."""
        return f"{self.precision}, {self.engine.name} on {self.device.type}"

    def with_pooling(self, mode: str) -> "Backbone":
        """The same network with another pooling: mean, cls or max."""
        pooling, specials = Pooling(mode, self.pooling.max_length), (self.first_token, self.last_token)
        return Backbone(self.model, self.tokenizer, pooling, specials, self.name, lambda _: self.engine, self.change)

    def with_change(self, change: Mapping[str, Tensor], digest: str) -> "Backbone":
        """A copy with a low-rank change added to the weights; `digest` identifies all changes it then has."""
        model, specials = deepcopy(self.model), (self.first_token, self.last_token)
        apply_change(model, change)
        return Backbone(model, self.tokenizer, self.pooling, specials, self.name, self._make_engine, digest)

    @property
    def width(self) -> int:
        """Dimensions of a vector."""
        return int(self._config.hidden_size)

    @property
    def max_tokens(self) -> int:
        """The most tokens a piece may have, excluding special tokens."""
        limit = int(self._config.max_position_embeddings) - first_position(self.model)
        return min(limit, self.pooling.max_length or limit) - 2

    @property
    def _config(self) -> Any:
        return self.model.config

    def encode_texts(self, texts: Sequence[str]) -> Vectors:
        """One vector per text; each must fit into `max_tokens` (units/ splits longer ones)."""
        encodings = self.tokenizer.encode_batch(list(texts), add_special_tokens=False)
        return self.encode([np.array(e.ids, dtype=np.int64) for e in encodings])

    def encode(self, pieces: Sequence[npt.NDArray[np.int64]], progress: TokenProgress | None = None) -> Vectors:
        """One unit vector per piece of token ids, independent of their order: (pieces, width)."""
        return self._encode(pieces, self.engine, progress)

    @torch.inference_mode()
    def _encode(
        self, pieces: Sequence[npt.NDArray[np.int64]], engine: Engine, progress: TokenProgress | None = None
    ) -> Vectors:
        lengths = lengths_of(pieces)
        if len(lengths) and lengths.max() > self.max_tokens:
            raise ValueError(f"a piece has {lengths.max()} tokens; {self.name} takes at most {self.max_tokens}")
        specials = self.first_token, self.last_token
        if isinstance(engine, PackedEngine):
            batches = engine.encode(pieces, lengths, specials, self.pooling.mode, self.token_budget)
        else:
            batches = self._encode_padded(pieces, lengths, specials, engine)
        vectors = np.zeros((len(pieces), self.width), dtype=np.float32)
        with ThreadPoolExecutor(1) as writer:  # a separate thread, so that the next batch starts at once
            writes = []
            for rows, batch in batches:
                writes.append(writer.submit(vectors.__setitem__, rows, batch.numpy()))
                if progress:
                    progress(int(lengths[rows].sum()))
        for write in writes:
            write.result()
        return vectors

    def _encode_padded(
        self, pieces: Sequence[Ints], lengths: Ints, specials: tuple[int, int], engine: Engine
    ) -> Iterator[tuple[Ints, Tensor]]:
        """Indices and vectors of the pieces of each padded batch."""
        longest = self.max_tokens + 2
        batches = (
            Batch.of(rows, [pieces[i] for i in rows], specials, longest)
            for rows in token_batches(padded_lengths(lengths + 2, longest), self.token_budget)
        )
        for batch, hidden in engine.read(batches):
            yield batch.rows, self._pool(hidden, batch.mask).float().cpu()

    def _pool(self, hidden: Tensor, mask: Tensor) -> Tensor:
        """(pieces, tokens, width) -> (pieces, width)."""
        if self.pooling.mode == "cls":
            pooled = hidden[:, 0]
        elif self.pooling.mode == "max":
            pooled = hidden.masked_fill(~mask[..., None], float("-inf")).amax(1)
        else:
            weights = mask[:, None].to(hidden.dtype)
            pooled = (weights @ hidden)[:, 0].float() / mask.sum(1, keepdim=True)
        return nn.functional.normalize(pooled.float(), dim=1)


def _torch_engine(backbone: Backbone) -> Engine:
    """Packed, without padding, where that is faster."""
    return (PackedEngine if uses_packing(backbone.model) else TorchEngine)(backbone.model)
