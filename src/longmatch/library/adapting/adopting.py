"""A library takes up what its model has learnt from its documents, or lets go of it."""

from dataclasses import replace

from longmatch.library.adapting.adapt import Adaptation, Plan, learn_and_prove, unfinished
from longmatch.library.again import Again, Stages, counted
from longmatch.library.errors import LibraryError


def adapt(again: Again, plan: Plan, dry_run: bool = False, report: Stages | None = None) -> Adaptation:
    """Learn and prove, or go on where adopting was interrupted; adopt what proves better, unless it is a dry run."""
    store = again.store
    store.refresh()
    made = store.facts
    learnt = None if dry_run else unfinished(store)
    if learnt:
        found = Adaptation.of_learnt(learnt)
    else:
        learnt, found = learn_and_prove(store, again.base, plan, report or (lambda *far: None))
    if dry_run or not found.proof.holds:
        return found
    with again.writing():
        store.refresh()
        if store.facts != made:
            raise LibraryError(f"{store.address} was encoded again by another process meanwhile. Adapt it again.")
        store.put_learnt(learnt)
        again.encode(learnt.applied(again.base), counted(report, len(store)))
    return replace(found, adopted=True)


def undo(again: Again, report: Stages | None = None) -> None:
    """Go back to what was before the last adaptation, and forget what that one had learnt."""
    store = again.store
    with again.writing():
        store.refresh()
        learnt = store.learnt()
        if learnt is None:
            raise LibraryError(f"{store.address} is not adapted, so there is nothing to undo.")
        earlier = store.learnt(learnt.before)
        matcher = earlier.applied(again.base) if earlier else again.base
        again.encode(matcher, counted(report, len(store))).forget_learnt(learnt.digest)
