"""The OpenVINO engine (extra `fast`). A model is converted once and kept in the user's cache."""

import hashlib
import os
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from torch import Tensor, nn

from longmatch.encoders.engine import Batch, EnginePrecision, pipelined
from longmatch.encoders.threads import limit_threads
from longmatch.errors import LongmatchError

HINTS = {"float32": "f32", "mixed": "bf16"}  # our names of precisions to OpenVINO's
COMPILED: dict[tuple[str, EnginePrecision, int], Any] = {}  # by digest, precision and threads


class OpenvinoEngine:
    """Runs one batch per core, as many at a time as there are threads."""

    name = "openvino"

    def __init__(self, model: nn.Module, precision: EnginePrecision) -> None:
        self.precision, self.device = precision, torch.device("cpu")
        threads = limit_threads()
        self.compiled = compiled_model(model, precision, threads)
        self._depth = threads + 1  # one is queued while the others run

    def read(self, batches: Iterable[Batch]) -> Iterator[tuple[Batch, Tensor]]:
        """Token vectors of each batch, in order.

        Without callbacks: the thread that runs one needs the GIL, which a thread that frees the model may hold.
        """
        free = [self.compiled.create_infer_request() for _ in range(self._depth)]

        def start(batch: Batch) -> Callable[[], Tensor]:
            request = free.pop()
            request.start_async({0: batch.ids.numpy(), 1: batch.mask.long().numpy()})

            def wait() -> Tensor:
                request.wait()
                free.append(request)
                return torch.from_numpy(request.get_output_tensor(0).data)

            return wait

        return pipelined(batches, start, self._depth)


def is_installed() -> bool:
    """Whether the extra `fast` is installed."""
    return find_spec("openvino") is not None


def load_openvino() -> ModuleType:
    """Import OpenVINO with its telemetry disabled, which would report every import and conversion."""
    if not is_installed():
        raise LongmatchError("The OpenVINO engine needs openvino. Install it: pip install 'longmatch[fast]'.")
    sys.modules.setdefault("openvino_telemetry", None)  # type: ignore[arg-type]  # blocks the import
    return import_module("openvino")


@cache
def shared_core() -> Any:
    """The process's only OpenVINO core: creating and destroying several is not safe."""
    return load_openvino().Core()


def compiled_model(model: nn.Module, precision: EnginePrecision, threads: int) -> Any:
    """The compiled module, compiled once per process and never released.

    So loading it again is instant, and OpenVINO's threads never end while others run, which has crashed a test process.
    """
    version = load_openvino().__version__
    key = (digest(model, version), precision, threads)
    if key not in COMPILED:
        settings = {
            "INFERENCE_PRECISION_HINT": HINTS[precision],
            "INFERENCE_NUM_THREADS": threads,
            "NUM_STREAMS": threads,
            "ENABLE_CPU_PINNING": False,  # two processes would be pinned to the same cores
        }
        COMPILED[key] = shared_core().compile_model(converted_model(model, key[0]), "CPU", settings)
    return COMPILED[key]


def converted_model(model: nn.Module, digest: str) -> Any:
    """The module as an OpenVINO graph for batches of any size, from the cache if it is there."""
    openvino = load_openvino()
    folder = cache_folder() / digest
    graph = folder / "graph.xml"
    if graph.is_file():
        with suppress(RuntimeError):  # damaged: convert again
            return shared_core().read_model(graph)
    converted = _convert(model, openvino)
    with suppress(OSError, RuntimeError):  # disk full or read-only: convert again next time
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as temporary:
            openvino.save_model(converted, Path(temporary) / "new" / graph.name, compress_to_fp16=False)
            (Path(temporary) / "new").rename(folder)
    return converted


def _convert(model: nn.Module, openvino: ModuleType) -> Any:
    ids = torch.arange(14).reshape(2, 7) + 5
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the tracer warns about length checks, which pass for every batch here
        return openvino.convert_model(_TokenVectors(model), example_input=(ids, torch.ones_like(ids)))


class _TokenVectors(nn.Module):
    """Returns only the token vectors."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        vectors: Tensor = self.model(input_ids=ids, attention_mask=mask).last_hidden_state
        return vectors


def cache_folder() -> Path:
    """Folder of the converted models."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "longmatch" / "openvino"


def digest(model: nn.Module, version: str) -> str:
    """Digest of all that the graph depends on: weights, config and the versions of both libraries."""
    import transformers

    config = getattr(model, "config", None)
    settings = config.to_json_string() if config else ""
    sha = hashlib.sha256(f"{type(model).__name__} {settings} {version} {transformers.__version__}".encode())
    for weights in model.state_dict().values():
        sha.update(weights.detach().contiguous().flatten().view(torch.uint8).numpy().data)
    return sha.hexdigest()[:16]
