"""The scorer of a matcher."""

from longmatch.addresses import resolve
from longmatch.lab.evaluation.encodings.vectors import VectorEncoder
from longmatch.lab.evaluation.scoring.pairs import PairScorer, Reranking
from longmatch.lab.evaluation.scoring.scorer import InMemoryScorer, Scorer
from longmatch.lab.evaluation.scoring.vector import VectorScorer
from longmatch.matching.matcher import Matcher, PairMatcher
from longmatch.models.registry import declaration_of
from longmatch.models.sdr.matcher import SdrMatcher


def scorer_of(matcher: Matcher, reranking: Reranking | None = None) -> Scorer:
    """The scorer that a matcher's declaration names; else one over stored vectors where it has any, or in memory.

    A model that reads both documents together reranks the best of a first stage.
    """
    if isinstance(matcher, PairMatcher):
        return PairScorer(matcher, reranking)
    if isinstance(matcher, VectorEncoder):
        return VectorScorer(matcher)
    declared = declaration_of(matcher)
    if declared is None or not declared.scorer or (isinstance(matcher, SdrMatcher) and matcher.symmetric):
        return InMemoryScorer(matcher)
    scorer: type[Scorer] = resolve(declared.scorer)
    return scorer(matcher)
