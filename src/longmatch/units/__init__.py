"""What a model reads of a document: token-exact pieces with spans (chunks, blocks, sentences)."""

from longmatch.units.cut import block_ranges, blocks, chunks, sentences
from longmatch.units.parts import Parts, Ranges, part_ranges, parts
from longmatch.units.pieces import Pieces
from longmatch.units.shelf import TokenShelf
from longmatch.units.tokens import Tokens, tokenize

__all__ = [
    "Parts",
    "Pieces",
    "Ranges",
    "TokenShelf",
    "Tokens",
    "block_ranges",
    "blocks",
    "chunks",
    "part_ranges",
    "parts",
    "sentences",
    "tokenize",
]
