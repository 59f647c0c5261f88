"""The scorer of a matcher."""

from longmatch.default.matcher import HybridMatcher
from longmatch.lab.baselines.pooled.centred import CentredMeanMatcher, CentredSdrMatcher
from longmatch.lab.baselines.pooled.matcher import PooledMatcher
from longmatch.lab.baselines.rprs.matcher import RprsMatcher
from longmatch.lab.baselines.topics.lda_matcher import LdaMatcher
from longmatch.lab.evaluation.encodings.vectors import VectorEncoder
from longmatch.lab.evaluation.scoring.default import DefaultScorer
from longmatch.lab.evaluation.scoring.in_memory import InMemoryScorer
from longmatch.lab.evaluation.scoring.lexical import LdaScorer, LexicalScorer
from longmatch.lab.evaluation.scoring.pairs import PairScorer, Reranking
from longmatch.lab.evaluation.scoring.rprs import RprsScorer
from longmatch.lab.evaluation.scoring.scorer import Scorer
from longmatch.lab.evaluation.scoring.sentences import CentredMeanScorer, CentredSdrScorer, PooledScorer, SdrScorer
from longmatch.lab.evaluation.scoring.vector import VectorScorer
from longmatch.lexical.matcher import LexicalMatcher
from longmatch.matching.matcher import Matcher
from longmatch.matching.pair_matcher import PairMatcher
from longmatch.models.sdr.matcher import SdrMatcher

SCORERS: dict[type[Matcher], type[Scorer]] = {
    LexicalMatcher: LexicalScorer,
    HybridMatcher: DefaultScorer,
    SdrMatcher: SdrScorer,
    PooledMatcher: PooledScorer,
    CentredSdrMatcher: CentredSdrScorer,
    CentredMeanMatcher: CentredMeanScorer,
    RprsMatcher: RprsScorer,
    LdaMatcher: LdaScorer,
}


def scorer_of(matcher: Matcher, reranking: Reranking | None = None) -> Scorer:
    """A scorer over stored encodings where the matcher has any, else one in memory.

    A model that reads both documents together reranks the best of a first stage.
    """
    if isinstance(matcher, PairMatcher):
        return PairScorer(matcher, reranking)
    scorer = SCORERS.get(type(matcher), VectorScorer if isinstance(matcher, VectorEncoder) else InMemoryScorer)
    if isinstance(matcher, SdrMatcher) and matcher.symmetric:
        scorer = InMemoryScorer
    return scorer(matcher)
