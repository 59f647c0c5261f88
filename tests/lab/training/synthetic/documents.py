"""A made collection: each document has words of its own, and documents of one theme share some of theirs."""

import json
import random
from pathlib import Path

from longmatch.encoders.backbone import Backbone

DOCUMENTS, THEMES = 60, 12


def make_collection(folder: Path, backbone: Path, noise: float = 0.3) -> Path:
    """Documents of six paragraphs, four sentences each, in words the backbone knows whole; and labelled pairs."""
    vocabulary = Backbone.load(str(backbone)).tokenizer.get_vocab()
    words = sorted(word for word in vocabulary if word.isalpha() and len(word) > 3)
    drawn = random.Random(1)
    themes = [drawn.sample(words, 10) for _ in range(THEMES)]
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "documents.jsonl").open("w") as file:
        for number in range(DOCUMENTS):
            own = themes[number % THEMES][:8] + drawn.sample(words, 2)
            file.write(json.dumps({"id": f"d{number}", "title": "", "text": _text(own, words, noise, drawn)}) + "\n")
    (folder / "pairs.tsv").write_text("\n".join(["split\tsource\ttarget\tlabel", *_pairs(drawn)]) + "\n")
    return folder


def _text(own: list[str], words: list[str], noise: float, drawn: random.Random) -> str:
    def sentence() -> str:
        found = [drawn.choice(words if drawn.random() < noise else own) for _ in range(8)]
        return " ".join(found).capitalize() + "."

    return "\n\n".join(" ".join(sentence() for _ in range(4)) for _ in range(6))


def _pairs(drawn: random.Random) -> list[str]:
    """Of every theme each two documents, and as many of two themes; those with a theme's last one are validation."""
    rows, last = [], DOCUMENTS - THEMES
    for a in range(DOCUMENTS):
        for b in range(a + THEMES, DOCUMENTS, THEMES):
            split = "validation" if b >= last else "train"
            other = drawn.choice([c for c in range(DOCUMENTS) if (c - a) % THEMES and (c < last) == (b < last)])
            rows += [f"{split}\td{a}\td{b}\t1", f"{split}\td{a}\td{other}\t0"]
    return rows
