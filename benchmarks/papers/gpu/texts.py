"""Benchmark texts: the token ids of documents in one small file."""

from itertools import pairwise
from pathlib import Path

import numpy as np

from longmatch.documents.document import Document
from longmatch.encoders.backbone import Backbone
from longmatch.units import Tokens, tokenize


def write_texts(path: Path, data: Path, tokens: int = 4_500_000) -> None:
    """Sample documents evenly from a data folder, about `tokens` tokens in all: at most about 10 MB."""
    from longmatch.lab.datasets.collection import DataFolder

    backbone = Backbone.load(device="cpu", precision="float32")
    ids, lengths, counts, total = [], [], [], 0
    folder = DataFolder(data)
    every = max(1, len(folder.ids) // (tokens // 5_000))
    for number, document in enumerate(folder.documents()):
        if number % every == 0 and total < tokens:
            tokenized = tokenize(document, backbone.tokenizer)
            if not len(tokenized):
                continue
            ids.append(tokenized.ids)
            lengths.append(np.diff(tokenized.sentence_offsets))
            counts.append(len(lengths[-1]))
            total += len(tokenized)
    offsets = np.concatenate([[0], np.concatenate(lengths).cumsum()]).astype(np.int32)
    documents = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    np.savez_compressed(path, tokens=np.concatenate(ids).astype(np.uint16), offsets=offsets, documents=documents)
    print(f"{path}: {len(counts)} documents, {len(offsets) - 1} sentences, {total} tokens")


def read_texts(path: Path) -> list[Tokens]:
    """The documents' tokens; a file without `documents` is split every 200 sentences."""
    with np.load(path) as arrays:
        ids, offsets = arrays["tokens"].astype(np.int64), arrays["offsets"].astype(np.int64)
        ends = arrays["documents"] if "documents" in arrays else [*range(0, len(offsets) - 1, 200), len(offsets) - 1]
    empty, documents = Document("", "", "", ()), []
    for first, last in pairwise(ends):
        sentences = offsets[first : last + 1]
        text, none = ids[sentences[0] : sentences[-1]], np.zeros(last - first, np.int64)
        words = np.ones(len(text), bool)
        documents.append(Tokens(empty, text, np.zeros_like(text), words, sentences - sentences[0], none, none, none))
    return documents
