"""What is read: the token ids of documents, in a file that is small enough to take along."""

from itertools import pairwise
from pathlib import Path

import numpy as np

from longmatch.documents.document import Document
from longmatch.encoders.backbone import Backbone
from longmatch.units import Tokens, tokenize


def make_text(path: Path, data: Path, tokens: int = 4_500_000) -> None:
    """Token ids of documents, spread over a data folder: a file of at most about 10 MB."""
    from longmatch.lab.datasets.collection import DataFolder

    backbone = Backbone.load(device="cpu", precision="float32")
    ids, lengths, counts, total = [], [], [], 0
    folder = DataFolder(data)
    every = max(1, len(folder.ids) // (tokens // 5_000))
    for number, document in enumerate(folder.documents()):
        if number % every == 0 and total < tokens:
            found = tokenize(document, backbone.tokenizer)
            if not len(found):
                continue
            ids.append(found.ids)
            lengths.append(np.diff(found.sentence_offsets))
            counts.append(len(lengths[-1]))
            total += len(found)
    offsets = np.concatenate([[0], np.concatenate(lengths).cumsum()]).astype(np.int32)
    documents = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    np.savez_compressed(path, tokens=np.concatenate(ids).astype(np.uint16), offsets=offsets, documents=documents)
    print(f"{path}: {len(counts)} documents, {len(offsets) - 1} sentences, {total} tokens")


def open_text(path: Path) -> list[Tokens]:
    """The documents, of which only the tokens are left; a file without `documents` is cut every 200 sentences."""
    with np.load(path) as found:
        ids, offsets = found["tokens"].astype(np.int64), found["offsets"].astype(np.int64)
        ends = found["documents"] if "documents" in found else [*range(0, len(offsets) - 1, 200), len(offsets) - 1]
    empty, made = Document("", "", "", ()), []
    for first, last in pairwise(ends):
        own = offsets[first : last + 1]
        text, none = ids[own[0] : own[-1]], np.zeros(last - first, np.int64)
        words = np.ones(len(text), bool)
        made.append(Tokens(empty, text, np.zeros_like(text), words, own - own[0], none, none, none))
    return made
