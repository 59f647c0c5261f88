"""Make the background statistics that ship with longmatch, from free encyclopedia text.

    python scripts/make_background.py DOCUMENTS.jsonl.xz

DOCUMENTS is a JSON Lines file of general long documents (English Wikipedia articles, CC BY-SA 3.0: the `pretrain` set
of the data catalogue). Written are document frequencies of hashed words and phrases, and vectors of unrelated sentences
by the packaged backbone: numbers only, no text.
"""

import sys
from collections import Counter
from itertools import islice
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from rich.progress import track
from safetensors.torch import save_file

from longmatch.default.statistics import FOLDER
from longmatch.default.statistics import SENTENCES as SENTENCES_FILE
from longmatch.documents.document import Document
from longmatch.documents.jsonl import iterate_jsonl
from longmatch.encoders.backbone import Backbone
from longmatch.lexical.background import FILE
from longmatch.lexical.frequencies import Frequencies
from longmatch.lexical.terms import terms_of

FREQUENCY_DOCUMENTS = 6_000  # a table of 6,000 tells common from rare
SENTENCES, SENTENCE_DOCUMENTS = 2_048, 1_024
RARE = {"words": 6, "phrases": 15}  # terms in fewer documents are left out: to the matcher they are simply rare


def main(source: Path) -> None:
    """Make the statistics."""
    documents = list(islice(iterate_jsonl(source), FREQUENCY_DOCUMENTS))
    backbone = Backbone.load(precision="float32")
    save(*count(documents), sentence_vectors(documents, backbone, np.random.default_rng(0)))


def save(words: Frequencies, phrases: Frequencies, vectors: npt.NDArray[np.float32]) -> None:
    """Write the tables into the package."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    table = {"documents": torch.tensor([words.documents])}
    for name, frequencies in (("words", words), ("phrases", phrases)):
        table[f"{name}.ids"] = torch.from_numpy(frequencies.ids.view(np.int64).copy())
        table[f"{name}.counts"] = torch.from_numpy(frequencies.counts.astype(np.int16))
    save_file(table, FILE)
    save_file({"vectors": torch.from_numpy(vectors).half()}, FOLDER / SENTENCES_FILE)
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


if __name__ == "__main__":
    main(Path(sys.argv[1]))
