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

from longmatch.encoders.batches import lengths_of, padded, token_batches
from longmatch.encoders.choosing import EngineName, choose, native_precision, probes, wished
from longmatch.encoders.engine import Batch, Engine, Ints, Numbers, Precision, TorchEngine
from longmatch.encoders.low_rank import add_change
from longmatch.encoders.packed import PackedEngine, packs
from longmatch.encoders.pretrained import Pooling, checkpoint_errors, locate, read_pooling
from longmatch.encoders.tokenizer import open_tokenizer, special_tokens
from longmatch.errors import LongmatchError

__all__ = ["Backbone", "Precision", "native_precision"]

Progress = Callable[[int], None]  # told how many tokens were encoded since the last call
Vectors = npt.NDArray[np.float32]

CPU_BUDGET, GPU_BUDGET = 2_048, 65_536  # tokens a batch: small ones stay in a CPU's cache, large ones fill a GPU


class Backbone:
    """Any Hugging Face or sentence-transformers encoder, by folder or hub id; the packaged MiniLM by default.

    Device, engine and precision choose themselves: a GPU if there is one; else the fastest that keeps the answers.
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
        self.change = change  # which change was added to the network, by a digest
        self.first_token, self.last_token = specials
        self.device = next(model.parameters()).device
        self.token_budget = CPU_BUDGET if self.device.type == "cpu" else GPU_BUDGET
        self._make_engine = engine or _torch_engine

    @classmethod
    def load(
        cls,
        name: str | None = None,
        device: str | None = None,
        precision: Numbers | None = None,
        engine: EngineName | None = None,
    ) -> "Backbone":
        """Open a folder or hub id; nothing is downloaded for the default.

        Precision alone means torch. Engine alone takes the fastest precision that keeps the answers. Where neither is
        given, LONGMATCH_PRECISION and LONGMATCH_ENGINE say it, if they are set.
        """
        from transformers import AutoModel
        from transformers.utils import logging

        logging.set_verbosity_error()
        logging.disable_progress_bar()
        place = locate(name)
        if precision is None and engine is None:
            precision, engine = wished()
        chosen = torch.device(device or ("cuda" if torch.cuda.is_available() and engine != "openvino" else "cpu"))
        if engine == "openvino" and chosen.type != "cpu":
            raise LongmatchError(f"OpenVINO reads on the processor, not on {chosen.type}. Leave out one of the two.")
        chooses = chosen.type == "cpu" or precision == "mixed"
        dtype = torch.float32 if chooses else getattr(torch, precision or native_precision(chosen))
        advice = "Name a folder that holds config.json, tokenizer.json and model.safetensors, or a Hugging Face id."
        with checkpoint_errors(f"The model {place}", advice):
            tokenizer = open_tokenizer(place)
            model = AutoModel.from_pretrained(place, dtype=dtype).to(chosen, dtype).eval()
        specials = special_tokens(tokenizer, place)
        make = (lambda backbone: backbone._choose(precision, engine)) if chooses else None
        backbone = cls(model, tokenizer.backend_tokenizer, read_pooling(place), specials, name or place, make)
        if precision or engine:
            _ = backbone.engine  # what was asked for and cannot be had is said at once
        return backbone

    @cached_property
    def engine(self) -> Engine:
        """What reads the tokens; made when first needed."""
        return self._make_engine(self)

    def _choose(self, precision: Numbers | None, engine: EngineName | None) -> Engine:
        def tried(candidate: Engine) -> Vectors:
            """Tokenised only when asked for: the tokenizer's threads, once started, would not survive a fork."""
            return self._encode(probes(self.tokenizer, self.max_tokens), candidate)

        return choose(self.model, precision, engine, tried, self.pooling.mode)

    @property
    def precision(self) -> Numbers:
        """The numbers it computes in."""
        return self.engine.precision

    @property
    def computes(self) -> str:
        """Precision, engine and device in words."""
        return f"{self.precision}, {self.engine.name} on {self.device.type}"

    def pooled(self, mode: str) -> "Backbone":
        """The same network, its token vectors made into one in another way: mean, cls or max."""
        pooling, specials = Pooling(mode, self.pooling.max_length), (self.first_token, self.last_token)
        return Backbone(self.model, self.tokenizer, pooling, specials, self.name, lambda _: self.engine, self.change)

    def changed(self, change: Mapping[str, Tensor], digest: str) -> "Backbone":
        """Another backbone, with a low-rank change added to this one's weights; `digest` names all it has learnt."""
        model, specials = deepcopy(self.model), (self.first_token, self.last_token)
        add_change(model, change)
        return Backbone(model, self.tokenizer, self.pooling, specials, self.name, self._make_engine, digest)

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

    def encode(self, pieces: Sequence[npt.NDArray[np.int64]], progress: Progress | None = None) -> Vectors:
        """One vector of length 1 a piece of token ids, whatever the order: (pieces, width)."""
        return self._encode(pieces, self.engine, progress)

    @torch.inference_mode()
    def _encode(
        self, pieces: Sequence[npt.NDArray[np.int64]], engine: Engine, progress: Progress | None = None
    ) -> Vectors:
        lengths = lengths_of(pieces)
        if len(lengths) and lengths.max() > self.max_tokens:
            raise ValueError(f"a piece of {lengths.max()} tokens; {self.name} reads {self.max_tokens}")
        specials = self.first_token, self.last_token
        if isinstance(engine, PackedEngine):
            found = engine.encode(pieces, lengths, specials, self.pooling.mode, self.token_budget)
        else:
            found = self._padded(pieces, lengths, specials, engine)
        vectors = np.zeros((len(pieces), self.width), dtype=np.float32)
        with ThreadPoolExecutor(1) as writer:  # beside what begins the next batch: a GPU must not wait for either
            written = []
            for rows, some in found:
                written.append(writer.submit(vectors.__setitem__, rows, some.numpy()))
                if progress:
                    progress(int(lengths[rows].sum()))
        for one in written:
            one.result()
        return vectors

    def _padded(
        self, pieces: Sequence[Ints], lengths: Ints, specials: tuple[int, int], engine: Engine
    ) -> Iterator[tuple[Ints, Tensor]]:
        """Which pieces, and their vectors, by batches padded to one length."""
        most = self.max_tokens + 2
        batches = (
            Batch.of(rows, [pieces[i] for i in rows], specials, most)
            for rows in token_batches(padded(lengths + 2, most), self.token_budget)
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
    """Without padding where that is faster."""
    return (PackedEngine if packs(backbone.model) else TorchEngine)(backbone.model)
