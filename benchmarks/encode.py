"""Tokens encoded a second, beside sentence-transformers' `encode`, and how near the vectors are to those of float32.

    python -m benchmarks.encode DATA_FOLDER [--documents 20] [--turns 5] [--cores 2]

The documents of the data folder are read in two ways:

- passages: texts of up to 254 tokens, as strings, through `Backbone.encode_texts`;
- documents: whole documents, through `sentence_vectors`, which splits them into sentences and tokenises them.

sentence-transformers is given the same passages, and the same sentences as strings, all of a turn in one call. In each
turn every way reads the same text, one after another; a ratio is the median over the turns of the ratios within a turn,
so that what else the machine does weighs on both sides. On a busy machine look at the ratio of processor time, which
counts no waiting: neither for others nor, where one batch is spread over the cores, for the slowest of them. On an
x86 processor the same once more in a process that may use no wider instructions than AVX2, as on one without matrix
units for bfloat16. (pip install sentence-transformers)
"""

import argparse
import json
import os
import platform
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

import numpy as np
import numpy.typing as npt
from rich.console import Console
from rich.table import Table

from benchmarks.common import in_own_process, spread_documents
from longmatch.documents.document import Document
from longmatch.encoders.backbone import Backbone
from longmatch.encoders.engine import row_cosines
from longmatch.encoders.hardware import limit_threads
from longmatch.encoders.pretrained import default_folder
from longmatch.matching.sentence_vectors import sentence_vectors
from longmatch.units import chunks, sentences, tokenize

Vectors = npt.NDArray[np.float32]
WITHOUT = {
    "LONGMATCH_PRECISION": "float32",
    "ATEN_CPU_CAPABILITY": "avx2",
    "ONEDNN_MAX_CPU_ISA": "AVX2",
    "MKL_ENABLE_INSTRUCTIONS": "AVX2",
}
THEIRS = "sentence-transformers"
Rates = dict[str, list[float]]  # tokens a second of each way, turn by turn


@dataclass(frozen=True)
class Turn:
    """Some documents, and what is read of them."""

    documents: list[Document]
    passages: list[str]
    sentences: list[str]
    tokens: int


@dataclass(frozen=True)
class EncodingRate:
    """What one way did with one kind of text."""

    processor: str
    text: str
    way: str
    computes: str
    rate: float  # tokens a second, median over turns
    times: float  # sentence-transformers' rate
    work: float  # the same ratio of processor time
    lowest: float  # of that ratio among the turns
    highest: float
    least: float  # cosine to float32
    mean: float


@dataclass(frozen=True)
class Way:
    """A way to encode both kinds of text."""

    name: str
    computes: str
    passages: Callable[[Turn], Vectors]
    documents: Callable[[Turn], Vectors]


def turns_of(data: Path, documents: int, turns: int, backbone: Backbone) -> list[Turn]:
    """So many documents, spread over the data folder and dealt out to the turns."""
    chosen = spread_documents(data, documents)
    found = []
    for share in (chosen[i::turns] for i in range(turns)):
        tokens = [tokenize(document, backbone.tokenizer) for document in share]
        texts: dict[str, list[str]] = {"passages": [], "sentences": []}
        for name, cut in (("passages", chunks), ("sentences", sentences)):
            for one in tokens:
                pieces = cut(one, backbone.max_tokens)
                spans = zip(pieces.starts.tolist(), pieces.ends.tolist(), strict=True)
                texts[name] += [one.document.readable[start:end] for start, end in spans]
        if not texts["passages"]:
            raise SystemExit("A turn has no text. Name more --documents, or fewer --turns.")
        found.append(Turn(share, _fitting(texts["passages"], backbone), texts["sentences"], sum(map(len, tokens))))
    return found


def our_way(name: str, backbone: Backbone) -> Way:
    def documents(turn: Turn) -> Vectors:
        found = [vectors for _, vectors in sentence_vectors(turn.documents, backbone)]
        return np.concatenate(found)

    return Way(name, backbone.runtime, lambda turn: backbone.encode_texts(_fitting(turn.passages, backbone)), documents)


