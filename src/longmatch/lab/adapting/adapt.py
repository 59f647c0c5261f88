"""Experimental: adapt a library's model to the library's own documents, without labels, and keep it only on proof.

What is proven is that passages of a document find each other; on labelled queries no gain has been shown
(docs/adapting.md).
"""

import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any

import numpy as np

from longmatch.default.matcher import HybridMatcher
from longmatch.default.statistics import background_to_bytes
from longmatch.encoders.low_rank import change_from_bytes, change_to_bytes, combine_changes
from longmatch.encoders.multilingual import MULTILINGUAL
from longmatch.encoders.network import is_onnx_alone
from longmatch.lab.adapting.learning import learn_halves
from longmatch.lab.adapting.passages import TokenizedText, halves
from longmatch.lab.adapting.proof import PASSAGE, Proof, passages_encoded, prove
from longmatch.library.errors import LibraryError, NotALibrary
from longmatch.library.library import Library
from longmatch.library.model import Adapter, checked_matcher
from longmatch.library.reencode import OnDocuments
from longmatch.library.rows import DOCUMENT_COLUMNS, STREAM_COLUMNS
from longmatch.library.store import REENCODED, Store
from longmatch.units import sentences

OnStage = Callable[[str, int, int], None]  # called with the stage, how much of it is done, and its total

LEAST_DOCUMENTS = 40
HELD_OUT = (20, 300)  # a tenth of the documents is held out, but no fewer and no more than these
MOST_DOCUMENTS = 1_500  # to learn from
DISTRACTORS = 200  # documents learnt from whose passages the proof searches too
MAPPED_SENTENCES = 3_000  # to which the map of the unrelated sentences is fitted
LEARNING_SHARE = 0.7  # of the time; the rest is for reading and for the proof


@dataclass(frozen=True)
class Adaptation:
    """The result of adapting a library."""

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
    def of_adapter(adapter: Adapter) -> "Adaptation":
        """The result that was recorded with an adapter."""
        record = json.loads(adapter.proof)
        return Adaptation(Proof.of_dict(record["proof"]), record["documents"], record["steps"])


def adapt(
    library: Library,
    minutes: float = 10.0,
    *,
    seed: int = 0,
    steps: int | None = None,
    dry_run: bool = False,
    progress: OnStage | None = None,
) -> Adaptation:
    """Experimental: let a library's model learn from its documents; the result is used only if it proves better.

    Learning and proving take about `minutes`. Adopting the result encodes all documents again: interrupted before
    that is done, the library is as it was, and the next call continues. `dry_run` adopts nothing. `steps` fixes the
    number of training steps, whatever the time: with the same seed, the same is adapter.
    """
    reencoder = library.reencoder()
    store = reencoder.store
    store.refresh()
    model = store.model
    adapter = None if dry_run else unfinished(store)
    if adapter:
        result = Adaptation.of_adapter(adapter)
    else:
        adapter, result = learn_and_prove(
            store, reencoder.base, minutes, seed, steps, progress or (lambda stage, done, total: None)
        )
    if dry_run or not result.proof.holds:
        return result
    with reencoder.lock():
        store.refresh()
        if store.model != model:
            raise LibraryError(f"{store.address} was encoded again by another process meanwhile. Adapt it again.")
        store.put_adapter(adapter)
        reencoder.encode(adapter.apply_to(reencoder.base), _on_documents(progress, len(store)))
    return replace(result, adopted=True)


def undo(library: Library, progress: OnStage | None = None) -> None:
    """Go back to the model before the last adaptation; all documents are encoded again with it."""
    reencoder = library.reencoder()
    store = reencoder.store
    with reencoder.lock():
        store.refresh()
        adapter = store.adapter()
        if adapter is None:
            raise LibraryError(f"{store.address} is not adapted, so there is nothing to undo.")
        earlier = store.adapter(adapter.before)
        matcher = earlier.apply_to(reencoder.base) if earlier else reencoder.base
        reencoder.encode(matcher, _on_documents(progress, len(store))).delete_adapter(adapter.digest)


def unfinished(store: Store) -> Adapter | None:
    """A proven adaptation whose adoption was interrupted."""
    try:
        begun = Store.open(store.address, REENCODED).model.change
    except NotALibrary:
        return None
    adapter, current = store.adapter(begun), store.adapter()
    return adapter if adapter and adapter.before == (current.digest if current else "") else None


