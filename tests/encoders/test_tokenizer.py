"""A tokenizer may come from a stranger: little text may not become much."""

import json
from base64 import b64encode
from pathlib import Path

import pytest

from longmatch.encoders.tokenizer import read_tokenizer

LONGER = {"type": "Replace", "pattern": {"String": "a"}, "content": "aaaaaaaa"}
CHARSMAP = b64encode((8).to_bytes(4, "little") + bytes(8) + b"a" * 1_000 + b"\0").decode()


def with_normalizer(folder: Path, model: Path, normalizer: object) -> str:
    settings = json.loads((model / "tokenizer.json").read_text())
    (folder / "tokenizer.json").write_text(json.dumps(settings | {"normalizer": normalizer}))
    return str(folder)


@pytest.mark.parametrize(
    "normalizer",
    [
        {"type": "Sequence", "normalizers": [LONGER] * 9},
        {"type": "Sequence", "normalizers": [{"type": "Sequence", "normalizers": [LONGER] * 3}] * 3},
        {"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": "a" * 1_000}]},
        {"type": "Precompiled", "precompiled_charsmap": CHARSMAP},
    ],
    ids=["replacements", "nested", "prepended", "precompiled"],
)
def test_a_normalizer_that_makes_much_text_out_of_little_is_refused(normalizer, tiny_bert, tmp_path):
    with pytest.raises(ValueError, match=r"its normalizer may make [0-9,]+ characters out of one"):
        read_tokenizer(with_normalizer(tmp_path, tiny_bert, normalizer))


def test_ordinary_normalizers_are_read(tiny_bert, tmp_path):
    spaces = {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "}
    steps = [{"type": "NFKC"}, {"type": "Lowercase"}, spaces, {"type": "Prepend", "prepend": "▁"}]
    place = with_normalizer(tmp_path, tiny_bert, {"type": "Sequence", "normalizers": steps})
    (tmp_path / "tokenizer_config.json").write_bytes((tiny_bert / "tokenizer_config.json").read_bytes())
    assert read_tokenizer(place)[0].normalizer.normalize_str("A  B") == "▁a b"
