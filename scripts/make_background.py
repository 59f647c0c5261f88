"""Make the background statistics that ship with longmatch, from free encyclopedia text.

    python scripts/make_background.py DOCUMENTS.jsonl.xz [OUT]

DOCUMENTS is a JSON Lines file of general long documents (English Wikipedia articles, CC BY-SA 3.0: the `pretrain` set of
the data catalogue). Written are document frequencies of hashed words and phrases, vectors of unrelated sentences, and the
chance level of each side of the default matcher: numbers only, no text.
"""

import json
import sys
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from rich.progress import track
from safetensors.torch import save_file

from longmatch.documents.document import Document
from longmatch.documents.jsonl import iterate_jsonl
from longmatch.encoders.backbone import Backbone
from longmatch.matching.calibration import Calibration
from longmatch.matching.chance import Background
from longmatch.models.hybrid.background import FOLDER, Statistics
from longmatch.models.hybrid.encoding import encode_documents
from longmatch.models.hybrid.explain import Explanation
from longmatch.models.lexical.frequencies import Frequencies
from longmatch.models.lexical.terms import terms_of

FREQUENCY_DOCUMENTS = 6_000
SENTENCES, SENTENCE_DOCUMENTS = 2_048, 1_024
CHANCE_DOCUMENTS = 120
RARE = {"words": 6, "phrases": 36}  # terms in fewer documents are left out: to the matcher they are simply rare
SPREAD = {"words": 0.035, "phrases": 0.006, "meaning": 0.07}  # chosen on training queries of five collections
HALF = 18.0  # evidence at which the score is one half: that of a typical related pair


def main(source: Path, out: Path) -> None:
    rng = np.random.default_rng(0)
    documents = list(islice(iterate_jsonl(source), FREQUENCY_DOCUMENTS))
    words, phrases = count(documents)
    print(f"{len(documents)} documents, {len(words.ids)} words, {len(phrases.ids)} phrases")
    backbone = Backbone.load(precision="float32")
    background = Background(torch.from_numpy(sentence_vectors(documents, backbone, rng)))
    level = chance(documents, Statistics(words, phrases, background, Calibration({}, SPREAD, HALF)), backbone, rng)
    out.mkdir(parents=True, exist_ok=True)
    save_file({"vectors": background.vectors.half()}, out / "sentences.safetensors")
    table: dict[str, torch.Tensor] = {}
    for name, frequencies in (("words", words), ("phrases", phrases)):
        table[f"{name}.ids"] = torch.from_numpy(frequencies.ids.view(np.int64).copy())
        table[f"{name}.counts"] = torch.from_numpy(frequencies.counts.astype(np.int16))
    save_file(table, out / "frequencies.safetensors")
    facts = {"documents": len(documents), "chance": level, "spread": SPREAD, "half": HALF}
    (out / "statistics.json").write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")
    print(json.dumps(facts, indent=2))


def count(documents: list[Document]) -> tuple[Frequencies, Frequencies]:
    """Document frequencies; phrases are counted in passes over parts of the hash space, to bound memory."""
    tables = {"words": Counter[int](), "phrases": Counter[int]()}
    for document in track(documents, "counting"):
        terms = terms_of(document)
        tables["words"].update(terms.words.counts.ids.tolist())
        tables["phrases"].update(terms.phrases.counts.ids.tolist())
        if len(tables["phrases"]) > 30_000_000:
            tables["phrases"] = Counter({term: n for term, n in tables["phrases"].items() if n > 1})
    words, phrases = (frequent(tables[name], RARE[name], len(documents)) for name in ("words", "phrases"))
    return words, phrases


def frequent(table: Counter[int], least: int, documents: int) -> Frequencies:
    kept = sorted((term, n) for term, n in table.items() if n >= least)
    ids = np.array([term for term, _ in kept], dtype=np.uint64)
    return Frequencies(documents, ids, np.array([n for _, n in kept], dtype=np.float64))


def sentence_vectors(
    documents: list[Document], backbone: Backbone, rng: np.random.Generator
) -> npt.NDArray[np.float32]:
    """Two sentences of eight words or more from each of many documents, so that few of them are related."""
    chosen: list[str] = []
    for document in documents[:SENTENCE_DOCUMENTS]:
        long_enough = [s.of(document.text) for s in document.sentences if 8 <= len(s.of(document.text).split()) <= 60]
        chosen += [long_enough[i] for i in rng.choice(len(long_enough), 2, replace=False)]
    return backbone.encode_texts(chosen[:SENTENCES])


def chance(
    documents: list[Document], statistics: Statistics, backbone: Backbone, rng: np.random.Generator
) -> dict[str, float]:
    """The mean similarity of each side over pairs of unrelated documents, every pair compared alone."""
    sample = documents[-CHANCE_DOCUMENTS:]
    encodings = encode_documents(sample, backbone, statistics.sentences)
    rows: dict[str, list[float]] = {"words": [], "phrases": [], "meaning": []}
    lengths: list[float] = []
    for i, j in track(list(_pairs(len(sample), rng)), "comparing"):
        sides = Explanation.of(encodings[i], encodings[j], statistics).sides
        for name, values in sides.items():
            rows[name].append(float(values[0]))
        lengths.append(float(np.log(sample[i].words * sample[j].words)) / 2)
    for name, values_of in rows.items():
        slope = np.polyfit(lengths, values_of, 1)[0]
        print(f"{name}: mean {np.mean(values_of):.4f} deviation {np.std(values_of):.4f} slope in ln(words) {slope:.4f}")
    return {name: float(np.mean(values_of)) for name, values_of in rows.items()}


def _pairs(count: int, rng: np.random.Generator) -> Iterator[tuple[int, int]]:
    order = rng.permutation(count)
    for step in (1, 2, 3, 5, 7):
        yield from zip(order, np.roll(order, step), strict=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]) if len(sys.argv) > 2 else FOLDER)
