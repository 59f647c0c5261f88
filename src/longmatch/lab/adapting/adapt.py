"""Learning from a library's documents, none of which has a label, and proving it on those held back."""

import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any

import numpy as np
import torch

from longmatch.default.matcher import HybridMatcher
from longmatch.default.statistics import background_to_bytes
from longmatch.encoders.low_rank import change_from_bytes, change_to_bytes, joined
from longmatch.lab.adapting.learning.passages import Reading, halves
from longmatch.lab.adapting.learning.unlabelled import learn_halves
from longmatch.lab.adapting.proof import PASSAGE, Proof, passages_read, prove
from longmatch.library.errors import LibraryError, NotALibrary
from longmatch.library.model import Adapter, checked_matcher
from longmatch.library.rows import DOCUMENT_COLUMNS
from longmatch.library.store import REENCODED, Store
from longmatch.units import sentences

OnStage = Callable[[str, int, int], None]  # called with the stage, how much of it is done, and its total

LEAST = 40  # documents a library must have
HELD = (20, 300)  # a tenth of the documents is held back, but no fewer and no more
MOST = 1_500  # documents learnt from
AROUND = 200  # of these, as many are looked through for the passages held back
CARRIED = 3_000  # sentences that tell how the unrelated ones are seen now
LEARNING = 0.7  # share of the time for learning; the rest is for reading and for the proof


@dataclass(frozen=True)
class Plan:
    """How long to learn, and from which draw. The same number of steps and the same seed give the same change."""

    minutes: float = 10.0
    seed: int = 0
    steps: int | None = None  # None: as many as the minutes allow


@dataclass(frozen=True)
class Adaptation:
    """What adapting a library came to."""

    proof: Proof
    documents: int  # learnt from
    steps: int
    adopted: bool = False

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "adopted": self.adopted,
            "documents": self.documents,
            "steps": self.steps,
            "proof": self.proof.to_dict(),
        }

    @staticmethod
    def of_learnt(learnt: Adapter) -> "Adaptation":
        """What was measured when a library learnt something."""
        told = json.loads(learnt.proof)
        return Adaptation(Proof.of_dict(told["proof"]), told["documents"], told["steps"])


def learn_and_prove(store: Store, base: HybridMatcher, plan: Plan, report: OnStage) -> tuple[Adapter, Adaptation]:
    """Learn on top of what the library has learnt already; nothing is written.

    `base` is the matcher without anything learnt from this library.
    """
    began = time.monotonic()
    held_ids, learnt_ids = split(store, plan.seed)
    earlier, before = store.adapter(), checked_matcher(base, store)
    if earlier and before is base:
        raise LibraryError(f"The model given for {store.address} is adapted already. Open the library without a model.")
    _check_pooling(before, store.address)
    held = list(readings(store, held_ids, before))
    documents = []
    for document in readings(store, learnt_ids, before):
        documents.append(document)
        report("reading", len(documents), len(learnt_ids))
    until = began + LEARNING * 60 * plan.minutes
    limits, told = (plan.steps, plan.seed, until), partial(report, "learning")
    change, steps = learn_halves(before.backbone, documents, *limits, told)
    learnt = Adapter(
        base=base.backbone.change,
        before=earlier.digest if earlier else "",
        made=datetime.now(UTC).isoformat(timespec="seconds"),
        proof="",
        change=change_to_bytes(joined(change_from_bytes(earlier.change), change) if earlier else change),
        background=b"",
    )
    learnt = replace(learnt, background=_background(before, documents, learnt, base, plan.seed))
    around = documents[:AROUND]
    read, of_all = 0, passages_read(len(held), len(around))

    def tell(passages: int) -> None:
        nonlocal read
        read += passages
        report("proving", read, of_all)

    found = Adaptation(prove(before, learnt.apply_to(base), held, around, plan.seed, tell), len(documents), steps)
    return replace(learnt, proof=json.dumps(found.to_dict() | {"adopted": True})), found


def split(store: Store, seed: int) -> tuple[list[str], list[str]]:
    """The documents held back and those learnt from, of those whose halves are long enough for passages."""
    rows = (row for some in store.batches(["id", "pieces"]) for row in some)
    able = sorted(row.id for row in rows if min(map(len, halves(row.pieces()[3]))) >= PASSAGE)
    if len(able) < LEAST:
        raise LibraryError(
            f"{store.address} has {len(able)} documents with {2 * PASSAGE} sentences or more, too few to learn from "
            f"and to prove it: {LEAST} are the least."
        )
    count = min(HELD[1], max(HELD[0], len(able) // 10))
    drawn = [able[i] for i in np.random.default_rng(seed).permutation(len(able))]
    return drawn[:count], drawn[count : count + MOST]


def readings(store: Store, ids: Sequence[str], matcher: HybridMatcher, together: int = 64) -> Iterator[Reading]:
    """Documents of the library as they are learnt from."""
    columns = [*DOCUMENT_COLUMNS, "vocabulary", "stream", "offsets"]
    for start in range(0, len(ids), together):
        for row in store.fetch(ids[start : start + together], columns):
            pieces = sentences(matcher.tokenize([row.document()])[0], matcher.backbone.max_tokens)
            yield Reading([pieces.ids(i) for i in range(len(pieces))], pieces.paragraph, row.terms())


def unfinished(store: Store) -> Adapter | None:
    """What was proven and is being adopted, where encoding the documents with it was interrupted."""
    try:
        begun = Store.open(store.address, REENCODED).model.change
    except NotALibrary:
        return None
    learnt, now = store.adapter(begun), store.adapter()
    return learnt if learnt and learnt.before == (now.digest if now else "") else None


def _background(
    before: HybridMatcher, documents: Sequence[Reading], learnt: Adapter, base: HybridMatcher, seed: int
) -> bytes:
    """The unrelated sentences as the backbone sees them with what was learnt."""
    each = -(-CARRIED // len(documents))
    rng = np.random.default_rng(seed)
    chosen = [d.tokens[i] for d in documents for i in rng.choice(len(d), min(each, len(d)), replace=False)][:CARRIED]
    after = base.backbone.changed(change_from_bytes(learnt.change), learnt.digest)
    old, new = (torch.from_numpy(backbone.encode(chosen)) for backbone in (before.backbone, after))
    return background_to_bytes(before.statistics.sentences.carried(old, new))


def _check_pooling(matcher: HybridMatcher, address: str) -> None:
    mode = matcher.backbone.pooling.mode
    if mode != "mean":
        raise LibraryError(
            f"{address} was made with a model whose sentence vectors are the {mode} of the tokens'; only means adapt."
        )
