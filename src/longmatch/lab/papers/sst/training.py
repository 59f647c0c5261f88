"""SST's training (section 3.4, equation 10): the cross-encoder's, but epoch t reads view t of each pair.

With a dual encoder (appendix B.1) views are encoded separately and trained with InfoNCE.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, islice
from math import ceil
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import torch
from torch import Tensor
from transformers import PreTrainedModel

from longmatch.encoders.backbone import Vectors
from longmatch.errors import LongmatchError
from longmatch.lab.baselines.cross.encoder import CrossModel, ViewPooling, read
from longmatch.lab.baselines.cross.selection import CrossBatch, PairLayout
from longmatch.lab.baselines.cross.training import CrossRecipe, CrossSettings, LabelledRows
from longmatch.lab.losses import info_nce_loss
from longmatch.lab.papers.sst.clustering import EXPECTED_SIZE
from longmatch.lab.papers.sst.matcher import CLUSTERS, ClusteringKind, SstModel
from longmatch.lab.papers.sst.network import AdaptiveClustering, FirstSentenceVectors
from longmatch.lab.papers.sst.selection import (
    BATCH_PAIRS,
    CACHED_PAIRS,
    POOL,
    NetworkClustering,
    ReorderedViews,
    SamplingMethod,
    SubtopicViews,
)
from longmatch.lab.training.bi_encoder_recipe import cached_backward
from longmatch.lab.training.callbacks import RunSchedule
from longmatch.lab.training.data.training_data import TrainingData
from longmatch.lab.training.labelled_recipe import validation_rows
from longmatch.lab.training.recipe import step_rng
from longmatch.lab.training.settings import TrainingSettings, above_zero, at_least
from longmatch.lab.words import TokenWords
from longmatch.units import Tokens
from longmatch.units.tokens import Ints


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

    of_training: ClassVar[tuple[str, ...]] = (*CrossSettings.of_training, "clusters", "temporal", "view_range")
    in_config: ClassVar[Mapping[str, str]] = {"size": "cluster_size", "sentences": "max_sentences"}

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

        clustering = NetworkClustering(self.network, stored_vectors)
        views = SubtopicViews(clustering, self.options.sampling, self.options.sentences)
        self.layout = replace(self.layout, selection=views)
        if self.network.model.device.type != "cpu":
            self.prepare_pairs(views)
        for model in (self.network.model, backbone.model):
            torch.nn.Module.to(model, "cpu")

    def prepare_pairs(self, views: SubtopicViews) -> None:
        """Find the subtopics of the validation and training pairs, in both orders where they are exchanged."""
        held_out = self.token_pairs(self.held_out, validation_rows(self.held_out, self.options.validation_pairs))
        training = self.token_pairs(self.pairs, self._rows)
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


@dataclass(frozen=True)
class DualSettings(SstSettings):
    """SST's settings, with the paper's for ranking as defaults."""

    side_tokens: int = 510  # per document without special ones; at most the backbone's positions
    pool: ViewPooling = "mean"
    loss_temperature: float = 0.05
    of_training: ClassVar[tuple[str, ...]] = (*SstSettings.of_training, "hard_negatives")
    hard_negatives: int = 0  # non-matches of its query in the batch with each match, as `negatives` draws them

    def __post_init__(self) -> None:
        super().__post_init__()
        above_zero(self, "loss_temperature")
        at_least(self, hard_negatives=0)
        if self.swap:
            raise LongmatchError("The dual encoder scores both orders of a pair alike; leave swap out.")

    def model(self, max_tokens: int | None) -> dict[str, Any]:
        """The settings that go into the model's config."""
        return super().model(max_tokens) | {"head": "dual"}


class DualRecipe(SstRecipe):
    """A batch consists of matching pairs, and optionally non-matches of their queries; all other documents of the batch
    are negatives.

    A document has a different view with each query; the one for the current pair is read.
    """

    name: ClassVar[str] = "sst-dual"
    Settings: ClassVar[type] = DualSettings
    defaults: ClassVar[Mapping[str, Any]] = {"documents": 128, "epochs": 10, "patience": 3}
    options: DualSettings

    def draw(self, step: int) -> LabelledRows:
        """The pairs of a step, in the view of its epoch, and which documents match which query: (matches, pairs)."""
        chosen, batch = self.batch_rows(step), super().draw(step)
        queries = self.pairs.source[chosen[self.pairs.label[chosen] == 1]]
        related = self.data.related(np.concatenate([queries, self.pairs.target[chosen]]))
        return LabelledRows(batch.rows, torch.from_numpy(related[: len(queries), len(queries) :]))

    def backward(self, model: PreTrainedModel, batch: LabelledRows) -> dict[str, Tensor]:
        """In one pass if the batch fits the device, else in groups with gradient caching."""

        def vectors(rows: CrossBatch) -> Tensor:
            return read(self.model, rows).vectors

        def loss(pairs: Tensor) -> Tensor:
            with torch.autocast(pairs.device.type, enabled=False):
                queries, documents = pairs.float().chunk(2, dim=1)
                queries = queries[: len(batch.label)]  # the matches come first
                return info_nce_loss(queries, documents, self.options.loss_temperature, batch.label)

        return {"loss": cached_backward(vectors, list(batch.rows.groups(self.tokens_per_pass)), loss)}

    def _training_rows(self) -> Ints:
        return np.flatnonzero(self.pairs.label)

    def batch_rows(self, step: int) -> Ints:
        """Matches, followed by non-matches of the same queries without repetition, as far as a query has them."""
        matches, random = super().batch_rows(step), step_rng(self.settings.seed, step)
        queries, counts = np.unique(self.pairs.source[matches], return_counts=True)
        wanted = zip(queries.tolist(), (self.options.hard_negatives * counts).tolist(), strict=True)
        others = [random.permutation(self._non_matches.get(query, matches[:0]))[:count] for query, count in wanted]
        return np.concatenate([matches, *others])

    @cached_property
    def _non_matches(self) -> Mapping[int, Ints]:
        """The rows of each query's non-matches."""
        rows = np.flatnonzero(self.pairs.label == 0)
        rows = rows[np.argsort(self.pairs.source[rows], kind="stable")]
        queries, first = np.unique(self.pairs.source[rows], return_index=True)
        return dict(zip(queries.tolist(), np.split(rows, first[1:]), strict=True))
