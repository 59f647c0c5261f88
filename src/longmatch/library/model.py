"""The model that made a library's vectors: how it is recorded and checked.

A library records the model with its documents, so that vectors of different models never mix.
"""

import json
from dataclasses import asdict, dataclass, fields
from hashlib import sha256
from pathlib import Path

import numpy as np

from longmatch.default.matcher import HybridMatcher
from longmatch.default.meaning import AnyBackbone, TableMeaning, encode_texts, load_recorded
from longmatch.documents.document import brief
from longmatch.encoders.backbone import Backbone, known_languages
from longmatch.encoders.multilingual import MULTILINGUAL
from longmatch.encoders.pretrained import DEFAULT_NAME, TOKEN_VECTORS, is_default
from longmatch.encoders.token_vectors import LANGUAGES, TokenVectors
from longmatch.errors import LongmatchError
from longmatch.library.errors import LibraryError
from longmatch.library.rows import VectorType
from longmatch.matching.levels import Background
from longmatch.matching.wording import language_remarks

SCHEMA = 2  # 1 where the vectors of all sentences are stored
PROBE = "The committee found that the river had changed its course twice since the first survey."
SAME_MODEL = 0.9996  # cosine of two probe vectors: precisions and engines, each within 0.9999 of float32, are this near


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
    change: str = ""  # of a library that longmatch 0.2.0 had adapted to its own documents; empty for others

    @staticmethod
    def of(matcher: HybridMatcher, vectors: VectorType = "float16") -> "LibraryModel":
        """The record of a library encoded by `matcher`."""
        backbone = matcher.backbone
        return LibraryModel(
            schema=SCHEMA if isinstance(backbone, TokenVectors) else 1,
            name=matcher.name,
            backbone=recorded_name(backbone),
            width=backbone.width,
            probe=tuple(round(float(x), 4) for x in encode_texts(backbone, [PROBE])[0]),
            background=background_digest(matcher.statistics.sentences),
            vectors="none" if isinstance(backbone, TokenVectors) else "float16" if vectors == "none" else vectors,
            computes=backbone.runtime,
        )

    @property
    def languages(self) -> frozenset[str] | None:
        """The languages the backbone was trained on, as two-letter codes; None if unknown."""
        return LANGUAGES if self.is_token_vectors else known_languages(self.backbone)

    @property
    def is_token_vectors(self) -> bool:
        """Whether sentence vectors are made from tokens when they are needed."""
        return self.vectors == "none"

    def table_meaning(self, address: str) -> TableMeaning:
        """What makes the vectors of sentences whose tokens are stored."""
        meaning = self.load_matcher(address).meaning
        if not isinstance(meaning, TableMeaning):
            raise LibraryError(f"{self.backbone} holds no token vectors any more. {_reencode_hint(address)}")
        return meaning

    def language_remarks(self, language: str) -> list[str]:
        """A sentence if the backbone was not trained on a language, given by its two-letter code."""
        return language_remarks([language], self.languages)

    def load_matcher(self, address: str) -> HybridMatcher:
        """The default matcher with the backbone that made the library at `address`, without a low-rank change.

        That of longmatch 0.2.0's libraries is fetched if it has to be; what else a record names may be a stranger's.
        """
        made_with = f"{address} was made with the backbone {brief(self.backbone, 100)}"
        another = f"Or encode the library again with another: longmatch index {address} --reencode --backbone NAME."
        try:
            backbone = Backbone.load() if self.backbone == DEFAULT_NAME else load_recorded(self.backbone)
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
        values = asdict(self)
        changed = [field.name for field in fields(self) if values[field.name] != field.default]
        return json.dumps({"model" if name == "name" else name: values[name] for name in changed})

    @staticmethod
    def from_json(text: str, address: str) -> "LibraryModel":
        """Read the JSON of `to_json`; raises LibraryError if a newer longmatch wrote it."""
        values = json.loads(text)
        if values["schema"] > SCHEMA:
            raise LibraryError(
                f"{address} was made by a newer longmatch (schema {values['schema']}, this one reads {SCHEMA}). "
                "Update longmatch: pip install --upgrade longmatch."
            )
        return LibraryModel(name=values.pop("model"), **values | {"probe": tuple(values["probe"])})

    def checked(self, matcher: HybridMatcher, address: str) -> HybridMatcher:
        """The matcher; raises LibraryError unless it may add to this library and query it."""
        self._check_adapted(address)
        other = LibraryModel.of(matcher)
        is_same = self.width == other.width
        if is_same:
            ours, theirs = np.array(self.probe), np.array(other.probe)
            cosine = ours @ theirs / (np.linalg.norm(ours) * np.linalg.norm(theirs) or 1.0)
            is_same = float(cosine) >= SAME_MODEL
        if not is_same:
            raise LibraryError(
                f"{address} was made with the model {self.backbone}, and this is {other.backbone}. "
                f"{_reencode_hint(address, other.backbone)}"
            )
        self.check_background(other.background, address)
        return matcher

    def check_background(self, digest: str, address: str) -> None:
        """Raise LibraryError unless `digest` is that of the library's background; needs no loaded model."""
        if self.background != digest:
            self._check_adapted(address)
            raise LibraryError(
                f"{address} was made with other background statistics than this longmatch has. "
                f"{_reencode_hint(address)}"
            )

    def _check_adapted(self, address: str) -> None:
        """Refuse the vectors of a backbone that longmatch 0.2.0 had adapted to the library's own documents."""
        if self.change:
            raise LibraryError(
                f"{address} was adapted to its own documents, which this longmatch no longer does. "
                f"{_reencode_hint(address)}"
            )


def background_digest(background: Background) -> str:
    """Identifies the vectors of the unrelated sentences."""
    content = background.name.encode() or background.vectors.astype(np.float16).tobytes()
    return sha256(content).hexdigest()[:16]


def _reencode_hint(address: str, backbone: str = TOKEN_VECTORS) -> str:
    named = "" if backbone == TOKEN_VECTORS else f" --backbone {backbone}"
    return f"Encode it again with this one: longmatch index {address} --reencode{named}."


def recorded_name(backbone: AnyBackbone) -> str:
    """What `load_backbone` opens from any folder: a local one by its whole path."""
    if is_default(backbone.name):
        return DEFAULT_NAME
    if backbone.name == TOKEN_VECTORS:  # the shipped ones, though there may be a folder of that name
        return TOKEN_VECTORS
    place = Path(backbone.name)
    return str(place.resolve()) if place.is_dir() and backbone.name != MULTILINGUAL else backbone.name
