"""A tiny real matcher and small collections of made-up texts, for tests that index many times."""

import random
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from longmatch.default.matcher import HybridMatcher
from longmatch.default.statistics import shipped_statistics, space_of_sentences
from longmatch.encoders.backbone import Backbone, Vectors
from longmatch.encoders.reader import Reader
from longmatch.library.library import Library
from longmatch.library.settings import LibrarySettings
from longmatch.matching.levels import Background
from longmatch.ragged import unit_rows


class KeenReader(Reader):
    """A reader that finds passages with one word good, and no others."""

    def __init__(self, word: str) -> None:
        self.name, self.word, self.read = "keen-reader", word, list[str]()

    def scores(self, question: str, passages: Sequence[str]) -> Vectors:
        """Of each passage."""
        self.read += passages
        return np.array([40.0 if self.word in passage else -40.0 for passage in passages], np.float32)


WORDS = """
    river bank flood harbour crane ship queue ledger court judge appeal witness tower wall mortar lime kiln stone
    orbit probe planet transit mercury gold miner water filter carbon orchard pear tree valve drip soil runner bone
    stress healing bird wing migration radar night storm cloud deposit loan panic saver village council road gate
""".split()  # noqa: SIM905
JOINTS = """the a of and in with under over near after before because while when for""".split()  # noqa: SIM905


def tiny_matcher(folder: Path, seed: int = 0) -> HybridMatcher:
    """The default matcher over a tiny BERT; its unrelated sentences are random vectors of that width."""
    backbone = Backbone.load(str(folder), precision="float32")
    vectors = np.random.default_rng(seed).normal(size=(256, backbone.width)).astype(np.float32)
    shipped = shipped_statistics()
    background = Background(unit_rows(vectors))
    return HybridMatcher(backbone, replace(shipped, sentences=background, space=space_of_sentences(background)))


def use_by_default(settings: LibrarySettings) -> None:
    """What libraries use that are opened without settings, as by commands, in a process that a test has made."""
    Library.__init__.__kwdefaults__["settings"] = settings


def made_up_text(seed: int, sentences: int = 12) -> str:
    """Sentences about one of a few topics."""
    chance = random.Random(seed)
    topic = chance.sample(WORDS[(seed % 5) * 10 : (seed % 5) * 10 + 10], 6)
    lines = []
    for _ in range(sentences):
        words = [chance.choice(topic if chance.random() < 0.6 else WORDS) for _ in range(6)]
        line = " ".join(f"{chance.choice(JOINTS)} {word}" for word in words)
        lines.append(line.capitalize() + ".")
    return " ".join(lines)


def foreign_text(seed: int, sentences: int = 12) -> str:
    """The same in a language that nobody knows."""
    return re.sub(r"(\w+)", r"\1qx", made_up_text(seed, sentences))


def write_texts(folder: Path, numbers: range, salt: int = 0) -> Path:
    """One text file a number."""
    folder.mkdir(exist_ok=True, parents=True)
    for number in numbers:
        (folder / f"d{number:03}.txt").write_text(made_up_text(number + 1000 * salt), encoding="utf-8")
    return folder
