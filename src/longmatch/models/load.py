"""Open a matcher by name."""

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING

from longmatch.errors import LongmatchError
from longmatch.models.matcher import Matcher

if TYPE_CHECKING:
    from longmatch.encoders.backbone import Backbone

MODELS = {
    "default": "longmatch.models.hybrid.model:HybridMatcher",
    "sdr": "longmatch.models.sdr.model:SdrMatcher",
    "sdr-plain": "longmatch.models.sdr.model:plain_matcher",
    "sdr-paragraph": "longmatch.models.sdr.model:paragraph_matcher",
    "first": "longmatch.models.pooled.model:first_matcher",
    "cls": "longmatch.models.pooled.model:cls_matcher",
    "mean": "longmatch.models.pooled.model:mean_matcher",
    "tfidf": "longmatch.models.lexical.model:tfidf_matcher",
    "phrases": "longmatch.models.lexical.model:phrase_matcher",
    "bm25": "longmatch.models.lexical.model:bm25_matcher",
}
OWN_BACKBONE = ("default", "tfidf", "phrases", "bm25")  # measured with the packaged backbone, or without any


def load(name: str = "default", backbone: "Backbone | None" = None) -> Matcher:
    """The matcher of that name, one of MODELS; `sdr@FOLDER` reads with another backbone (a folder or hub id).

    A backbone that is open already can be handed over, so that several matchers share it.
    """
    rule, _, place = name.partition("@")
    if rule not in MODELS:
        raise LongmatchError(f"There is no model {name}. Name one of {', '.join(MODELS)}.")
    if place and rule in OWN_BACKBONE:
        raise LongmatchError(f"The model {rule} takes no other backbone; sdr@{place} does.")
    module, attribute = MODELS[rule].split(":")
    make: Callable[..., Matcher] = getattr(import_module(module), attribute)
    if place and backbone is None:
        from longmatch.encoders.backbone import Backbone

        backbone = Backbone.load(place)
    matcher = make(backbone=backbone) if backbone is not None and rule not in OWN_BACKBONE[1:] else make()
    matcher.name = name
    return matcher
