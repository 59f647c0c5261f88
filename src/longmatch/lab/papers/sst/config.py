"""SST's settings: how sentences become subtopics, and subtopics views."""

from typing import Any, Literal

from longmatch.lab.baselines.cross.config import CrossConfig
from longmatch.lab.papers.sst.clustering import EXPECTED_SIZE
from longmatch.lab.papers.sst.views import Method

Head = Literal["cross", "dual"]
Kind = Literal["direct", "adaptive"]


class SstConfig(CrossConfig):
    """What is read of two documents, beside what the network is made of.

    - `clustering`: direct, by shared words; or adaptive, by the cluster network in the model's own folder;
    - `cluster_size`: sentences a subtopic is expected to have;
    - `max_sentences`: of each document, from its beginning, that views are drawn from; None: of all;
    - `sampling`: how a view is drawn from the subtopics;
    - `head`: whether both views are read together (cross) or each alone (dual); `loss_temperature` is the latter's;
    - `attention`: the vectors of all `views` become one, in training too, in place of scores that `pool` joins.
    """

    model_type = "longmatch-sst"

    def __init__(
        self,
        clustering: Kind = "direct",
        cluster_size: float = EXPECTED_SIZE,
        max_sentences: int | None = 40,
        sampling: Method = "soft",
        views: int = 3,
        head: Head = "cross",
        loss_temperature: float = 0.05,
        attention: bool = False,
        **others: Any,
    ) -> None:
        self.clustering, self.cluster_size, self.max_sentences = clustering, cluster_size, max_sentences
        self.sampling, self.head, self.loss_temperature = sampling, head, loss_temperature
        self.attention = attention
        super().__init__(views=views, **others)
