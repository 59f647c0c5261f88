"""The scorer of a matcher."""

from longmatch.evaluation.encodings.vectors import VectorEncoder
from longmatch.evaluation.scoring.anything import AnyScorer
from longmatch.evaluation.scoring.default import DefaultScorer
from longmatch.evaluation.scoring.lexical import LexicalScorer
from longmatch.evaluation.scoring.pairs import PairScorer
from longmatch.evaluation.scoring.rprs import RprsScorer
from longmatch.evaluation.scoring.scorer import Scorer
from longmatch.evaluation.scoring.sentences import PooledScorer, SdrScorer
from longmatch.evaluation.scoring.topics import LdaScorer
from longmatch.evaluation.scoring.vector import VectorScorer
from longmatch.models.hybrid.model import HybridMatcher
from longmatch.models.lexical.model import LexicalMatcher
from longmatch.models.matcher import Matcher
from longmatch.models.pair_matcher import PairMatcher
from longmatch.models.pooled.model import PooledMatcher
from longmatch.models.reranking import DEPTH
from longmatch.models.rprs.model import RprsMatcher
from longmatch.models.sdr.model import SdrMatcher
from longmatch.models.topics.model import LdaMatcher

SCORERS: dict[type[Matcher], type[Scorer]] = {
    LexicalMatcher: LexicalScorer,
    HybridMatcher: DefaultScorer,
    SdrMatcher: SdrScorer,
    PooledMatcher: PooledScorer,
    RprsMatcher: RprsScorer,
    LdaMatcher: LdaScorer,
}


def scorer_of(matcher: Matcher, depth: int = DEPTH) -> Scorer:
    """One that reads stored encodings where there are any, else one that encodes as the matcher does.

    A model that reads two documents together scores the `depth` best of a first stage.
    """
    if isinstance(matcher, PairMatcher):
        return PairScorer(matcher, depth)
    fitting = SCORERS.get(type(matcher), VectorScorer if isinstance(matcher, VectorEncoder) else AnyScorer)
    if isinstance(matcher, SdrMatcher) and matcher.symmetric:
        fitting = AnyScorer
    return fitting(matcher)
