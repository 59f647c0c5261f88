"""OpenVINO: its core and operations, the last nodes of every graph, and the engine that runs graphs on a processor."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

import numpy as np

from longmatch.cache import cache_folder, replace_file
from longmatch.encoders.engine import Batch, EnginePrecision, Ints, Vectors, padded_batches, pipelined
from longmatch.encoders.hardware import thread_count
from longmatch.errors import LongmatchError

HINTS: dict[EnginePrecision, str] = {"float32": "f32", "float16": "f16", "mixed": "bf16"}  # to OpenVINO's names
TOKEN_BUDGET = 1_024  # per batch: small ones fit a processor's cache
LEAST_TOKENS = 128  # of a batch that ends early, to be padded less
CONVERTER = "openvino.tools.ovc"
GRAPHS = "graphs"  # the folder of the user's cache
MOST_GRAPHS = 8  # kept, the latest: one of MiniLM takes 45 or 90 MB
COMPILED: dict[str, Any] = {}  # by the name of the file they are kept in
POOLINGS = ("mean", "cls", "max")
LOWEST = np.float32(-65504)  # of float16

Node = Any  # of OpenVINO


class OpenvinoEngine:
    """Runs one batch per core, as many at a time as there are threads."""

    name = "openvino"
    device_type = "cpu"

    def __init__(
        self, build: Callable[[], Any], digest: str, longest: int, precision: EnginePrecision = "float32"
    ) -> None:
        """`build` makes the graph of the checkpoint that `digest` identifies; it takes `longest` tokens a piece."""
        self.precision, self._longest = precision, longest
        threads = thread_count()
        self._compiled = compiled_graph(build, digest, precision, threads)
        self._depth = threads + 1  # one is queued while the others run

    def encode(self, pieces: Sequence[Ints], specials: tuple[int, int]) -> Iterator[tuple[Ints, Vectors]]:
        """Indices and unit vectors of the pieces of each batch.

        Without callbacks: the thread that runs one needs the GIL, which a thread that frees the model may hold.
        """
        batches = padded_batches(pieces, specials, self._longest, TOKEN_BUDGET, LEAST_TOKENS)
        free = [self._compiled.create_infer_request() for _ in range(self._depth)]

        def start(batch: Batch) -> Callable[[], Vectors]:
            request = free.pop()
            request.start_async({0: batch.ids, 1: batch.mask.astype(batch.ids.dtype)})

            def wait() -> Vectors:
                request.wait()
                vectors: Vectors = request.get_output_tensor(0).data.copy()
                free.append(request)
                if self.precision == "float16":  # some processors divide by the length in half precision too
                    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
                return vectors

            return wait

        for batch, vectors in pipelined(batches, start, self._depth):
            yield batch.rows, vectors


def load_openvino() -> ModuleType:
    """Import OpenVINO with its telemetry disabled, which would report every import and conversion.

    Its converter of models, which nothing here calls, is left for others to import.
    """
    if "openvino" in sys.modules:
        return sys.modules["openvino"]
    if find_spec("openvino") is None:
        raise LongmatchError("Transformers run on OpenVINO. Install it: pip install 'longmatch[deep]'.")
    sys.modules.setdefault("openvino_telemetry", None)  # type: ignore[arg-type]  # blocks the import
    sys.modules[CONVERTER] = None  # type: ignore[assignment]
    try:
        return import_module("openvino")
    finally:
        del sys.modules[CONVERTER]


def operations() -> ModuleType:
    """The operations that graphs are made of."""
    load_openvino()
    return import_module("openvino.opset15")


@cache
def shared_core() -> Any:
    """The process's only OpenVINO core: creating and destroying several is not safe."""
    return load_openvino().Core()


def compiled_graph(build: Callable[[], Any], digest: str, precision: EnginePrecision, threads: int) -> Any:
    """The compiled graph, compiled once per process and never released.

    So loading it again is instant, and OpenVINO's threads never end while others run, which has crashed a test process.
    """
    version = str(load_openvino().__version__).partition("-")[0]
    name = f"{digest}-{precision}-{threads}-{version}"
    if name not in COMPILED:
        settings = {
            "INFERENCE_PRECISION_HINT": HINTS[precision],
            "INFERENCE_NUM_THREADS": threads,
            "NUM_STREAMS": threads,
            "ENABLE_CPU_PINNING": False,  # two processes would be pinned to the same cores
        }
        folder = cache_folder() / GRAPHS
        with suppress(OSError, RuntimeError):  # an earlier process has kept none, or it is damaged
            COMPILED[name] = shared_core().import_model((folder / name).read_bytes(), "CPU", settings)
            return COMPILED[name]
        COMPILED[name] = compiled = shared_core().compile_model(build(), "CPU", settings)
        # kept for the next process, which then need not read and convert the weights
        with suppress(OSError, RuntimeError):  # disk full or read-only: compile again next time
            folder.mkdir(parents=True, exist_ok=True)
            content = compiled.export_model()
            replace_file(folder / name, content.getvalue() if hasattr(content, "getvalue") else bytes(content))
            for old in sorted(folder.iterdir(), key=lambda path: path.stat().st_mtime_ns, reverse=True)[MOST_GRAPHS:]:
                old.unlink(missing_ok=True)  # of models and versions that are gone
    return COMPILED[name]


def integers(*values: int) -> Node:
    """A constant list of numbers, such as axes."""
    return operations().constant(np.array(values, np.int64))


def input_nodes() -> tuple[Node, Node]:
    """The inputs of every graph, `ids` and `mask`: (pieces, tokens), the mask 1 for tokens and 0 for padding."""
    ids, mask = (operations().parameter([-1, -1], np.int64, name) for name in ("ids", "mask"))
    ids.output(0).set_names({"ids"})
    mask.output(0).set_names({"mask"})
    return ids, mask


def unit_vectors(states: Node, mask: Node, pooling: str) -> Node:
    """(pieces, tokens, width) and the mask (pieces, tokens), 1 for tokens -> (pieces, width), each of length 1."""
    op = operations()
    is_token = op.convert(mask, np.float32)
    if pooling == "cls":
        pooled = op.gather(states, op.constant(np.int64(0)), integers(1))
    elif pooling == "max":
        inside = op.unsqueeze(op.convert(is_token, bool), integers(2))
        pooled = op.reduce_max(op.select(inside, states, op.constant(LOWEST)), integers(1))
    else:
        count = op.reduce_sum(is_token, integers(1), True)
        share = op.unsqueeze(is_token / op.maximum(count, op.constant(np.float32(1))), integers(2))
        pooled = op.reduce_sum(op.multiply(states, share), integers(1))  # a product of matrices rounds to bfloat16
    return normalised(pooled)


def normalised(vectors: Node) -> Node:
    """Vectors (pieces, width) at length 1, as the output `vectors`."""
    op = operations()
    # Written out, because OpenVINO then keeps it in float32 where the rest is bfloat16.
    square = op.reduce_sum(vectors * vectors, integers(1), True)
    found = vectors / op.sqrt(op.maximum(square, op.constant(np.float32(1e-24))))
    found.output(0).set_names({"vectors"})
    return found
