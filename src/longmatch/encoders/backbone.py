"""A pretrained transformer that turns pieces of text into vectors."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import Self

import numpy as np
from tokenizers import Tokenizer

from longmatch.addresses import TORCH_BACKBONE, resolve
from longmatch.encoders import openvino
from longmatch.encoders.checkpoint import read_tokenizer
from longmatch.encoders.engine import (
    ENGINES,
    PRECISIONS,
    Engine,
    EngineName,
    EnginePrecision,
    Ints,
    Vectors,
    from_environment,
    lengths_of,
    probe_pieces,
)
from longmatch.encoders.graph import UnsupportedArchitecture
from longmatch.encoders.hardware import may_have_gpu, torch_is_installed
from longmatch.encoders.multilingual import (
    MULTILINGUAL,
    MULTILINGUAL_LANGUAGES,
    POSITIONS,
    SPECIALS,
    MultilingualNetwork,
    multilingual_file,
    read_sentencepiece,
)
from longmatch.encoders.network import GraphNetwork, Network, is_onnx_alone
from longmatch.encoders.pretrained import (
    DEFAULT_LANGUAGES,
    Pooling,
    checkpoint_errors,
    is_default,
    languages_of,
    locate,
    place_of,
    read_pooling,
)
from longmatch.errors import LongmatchError

__all__ = ["Backbone", "Vectors"]

TokenProgress = Callable[[int], None]  # called with the number of tokens encoded since the last call
ADVICE = (
    "Choose a folder with config.json, tokenizer.json and model.safetensors or model.onnx, a Hugging Face id, "
    f"or {MULTILINGUAL}."
)


class Backbone:
    """Any encoder by folder or hub id; the packaged MiniLM by default.

    It runs on a GPU if there is one and the extra `lab` is installed; else with OpenVINO, in the fastest precision that
    gives the same vectors. Architectures that OpenVINO's graph does not know need `lab` too.
    """

    def __init__(
        self,
        network: Network,
        tokenizer: Tokenizer,
        specials: tuple[int, int],
        pooling: Pooling,
        name: str,
        precision: EnginePrecision | None = None,
    ) -> None:
        self.network, self.tokenizer, self.pooling, self.name = network, tokenizer, pooling, name
        self.first_token, self.last_token = self.specials = specials
        self._precision = precision

    @staticmethod
    def load(
        name: str | None = None,
        device: str | None = None,
        precision: EnginePrecision | None = None,
        engine: EngineName | None = None,
    ) -> "Backbone":
        """Load a folder or hub id; the default needs no download.

        Without `precision` and `engine` the environment variables LONGMATCH_PRECISION and LONGMATCH_ENGINE apply.
        """
        if precision is None and engine is None:
            precision = from_environment("LONGMATCH_PRECISION", PRECISIONS)
            engine = from_environment("LONGMATCH_ENGINE", ENGINES)
        if name == MULTILINGUAL:  # runs on OpenVINO alone, in the precision asked for if that has it
            tokenizer = read_sentencepiece(multilingual_file("sp.model"))
            chosen = precision if precision in openvino.HINTS else None
            return Backbone(MultilingualNetwork(), tokenizer, SPECIALS, Pooling(max_length=POSITIONS), name, chosen)
        on_cpu = device in (None, "cpu")
        for_openvino = precision is None or precision in openvino.HINTS
        if engine == "openvino" and not on_cpu:
            raise LongmatchError(f"OpenVINO runs on the CPU, not on {device}. Leave out the engine or the device.")
        if engine == "openvino" and not for_openvino:
            raise LongmatchError(f"OpenVINO computes in {' or '.join(openvino.HINTS)}, not in {precision}.")
        place = locate(name)
        free = engine is None and device is None and not is_onnx_alone(place)
        on_gpu = free and may_have_gpu() and resolve(TORCH_BACKBONE).has_gpu()
        if engine == "torch" or on_gpu or not on_cpu or not for_openvino:
            return _load_with_torch(name, device, precision)
        try:
            with checkpoint_errors(f"The model {place}", ADVICE):
                network = GraphNetwork.open(place)
                tokenizer, specials = read_tokenizer(place)
                return Backbone(network, tokenizer, specials, read_pooling(place), name or place, precision)
        except UnsupportedArchitecture:
            if engine == "openvino" or not torch_is_installed():
                raise
            return _load_with_torch(name, device, precision)

    @staticmethod
    def load_recorded(name: str) -> "Backbone | None":
        """Load the backbone that a file names, from this computer alone; None where it would have to be fetched.

        The file may come from a stranger: what is fetched, and from whom, is for the user to say.
        """
        place = name if name == MULTILINGUAL else place_of(name)
        if place is None:
            return None
        backbone = Backbone.load(place)
        backbone.name = name
        return backbone

    @cached_property
    def engine(self) -> Engine:
        """The engine that computes vectors, created on first use."""
        with checkpoint_errors(f"The model {self.name}", ADVICE):
            # the probes are tokenised only when asked for: the tokenizer's threads would not survive a fork
            return self.network.engine(
                self.pooling.mode,
                self._precision,
                lambda engine: self._encode(engine, probe_pieces(self.tokenizer, self.max_tokens)),
            )

    @property
    def precision(self) -> EnginePrecision:
        """The precision it computes in."""
        return self.engine.precision

    @property
    def runtime(self) -> str:
        """Precision, engine and device, for example "float32, openvino on cpu"."""
        return f"{self.precision}, {self.engine.name} on {self.engine.device_type}"

    @property
    def width(self) -> int:
        """Dimensions of a vector."""
        return self.network.width

    @property
    def identity(self) -> str:
        """Identifies the weights and the pooling; libraries record it, so it ends as in longmatch 0.2.0."""
        return f"{self.network.digest}-{self.pooling.mode}-"

    @property
    def languages(self) -> frozenset[str] | None:
        """The languages it was trained on, as two-letter codes; None if unknown."""
        return known_languages(self.name)

    @property
    def max_tokens(self) -> int:
        """The most tokens a piece may have, excluding special tokens."""
        limit = self.network.positions
        return min(limit, self.pooling.max_length or limit) - 2

    def with_pooling(self, mode: str) -> Self:
        """The same network with another pooling: mean, cls or max."""
        pooling = Pooling(mode, self.pooling.max_length)
        return type(self)(self.network, self.tokenizer, self.specials, pooling, self.name, self._precision)

    def encode_texts(self, texts: Sequence[str]) -> Vectors:
        """One vector per text; each must fit into `max_tokens` (units/ splits longer ones)."""
        encodings = self.tokenizer.encode_batch(list(texts), add_special_tokens=False)
        return self.encode([np.array(e.ids, dtype=np.int64) for e in encodings])

    def encode(self, pieces: Sequence[Ints], progress: TokenProgress | None = None) -> Vectors:
        """One unit vector per piece of token ids, independent of their order: (pieces, width)."""
        return self._encode(self.engine, pieces, progress)

    def _encode(self, engine: Engine, pieces: Sequence[Ints], progress: TokenProgress | None = None) -> Vectors:
        lengths = lengths_of(pieces)
        if len(lengths) and lengths.max() > self.max_tokens:
            raise ValueError(f"a piece has {lengths.max()} tokens; {self.name} takes at most {self.max_tokens}")
        vectors = np.zeros((len(pieces), self.width), dtype=np.float32)
        with ThreadPoolExecutor(1) as writer:  # a separate thread, so that the next batch starts at once
            writes = []
            for rows, batch in engine.encode(pieces, self.specials):
                writes.append(writer.submit(vectors.__setitem__, rows, batch))
                if progress:
                    progress(int(lengths[rows].sum()))
        for write in writes:
            write.result()
        return vectors


def known_languages(name: str) -> frozenset[str] | None:
    """The languages that the backbone of that name was trained on, as two-letter codes; None if unknown."""
    if is_default(name):
        return DEFAULT_LANGUAGES
    return MULTILINGUAL_LANGUAGES if name == MULTILINGUAL else languages_of(name)


def _load_with_torch(name: str | None, device: str | None, precision: EnginePrecision | None) -> Backbone:
    if not torch_is_installed():
        wanted = f"on {device}" if device else f"in {precision}" if precision else "with torch"
        raise LongmatchError(f"Computing {wanted} needs torch. Install it: pip install 'longmatch[lab]'.")
    backbone: Backbone = resolve(TORCH_BACKBONE).load(name, device, precision)
    return backbone
