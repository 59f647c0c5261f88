"""What made a library: the schema's number, the model, and the statistics behind its numbers."""

import json
from dataclasses import asdict, dataclass, fields
from hashlib import sha256

import numpy as np

from longmatch.default.matcher import HybridMatcher
from longmatch.encoders.backbone import Backbone
from longmatch.library.errors import LibraryError
from longmatch.library.vectors import Kind
from longmatch.matching.chance import Background

SCHEMA = 1
PROBE = "The committee found that the river had changed its course twice since the first survey."
ALIKE = 0.9996  # cosine of the probe's vectors: two ways to compute, each within 0.9999 of float32, are this near


@dataclass(frozen=True)
class Facts:
    """Kept with the documents, so that vectors of different models never meet."""

    schema: int
    model: str
    backbone: str
    width: int
    probe: tuple[float, ...]  # the vector of a fixed sentence: tells models apart, whatever their names
    background: str  # sum of the unrelated sentences that chance was measured with
    vectors: Kind = "float16"  # numbers the sentence vectors are kept in
    computes: str = ""  # precision, engine and device of the first encoding: told, not asked for
    change: str = ""  # digest of what the backbone had learnt beyond its own weights

    @staticmethod
    def of(matcher: HybridMatcher, vectors: Kind = "float16") -> "Facts":
        """The facts of a library this matcher would make."""
        backbone = matcher.backbone
        probe = tuple(round(float(x), 4) for x in backbone.encode_texts([PROBE])[0])
        background = background_sum(matcher.statistics.sentences)
        named = SCHEMA, matcher.name, _short_name(backbone), backbone.width
        return Facts(*named, probe, background, vectors, backbone.runtime, backbone.change)

    @property
    def network(self) -> str:
        """The backbone, and its change where it has one."""
        return f"{self.backbone} with the change {self.change}" if self.change else self.backbone

    def to_json(self) -> str:
        """For the store; what is as it always was is left out, so that libraries made before stay the same."""
        usual = {field.name: field.default for field in fields(self)}
        return json.dumps({name: value for name, value in asdict(self).items() if value != usual[name]})

    @staticmethod
    def from_json(text: str, address: str) -> "Facts":
        """Read what `to_json` wrote; a newer longmatch's library is refused."""
        facts = json.loads(text)
        if facts["schema"] > SCHEMA:
            raise LibraryError(
                f"{address} was made by a newer longmatch (schema {facts['schema']}, this one knows {SCHEMA}). "
                "Update longmatch: pip install --upgrade longmatch."
            )
        return Facts(**{**facts, "probe": tuple(facts["probe"])})

    def check(self, mine: "Facts", address: str) -> None:
        """Raise unless a model with the facts `mine` may add to this library and ask it."""
        again = _again(address)
        same = (self.width, self.change) == (mine.width, mine.change)
        if not same or _cosine(self.probe, mine.probe) < ALIKE:
            raise LibraryError(f"{address} was made with the model {self.network}, and this is {mine.network}. {again}")
        self.check_background(mine.background, address)

    def check_background(self, mine: str, address: str) -> None:
        """Raise unless chance was measured with the sentences of this sum; for questions that need no model open."""
        if self.background != mine:
            raise LibraryError(
                f"{address} was made with other background statistics than this longmatch has. {_again(address)}"
            )

    def check_vectors(self, wanted: Kind | None, address: str) -> None:
        """Raise if the vectors are asked for in other numbers than they are kept in."""
        if wanted not in (None, self.vectors):
            raise LibraryError(
                f"{address} keeps its vectors in {self.vectors}, not in {wanted}. "
                f"Encode it again: longmatch index {address} --reencode --vectors {wanted}."
            )


def _again(address: str) -> str:
    return f"Encode it again with this one: longmatch index {address} --reencode."


def background_sum(background: Background) -> str:
    """A short sum of the unrelated sentences' vectors."""
    return sha256(background.vectors.half().numpy().tobytes()).hexdigest()[:16]


def _short_name(backbone: Backbone) -> str:
    from longmatch.encoders.pretrained import DEFAULT_NAME, DEFAULT_PACKAGE

    return DEFAULT_NAME if DEFAULT_PACKAGE in backbone.name else backbone.name


def _cosine(a: tuple[float, ...], b: tuple[float, ...]) -> float:
    x, y = np.array(a), np.array(b)
    return float(x @ y / (np.linalg.norm(x) * np.linalg.norm(y) or 1.0))
