"""Any Hugging Face encoder as a backbone that torch computes: it can be trained, and runs on a GPU."""

from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Literal

import torch

from longmatch.encoders.backbone import ADVICE, Backbone
from longmatch.encoders.engine import Engine, EnginePrecision, Vectors
from longmatch.encoders.hardware import cpu_flags
from longmatch.encoders.pretrained import checkpoint_errors, locate, read_pooling
from longmatch.errors import LongmatchError
from longmatch.lab.encoders.checkpoint import open_checkpoint, open_tokenizer, special_tokens
from longmatch.lab.encoders.engine import TorchEngine, first_position, limit_torch_threads
from longmatch.lab.encoders.packed.bert import PackedEngine, uses_packing

Precision = Literal["float32", "bfloat16"]


@dataclass(frozen=True)
class TorchNetwork:
    """A Hugging Face module."""

    model: Any

    @property
    def width(self) -> int:
        """Dimensions of a vector."""
        return int(self.model.config.hidden_size)

    @property
    def positions(self) -> int:
        """The most tokens it takes, special ones included."""
        return int(self.model.config.max_position_embeddings) - first_position(self.model)

    @property
    def digest(self) -> str:
        """Of the weights."""
        sha = sha256()
        for name, weights in sorted(self.model.state_dict().items()):
            sha.update(name.encode())
            sha.update(weights.detach().cpu().contiguous().flatten().view(torch.uint8).numpy().data)
        return sha.hexdigest()[:16]

    def engine(self, pooling: str, precision: EnginePrecision | None, probe: Callable[[Engine], Vectors]) -> Engine:
        """Packed, without padding, where that is faster. The module's precision was set when it was loaded."""
        return (PackedEngine if uses_packing(self.model) else TorchEngine)(self.model, pooling)


class TorchBackbone(Backbone):
    """A backbone whose network is a torch module."""

    network: TorchNetwork

    @property
    def model(self) -> Any:
        """The module."""
        return self.network.model

    @property
    def device(self) -> torch.device:
        """Where it is."""
        return torch.device(next(self.model.parameters()).device)

    @staticmethod
    def has_gpu() -> bool:
        """Whether torch has one."""
        return torch.cuda.is_available()

    @staticmethod
    def load(  # type: ignore[override]  # torch is the engine
        name: str | None = None, device: str | None = None, precision: EnginePrecision | None = None
    ) -> "TorchBackbone":
        """Load a folder or hub id, on a GPU if there is one; by default in the precision that the device is fast in."""
        from transformers import AutoModel
        from transformers.utils import logging

        logging.set_verbosity_error()
        logging.disable_progress_bar()
        place = locate(name)
        target = torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu"))
        if precision not in (None, "float32", "bfloat16"):
            raise LongmatchError(f"torch computes in float32 or bfloat16, not in {precision}.")
        dtype = getattr(torch, precision or (native_precision(target) if target.type != "cpu" else "float32"))
        if target.type == "cpu":
            limit_torch_threads()
        with checkpoint_errors(f"The model {place}", ADVICE):
            model = open_checkpoint(AutoModel, place, dtype=dtype).to(target, dtype).eval()
            tokenizer = open_tokenizer(place)
            reads = tokenizer.backend_tokenizer, special_tokens(tokenizer, place), read_pooling(place)
        return TorchBackbone(TorchNetwork(model), *reads, name or place, precision)


def native_precision(device: torch.device) -> Precision:
    """bfloat16 where the hardware multiplies it natively, else float32."""
    if device.type == "cuda":
        return "bfloat16" if torch.cuda.is_bf16_supported() else "float32"
    return "bfloat16" if "amx_bf16" in cpu_flags() else "float32"
