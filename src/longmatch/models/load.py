"""Open a matcher by name."""

from collections.abc import Callable
from importlib import import_module

from longmatch.errors import LongmatchError
from longmatch.models.matcher import Matcher

MODELS = {
    "default": "longmatch.models.hybrid.model:HybridMatcher",
    "sdr": "longmatch.models.sdr.model:SdrMatcher",
    "tfidf": "longmatch.models.lexical.model:tfidf_matcher",
    "phrases": "longmatch.models.lexical.model:phrase_matcher",
    "bm25": "longmatch.models.lexical.model:bm25_matcher",
}


def load(name: str = "default") -> Matcher:
    """The matcher of that name: `default`, `sdr`, `tfidf`, `phrases` or `bm25`."""
    if name not in MODELS:
        raise LongmatchError(f"There is no model {name}. Name one of {', '.join(MODELS)}.")
    module, attribute = MODELS[name].split(":")
    make: Callable[[], Matcher] = getattr(import_module(module), attribute)
    return make()
