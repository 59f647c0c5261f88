"""Small data folders made by the tests themselves."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from longmatch.documents import Document
from longmatch.lab.datasets import DataFolder
from longmatch.lab.evaluation.corpus import Corpus

Rows = Sequence[Sequence[object]]
COLUMNS = {
    "qrels": ("split", "query", "document", "grade"),
    "pairs": ("split", "source", "target", "label"),
    "candidates": ("document",),
    "pools": ("query", "document"),
}
TEXTS = {
    "boats": "The ferry left the harbour. Its captain watched the tide. The mast was repaired.",
    "ships": "A ferry needs a captain. The harbour keeps the tide out. Sails hang from the mast.",
    "bread": "Flour and water make dough. The baker kneads the dough. Bread rises overnight.",
    "cakes": "The baker mixes flour and sugar. A cake rises in the oven. Bread needs no sugar.",
    "stars": "The telescope shows a faint galaxy. Stars form in clouds of gas. Dust hides them.",
}


@pytest.fixture
def make_data(tmp_path: Path) -> Callable[..., Path]:
    """Write a data folder from texts and label rows."""

    def make(texts: Mapping[str, str] = TEXTS, name: str = "tiny", **labels: Rows) -> Path:
        folder = tmp_path / "data" / name
        folder.mkdir(parents=True)
        lines = [
            json.dumps({"id": id, "title": id, "sections": [{"heading": "", "text": text}]})
            for id, text in texts.items()
        ]
        (folder / "documents.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
        for kind, rows in labels.items():
            table = [COLUMNS[kind], *rows]
            text = "".join("\t".join(map(str, row)) + "\n" for row in table)
            (folder / f"{kind}.tsv").write_text(text, encoding="utf-8")
        return folder

    return make


@pytest.fixture(scope="session")
def example_corpus(
    examples: dict[str, Document], answer_key: dict[str, dict], tmp_path_factory: pytest.TempPathFactory
) -> Corpus:
    """The example collection as a data folder: documents of one group belong together."""
    folder = tmp_path_factory.mktemp("collection") / "examples"
    folder.mkdir()
    lines = [json.dumps(_record(document)) for document in examples.values()]
    (folder / "documents.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    group = {file: row["group"] for file, row in answer_key.items()}
    rows = [(a, b) for a in examples for b in examples if a != b and group.get(a) == group.get(b)]
    text = "".join(f"test\t{a}\t{b}\t1\n" for a, b in rows)
    (folder / "qrels.tsv").write_text("split\tquery\tdocument\tgrade\n" + text, encoding="utf-8")
    return Corpus(DataFolder(folder))


def _record(document: Document) -> dict[str, object]:
    sections = [
        {"heading": s.heading, "text": "\n\n".join(p.of(document.readable) for p in s.paragraphs)}
        for s in document.sections
    ]
    return {"id": document.id, "title": document.title, "sections": sections}


@pytest.fixture
def save_colde(tiny_bert: Path, tmp_path: Path) -> Callable[..., Path]:
    """Write a tiny CoLDE model, random weights by the seed, as `longmatch train` writes a trained one."""

    def save(name: str, seed: int, data: Sequence[str] = ("somewhere/tiny",), **settings: object) -> Path:
        import torch

        from longmatch.lab.encoders.checkpoint import open_tokenizer
        from longmatch.lab.papers.colde.encoder import ColdeModel

        torch.manual_seed(seed)
        folder = tmp_path / "trained" / name
        model = ColdeModel.from_backbone(
            str(tiny_bert), attention_heads=2, recurrent_width=16, projection_width=8, **settings
        )
        model.save_pretrained(folder)
        open_tokenizer(str(tiny_bert)).save_pretrained(folder)
        record = {"model": "colde", "seed": seed, "data": list(data), "settings": {"seed": seed, **settings}}
        (folder / "longmatch.json").write_text(json.dumps(record), encoding="utf-8")
        return folder

    return save
