"""What a library's backbone has learnt from its own documents, as it is kept beside them."""

import json
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any

import pyarrow as pa

from longmatch.default.matcher import HybridMatcher
from longmatch.default.statistics import Statistics, background_from_bytes
from longmatch.encoders.low_rank import change_from_bytes

LEARNT_SCHEMA = pa.schema(
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
class Learnt:
    """A change of the backbone, the unrelated sentences that go with it, and the proof that it is better."""

    base: str  # the change of the backbone it is added to, by a digest; empty where that has none
    before: str  # what the library had learnt until then, by a digest; empty for nothing
    made: str  # when, in UTC
    proof: str  # JSON
    change: bytes  # all that was learnt from the library's documents, earlier times included
    background: bytes

    @property
    def digest(self) -> str:
        """What the facts of a library call its backbone's change."""
        return sha256(self.base.encode() + self.change).hexdigest()[:16]

    def applied(self, matcher: HybridMatcher) -> HybridMatcher:
        """A matcher that has learnt this; itself, where it has already."""
        if matcher.backbone.change == self.digest:
            return matcher
        backbone = matcher.backbone.with_change(change_from_bytes(self.change), self.digest)
        return HybridMatcher(backbone, self.statistics(matcher.statistics))

    def statistics(self, general: Statistics) -> Statistics:
        """General statistics, with the unrelated sentences as the changed backbone sees them."""
        return replace(general, sentences=background_from_bytes(self.background))

    def fits(self, matcher: HybridMatcher) -> bool:
        """Whether a matcher is the one this was learnt on top of, or has learnt it already."""
        return matcher.backbone.change in (self.base, self.digest)

    @property
    def told(self) -> dict[str, Any]:
        """When it was learnt, and the proof, for people."""
        return {"when": self.made, **json.loads(self.proof)}

    def row(self) -> pa.Table:
        """For the store."""
        return pa.Table.from_pylist([vars(self) | {"digest": self.digest}], schema=LEARNT_SCHEMA)

    @staticmethod
    def of_row(row: dict[str, Any]) -> "Learnt":
        """What `row` made."""
        return Learnt(**{name: value for name, value in row.items() if name != "digest"})
