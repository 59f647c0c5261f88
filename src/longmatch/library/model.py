"""The model that made a library's vectors: how it is recorded, checked and adapted.

A library records the model with its documents, so that vectors of different models never mix. Where the model was
adapted to the library's documents, the adapter is stored with them too.
"""

import json
from dataclasses import asdict, dataclass, fields, replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from longmatch.default.matcher import HybridMatcher
from longmatch.default.statistics import Statistics, background_from_bytes
from longmatch.documents.document import brief
from longmatch.encoders.backbone import Backbone, known_languages
from longmatch.encoders.multilingual import MULTILINGUAL
from longmatch.encoders.pretrained import DEFAULT_NAME, is_default
from longmatch.encoders.weights import change_from_bytes
from longmatch.errors import LongmatchError
from longmatch.library.errors import LibraryError
from longmatch.library.rows import VectorType
from longmatch.matching.chance import Background

if TYPE_CHECKING:
    from longmatch.library.store import Store

SCHEMA = 1
PROBE = "The committee found that the river had changed its course twice since the first survey."
SAME_MODEL = 0.9996  # cosine of two probe vectors: precisions and engines, each within 0.9999 of float32, are this near
JSON_NAMES = {"name": "model"}  # fields that are stored under another key

ADAPTER_SCHEMA = pa.schema(
    [
        ("digest", pa.string()),
        ("base", pa.string()),
        ("before", pa.string()),
        ("made", pa.string()),
        ("proof", pa.string()),
        ("change", pa.large_binary()),
        ("background", pa.large_binary()),
    ]
)


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
    change: str = ""  # digest of the adapter; empty for none

    @staticmethod
    def of(matcher: HybridMatcher, vectors: VectorType = "float16") -> "LibraryModel":
        """The record of a library encoded by `matcher`."""
        backbone = matcher.backbone
        probe = tuple(round(float(x), 4) for x in backbone.encode_texts([PROBE])[0])
        background = background_digest(matcher.statistics.sentences)
        identity = SCHEMA, matcher.name, _short_name(backbone), backbone.width
        return LibraryModel(*identity, probe, background, vectors, backbone.runtime, backbone.change)

    @property
    def backbone_label(self) -> str:
        """The backbone, and its adapter if it has one."""
        return f"{self.backbone} with the change {self.change}" if self.change else self.backbone

    @property
    def languages(self) -> frozenset[str] | None:
        """The languages the backbone was trained on, as two-letter codes; None if unknown."""
        return known_languages(self.backbone)

    def load_matcher(self, address: str) -> HybridMatcher:
        """The default matcher with the backbone that made the library at `address`, without its adapter."""
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

    def check(self, other: "LibraryModel", address: str) -> None:
        """Raise LibraryError unless the model `other` may add to this library and query it."""
        same_network = (self.width, self.change) == (other.width, other.change)
        if not same_network or _cosine(self.probe, other.probe) < SAME_MODEL:
            raise LibraryError(
                f"{address} was made with the model {self.backbone_label}, and this is {other.backbone_label}. "
                f"{_reencode_hint(address, other.backbone)}"
            )
        self.check_background(other.background, address)

    def check_background(self, digest: str, address: str) -> None:
        """Raise LibraryError unless `digest` is that of the library's background; needs no loaded model."""
        if self.background != digest:
            raise LibraryError(
                f"{address} was made with other background statistics than this longmatch has. "
                f"{_reencode_hint(address)}"
            )

    def check_vectors(self, wanted: VectorType | None, address: str) -> None:
        """Raise LibraryError if sentence vectors of another type are requested than the library has."""
        if wanted not in (None, self.vectors):
            raise LibraryError(
                f"{address} keeps its vectors in {self.vectors}, not in {wanted}. "
                f"Encode it again: longmatch index {address} --reencode --vectors {wanted}."
            )


@dataclass(frozen=True)
class Adapter:
    """A low-rank change of the backbone, the background that goes with it, and the proof that it ranks better.

    The fields are columns of the store.
    """

    base: str  # digest of the change the base model already had; empty for none
    before: str  # digest of the library's previous adapter; empty for none
    made: str  # time, in UTC
    proof: str  # JSON
    change: bytes  # everything learnt from the library's documents, earlier adaptations included
    background: bytes

    @property
    def digest(self) -> str:
        """Identifies the adapter in `LibraryModel.change`."""
        return sha256(self.base.encode() + self.change).hexdigest()[:16]

    def apply_to(self, matcher: HybridMatcher) -> HybridMatcher:
        """The matcher with this adapter; the same matcher if it has it already."""
        if matcher.backbone.change == self.digest:
            return matcher
        backbone = matcher.backbone.with_change(change_from_bytes(self.change), self.digest)
        return HybridMatcher(backbone, self.statistics(matcher.statistics))

    def statistics(self, general: Statistics) -> Statistics:
        """General statistics with the background sentences encoded by the adapted backbone."""
        return replace(general, sentences=background_from_bytes(self.background))

    def fits(self, matcher: HybridMatcher) -> bool:
        """Whether the adapter was trained on top of this matcher, or is part of it already."""
        return matcher.backbone.change in (self.base, self.digest)

    @property
    def summary(self) -> dict[str, Any]:
        """When the library was adapted, and the proof."""
        return {"when": self.made, **json.loads(self.proof)}

    def to_table(self) -> pa.Table:
        """One row for the store."""
        return pa.Table.from_pylist([vars(self) | {"digest": self.digest}], schema=ADAPTER_SCHEMA)

    @staticmethod
    def from_row(row: dict[str, Any]) -> "Adapter":
        """The adapter of a row of `to_table`."""
        return Adapter(**{name: value for name, value in row.items() if name != "digest"})


def with_adapter(matcher: HybridMatcher, store: "Store") -> HybridMatcher:
    """The matcher with the library's adapter, if there is one that fits; the matcher itself otherwise."""
    adapter = store.adapter()
    return adapter.apply_to(matcher) if adapter and adapter.fits(matcher) else matcher


def checked_matcher(matcher: HybridMatcher, store: "Store") -> HybridMatcher:
    """The matcher with the library's adapter; raises LibraryError unless it is the model that made the library."""
    adapted = with_adapter(matcher, store)
    store.model.check(LibraryModel.of(adapted), store.address)
    return adapted


def background_digest(background: Background) -> str:
    """Identifies the vectors of the unrelated sentences."""
    content = background.name.encode() or background.vectors.astype(np.float16).tobytes()
    return sha256(content).hexdigest()[:16]


def _reencode_hint(address: str, backbone: str = DEFAULT_NAME) -> str:
    named = "" if backbone == DEFAULT_NAME else f" --backbone {backbone}"
    return f"Encode it again with this one: longmatch index {address} --reencode{named}."


def _short_name(backbone: Backbone) -> str:
    """What `Backbone.load` opens from any folder: a local one by its whole path."""
    if is_default(backbone.name):
        return DEFAULT_NAME
    place = Path(backbone.name)
    return str(place.resolve()) if place.is_dir() and backbone.name != MULTILINGUAL else backbone.name


def _cosine(a: tuple[float, ...], b: tuple[float, ...]) -> float:
    x, y = np.array(a), np.array(b)
    return float(x @ y / (np.linalg.norm(x) * np.linalg.norm(y) or 1.0))
