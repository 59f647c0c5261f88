"""Controls: the rules `sdr` and `mean` over vectors that are centred on the collection, without any training.

A trained model that is no better than its untrained backbone under these has only spread its vectors evenly.
"""

from dataclasses import replace

from longmatch.encoders.backbone import Backbone, Vectors
from longmatch.lab.baselines.pooled.centring import Centring
from longmatch.lab.baselines.pooled.matcher import PooledEncoding, PooledMatcher
from longmatch.matching.matcher import Scores
from longmatch.models.sdr.matcher import SdrEncoding, SdrMatcher
from longmatch.models.sdr.score import Paragraphs


class CentredSdrMatcher(SdrMatcher):
    """SDR's score over centred sentence vectors."""

    name = "sdr-centred"

    def score(self, query: SdrEncoding, collection: Paragraphs) -> Scores:
        """Centre query and collection on the collection's sentences, then score."""
        centring = Centring.of([collection.vectors])
        mine, theirs = (replace(p, vectors=centring.apply(p.vectors)) for p in (query.paragraphs, collection))
        return super().score(replace(query, paragraphs=mine), theirs)


class CentredMeanMatcher(PooledMatcher):
    """The cosine of centred document vectors, each the mean over all tokens."""

    def __init__(self, backbone: Backbone | None = None) -> None:
        super().__init__("mean", backbone)

    def score(self, query: PooledEncoding, collection: Vectors) -> Scores:
        """Centre query and collection on the collection's documents, then score."""
        centring = Centring.of([collection])
        return super().score(replace(query, vector=centring.apply(query.vector)), centring.apply(collection))
