"""What made a library: the schema's number, the model, and the statistics behind its numbers."""

import json
from dataclasses import asdict, dataclass
from hashlib import sha256

import numpy as np

from longmatch.encoders.backbone import Backbone
from longmatch.library.errors import LibraryError
from longmatch.matching.chance import Background
from longmatch.models.hybrid.model import HybridMatcher

SCHEMA = 1
PROBE = "The committee found that the river had changed its course twice since the first survey."
ALIKE = 0.995  # cosine of the probe's vectors in two precisions of one model; other models are far below


@dataclass(frozen=True)
class Facts:
    """Kept with the documents, so that vectors of different models never meet."""

    schema: int
    model: str
    backbone: str
    width: int
    probe: tuple[float, ...]  # the vector of a fixed sentence: tells models apart, whatever their names
    background: str  # sum of the unrelated sentences that chance was measured with

    @staticmethod
    def of(matcher: HybridMatcher) -> "Facts":
        """The facts of a library this matcher would make."""
        backbone = matcher.backbone
        probe = tuple(round(float(x), 4) for x in backbone.encode_texts([PROBE])[0])
        background = background_sum(matcher.statistics.sentences)
        return Facts(SCHEMA, matcher.name, _short_name(backbone), backbone.width, probe, background)

    def to_json(self) -> str:
        """For the store."""
        return json.dumps(asdict(self))

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
        again = f"Encode it again with this one: longmatch index {address} --encode-again."
        if self.width != mine.width or _cosine(self.probe, mine.probe) < ALIKE:
            raise LibraryError(
                f"{address} was made with the model {self.backbone}, and this is {mine.backbone}. {again}"
            )
        if self.background != mine.background:
            raise LibraryError(f"{address} was made with other background statistics than this longmatch has. {again}")


def background_sum(background: Background) -> str:
    """A short sum of the unrelated sentences' vectors."""
    return sha256(background.vectors.half().numpy().tobytes()).hexdigest()[:16]


def _short_name(backbone: Backbone) -> str:
    from longmatch.encoders.pretrained import DEFAULT_NAME, DEFAULT_PACKAGE

    return DEFAULT_NAME if DEFAULT_PACKAGE in backbone.name else backbone.name


def _cosine(a: tuple[float, ...], b: tuple[float, ...]) -> float:
    x, y = np.array(a), np.array(b)
    return float(x @ y / (np.linalg.norm(x) * np.linalg.norm(y) or 1.0))
