"""Training of SST's adaptive clustering (section 3.2, equation 6): labelled pairs as graphs of sentence vectors."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import torch
from torch import Tensor
from transformers import PreTrainedModel

from longmatch.encoders.backbone import Backbone
from longmatch.encoders.pretrained import DEFAULT_NAME
from longmatch.errors import LongmatchError
from longmatch.lab.encoders.checkpoint import save_checkpoint
from longmatch.lab.papers.sst.loss import (
    Divergence,
    Orthogonality,
    agreement_loss,
    modularity_loss,
    separation_loss,
    subtopic_loss,
)
from longmatch.lab.papers.sst.network import ClusterConfig, ClusterModel, FirstSentenceVectors, SentenceGraph
from longmatch.lab.training.data.labels import PairTable
from longmatch.lab.training.data.training_data import TrainingData
from longmatch.lab.training.labelled_recipe import validation_rows
from longmatch.lab.training.recipe import EpochSampler, Recipe
from longmatch.lab.training.settings import TrainingSettings, above_zero, at_least, below_one
from longmatch.units.tokens import Ints

VALIDATION_PAIRS = 64  # per batch


@dataclass(frozen=True)
class ClusterSettings:
    """The cluster model's settings, in addition to those of all models.

    L_u = agreement * L_p + separation * L_n; `separation` is the paper's lambda, one of 0.1, 1 and 10. DMoN's own loss,
    of all pairs regardless of their label, is not part of the paper's L_u and has no weight by default.

    The ablations of table 4: `separation=0` is without L_n, `agreement=0` without L_p; without both, `modularity=1`
    trains with DMoN's loss. For `divergence` and `orthogonality` see the losses, for the model's settings its config.
    Of the settings of all models, `max_tokens`, `tokens_at_once` and `precision` have no effect.
    """

    backbone: str | None = None  # a folder or hub id, frozen; the packaged MiniLM by default
    agreement: float = 1.0
    separation: float = 1.0
    modularity: float = 0.0
    divergence: Divergence = "symmetrised-kl"
    orthogonality: Orthogonality = "scaled"
    cluster_size: float = 6.0  # sentences
    max_sentences: int = 40  # per document
    neighbours: int = 5  # of a sentence in the graph
    hidden: int = 256
    heads: int = 4
    dropout: float = 0.0  # of the attention
    validation_pairs: int | None = None  # a fixed sample of them; all by default

    def __post_init__(self) -> None:
        at_least(self, agreement=0, separation=0, modularity=0, validation_pairs=2)
        at_least(self, max_sentences=1, neighbours=1, hidden=1, heads=1)
        above_zero(self, "cluster_size")
        below_one(self, "dropout")
        if not self.agreement and not self.separation and not self.modularity:
            raise LongmatchError("With agreement=0 and separation=0 nothing is left to learn; set modularity=1.")

    def config(self, width: int) -> ClusterConfig:
        """The model's config, for sentence vectors of this width."""
        settings = {key: value for key, value in asdict(self).items() if key not in TRAINING_ONLY}
        return ClusterConfig(vector_width=width, **settings)


TRAINING_ONLY = ("agreement", "separation", "modularity", "divergence", "orthogonality", "validation_pairs")


@dataclass(frozen=True)
class LabelledGraph:
    """The graph of several pairs, and which of them match."""

    graph: SentenceGraph
    label: Tensor  # (pairs,)

    @property
    def tokens(self) -> int:
        """Number of sentences, which are this model's tokens."""
        return len(self.graph.vectors)

    def to(self, device: torch.device) -> "LabelledGraph":
        """The batch on another device."""
        return LabelledGraph(self.graph.to(device), self.label.to(device))


USE = """\
A longmatch model: it finds the subtopics of two documents, from which SST draws its views.

```
longmatch train sst --data DIR --out FOLDER --set clustering=adaptive --set clusters={place}
```
"""


