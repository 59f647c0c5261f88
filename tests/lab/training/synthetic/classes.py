"""A made collection: documents of a few classes, each with words of its own among many that all share."""

import json
import random
from collections.abc import Sequence
from pathlib import Path

from longmatch.documents import Document
from longmatch.documents.draft import Draft

CLASSES, EACH = 6, 20


def write_classes(folder: Path, words: list[str], share: float = 0.25) -> Path:
    """120 documents of two sections; the share of the class's own words is what there is to learn."""
    rng = random.Random(0)
    common, own = words[:120], [words[120 + 15 * c : 135 + 15 * c] for c in range(CLASSES)]
    lines, labels = [], ["document\tlabel"]
    for number in range(CLASSES * EACH):
        mine = own[number % CLASSES]
        sections = [{"heading": name, "text": _text(rng, mine, common, share)} for name in ("Opening", "Close")]
        lines.append(json.dumps({"id": f"d{number}", "title": f"d{number}", "sections": sections}))
        labels.append(f"d{number}\tclass {number % CLASSES}")
    folder.mkdir(parents=True)
    (folder / "documents.jsonl").write_text("\n".join(lines) + "\n")
    (folder / "classes.tsv").write_text("\n".join(labels) + "\n")
    return folder


def mixed_document(id: str, words: list[str], parts: Sequence[int]) -> Document:
    """A document whose paragraphs are each of the class named, and of no other."""
    rng = random.Random(id)
    texts = [_paragraph(rng, words[120 + 15 * c : 135 + 15 * c], words[:120], 0.25) for c in parts]
    draft = Draft()
    for text in texts:
        draft.paragraph(text)
    return draft.document(id, id, "")


def write_pairs(folder: Path, words: list[str]) -> Path:
    """The same documents; a chain of links instead of classes: a with b, b with c."""
    write_classes(folder, words)
    (folder / "classes.tsv").unlink()
    rows = [(f"d{n}", f"d{n + CLASSES}") for n in range(CLASSES * (EACH - 1))]
    table = [f"{'train' if n % 4 else 'validation'}\t{a}\t{b}\t1" for n, (a, b) in enumerate(rows)]
    table += [f"{'train' if n % 4 else 'validation'}\td{n}\td{n + 1}\t0" for n in range(CLASSES * EACH - 1)]
    (folder / "pairs.tsv").write_text("\n".join(["split\tsource\ttarget\tlabel", *table]) + "\n")
    return folder


def common_words(vocabulary: Path) -> list[str]:
    """Whole words of the tiny model's vocabulary."""
    found = [word for word in vocabulary.read_text().split() if word.isalpha() and len(word) > 3]
    assert len(found) >= 120 + 15 * CLASSES
    return found


def _text(rng: random.Random, own: list[str], common: list[str], share: float) -> str:
    return "\n\n".join(_paragraph(rng, own, common, share) for _ in range(2))


def _paragraph(rng: random.Random, own: list[str], common: list[str], share: float) -> str:
    def sentence() -> str:
        return " ".join(rng.choice(own if rng.random() < share else common) for _ in range(9)).capitalize() + "."

    return " ".join(sentence() for _ in range(4))