def learn_and_prove(
    store: Store, base: HybridMatcher, minutes: float, seed: int, steps: int | None, progress: OnStage
) -> tuple[Adapter, Adaptation]:
    """Learn on top of what the library has learnt already; nothing is written.

    `base` is the matcher without anything learnt from this library.
    """
    start = time.monotonic()
    held_out_ids, training_ids = split(store, seed)
    earlier, before = store.adapter(), checked_matcher(base, store)
    if earlier and before is base:
        raise LibraryError(f"The model given for {store.address} is adapted already. Open the library without a model.")
    _check_pooling(before, store.address)
    held_out = list(tokenized(store, held_out_ids, before))
    documents = []
    for document in tokenized(store, training_ids, before):
        documents.append(document)
        progress("reading", len(documents), len(training_ids))
    deadline = start + LEARNING_SHARE * 60 * minutes
    change, steps = learn_halves(before.backbone, documents, steps, seed, deadline, partial(progress, "learning"))
    adapter = Adapter(
        base=base.backbone.change,
        before=earlier.digest if earlier else "",
        made=datetime.now(UTC).isoformat(timespec="seconds"),
        proof="",
        change=change_to_bytes(combine_changes(change_from_bytes(earlier.change), change) if earlier else change),
        background=b"",
    )
    adapter = replace(adapter, background=_mapped_background(before, documents, adapter, base, seed))
    distractors = documents[:DISTRACTORS]
    encoded, total = 0, passages_encoded(len(held_out), len(distractors))

    def on_passages(count: int) -> None:
        nonlocal encoded
        encoded += count
        progress("proving", encoded, total)

    proof = prove(before, adapter.apply_to(base), held_out, distractors, seed, on_passages)
    result = Adaptation(proof, len(documents), steps)
    return replace(adapter, proof=json.dumps(result.to_dict() | {"adopted": True})), result


def split(store: Store, seed: int) -> tuple[list[str], list[str]]:
    """The ids held out and those learnt from, of the documents whose halves are long enough for passages."""
    rows = (row for batch in store.batches(["id", "pieces"]) for row in batch)
    usable = sorted(row.id for row in rows if min(map(len, halves(row.pieces()[3]))) >= PASSAGE)
    if len(usable) < LEAST_DOCUMENTS:
        raise LibraryError(
            f"{store.address} has {len(usable)} documents with {2 * PASSAGE} sentences or more, too few to learn from "
            f"and to prove it: at least {LEAST_DOCUMENTS} are needed."
        )
    count = min(HELD_OUT[1], max(HELD_OUT[0], len(usable) // 10))
    shuffled = [usable[i] for i in np.random.default_rng(seed).permutation(len(usable))]
    return shuffled[:count], shuffled[count : count + MOST_DOCUMENTS]


def tokenized(store: Store, ids: Sequence[str], matcher: HybridMatcher, batch: int = 64) -> Iterator[TokenizedText]:
    """Documents of the library, sentence by sentence as the matcher's backbone reads them."""
    columns = [*DOCUMENT_COLUMNS, *STREAM_COLUMNS]
    for start in range(0, len(ids), batch):
        for row in store.fetch(ids[start : start + batch], columns):
            pieces = sentences(matcher.tokenize([row.document()])[0], matcher.backbone.max_tokens)
            yield TokenizedText([pieces.ids(i) for i in range(len(pieces))], pieces.paragraph, row.terms())


def _on_documents(progress: OnStage | None, total: int) -> OnDocuments:
    """Count documents that are encoded again, and report them as a stage."""
    done = 0

    def count(encoded: int) -> None:
        nonlocal done
        done += encoded
        if progress:
            progress("encoding again", done, total)

    return count


def _mapped_background(
    before: HybridMatcher, documents: Sequence[TokenizedText], adapter: Adapter, base: HybridMatcher, seed: int
) -> bytes:
    """The unrelated sentences as the changed backbone would encode them."""
    each = -(-MAPPED_SENTENCES // len(documents))
    rng = np.random.default_rng(seed)
    chosen = [d.tokens[i] for d in documents for i in rng.choice(len(d), min(each, len(d)), replace=False)]
    after = base.backbone.with_change(change_from_bytes(adapter.change), adapter.digest)
    old, new = (backbone.encode(chosen[:MAPPED_SENTENCES]) for backbone in (before.backbone, after))
    return background_to_bytes(before.statistics.sentences.carried(old, new))


def _check_pooling(matcher: HybridMatcher, address: str) -> None:
    if matcher.backbone.name == MULTILINGUAL or is_onnx_alone(matcher.backbone.name):
        raise LibraryError(
            f"{address} was made with the backbone {matcher.backbone.name}, whose weights cannot be changed; only "
            "transformers with a model.safetensors can adapt."
        )
    mode = matcher.backbone.pooling.mode
    if mode != "mean":
        raise LibraryError(
            f"{address} was made with a model that pools tokens by {mode}; only models that take the mean can adapt."
        )