class ClusterRecipe(Recipe[LabelledGraph]):
    """The sentences are encoded once, before the first step. A batch holds as many matches as other pairs."""

    name: ClassVar[str] = "sst-clusters"
    use: ClassVar[str] = USE
    Settings: ClassVar[type] = ClusterSettings
    defaults: ClassVar[Mapping[str, Any]] = {
        "documents": 64,
        "epochs": 10,
        "patience": 3,
        "learning_rate": 1e-3,
        "schedule": "constant",
        "warmup": 0.0,
    }
    model: ClusterModel

    def __init__(
        self,
        data: TrainingData,
        vectors: FirstSentenceVectors,
        model: ClusterModel,
        settings: TrainingSettings,
        options: Any,
    ) -> None:
        self.data, self.vectors, self.model, self.options = data, vectors, model, options
        self.pairs, self.held_out = data.pairs("train"), data.pairs("validation")
        kinds = [np.flatnonzero(self.pairs.label == label) for label in (1, 0)]
        each = max(1, settings.documents // 4)  # pairs of each kind
        self._kinds = [(rows, EpochSampler(len(rows), each, settings.seed)) for rows in kinds]

    @classmethod
    def make(cls, data: Sequence[Path], cache: Path, settings: TrainingSettings, options: ClusterSettings) -> Self:
        """Open the pairs, and encode the sentences of their documents unless they are cached."""
        backbone = Backbone.load(options.backbone, device="cpu" if settings.device == "cpu" else None)
        model = ClusterModel(options.config(backbone.width))
        pairs = TrainingData.open(data, backbone.tokenizer, cache, **settings.of_data)
        vectors = FirstSentenceVectors.of_pairs(pairs, backbone, options.max_sentences)
        return cls(pairs, vectors, model, settings, options)

    @property
    def steps_per_epoch(self) -> int:
        """Until every pair has been drawn once, some of the rarer kind repeatedly."""
        return max(epochs.steps_per_epoch for _, epochs in self._kinds)

    def draw(self, step: int) -> LabelledGraph:
        """As many matches as other pairs (appendix B.1)."""
        return self.lay_out(self.pairs, np.concatenate([rows[epochs.rows(step)] for rows, epochs in self._kinds]))

    def backward(self, model: PreTrainedModel, batch: LabelledGraph) -> dict[str, Tensor]:
        """In one pass, as the network is small."""
        losses = self._terms(self.pair_losses(batch.graph), batch.label)
        losses["loss"].backward()  # type: ignore[no-untyped-call]
        return {name: loss.detach() for name, loss in losses.items()}

    def validate(self, model: PreTrainedModel) -> dict[str, float]:
        """The loss on the validation pairs and its terms, also for the other kind of pairs; the loss decides."""
        rows = validation_rows(self.held_out, self.options.validation_pairs)
        parts = np.array_split(rows, -(-len(rows) // VALIDATION_PAIRS))
        batches = [self.lay_out(self.held_out, part) for part in parts]
        losses = torch.cat([self.pair_losses(batch.graph.to(self.model.device)).cpu() for batch in batches], dim=1)
        label = torch.cat([batch.label for batch in batches])
        others = {"agreement_of_others": losses[0, label == 0], "separation_of_matches": losses[1, label == 1]}
        measures = self._terms(losses, label) | {name: values.mean() for name, values in others.items()}
        return {name: value.item() for name, value in measures.items()}

    def save(self, folder: Path) -> None:
        """Config and weights; the backbone is named in the config."""
        save_checkpoint(self.model, folder)

    @property
    def facts(self) -> Mapping[str, Any]:
        """For the model card."""
        return {"backbone": self.options.backbone or DEFAULT_NAME, **self.data.facts}

    def pair_losses(self, graph: SentenceGraph) -> Tensor:
        """L_p, L_n and DMoN's loss of each pair, regardless of its label: (3, pairs)."""
        assignment: Tensor = self.model(graph)
        sizes, clusters = graph.sizes, self.model.config.cluster_counts(graph.sizes)
        agreement = agreement_loss(assignment, sizes, self.options.divergence)
        separation = separation_loss(assignment, sizes, clusters, self.options.orthogonality)
        return torch.stack(
            [agreement, separation, modularity_loss(assignment, graph.edges, graph.weights, sizes, clusters)]
        )

    def _terms(self, losses: Tensor, label: Tensor) -> dict[str, Tensor]:
        """The loss of a batch and its terms."""
        agreement, separation, modularity = losses
        terms = {
            "agreement_loss": agreement[label == 1].mean(),
            "separation_loss": separation[label == 0].mean(),
            "modularity_loss": modularity.mean(),
        }
        loss = subtopic_loss(self.options.agreement * agreement, separation, label, self.options.separation)
        return {"loss": loss + self.options.modularity * terms["modularity_loss"], **terms}

    def lay_out(self, table: PairTable, rows: Ints) -> LabelledGraph:
        """The graph of some pairs of a table."""
        numbers = np.stack([table.source[rows], table.target[rows]], axis=1)  # (pairs, 2)
        sides = [self.vectors[number] for number in numbers.flatten().tolist()]
        sizes = torch.tensor([len(side) for side in sides]).view(-1, 2)
        graph = self.model.graph(torch.from_numpy(np.concatenate(sides)), sizes)
        return LabelledGraph(graph, torch.from_numpy(table.label[rows]))
