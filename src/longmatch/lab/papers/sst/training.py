"""How SST learns (section 3.4): the cross-encoder, but epoch t reads view t of the subtopics of each pair."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Self

import torch

from longmatch.encoders.backbone import Vectors
from longmatch.errors import LongmatchError
from longmatch.lab.baselines.cross.config import ViewPooling
from longmatch.lab.baselines.cross.encoder import CrossModel
from longmatch.lab.baselines.cross.training import CrossRecipe, CrossSettings
from longmatch.lab.papers.sst.adaptive import AdaptiveClustering
from longmatch.lab.papers.sst.clustering import EXPECTED_SIZE
from longmatch.lab.papers.sst.config import Kind
from longmatch.lab.papers.sst.encoder import SstModel
from longmatch.lab.papers.sst.matcher import CLUSTERS, direct_clustering
from longmatch.lab.papers.sst.selection import Clustering, NetworkClustering, SubtopicViews
from longmatch.lab.papers.sst.vector_layer import FirstSentenceVectors
from longmatch.lab.papers.sst.views import Method
from longmatch.lab.training.data import TrainingData
from longmatch.lab.training.limits import above_zero, at_least
from longmatch.lab.training.settings import TrainingSettings
from longmatch.units import Tokens


@dataclass(frozen=True)
class SstSettings(CrossSettings):
    """What SST knows beside the settings of the cross-encoder.

    The ablations of table 4: `views=1` is without aggregation at inference, `temporal=false` without temporal
    aggregation, and `attention=true` has attention in its place; `sampling=uniform`, `negative` or `random` is without
    soft sampling.
    """

    clustering: Kind = "direct"  # by shared words; adaptive: by the network in `clusters`
    clusters: str | None = None  # a folder that `longmatch train sst-clusters` made
    sampling: Method = "soft"  # how views are drawn from subtopics
    size: float = EXPECTED_SIZE  # sentences that a subtopic is expected to have
    sentences: int | None = 40  # of a document, that views are drawn from; none: all
    views: int = 3  # that the trained model reads of a pair
    pool: ViewPooling = (
        "by-task"  # how their scores become one: max for classification, mean for ranking; or one for both
    )
    temporal: bool = True  # each epoch reads another view; false: all of them the first
    attention: bool = False  # all views are read at once, in every epoch the same, and joined by attention

    def __post_init__(self) -> None:
        super().__post_init__()
        at_least(self, sentences=1, views=1)
        above_zero(self, "size")
        if (self.clustering == "adaptive") != (self.clusters is not None):
            raise LongmatchError(
                "Adaptive clustering needs a trained network: longmatch train sst-clusters --data DIR --out FOLDER, "
                "then --set clustering=adaptive --set clusters=FOLDER."
            )

    def model(self, max_tokens: int | None) -> dict[str, Any]:
        """The settings that are the model's own."""
        facts: dict[str, Any] = {
            "clustering": self.clustering,
            "cluster_size": self.size,
            "max_sentences": self.sentences,
        }
        facts |= {"sampling": self.sampling, "attention": self.attention}
        return super().model(max_tokens) | facts | {"views": self.views, "pool": self.pool}


class SstRecipe(CrossRecipe):
    """The subtopics of a pair are found when it is first drawn. A cluster network learns no more by then."""

    name: ClassVar[str] = "sst"
    Settings: ClassVar[type] = SstSettings
    Model: ClassVar[type[CrossModel]] = SstModel
    options: SstSettings
    network: AdaptiveClustering | None = None

    @classmethod
    def make(cls, data: Sequence[Path], cache: Path, settings: TrainingSettings, options: SstSettings) -> Self:
        """Open the model and the pairs; for adaptive clustering, encode the sentences of their documents."""
        made = super().make(data, cache, settings, options)
        if options.clusters is not None:
            made._cluster_by(options.clusters, data, cache)
        return made

    def _selection(self) -> SubtopicViews:
        return self._views_by(direct_clustering(self.tokenizer, self.model.config))

    def _views_by(self, clustering: Clustering) -> SubtopicViews:
        return SubtopicViews(clustering, self.options.sampling, self.options.sentences)

    def _cluster_by(self, folder: str, data: Sequence[Path], cache: Path) -> None:
        """From here on the network, on the CPU, finds the subtopics: batches are drawn in other processes."""
        self.network = AdaptiveClustering.load(folder, "cpu" if self.settings.device == "cpu" else None)
        config, backbone = self.network.model.config, self.network.backbone
        if (config.cluster_size, config.max_sentences) != (self.options.size, self.options.sentences):
            raise LongmatchError(
                f"{folder} was trained with clusters of {config.cluster_size:g} sentences, {config.max_sentences} of a "
                f"document. Add --set size={config.cluster_size:g} --set sentences={config.max_sentences}."
            )
        found = TrainingData.open(data, backbone.tokenizer, cache, **self.settings.of_data)  # its tokens may be others
        vectors = FirstSentenceVectors.of_pairs(found, backbone, config.max_sentences)
        for done in (self.network.model, backbone.model):
            torch.nn.Module.to(done, "cpu")

        def made_before(documents: Sequence[Tokens]) -> list[Vectors]:
            return [vectors[found.tokens.number(tokens.document.id)] for tokens in documents]

        self.layout = replace(self.layout, selection=self._views_by(NetworkClustering(self.network, made_before)))

    def _views(self, step: int) -> Sequence[int]:
        if self.options.attention:
            return range(self.options.views)
        return super()._views(step) if self.options.temporal else [0]

    def save(self, folder: Path) -> None:
        """Config, weights and tokenizer; and the cluster network, so that the folder is all there is to take along."""
        super().save(folder)
        if self.network is not None:
            self.network.save(folder / CLUSTERS)
