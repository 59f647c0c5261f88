"""Token-exact pieces of a document with spans: chunks, blocks, sentences."""

from longmatch.units.pieces import Pieces, block_ranges, chunks, sentences
from longmatch.units.tokens import Tokens, tokenize

__all__ = ["Pieces", "Tokens", "block_ranges", "chunks", "sentences", "tokenize"]
