"""SST's model settings: how sentences are clustered into subtopics, and subtopics sampled into views."""

from typing import Any, Literal

from longmatch.lab.baselines.cross.config import CrossConfig
from longmatch.lab.papers.sst.clustering import EXPECTED_SIZE
from longmatch.lab.papers.sst.views import SamplingMethod

HeadKind = Literal["cross", "dual"]
ClusteringKind = Literal["direct", "adaptive"]


class SstConfig(CrossConfig):
    """How views are sampled, in addition to the cross-encoder's settings.

    - `clustering`: direct, by shared words; or adaptive, by the cluster network in the model's folder;
    - `cluster_size`: expected sentences per subtopic (6 in the paper);
    - `max_sentences`: views are drawn from this many sentences at the beginning of each document; None: from all;
    - `sampling`: how a view is drawn from the subtopics;
    - `head`: both views are read together (cross) or separately (dual); `loss_temperature` is for the latter;
    - `attention`: combine the vectors of all `views` by attention, in training too, instead of pooling their scores.
    """

    model_type = "longmatch-sst"

    def __init__(
        self,
        clustering: ClusteringKind = "direct",
        cluster_size: float = EXPECTED_SIZE,
        max_sentences: int | None = 40,
        sampling: SamplingMethod = "soft",
        views: int = 3,
        head: HeadKind = "cross",
        loss_temperature: float = 0.05,
        attention: bool = False,
        **others: Any,
    ) -> None:
        self.clustering, self.cluster_size, self.max_sentences = clustering, cluster_size, max_sentences
        self.sampling, self.head, self.loss_temperature = sampling, head, loss_temperature
        self.attention = attention
        super().__init__(views=views, **others)
