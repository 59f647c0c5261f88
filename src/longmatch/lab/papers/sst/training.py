"""SST's training (section 3.4, equation 10): the cross-encoder's, but epoch t reads view t of each pair."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, islice
from math import ceil
from pathlib import Path
from typing import Any, ClassVar, Self

import torch

from longmatch.encoders.backbone import Vectors
from longmatch.errors import LongmatchError
from longmatch.lab.baselines.cross.batch import PairLayout
from longmatch.lab.baselines.cross.config import ViewPooling
from longmatch.lab.baselines.cross.encoder import CrossModel
from longmatch.lab.baselines.cross.training import CrossRecipe, CrossSettings
from longmatch.lab.papers.sst.adaptive import AdaptiveClustering
from longmatch.lab.papers.sst.clustering import EXPECTED_SIZE
from longmatch.lab.papers.sst.config import ClusteringKind
from longmatch.lab.papers.sst.encoder import SstModel
from longmatch.lab.papers.sst.matcher import CLUSTERS, direct_clustering
from longmatch.lab.papers.sst.selection import BATCH_PAIRS, CACHED_PAIRS, Clustering, NetworkClustering, SubtopicViews
from longmatch.lab.papers.sst.vector_layer import FirstSentenceVectors
from longmatch.lab.papers.sst.view_pool import POOL, ReorderedViews
from longmatch.lab.papers.sst.views import SamplingMethod
from longmatch.lab.training.data import TrainingData
from longmatch.lab.training.limits import above_zero, at_least
from longmatch.lab.training.schedule import RunSchedule
from longmatch.lab.training.settings import TrainingSettings
from longmatch.lab.training.validation import validation_rows
from longmatch.lab.words.token_words import TokenWords
from longmatch.units import Tokens


@dataclass(frozen=True)
class SstSettings(CrossSettings):
    """SST's settings, in addition to the cross-encoder's.

    The ablations of table 4: `views=1` is without aggregation inference, `temporal=false` without temporal aggregation,
    and `attention=true` with attention instead; `sampling=uniform`, `negative` or `random` replace soft sampling.
    """

    clustering: ClusteringKind = "direct"  # by shared words; adaptive: by the network in `clusters`
    clusters: str | None = None  # a folder written by `longmatch train sst-clusters`
    sampling: SamplingMethod = "soft"  # how views are drawn from subtopics
    size: float = EXPECTED_SIZE  # expected sentences per subtopic
    sentences: int | None = 40  # of each document, from its beginning; none: all
    views: int = 3  # of a pair that the trained model reads
    pool: ViewPooling = "by-task"  # of their scores: max to classify and mean to rank; or one for both
    temporal: bool = True  # each epoch reads another view; false: every epoch the first
    attention: bool = False  # every epoch reads the same views together and combines them by attention
    view_range: int | None = None  # train on the first so many of 40 views, the most representative first (figure 7)

    def __post_init__(self) -> None:
        super().__post_init__()
        at_least(self, sentences=1, views=1, view_range=1)
        above_zero(self, "size")
        if (self.clustering == "adaptive") != (self.clusters is not None):
            raise LongmatchError(
                "Adaptive clustering needs a trained network: longmatch train sst-clusters --data DIR --out FOLDER, "
                "then --set clustering=adaptive --set clusters=FOLDER."
            )

        if self.view_range is not None and not (self.view_range <= POOL and self.temporal and not self.attention):
            raise LongmatchError(
                f"The setting view_range, at most {POOL}, says which view each epoch reads; "
                "leave it out without temporal aggregation."
            )

    def model(self, max_tokens: int | None) -> dict[str, Any]:
        """The settings of SstConfig."""
        return super().model(max_tokens) | {
            "clustering": self.clustering,
            "cluster_size": self.size,
            "max_sentences": self.sentences,
            "sampling": self.sampling,
            "attention": self.attention,
            "views": self.views,
            "pool": self.pool,
        }


class SstRecipe(CrossRecipe):
    """The subtopics of a pair are found when it is first drawn; the cluster network is frozen."""

    name: ClassVar[str] = "sst"
    Settings: ClassVar[type] = SstSettings
    Model: ClassVar[type[CrossModel]] = SstModel
    options: SstSettings
    network: AdaptiveClustering | None = None

    @classmethod
    def make(cls, data: Sequence[Path], cache: Path, settings: TrainingSettings, options: SstSettings) -> Self:
        """Open the model and the pairs; for adaptive clustering, encode the sentences of their documents."""
        recipe = super().make(data, cache, settings, options)
        if options.clusters is not None:
            recipe._use_network(options.clusters, data, cache)
        return recipe

    def _selection(self) -> SubtopicViews:
        return self._subtopic_views(direct_clustering(self.tokenizer, self.model.config))

    @cached_property
    def training_layout(self) -> PairLayout:
        """With `view_range` the views of each pair are reordered (section 5.4); validation reads them as drawn."""
        if self.options.view_range is None:
            return self.layout
        words = TokenWords.of(self.tokenizer.backend_tokenizer)
        schedule = RunSchedule.of(self.settings, self.steps_per_epoch, processes=1)
        epochs = ceil(schedule.steps * schedule.batches_per_step / self.steps_per_epoch)
        views = ReorderedViews(self.layout.selection, words, self.options.view_range, epochs)
        return replace(self.layout, selection=views)

    def _subtopic_views(self, clustering: Clustering) -> SubtopicViews:
        return SubtopicViews(clustering, self.options.sampling, self.options.sentences)

    def _use_network(self, folder: str, data: Sequence[Path], cache: Path) -> None:
        """Find subtopics with a cluster network: on a GPU for all pairs at once, else when a pair is first drawn.

        Batches are drawn in other processes, which inherit what was found and cannot use the GPU.
        """
        self.network = AdaptiveClustering.load(folder, "cpu" if self.settings.device == "cpu" else None)
        config, backbone = self.network.model.config, self.network.backbone
        if (config.cluster_size, config.max_sentences) != (self.options.size, self.options.sentences):
            raise LongmatchError(
                f"{folder} was trained with clusters of {config.cluster_size:g} sentences, {config.max_sentences} per "
                f"document. Add --set size={config.cluster_size:g} --set sentences={config.max_sentences}."
            )
        tokenised = TrainingData.open(data, backbone.tokenizer, cache, **self.settings.of_data)  # by its tokenizer
        vectors = FirstSentenceVectors.of_pairs(tokenised, backbone, config.max_sentences)

        def stored_vectors(documents: Sequence[Tokens]) -> list[Vectors]:
            return [vectors[tokenised.tokens.number(tokens.document.id)] for tokens in documents]

        views = self._subtopic_views(NetworkClustering(self.network, stored_vectors))
        self.layout = replace(self.layout, selection=views)
        if self.network.model.device.type != "cpu":
            self._prepare_pairs(views)
        for model in (self.network.model, backbone.model):
            torch.nn.Module.to(model, "cpu")

    def _prepare_pairs(self, views: SubtopicViews) -> None:
        """Find the subtopics of the validation and training pairs, in both orders where they are exchanged."""
        held_out = self._tokens(self.held_out, validation_rows(self.held_out, self.options.validation_pairs))
        training = self._tokens(self.pairs, self._rows)
        orders = ([(a, b), (b, a)] if self.options.swap else [(a, b)] for a, b in training)
        pairs = islice(chain(held_out, chain.from_iterable(orders)), CACHED_PAIRS)
        while some := list(islice(pairs, BATCH_PAIRS)):
            views.prepare(some)

    def _views(self, step: int) -> Sequence[int]:
        if self.options.attention:
            return range(self.options.views)
        return super()._views(step) if self.options.temporal else [0]

    def save(self, folder: Path) -> None:
        """Config, weights, tokenizer and the cluster network: the folder is self-contained."""
        super().save(folder)
        if self.network is not None:
            self.network.save(folder / CLUSTERS)