def _fitting(texts: list[str], backbone: Backbone) -> list[str]:
    """As they are; a text that has a token more alone than within its document is shortened by it."""
    found = backbone.tokenizer.encode_batch(texts, add_special_tokens=False)
    return [text[: e.offsets[: backbone.max_tokens][-1][1]] for text, e in zip(texts, found, strict=True)]


def their_way() -> Way:
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(default_folder()), device="cpu", trust_remote_code=False)

    def encode(texts: list[str]) -> Vectors:
        return np.asarray(model.encode(texts, show_progress_bar=False), dtype=np.float32)

    return Way(THEIRS, "float32, torch on cpu", lambda turn: encode(turn.passages), lambda turn: encode(turn.sentences))


def measure(data: Path, documents: int, turns: int, processor: str) -> list[EncodingRate]:
    """One row a kind of text and way."""
    exact = Backbone.load(device="cpu", precision="float32")
    given = turns_of(data, documents, turns, exact)
    ways = [their_way(), our_way("float32", exact), our_way("default", Backbone.load(device="cpu"))]
    ways.append(our_way("torch", Backbone.load(device="cpu", engine="torch")))
    return [row for text in ("passages", "documents") for row in _rows(text, ways, given, processor)]


def _rows(text: str, ways: list[Way], turns: list[Turn], processor: str) -> list[EncodingRate]:
    rates: Rates = {way.name: [] for way in ways}
    work: Rates = {way.name: [] for way in ways}
    near: dict[str, list[float]] = {way.name: [] for way in ways}
    for number, turn in enumerate([turns[0], *turns]):  # the first is to warm up
        order = ways[number % len(ways) :] + ways[: number % len(ways)]
        found: dict[str, Vectors] = {}
        for way in order:
            start, began = time.perf_counter(), time.process_time()
            found[way.name] = getattr(way, text)(turn)
            if number:
                rates[way.name].append(turn.tokens / (time.perf_counter() - start))
                work[way.name].append(turn.tokens / (time.process_time() - began))
        for way in ways:
            near[way.name] += row_cosines(found[way.name], found["float32"]).tolist()
    rows = []
    for way in ways:
        times, busy = (np.divide(kind[way.name], kind[THEIRS]) for kind in (rates, work))
        cosines = near[way.name]
        ratios = float(np.median(times)), float(np.median(busy)), float(times.min()), float(times.max())
        figures = median(rates[way.name]), *ratios, min(cosines), sum(cosines) / len(cosines)
        rows.append(EncodingRate(processor, text, way.name, way.computes, *figures))
    return rows


def show(rows: Sequence[EncodingRate]) -> None:
    table = Table(
        "processor", "text", "way", "computes", "tokens/s", "times", "in turns", "of work", "least cosine", "mean"
    )
    for row in rows:
        turns = f"{row.lowest:.1f} to {row.highest:.1f}"
        cells = f"{row.rate:,.0f}", f"{row.times:.2f}", turns, f"{row.work:.2f}", f"{row.least:.6f}", f"{row.mean:.6f}"
        table.add_row(row.processor, row.text, row.way, row.computes, *cells)
    Console(width=140).print(table)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--documents", type=int, default=20)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--as", dest="processor", default="as it is", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: options.cores])
    limit_threads(options.cores)
    rows = measure(options.data, options.documents, options.turns, options.processor)
    if options.processor != "as it is":
        print(json.dumps([asdict(row) for row in rows]))
        return
    if platform.machine() == "x86_64":  # the same in a process that may use no wider instructions than AVX2
        sizes = [
            "--documents",
            options.documents // 2,
            "--turns",
            options.turns,
            "--cores",
            options.cores,
            "--as",
            "AVX2",
        ]
        said = in_own_process("benchmarks.encode", options.data, *sizes, environment=os.environ | WITHOUT)
        rows += [EncodingRate(**row) for row in said]
    show(rows)


if __name__ == "__main__":
    main()
