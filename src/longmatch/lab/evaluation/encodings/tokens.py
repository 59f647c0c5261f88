"""The layer below all that read tokens: a corpus is tokenised once, however many models read it."""

from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache, partial
from hashlib import sha256
from typing import Any

import numpy as np
from tokenizers import Tokenizer

from longmatch.documents.document import Document
from longmatch.lab.evaluation.code import code_digest
from longmatch.lab.evaluation.encodings.layer import Arrays, Layer, Unhandled
from longmatch.lab.store.shelf import tokenizer_json
from longmatch.matching.matcher import Progress
from longmatch.parallel import parallel_map
from longmatch.units import Tokens, tokenize

NO_SENTENCE = "it has no sentence"
OF_TOKENS = {"ids": np.int32, "starts": np.int32, "word_starts": np.bool_}
PLACES = ("sentence_ends", "sentence_paragraph", "sentence_section")
OF_SENTENCES = dict.fromkeys(("sentence_lengths", *PLACES), np.int32)


class DocumentTokens(Layer):
    """The tokens of each document and where its sentences stand; of the text itself nothing."""

    name = "tokens"

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.tokenizer = tokenizer

    @cached_property
    def _as_text(self) -> str:
        return tokenizer_json(self.tokenizer)

    @cached_property
    def facts(self) -> Mapping[str, Any]:  # type: ignore[override]
        """The tokenizer's, and the code that finds sentences."""
        digest = sha256(self._as_text.encode()).hexdigest()[:16]
        return {"tokenizer": digest, "code": code_digest("documents", "units/tokens.py")}

    @property
    def shapes(self) -> Mapping[str, Any]:
        """Numbers alone."""
        return {name: (kind, ()) for name, kind in (OF_TOKENS | OF_SENTENCES).items()}

    def make(
        self, documents: Sequence[Document], below: Sequence[Arrays], progress: Progress | None = None
    ) -> list[Arrays]:
        """Tokenise, in as many processes as were chosen."""
        made = list(parallel_map(partial(_tokenised, self._as_text), documents))
        if not all(len(arrays["ids"]) for arrays in made):
            raise Unhandled(NO_SENTENCE)
        return made


def restore_tokens(arrays: Arrays, document: Document) -> Tokens:
    """The tokens of a document as `tokenize` gives them."""
    of_tokens = (arrays["ids"].astype(np.int64), arrays["starts"].astype(np.int64), arrays["word_starts"])
    offsets = np.concatenate([[0], arrays["sentence_lengths"].cumsum(dtype=np.int64)])
    places = (arrays[name].astype(np.int64) for name in PLACES)
    return Tokens(document, *of_tokens, offsets, *places)


def _tokenised(tokenizer: str, document: Document) -> Arrays:
    found = tokenize(document, _opened(tokenizer))
    arrays = {name: getattr(found, name) for name in (*OF_TOKENS, *PLACES)}
    arrays["sentence_lengths"] = np.diff(found.sentence_offsets)
    return {name: arrays[name].astype(kind) for name, kind in (OF_TOKENS | OF_SENTENCES).items()}


@lru_cache(maxsize=1)
def _opened(tokenizer: str) -> Tokenizer:
    """A process needs it once."""
    return Tokenizer.from_str(tokenizer)
