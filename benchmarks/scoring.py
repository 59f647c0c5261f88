"""SDR's hierarchical score of one document with 2,000: matrix product and reductions against the plain loops.

    python -m benchmarks.scoring DOCUMENTS.jsonl[.xz] [--candidates 2000]

Real sentences: the documents' first 60 sentences in paragraphs as they stand, encoded by the packaged backbone (vectors
are kept in out/ for the next run). All variants run in one process; the ratios are what holds on other machines.
"""

import argparse
import time
from collections.abc import Callable
from itertools import islice
from pathlib import Path

import numpy as np
import torch
from rich.console import Console
from rich.table import Table
from safetensors.torch import load_file, save_file

from longmatch.documents.document import Document
from longmatch.documents.jsonl import iterate_jsonl
from longmatch.encoders.backbone import Backbone
from longmatch.matching.sentence_vectors import sentence_vectors
from longmatch.models.sdr.score import Paragraphs, sdr_scores, split

SENTENCES = 60  # of each document


def plain_loops(source: Paragraphs, candidates: Paragraphs) -> torch.Tensor:
    """Equations 4 to 6 as they are written: a loop over candidates and over pairs of paragraphs."""
    query, own = source.vectors.numpy(), source.paragraphs.tolist()
    tables = []
    for candidate in split(candidates):
        vectors, bounds = candidate.vectors.numpy(), candidate.paragraphs.tolist()
        table = np.empty((len(own) - 1, len(bounds) - 1), dtype=np.float32)  # P, (source paragraphs, theirs)
        for i in range(len(own) - 1):
            for j in range(len(bounds) - 1):
                cosines = query[own[i] : own[i + 1]] @ vectors[bounds[j] : bounds[j + 1]].T  # M
                table[i, j] = cosines.max(axis=1).mean()
        tables.append(table)
    everything = np.concatenate(tables, axis=1)
    mean, deviation = everything.mean(axis=1, keepdims=True), everything.std(axis=1, keepdims=True)
    return torch.tensor([((table - mean) / deviation).max(axis=1).mean() for table in tables])


def best_time(run: Callable[[], object], repeat: int) -> float:
    run()
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times)


def collection(source: Path, count: int) -> list[Paragraphs]:
    """The documents' first sentences and their vectors, from out/ if they were made before."""
    kept = Path("out") / f"scoring-{source.parent.name}-{count}.safetensors"
    if kept.is_file():
        table = load_file(kept)
        whole = Paragraphs(table["vectors"].float(), table["paragraphs"], table["documents"])
        return list(split(whole))
    documents = list(islice(iterate_jsonl(source), count + 1))
    with Console().status("encoding (once)"):
        parts = [_first(s, v) for s, v in _encode(documents)]
    whole = Paragraphs.join(parts)
    kept.parent.mkdir(exist_ok=True)
    save_file({"vectors": whole.vectors, "paragraphs": whole.paragraphs, "documents": whole.documents}, kept)
    return parts


def _encode(documents: list[Document]) -> list[tuple[torch.Tensor, torch.Tensor]]:
    from longmatch.documents.draft import Draft

    short = []
    for document in documents:
        draft, room = Draft(), SENTENCES
        for paragraph in document.running:
            sentences = paragraph.sentences[:room]
            if sentences:
                draft.paragraph(document.text[sentences[0].start : sentences[-1].end])
                room -= len(sentences)
        short.append(draft.document(document.id))
    found = sentence_vectors(short, Backbone.load())
    return [(torch.from_numpy(sentences.paragraphs), torch.from_numpy(vectors)) for sentences, vectors in found]


def _first(paragraphs: torch.Tensor, vectors: torch.Tensor) -> Paragraphs:
    return Paragraphs.of(vectors, paragraphs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("documents", type=Path)
    parser.add_argument("--candidates", type=int, default=2000)
    options = parser.parse_args()
    torch.set_num_threads(1)
    source, *rest = collection(options.documents, options.candidates)
    candidates = Paragraphs.join(rest)
    small = [Paragraphs(c.vectors.bfloat16(), c.paragraphs, c.documents) for c in (source, candidates)]
    loops = best_time(lambda: plain_loops(source, candidates), 1)
    exact, fast = plain_loops(source, candidates), sdr_scores(source, candidates)
    coarse = sdr_scores(small[0], small[1])
    same = len(set(exact.topk(50).indices.tolist()) & set(coarse.topk(50).indices.tolist()))
    print(f"{len(rest)} documents, {len(candidates.vectors)} sentences, query of {len(source.vectors)}; one core")
    print(f"largest difference from the loops in float32: {(exact - fast).abs().max():.1e}")
    print(f"of the best 50, the same in bfloat16: {same}")
    work = 2 * len(source.vectors) * candidates.vectors.numel()
    table = Table("", "ms", "times the loops", "share of the matrix-product rate")
    table.add_row("plain loops", f"{1e3 * loops:.0f}", "1", "")
    for name, pair in (("float32", (source, candidates)), ("bfloat16", (small[0], small[1]))):
        seconds = best_time(lambda pair=pair: sdr_scores(*pair), 7)  # type: ignore[misc]
        rate = _matrix_rate(pair[0].vectors.dtype)
        table.add_row(name, f"{1e3 * seconds:.1f}", f"{loops / seconds:.0f}", f"{work / seconds / rate:.0%}")
    Console().print(table)


def _matrix_rate(dtype: torch.dtype) -> float:
    """Operations a second of a large square product on one core."""
    size = 2048
    a, b = torch.randn(size, size, dtype=dtype), torch.randn(size, size, dtype=dtype)
    return 2 * size**3 / best_time(lambda: a @ b, 5)


if __name__ == "__main__":
    main()
