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
from safetensors.numpy import load, load_file, save, save_file

from longmatch.cache import cache_folder, replace_file
from longmatch.default.calibration import Calibration, Probability
from longmatch.default.meaning import AnyBackbone, encode_texts
from longmatch.default.space import Space
from longmatch.default.unrelated import Kinds, Prior
from longmatch.encoders.pretrained import DEFAULT_LANGUAGES, TOKEN_VECTORS, is_default
from longmatch.lexical.weights import TermBackground, shipped_background
from longmatch.matching.levels import Background
from longmatch.ragged import unit_rows

FOLDER = Path(__file__).parent / "data"
SENTENCES = "sentences.safetensors"  # vectors of unrelated sentences by the packaged token vectors
SPACE = "space.safetensors"  # of documents in general, by the same
MINILM_SENTENCES = "minilm_sentences.safetensors"  # of unrelated sentences, by MiniLM
STYLES = "styles.safetensors"  # of the kinds of text that are known
CALIBRATION = "calibration.json"
PROBABILITY = "probability.json"
UNRELATED = "unrelated.json"
UNRELATED_SENTENCES = "unrelated_sentences.json"  # in many languages: for backbones whose vectors are not shipped
SENTENCES_OF_LANGUAGE = 192
MANY_SENTENCES = 1_000  # of a kind: fewer do not show what thousands would
DOCUMENT_CENTRE = 2.0  # about 1 over the length of the mean of a document's sentences
WITHOUT_SPACES = ("ja", "zh")
BACKGROUNDS = "backgrounds"  # the folder of the user's cache


@dataclass(frozen=True)
class Statistics:
    """How common terms are, vectors of unrelated sentences, and what weighs the sides."""

    terms: TermBackground
    sentences: Background
    space: Space
    calibration: Calibration
    probability: Probability
    prior: Prior
    kinds: Kinds
    reads_english_alone: bool = True  # the backbone; else it is trusted with any language


@cache
def read_background(path: Path) -> Background:
    """Vectors of unrelated sentences, from a file."""
    return background_from_bytes(path.read_bytes())


def background_from_bytes(content: bytes) -> Background:
    """What `background_to_bytes` made."""
    tensors = load(content)
    kinds = int(tensors["kinds"]) if "kinds" in tensors else 1
    vectors = unit_rows(tensors["vectors"].astype(np.float32))
    return Background(vectors, kinds, extrapolates=len(vectors) < MANY_SENTENCES * kinds)


def background_to_bytes(background: Background) -> bytes:
    """To be kept, in half precision."""
    return save({"vectors": background.vectors.astype(np.float16), "kinds": np.array(background.kinds)})


@cache
def shipped_statistics() -> Statistics:
    """The statistics of the default matcher."""
    return _statistics(read_background(FOLDER / SENTENCES), read_space(FOLDER / SPACE), reads_english_alone=True)


@cache
def known_statistics(backbone: str) -> Statistics | None:
    """The statistics that go with a backbone of that name, for those that longmatch is made with; None for others."""
    if backbone == TOKEN_VECTORS:
        return shipped_statistics()
    if not is_default(backbone):
        return None
    background = read_background(FOLDER / MINILM_SENTENCES)
    return _statistics(background, space_of_sentences(background), reads_english_alone=True)


def background_of(backbone: AnyBackbone) -> Background | None:
    """Vectors of unrelated sentences by this very backbone: available for those that longmatch is made with."""
    known = known_statistics(backbone.name)
    return known.sentences if known else None


def statistics_of(backbone: AnyBackbone) -> Statistics:
    """The statistics that go with a backbone; for one that longmatch does not know, it encodes unrelated sentences."""
    if known := known_statistics(backbone.name):
        return known
    background = encoded_background(backbone)
    return _statistics(background, space_of_sentences(background), backbone.languages == DEFAULT_LANGUAGES)


def _statistics(background: Background, space: Space, reads_english_alone: bool) -> Statistics:
    calibration, probability = Calibration.read(FOLDER / CALIBRATION), Probability.read(FOLDER / PROBABILITY)
    prior, kinds = Prior.read(FOLDER / UNRELATED), Kinds.read(FOLDER / STYLES)
    return Statistics(
        shipped_background(), background, space, calibration, probability, prior, kinds, reads_english_alone
    )


def space_of_sentences(background: Background) -> Space:
    """Where documents lie whose own vectors nobody has seen: what their sentences share is plainer in their means."""
    sentences = Space.of(background.vectors)
    return Space(DOCUMENT_CENTRE * sentences.centre, sentences.spread)


@cache
def read_space(path: Path) -> Space:
    """What `write_space` wrote."""
    tensors = load_file(path)
    return Space(tensors["centre"].astype(np.float64), tensors["spread"].astype(np.float64))


def write_space(space: Space, path: Path) -> None:
    """Write as safetensors."""
    save_file({"centre": space.centre.astype(np.float32), "spread": space.spread.astype(np.float32)}, path)


def encoded_background(backbone: AnyBackbone) -> Background:
    """Unrelated sentences in the languages that a backbone knows, a kind each; kept in the user's cache."""
    sentences = unrelated_sentences(backbone.languages)
    texts = [text for language in sentences.values() for text in language]
    content = "\n".join([backbone.identity, *texts]).encode()
    name = hashlib.sha256(content).hexdigest()[:16]
    path = cache_folder() / BACKGROUNDS / f"{name}.safetensors"
    if path.is_file():
        return replace(background_from_bytes(path.read_bytes()), name=name)
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
