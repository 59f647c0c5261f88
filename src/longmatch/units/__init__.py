"""What a model reads of a document: token-exact pieces with spans (chunks, blocks, sentences)."""

from longmatch.units.cut import block_ranges, blocks, chunks, sentences
from longmatch.units.pieces import Pieces
from longmatch.units.tokens import Tokens, tokenize

__all__ = ["Pieces", "Tokens", "block_ranges", "blocks", "chunks", "sentences", "tokenize"]
