"""A backbone read by OpenVINO: the extra `fast`. Converted once, and kept in the user's cache."""

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

from longmatch.encoders.engine import Batch, Numbers, several_at_once
from longmatch.encoders.threads import set_threads
from longmatch.errors import LongmatchError

HINTS = {"float32": "f32", "mixed": "bf16"}  # our words for precision, and OpenVINO's
READY: dict[tuple[str, Numbers, int], Any] = {}  # compiled models by what they were compiled from


class OpenvinoEngine:
    """As many batches at a time as there are threads, each on one core."""

    name = "openvino"

    def __init__(self, model: nn.Module, precision: Numbers) -> None:
        self.precision, self.device = precision, torch.device("cpu")
        threads = set_threads()
        self.compiled = compiled(model, precision, threads)
        self._at_once = threads + 1  # one waits while the others are read

    def read(self, batches: Iterable[Batch]) -> Iterator[tuple[Batch, Tensor]]:
        """Several batches at once, handed out in their order.

        No callbacks: the thread that calls one needs Python's lock, which a thread that frees the model may hold.
        """
        free = [self.compiled.create_infer_request() for _ in range(self._at_once)]

        def start(batch: Batch) -> Callable[[], Tensor]:
            request = free.pop()
            request.start_async({0: batch.ids.numpy(), 1: batch.mask.long().numpy()})

            def wait() -> Tensor:
                request.wait()
                free.append(request)
                return torch.from_numpy(request.get_output_tensor(0).data)

            return wait

        return several_at_once(batches, start, self._at_once)


def is_installed() -> bool:
    """Whether the extra `fast` is."""
    return find_spec("openvino") is not None


def load_openvino() -> ModuleType:
    """The library, without its reports: unless kept from it, it tells its maker of every import and conversion."""
    if not is_installed():
        raise LongmatchError("Reading with OpenVINO needs openvino. Install it: pip install 'longmatch[fast]'.")
    sys.modules.setdefault("openvino_telemetry", None)  # type: ignore[arg-type]  # None: cannot be imported
    return import_module("openvino")


@cache
def shared_core() -> Any:
    """The one of this process: OpenVINO is not made for several that come and go."""
    return load_openvino().Core()


def compiled(model: nn.Module, precision: Numbers, threads: int) -> Any:
    """The module made ready, once a process and for its whole life.

    A second opening is instant. And OpenVINO's threads never end beside others that go on: a process of the test suite
    has died at such a moment.
    """
    version = load_openvino().__version__
    key = (digest(model, version), precision, threads)
    if key not in READY:
        settings = {
            "INFERENCE_PRECISION_HINT": HINTS[precision],
            "INFERENCE_NUM_THREADS": threads,
            "NUM_STREAMS": threads,
            "ENABLE_CPU_PINNING": False,  # two processes would be pinned to the same cores
        }
        READY[key] = shared_core().compile_model(converted(model, key[0]), "CPU", settings)
    return READY[key]


def converted(model: nn.Module, digest: str) -> Any:
    """The module as OpenVINO's graph for batches of any size, from the cache where it is there."""
    openvino = load_openvino()
    folder = cache_folder() / digest
    graph = folder / "graph.xml"
    if graph.is_file():
        with suppress(RuntimeError):  # a damaged file: convert again
            return shared_core().read_model(graph)
    found = _convert(model, openvino)
    with suppress(OSError, RuntimeError):  # no room, or no right to write: convert again next time
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as made:
            openvino.save_model(found, Path(made) / "new" / graph.name, compress_to_fp16=False)
            (Path(made) / "new").rename(folder)
    return found


def _convert(model: nn.Module, openvino: ModuleType) -> Any:
    ids = torch.arange(14).reshape(2, 7) + 5
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch's tracer warns of tests on lengths, which hold for every batch here
        return openvino.convert_model(_TokenVectors(model), example_input=(ids, torch.ones_like(ids)))


class _TokenVectors(nn.Module):
    """The one output that is used."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        found: Tensor = self.model(input_ids=ids, attention_mask=mask).last_hidden_state
        return found


def cache_folder() -> Path:
    """Where converted models are kept."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "longmatch" / "openvino"


def digest(model: nn.Module, version: str) -> str:
    """Of what the graph depends on: the weights, what the config says of the layers, and the two libraries."""
    import transformers

    config = getattr(model, "config", None)
    told = config.to_json_string() if config else ""
    found = hashlib.sha256(f"{type(model).__name__} {told} {version} {transformers.__version__}".encode())
    for weights in model.state_dict().values():
        found.update(weights.detach().contiguous().flatten().view(torch.uint8).numpy().data)
    return found.hexdigest()[:16]
