"""Documents of words coined from a stem: no word stands twice in a document, so that only their spelling tells."""

import random
from pathlib import Path

from tests.library.tiny import JOINTS, WORDS

SENTENCES = 24


def stem_of(number: int) -> str:
    chance = random.Random(number)
    return "".join(chance.choice(letters) for letters in ("bdgkpt", "aeiou", "lmnrs", "aeiou", "fvxzbk"))


def coined_text(number: int, salt: int = 0, coined: int = 2) -> str:
    """Paragraphs of three sentences: everyday words, and in each sentence some of the document's own making."""
    chance = random.Random(1000 * salt + number)
    stem, lines, used = stem_of(number), [], set()
    for _ in range(SENTENCES):
        own = []
        while len(own) < coined:
            word = stem + "".join(chance.choice("abcdefghiklmnoprstuvwxyz") for _ in range(3))
            if word not in used:
                used.add(word)
                own.append(word)
        words = [*own, *(chance.choice(WORDS) for _ in range(3)), *(chance.choice(JOINTS) for _ in range(3))]
        chance.shuffle(words)
        lines.append(" ".join(words).capitalize() + ".")
    return "\n\n".join(" ".join(lines[i : i + 3]) for i in range(0, SENTENCES, 3))


def write_coined(folder: Path, count: int, coined: int = 2) -> Path:
    """One file a document; with none coined, nothing tells the documents apart."""
    folder.mkdir()
    for number in range(count):
        (folder / f"c{number:03}.txt").write_text(coined_text(number, coined=coined), encoding="utf-8")
    return folder
