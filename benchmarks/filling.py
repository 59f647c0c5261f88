"""How much of SMITH's input is padding: greedy sentence filling against one sentence a block.

    python -m benchmarks.filling DATA_FOLDER [...] [--block-tokens 32] [--documents 500]

Blocks are filled from the documents' tokens as the packaged tokenizer makes them, whole documents, the start and end
tokens of a block counted as text. Padding is what is missing to full blocks, where every block is padded to the same
length; "as read" is the padding that is left where blocks of about one length are read together, as our models read
batches of 32 documents on a GPU. A sentence longer than a block goes on in the next one in both ways.
"""

import argparse
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from longmatch.encoders.engine import token_batches
from longmatch.encoders.pretrained import locate
from longmatch.lab.encoders.checkpoint import open_tokenizer
from longmatch.lab.encoders.flat import GPU_BUDGET
from longmatch.lab.store.layer import Unreadable
from longmatch.lab.training.data.sources import find_sources, read_item
from longmatch.units import block_ranges, tokenize
from longmatch.units.pieces import piece_ends
from longmatch.units.tokens import Ints, Tokens

TOGETHER = 32  # documents of a batch


def sentences(tokens: Tokens, limit: int) -> Ints:
    """Tokens of each block, had every sentence its own."""
    found: list[int] = []
    for start, end in zip(tokens.sentence_offsets[:-1].tolist(), tokens.sentence_offsets[1:].tolist(), strict=True):
        found += np.diff([start, *piece_ends(tokens, start, end, limit)]).tolist()
    return np.array(found, dtype=np.int64)


def filled(tokens: Tokens, limit: int) -> Ints:
    """Tokens of each block, filled greedily."""
    first, last = block_ranges(tokens, limit)
    return last - first


def as_read(lengths: list[Ints]) -> float:
    """The share of padding where the blocks of a batch are read by length, as many at a time as a GPU reads."""
    real = padded = 0
    for start in range(0, len(lengths), TOGETHER):
        own = np.concatenate(lengths[start : start + TOGETHER]) + 2
        padded += sum(len(rows) * int(own[rows].max()) for rows in token_batches(own, GPU_BUDGET))
        real += int(own.sum())
    return 1 - real / padded


def main() -> None:
    """Print the shares for each folder."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, nargs="+")
    parser.add_argument("--block-tokens", type=int, default=32)
    parser.add_argument("--documents", type=int, default=500)
    options = parser.parse_args()
    tokenizer = open_tokenizer(locate(None)).backend_tokenizer
    limit = options.block_tokens - 2
    table = Table(
        "set", "documents", "one sentence a block", "greedy filling", "blocks of the one for the other", "as read"
    )
    for place in options.data:
        documents: list[Tokens] = []
        for item in find_sources([place])[0].items():
            document = read_item(item)
            if not isinstance(document, Unreadable):
                documents.append(tokenize(document, tokenizer))
            if len(documents) == options.documents:
                break
        ways = [[way(tokens, limit) for tokens in documents] for way in (sentences, filled)]
        blocks = [sum(map(len, way)) for way in ways]
        texts = [sum(int(lengths.sum()) + 2 * len(lengths) for lengths in way) for way in ways]
        shares = [1 - text / (count * options.block_tokens) for text, count in zip(texts, blocks, strict=True)]
        cells = [f"{100 * share:.1f} %" for share in (*shares, as_read(ways[1]))]
        table.add_row(place.name, f"{len(documents):,}", *cells[:2], f"{blocks[0] / blocks[1]:.2f}", cells[2])
    Console(width=120).print(table)


if __name__ == "__main__":
    main()
