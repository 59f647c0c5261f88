"""Background statistics of general text: document frequencies of terms, and vectors of unrelated sentences."""

from collections import Counter
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from rich.progress import track
from safetensors.torch import save_file

from longmatch.default.statistics import SENTENCES
from longmatch.documents.document import Document
from longmatch.documents.jsonl import iterate_jsonl
from longmatch.encoders.backbone import Backbone
from longmatch.lexical.background import FREQUENCIES
from longmatch.lexical.frequencies import Frequencies
from longmatch.lexical.terms import terms_of

DOCUMENTS = 6_000  # enough to separate common terms from rare ones
SENTENCE_DOCUMENTS, SENTENCE_COUNT = 1_024, 2_048
SENTENCE_WORDS = (8, 60)
LEAST_DOCUMENTS = {"words": 6, "phrases": 15}  # terms in fewer documents are left out: to the matcher they are rare
MOST_PHRASES = 30_000_000  # counted at a time; beyond that, phrases seen once are dropped


def write_background(documents_file: Path, folder: Path) -> None:
    """Write both statistics to a folder. They are numbers only, no text.

    `documents_file` is a JSON Lines file of general long documents: English Wikipedia articles (CC BY-SA 3.0), the
    `pretrain` set of the catalogue.
    """
    documents = list(islice(iterate_jsonl(documents_file), DOCUMENTS))
    save_frequencies(*document_frequencies(documents), folder / FREQUENCIES)
    vectors = unrelated_sentences(documents, Backbone.load(precision="float32"), np.random.default_rng(0))
    save_file({"vectors": torch.from_numpy(vectors).half()}, folder / SENTENCES)


def document_frequencies(documents: Sequence[Document]) -> tuple[Frequencies, Frequencies]:
    """In how many documents words and phrases occur."""
    words, phrases = Counter[int](), Counter[int]()
    for document in track(documents, "counting"):
        terms = terms_of(document)
        words.update(terms.words.counts.ids.tolist())
        phrases.update(terms.phrases.counts.ids.tolist())
        if len(phrases) > MOST_PHRASES:
            phrases = Counter({term: count for term, count in phrases.items() if count > 1})
    return (
        frequent(words, LEAST_DOCUMENTS["words"], len(documents)),
        frequent(phrases, LEAST_DOCUMENTS["phrases"], len(documents)),
    )


def frequent(counts: Counter[int], least: int, documents: int) -> Frequencies:
    """The terms that occur in at least `least` of the documents.

    >>> frequent(Counter({7: 3, 2: 1, 5: 2}), 2, 4).ids.tolist()
    [5, 7]
    """
    kept = sorted((term, count) for term, count in counts.items() if count >= least)
    ids = np.array([term for term, _ in kept], dtype=np.uint64)
    return Frequencies(documents, ids, np.array([count for _, count in kept], dtype=np.float64))


def save_frequencies(words: Frequencies, phrases: Frequencies, path: Path) -> None:
    """Write what `read_frequencies` reads."""
    table = {"documents": torch.tensor([words.documents])}
    for name, frequencies in (("words", words), ("phrases", phrases)):
        table[f"{name}.ids"] = torch.from_numpy(frequencies.ids.view(np.int64).copy())
        table[f"{name}.counts"] = torch.from_numpy(frequencies.counts.astype(np.int16))
    save_file(table, path)


def unrelated_sentences(
    documents: Sequence[Document], backbone: Backbone, rng: np.random.Generator
) -> npt.NDArray[np.float32]:
    """Vectors of two sentences from each of many documents, so that few of them are related."""
    least, most = SENTENCE_WORDS
    chosen: list[str] = []
    for document in documents[:SENTENCE_DOCUMENTS]:
        sentences = [sentence.of(document.text) for sentence in document.sentences]
        usable = [sentence for sentence in sentences if least <= len(sentence.split()) <= most]
        chosen += [usable[i] for i in rng.choice(len(usable), 2, replace=False)]
    return backbone.encode_texts(chosen[:SENTENCE_COUNT])
