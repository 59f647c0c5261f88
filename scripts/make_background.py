"""Make the background statistics that ship with longmatch, from free encyclopedia text.

    python scripts/make_background.py DOCUMENTS.jsonl.xz [--calibrate-only]

DOCUMENTS is a JSON Lines file of general long documents (English Wikipedia articles, CC BY-SA 3.0: the `pretrain` set
of the data catalogue). Written are document frequencies of hashed words and phrases, vectors of unrelated sentences,
and the chance level of each side of the default matcher: numbers only, no text.
"""

import json
import sys
from collections import Counter
from itertools import combinations, islice
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from rich.progress import track
from safetensors.torch import save_file

from longmatch.documents.document import Document
from longmatch.documents.jsonl import iterate_jsonl
from longmatch.documents.read import read_all
from longmatch.encoders.backbone import Backbone
from longmatch.matching.calibration import Calibration, Floats
from longmatch.models.background import FOLDER, Statistics, shipped_tables
from longmatch.models.hybrid.encoding import Encoding
from longmatch.models.hybrid.explain import Explanation
from longmatch.models.hybrid.model import HybridMatcher
from longmatch.models.lexical.frequencies import Frequencies
from longmatch.models.lexical.terms import terms_of

FREQUENCY_DOCUMENTS = 6_000  # a table of 6,000 tells common from rare
SENTENCES, SENTENCE_DOCUMENTS = 2_048, 1_024
CHANCE_DOCUMENTS, STEPS = 60, (1, 2, 3, 5, 7)
EXAMPLES = Path(__file__).parents[1] / "examples"
RARE = {"words": 6, "phrases": 15}  # terms in fewer documents are left out: to the matcher they are simply rare
SPREAD = {"words": 0.035, "phrases": 0.004, "meaning": 0.07}  # how they were chosen: docs/scoring.md
HALF = 8.5  # evidence at which the score is one half: that of a typical related pair


def main(source: Path, calibrate_only: bool) -> None:
    """Make the statistics and print the calibration."""
    rng = np.random.default_rng(0)
    documents = list(islice(iterate_jsonl(source), FREQUENCY_DOCUMENTS))
    backbone = Backbone.load(precision="float32")
    if not calibrate_only:
        save(*count(documents), sentence_vectors(documents, backbone, rng))
    words, phrases, background = shipped_tables()
    statistics = Statistics(words, phrases, background, Calibration({}, SPREAD, HALF))
    facts = {"chance": chance(documents, statistics, backbone), "spread": SPREAD, "half": HALF}
    (FOLDER / "calibration.json").write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")
    print(json.dumps(facts, indent=2))


def save(words: Frequencies, phrases: Frequencies, vectors: npt.NDArray[np.float32]) -> None:
    """Write the tables into the package."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    table = {"documents": torch.tensor([words.documents])}
    for name, frequencies in (("words", words), ("phrases", phrases)):
        table[f"{name}.ids"] = torch.from_numpy(frequencies.ids.view(np.int64).copy())
        table[f"{name}.counts"] = torch.from_numpy(frequencies.counts.astype(np.int16))
    save_file(table, FOLDER / "frequencies.safetensors")
    save_file({"vectors": torch.from_numpy(vectors).half()}, FOLDER / "sentences.safetensors")
    for file in FOLDER.glob("*.safetensors"):
        file.chmod(0o644)  # written for the owner alone


def count(documents: list[Document]) -> tuple[Frequencies, Frequencies]:
    """Document frequencies of words and phrases; phrases seen once are dropped when there are too many."""
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
    """The terms that occur in at least so many documents."""
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


def chance(documents: list[Document], statistics: Statistics, backbone: Backbone) -> dict[str, dict[str, float]]:
    """The similarity of lone pairs of unrelated documents on each side, as a line in the log of their length.

    The slope comes from encyclopedia articles of many lengths. The level comes from the project's own examples, whose
    reports, essays and decisions share more of their manner of writing than articles do: the stricter of the two.
    """
    articles = HybridMatcher(backbone, statistics).encode(documents[-CHANCE_DOCUMENTS:])
    order = np.random.default_rng(0).permutation(len(articles))
    pairs = [(articles[i], articles[j]) for step in STEPS for i, j in zip(order, np.roll(order, step), strict=True)]
    lengths, values = similarities(pairs, statistics)
    slopes = {name: float(np.polyfit(lengths, x, 1)[0]) for name, x in values.items()}
    lengths, values = similarities(unrelated_examples(statistics, backbone), statistics)
    levels = {name: float(np.mean(x - slopes[name] * lengths)) for name, x in values.items()}
    return {name: {"level": round(levels[name], 5), "slope": round(slopes[name], 5)} for name in SPREAD}


def similarities(pairs: list[tuple[Encoding, Encoding]], statistics: Statistics) -> tuple[Floats, dict[str, Floats]]:
    """The log of each pair's length in thousands of words, and its similarity on each side."""
    rows = [Explanation.of(a, b, statistics).sides for a, b in track(pairs, "comparing")]
    lengths = np.log([np.sqrt(a.words * b.words) / 1000 for a, b in pairs])
    return lengths, {name: np.array([float(sides[name][0]) for sides in rows]) for name in SPREAD}


def unrelated_examples(statistics: Statistics, backbone: Backbone) -> list[tuple[Encoding, Encoding]]:
    """Pairs of example documents of different groups, near misses left out."""
    key = {row["file"]: row for row in json.loads((EXAMPLES / "answer-key.json").read_text(encoding="utf-8"))}
    encodings = HybridMatcher(backbone, statistics).encode(list(read_all([EXAMPLES / "collection"], print)))
    return [
        (a, b)
        for a, b in combinations(encodings, 2)
        if key[a.document.id]["group"] != key[b.document.id]["group"]
        and b.document.id not in key[a.document.id]["near_misses"]
    ]


if __name__ == "__main__":
    main(Path(sys.argv[1]), "--calibrate-only" in sys.argv)
