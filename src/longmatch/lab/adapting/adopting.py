"""A library takes up what its model has learnt from its documents, or lets go of it."""

from dataclasses import replace

from longmatch.lab.adapting.adapt import Adaptation, OnStage, Plan, learn_and_prove, unfinished
from longmatch.library.errors import LibraryError
from longmatch.library.library import Library
from longmatch.library.reencode import OnDocuments


def adapt(
    library: Library,
    minutes: float = 10.0,
    *,
    seed: int = 0,
    steps: int | None = None,
    dry_run: bool = False,
    progress: OnStage | None = None,
) -> Adaptation:
    """Let a library's model learn from its documents; used from then on if it proves better, else not at all.

    Learning and proving take about `minutes`. Adopting the result encodes all documents again: interrupted before
    that is done, the library is as it was, and the next call goes on with it. `dry_run` adopts nothing. `steps` fixes
    how long is learnt, whatever the time: with the same seed, it learns the same.
    """
    reencoder, plan = library.reencoder(), Plan(minutes, seed, steps)
    store = reencoder.store
    store.refresh()
    made = store.model
    learnt = None if dry_run else unfinished(store)
    if learnt:
        found = Adaptation.of_learnt(learnt)
    else:
        learnt, found = learn_and_prove(store, reencoder.base, plan, progress or (lambda *far: None))
    if dry_run or not found.proof.holds:
        return found
    with reencoder.lock():
        store.refresh()
        if store.model != made:
            raise LibraryError(f"{store.address} was encoded again by another process meanwhile. Adapt it again.")
        store.put_adapter(learnt)
        reencoder.encode(learnt.apply_to(reencoder.base), _on_documents(progress, len(store)))
    return replace(found, adopted=True)


def undo(library: Library, progress: OnStage | None = None) -> None:
    """Go back to the model before the last adaptation; all documents are encoded again with it."""
    reencoder = library.reencoder()
    store = reencoder.store
    with reencoder.lock():
        store.refresh()
        learnt = store.adapter()
        if learnt is None:
            raise LibraryError(f"{store.address} is not adapted, so there is nothing to undo.")
        earlier = store.adapter(learnt.before)
        matcher = earlier.apply_to(reencoder.base) if earlier else reencoder.base
        reencoder.encode(matcher, _on_documents(progress, len(store))).delete_adapter(learnt.digest)


def _on_documents(progress: OnStage | None, documents: int) -> OnDocuments:
    """Count documents that are encoded again, and report them as a stage."""
    done = 0

    def count(encoded: int) -> None:
        nonlocal done
        done += encoded
        if progress:
            progress("encoding again", done, documents)

    return count
