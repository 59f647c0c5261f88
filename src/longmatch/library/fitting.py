"""The matcher that goes with a library's vectors."""

from longmatch.default.matcher import HybridMatcher
from longmatch.library.facts import Facts
from longmatch.library.store import Store


def with_learnt(matcher: HybridMatcher, store: Store) -> HybridMatcher:
    """A matcher with what the library's backbone has learnt from its documents, where that was learnt on top of it."""
    learnt = store.learnt()
    return learnt.applied(matcher) if learnt and learnt.fits(matcher) else matcher


def fitting(matcher: HybridMatcher, store: Store) -> HybridMatcher:
    """The same, checked against the one that made the library."""
    found = with_learnt(matcher, store)
    store.facts.check(Facts.of(found), store.address)
    return found
