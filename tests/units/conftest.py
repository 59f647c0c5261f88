"""The two kinds of tokenizer: WordPiece (the packaged model's own) and byte-level BPE."""

import pytest
from tokenizers import Tokenizer

from longmatch.encoders.pretrained import default_folder


@pytest.fixture(scope="session")
def wordpiece() -> Tokenizer:
    tokenizer = Tokenizer.from_file(str(default_folder() / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


@pytest.fixture(scope="session", params=["wordpiece", "bytes"])
def tokenizer(request: pytest.FixtureRequest, wordpiece: Tokenizer) -> Tokenizer:
    if request.param == "wordpiece":
        return wordpiece
    return Tokenizer.from_file(str(request.getfixturevalue("tiny_roberta") / "tokenizer.json"))
