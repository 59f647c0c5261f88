"""Made-up documents for tests of shared text."""

import random
from collections.abc import Sequence

from longmatch.documents.document import Document
from longmatch.documents.draft import Draft

WORDS = [f"{a}{b}{c}" for a in ("ka", "lo", "mi", "ru") for b in ("ren", "tal", "vos", "dim") for c in ("a", "e", "um")]


def random_words(seed: int, count: int) -> list[str]:
    """Words drawn at random: two such texts share hardly any run of four."""
    chance = random.Random(seed)
    return [chance.choice(WORDS) for _ in range(count)]


def edited(words: Sequence[str], share: float, seed: int = 0) -> list[str]:
    """The words with a share of them replaced, left out or doubled by another."""
    chance, kept = random.Random(seed), []
    for word in words:
        if chance.random() >= share:
            kept.append(word)
        else:
            kept += chance.choice([["changed"], [], [word, "added"]])
    return kept


def document(*paragraphs: Sequence[str] | str, id: str = "a") -> Document:
    """A document of some paragraphs; a string is a heading."""
    draft = Draft()
    for paragraph in paragraphs:
        if isinstance(paragraph, str):
            draft.heading(paragraph)
        else:
            draft.paragraph(" ".join(paragraph) + ".")
    return draft.document(id)
