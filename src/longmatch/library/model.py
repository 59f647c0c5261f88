"""The model that made a library's vectors: how it is recorded and checked.

A library records the model with its documents, so that vectors of different models never mix.
"""

import json
from dataclasses import asdict, dataclass, fields
from hashlib import sha256
from pathlib import Path

import numpy as np

from longmatch.default.matcher import HybridMatcher
from longmatch.documents.document import brief
from longmatch.encoders.backbone import Backbone, known_languages
from longmatch.encoders.multilingual import MULTILINGUAL
from longmatch.encoders.pretrained import DEFAULT_NAME, is_default
from longmatch.errors import LongmatchError
from longmatch.library.errors import LibraryError
from longmatch.library.rows import VectorType
from longmatch.matching.levels import Background
from longmatch.matching.wording import language_remarks

SCHEMA = 1
PROBE = "The committee found that the river had changed its course twice since the first survey."
SAME_MODEL = 0.9996  # cosine of two probe vectors: precisions and engines, each within 0.9999 of float32, are this near
JSON_NAMES = {"name": "model"}  # fields that are stored under another key


@dataclass(frozen=True)
class LibraryModel:
    """The model that encoded a library, and the format of the library itself."""

    schema: int
    name: str  # of the matcher
    backbone: str
    width: int
    probe: tuple[float, ...]  # the vector of a fixed sentence: identifies the model, whatever its name
    background: str  # digest of the unrelated sentences used to estimate scores by chance
    vectors: VectorType = "float16"  # of the sentences
    computes: str = ""  # precision, engine and device of the first encoding; for information only
    change: str = ""  # digest of the backbone's low-rank change; empty for none

    @staticmethod
    def of(matcher: HybridMatcher, vectors: VectorType = "float16") -> "LibraryModel":
        """The record of a library encoded by `matcher`."""
        backbone = matcher.backbone
        probe = tuple(round(float(x), 4) for x in backbone.encode_texts([PROBE])[0])
        background = background_digest(matcher.statistics.sentences)
        identity = SCHEMA, matcher.name, recorded_name(backbone), backbone.width
        return LibraryModel(*identity, probe, background, vectors, backbone.runtime, backbone.change)

    @property
    def backbone_label(self) -> str:
        """The backbone, and its low-rank change if it has one."""
        return f"{self.backbone} with the change {self.change}" if self.change else self.backbone

    @property
    def languages(self) -> frozenset[str] | None:
        """The languages the backbone was trained on, as two-letter codes; None if unknown."""
        return known_languages(self.backbone)

    def language_remarks(self, language: str) -> list[str]:
        """A sentence if the backbone was not trained on a language, given by its two-letter code."""
        return language_remarks([language], self.languages)

    def load_matcher(self, address: str) -> HybridMatcher:
        """The default matcher with the backbone that made the library at `address`, without a low-rank change."""
        if self.backbone == DEFAULT_NAME:
            return HybridMatcher()
        made_with = f"{address} was made with the backbone {brief(self.backbone, 100)}"
        another = f"Or encode the library again with another: longmatch index {address} --reencode --backbone NAME."
        try:
            backbone = Backbone.load_recorded(self.backbone)
        except LongmatchError as error:
            raise LibraryError(f"{made_with}. {error} {another}") from error
        if backbone is None:
            raise LibraryError(
                f"{made_with}, which is not on this computer. It is fetched only if you name it, once: "
                f"longmatch index {address} FILES --backbone NAME. {another}"
            )
        return HybridMatcher(backbone)

    def to_json(self) -> str:
        """JSON for the store; defaults are omitted, so that the text of older libraries stays the same."""
        defaults = {field.name: field.default for field in fields(self)}
        changed = {name: value for name, value in asdict(self).items() if value != defaults[name]}
        return json.dumps({JSON_NAMES.get(name, name): value for name, value in changed.items()})

    @staticmethod
    def from_json(text: str, address: str) -> "LibraryModel":
        """Read the JSON of `to_json`; raises LibraryError if a newer longmatch wrote it."""
        values = json.loads(text)
        if values["schema"] > SCHEMA:
            raise LibraryError(
                f"{address} was made by a newer longmatch (schema {values['schema']}, this one reads {SCHEMA}). "
                "Update longmatch: pip install --upgrade longmatch."
            )
        values |= {name: values.pop(key) for name, key in JSON_NAMES.items()}
        return LibraryModel(**{**values, "probe": tuple(values["probe"])})

    def checked(self, matcher: HybridMatcher, address: str) -> HybridMatcher:
        """The matcher; raises LibraryError unless it may add to this library and query it."""
        self.check(LibraryModel.of(matcher), address)
        return matcher

    def check(self, other: "LibraryModel", address: str) -> None:
        """Raise LibraryError unless the model `other` may add to this library and query it."""
        self._check_adapted(other.change, address)
        is_same = (self.width, self.change) == (other.width, other.change)
        if is_same:
            ours, theirs = np.array(self.probe), np.array(other.probe)
            cosine = ours @ theirs / (np.linalg.norm(ours) * np.linalg.norm(theirs) or 1.0)
            is_same = float(cosine) >= SAME_MODEL
        if not is_same:
            raise LibraryError(
                f"{address} was made with the model {self.backbone_label}, and this is {other.backbone_label}. "
                f"{_reencode_hint(address, other.backbone)}"
            )
        self.check_background(other.background, address)

    def check_background(self, digest: str, address: str) -> None:
        """Raise LibraryError unless `digest` is that of the library's background; needs no loaded model."""
        if self.background != digest:
            self._check_adapted("", address)
            raise LibraryError(
                f"{address} was made with other background statistics than this longmatch has. "
                f"{_reencode_hint(address)}"
            )

    def _check_adapted(self, change: str, address: str) -> None:
        """Refuse the vectors of a backbone that longmatch 0.2.0 had adapted to the library's own documents."""
        if self.change and not change:
            raise LibraryError(
                f"{address} was adapted to its own documents, which this longmatch no longer does. "
                f"{_reencode_hint(address)}"
            )

    def check_vectors(self, wanted: VectorType | None, address: str) -> None:
        """Raise LibraryError if sentence vectors of another type are requested than the library has."""
        if wanted not in (None, self.vectors):
            raise LibraryError(
                f"{address} keeps its vectors in {self.vectors}, not in {wanted}. "
                f"Encode it again: longmatch index {address} --reencode --vectors {wanted}."
            )


def background_digest(background: Background) -> str:
    """Identifies the vectors of the unrelated sentences."""
    content = background.name.encode() or background.vectors.astype(np.float16).tobytes()
    return sha256(content).hexdigest()[:16]


def _reencode_hint(address: str, backbone: str = DEFAULT_NAME) -> str:
    named = "" if backbone == DEFAULT_NAME else f" --backbone {backbone}"
    return f"Encode it again with this one: longmatch index {address} --reencode{named}."


def recorded_name(backbone: Backbone) -> str:
    """What `Backbone.load` opens from any folder: a local one by its whole path."""
    if is_default(backbone.name):
        return DEFAULT_NAME
    place = Path(backbone.name)
    return str(place.resolve()) if place.is_dir() and backbone.name != MULTILINGUAL else backbone.name
