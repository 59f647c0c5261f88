"""Small collections on disk, in every form that training takes."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from tokenizers import Tokenizer

from longmatch.lab.datasets.splits import DEFAULT
from longmatch.lab.training.data.training_data import TrainingData

Make = Callable[..., Path]
Open = Callable[..., TrainingData]


def ids_of(split: str, count: int) -> list[str]:
    """So many ids that the rule puts into a split."""
    found = (f"d{n}" for n in range(10_000) if DEFAULT.of(f"d{n}") == split)
    return [next(found) for _ in range(count)]


def table(columns: str, rows: Iterable[Sequence[object]]) -> str:
    lines = [columns.split(), *rows]
    return "".join("\t".join(map(str, line)) + "\n" for line in lines)


def lines(ids: Iterable[str], keys: Mapping[str, Mapping[str, Any]] | None = None) -> str:
    records = (
        {"id": id, "title": f"On {id}", "text": f"This is about {id}. It is short."} | dict((keys or {}).get(id, {}))
        for id in ids
    )
    return "".join(json.dumps(record) + "\n" for record in records)


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """Write a data folder: documents by id, and label files by name."""

    def write(ids: Iterable[str], name: str = "data", documents: str = "documents.jsonl", **files: str) -> Path:
        folder = tmp_path / name
        folder.mkdir()
        (folder / documents).write_text(lines(ids), encoding="utf-8")
        for file, content in files.items():
            (folder / f"{file}.tsv").write_text(content, encoding="utf-8")
        return folder

    return write


@pytest.fixture
def opened(tmp_path: Path, tiny_bert: Path) -> Open:
    """Open training data with a tiny tokenizer, tokens kept under the test's own folder."""
    tokenizer = Tokenizer.from_file(str(tiny_bert / "tokenizer.json"))
    return lambda *paths, **options: TrainingData.open(paths, tokenizer, tmp_path / "cache", **options)
