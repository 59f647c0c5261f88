"""The background statistics shipped with longmatch: what is common in text in general.

`longmatch train default` makes them; they hold no text.
"""

import hashlib
import json
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
from safetensors.numpy import load, save

from longmatch.cache import cache_folder, replace_file
from longmatch.default.calibration import Calibration, Probability
from longmatch.default.meaning import AnyBackbone, encode_texts
from longmatch.default.unrelated import Kinds, Prior
from longmatch.encoders.pretrained import DEFAULT_LANGUAGES, TOKEN_VECTORS, is_default
from longmatch.encoders.token_vectors import FOLDER as TOKENS
from longmatch.lexical.weights import TermBackground, shipped_background
from longmatch.matching.levels import Background
from longmatch.ragged import unit_rows

FOLDER = Path(__file__).parent / "data"
SENTENCES = "sentences.safetensors"  # vectors of unrelated sentences by the packaged backbone
TOKEN_SENTENCES = TOKENS / "token_sentences.safetensors"  # the same by the packaged token vectors
STYLES = "styles.safetensors"  # of the kinds of text that are known
CALIBRATION = "calibration.json"
PROBABILITY = "probability.json"
UNRELATED = "unrelated.json"
UNRELATED_SENTENCES = "unrelated_sentences.json"  # in many languages: for backbones whose vectors are not shipped
SENTENCES_OF_LANGUAGE = 192
WITHOUT_SPACES = ("ja", "zh")
BACKGROUNDS = "backgrounds"  # the folder of the user's cache


@dataclass(frozen=True)
class Statistics:
    """How common terms are, vectors of unrelated sentences, and what weighs the sides."""

    terms: TermBackground
    sentences: Background
    calibration: Calibration
    probability: Probability
    prior: Prior
    kinds: Kinds
    reads_english_alone: bool = True  # the backbone; else it is trusted with any language


@cache
def read_background(path: Path, extrapolates: bool = False) -> Background:
    """Vectors of unrelated sentences, from a file."""
    return replace(background_from_bytes(path.read_bytes()), extrapolates=extrapolates)


def background_from_bytes(content: bytes) -> Background:
    """What `background_to_bytes` made."""
    tensors = load(content)
    kinds = int(tensors["kinds"]) if "kinds" in tensors else 1
    return Background(unit_rows(tensors["vectors"].astype(np.float32)), kinds)


def background_to_bytes(background: Background) -> bytes:
    """To be kept, in half precision."""
    return save({"vectors": background.vectors.astype(np.float16), "kinds": np.array(background.kinds)})


@cache
def shipped_statistics() -> Statistics:
    """The statistics of the default matcher."""
    return _statistics(read_background(FOLDER / SENTENCES), reads_english_alone=True)


def background_of(backbone: AnyBackbone) -> Background | None:
    """Vectors of unrelated sentences by this very backbone: available for the packaged ones."""
    if backbone.name == TOKEN_VECTORS:
        return read_background(TOKEN_SENTENCES, extrapolates=True)
    return read_background(FOLDER / SENTENCES) if is_default(backbone.name) else None


def statistics_of(backbone: AnyBackbone) -> Statistics:
    """The statistics that go with a backbone; for one that is not packaged, it encodes unrelated sentences."""
    background = background_of(backbone)
    if background is None:
        return _statistics(encoded_background(backbone), backbone.languages == DEFAULT_LANGUAGES)
    return (
        replace(shipped_statistics(), sentences=background) if backbone.name == TOKEN_VECTORS else shipped_statistics()
    )


def _statistics(background: Background, reads_english_alone: bool) -> Statistics:
    calibration, probability = Calibration.read(FOLDER / CALIBRATION), Probability.read(FOLDER / PROBABILITY)
    prior, kinds = Prior.read(FOLDER / UNRELATED), Kinds.read(FOLDER / STYLES)
    return Statistics(shipped_background(), background, calibration, probability, prior, kinds, reads_english_alone)


def encoded_background(backbone: AnyBackbone) -> Background:
    """Unrelated sentences in the languages that a backbone knows, a kind each; kept in the user's cache."""
    sentences = unrelated_sentences(backbone.languages)
    texts = [text for language in sentences.values() for text in language]
    content = "\n".join([backbone.identity, *texts]).encode()
    name = hashlib.sha256(content).hexdigest()[:16]
    path = cache_folder() / BACKGROUNDS / f"{name}.safetensors"
    if path.is_file():
        return replace(background_from_bytes(path.read_bytes()), extrapolates=True, name=name)
    background = Background(encode_texts(backbone, texts), len(sentences), extrapolates=True, name=name)
    with suppress(OSError):  # disk full or read-only: encode again next time
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, background_to_bytes(background))
    return background


def unrelated_sentences(languages: Collection[str] | None) -> dict[str, list[str]]:
    """Sentences on many subjects in each of the languages; in all that there are for None, or where none is known.

    Every opening goes with every clause, and as many are drawn of each language.

    >>> {language: len(texts) for language, texts in unrelated_sentences({"de", "zh", "xx"}).items()}
    {'de': 192, 'zh': 192}
    """
    parts = json.loads((FOLDER / UNRELATED_SENTENCES).read_text(encoding="utf-8"))
    known = [code for code in parts if languages is None or code in languages] or list(parts)
    drawn = np.random.default_rng(0).permutation(len(parts["en"]["openings"]) * len(parts["en"]["clauses"]))
    numbers = drawn[:SENTENCES_OF_LANGUAGE].tolist()
    found = {}
    for code in known:
        openings, clauses = parts[code]["openings"], parts[code]["clauses"]
        between = "" if code in WITHOUT_SPACES else " "
        found[code] = [f"{openings[n % len(openings)]}{between}{clauses[n // len(openings)]}" for n in numbers]
    return found
