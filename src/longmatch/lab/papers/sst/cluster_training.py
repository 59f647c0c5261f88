"""How SST's adaptive clustering learns (section 3.2, equation 6): from labelled pairs, over sentence vectors."""

from collections.abc import Iterator, Mapping, Sequence
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
from longmatch.lab.papers.sst.graph import SentenceGraph
from longmatch.lab.papers.sst.loss import (
    Divergence,
    Orthogonality,
    agreement_loss,
    modularity_loss,
    separation_loss,
    subtopic_loss,
)
from longmatch.lab.papers.sst.network import ClusterConfig, ClusterModel
from longmatch.lab.papers.sst.vector_layer import FirstSentenceVectors
from longmatch.lab.training.data import PairTable, TrainingData
from longmatch.lab.training.limits import above_zero, at_least
from longmatch.lab.training.recipe import Recipe
from longmatch.lab.training.samplers import EpochSampler
from longmatch.lab.training.settings import TrainingSettings
from longmatch.lab.training.validation import validation_rows
from longmatch.units.tokens import Ints

LAID_OUT = 64  # validation pairs at a time


@dataclass(frozen=True)
class ClusterSettings:
    """What the cluster model knows beside the settings of all models.

    L_u = agreement * L_p + separation * L_n; `separation` is the paper's lambda, one of 0.1, 1 and 10. DMoN's own loss,
    of all pairs whatever their label, is not in the paper's L_u, and has no weight by default.

    The ablations of table 4: `separation=0` is without L_n, `agreement=0` without L_p, and without both `modularity=1`
    is what is left to learn. For `divergence` and `orthogonality` see the losses; for the rest, what the model is made
    of, its config. Of the settings of all models `max_tokens`, `tokens_at_once` and `precision` mean nothing here.
    """

    backbone: str | None = None  # a folder or hub id, which stays as it is; the packaged MiniLM by default
    agreement: float = 1.0
    separation: float = 1.0
    modularity: float = 0.0
    divergence: Divergence = "symmetrised-kl"
    orthogonality: Orthogonality = "scaled"
    cluster_size: float = 6.0  # sentences
    max_sentences: int = 40  # read of a document
    neighbours: int = 5  # that a sentence has in the graph
    hidden: int = 256
    heads: int = 4
    dropout: float = 0.0  # of the attention
    validation_pairs: int | None = None  # looked at, drawn once; by default all

    def __post_init__(self) -> None:
        at_least(
            self,
            agreement=0,
            separation=0,
            modularity=0,
            max_sentences=1,
            neighbours=1,
            hidden=1,
            heads=1,
            validation_pairs=2,
        )
        above_zero(self, "cluster_size")
        if not 0 <= self.dropout < 1:
            raise LongmatchError(f"The setting dropout is {self.dropout}; it must be 0 or more and below 1.")
        if not self.agreement and not self.separation and not self.modularity:
            raise LongmatchError("With agreement=0 and separation=0 nothing is left to learn; set modularity=1.")

    def config(self, width: int) -> ClusterConfig:
        """The model's, over vectors so wide."""
        facts = {key: value for key, value in asdict(self).items() if key not in OF_TRAINING}
        return ClusterConfig(vector_width=width, **facts)


OF_TRAINING = ("agreement", "separation", "modularity", "divergence", "orthogonality", "validation_pairs")


@dataclass(frozen=True)
class LabelledGraph:
    """Pairs as the model reads them, and which of them match."""

    graph: SentenceGraph
    label: Tensor  # (pairs,)

    @property
    def tokens(self) -> int:
        """Sentences, which are to this model what tokens are to others."""
        return len(self.graph.vectors)

    def to(self, device: torch.device) -> "LabelledGraph":
        """The same on another device."""
        return LabelledGraph(self.graph.to(device), self.label.to(device))


USE = """\
A longmatch model: it finds the subtopics of two documents, for SST to draw its views from.

```
longmatch train sst --data DIR --out FOLDER --set clustering=adaptive --set clusters={place}
```
"""


class ClusterRecipe(Recipe[LabelledGraph]):
    """The backbone reads each document once, before the first step. A batch holds as many matches as others."""

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
        each = max(1, settings.documents // 4)  # pairs of either kind
        self._kinds = [(rows, EpochSampler(len(rows), each, settings.seed)) for rows in kinds]

    @classmethod
    def make(cls, data: Sequence[Path], cache: Path, settings: TrainingSettings, options: ClusterSettings) -> Self:
        """Open the pairs, and encode the sentences of their documents unless that was done before."""
        backbone = Backbone.load(options.backbone, device="cpu" if settings.device == "cpu" else None)
        model = ClusterModel(options.config(backbone.width))
        found = TrainingData.open(data, backbone.tokenizer, cache, **settings.of_data)
        vectors = FirstSentenceVectors.of_pairs(found, backbone, options.max_sentences)
        return cls(found, vectors, model, settings, options)

    @property
    def steps_per_epoch(self) -> int:
        """Until every pair was drawn once; of the rarer kind some are drawn again by then."""
        return max(epochs.steps_per_epoch for _, epochs in self._kinds)

    def draw(self, step: int) -> LabelledGraph:
        """As many pairs that match as pairs that do not (appendix B.1)."""
        return self._lay_out(self.pairs, np.concatenate([rows[epochs.rows(step)] for rows, epochs in self._kinds]))

    def backward(self, model: PreTrainedModel, batch: LabelledGraph) -> dict[str, Tensor]:
        """In one pass: the network is small."""
        found = self._losses(batch.graph)
        losses = self._measures(found, batch.label)
        losses["loss"].backward()  # type: ignore[no-untyped-call]
        return {name: loss.detach() for name, loss in losses.items()}

    def validate(self, model: PreTrainedModel) -> dict[str, float]:
        """The loss of the validation pairs decides; beside its terms, those of the other kind of pairs."""
        batches = list(self._held_out_batches())
        found = torch.cat([self._losses(batch.graph.to(self.model.device)).cpu() for batch in batches], dim=1)
        label = torch.cat([batch.label for batch in batches])
        others = {"agreement_of_others": found[0, label == 0], "separation_of_matches": found[1, label == 1]}
        measures = self._measures(found, label) | {name: values.mean() for name, values in others.items()}
        return {name: value.item() for name, value in measures.items()}

    def save(self, folder: Path) -> None:
        """Config and weights; the backbone is named in the config."""
        self.model.save_pretrained(folder)

    @property
    def facts(self) -> Mapping[str, Any]:
        """For the model card."""
        return {"backbone": self.options.backbone or DEFAULT_NAME, **self.data.facts}

    def _losses(self, graph: SentenceGraph) -> Tensor:
        """L_p, L_n and DMoN's loss of each pair, whatever its label: (3, pairs)."""
        assignment: Tensor = self.model(graph)
        sizes, clusters = graph.sizes, self.model.config.cluster_counts(graph.sizes)
        return torch.stack(
            [
                agreement_loss(assignment, sizes, self.options.divergence),
                separation_loss(assignment, sizes, clusters, self.options.orthogonality),
                modularity_loss(assignment, graph.edges, graph.weights, sizes, clusters),
            ]
        )

    def _measures(self, found: Tensor, label: Tensor) -> dict[str, Tensor]:
        """What is minimised, and its terms."""
        agreement, separation, modularity = found
        terms = {
            "agreement_loss": agreement[label == 1].mean(),
            "separation_loss": separation[label == 0].mean(),
            "modularity_loss": modularity.mean(),
        }
        loss = subtopic_loss(self.options.agreement * agreement, separation, label, self.options.separation)
        return {"loss": loss + self.options.modularity * terms["modularity_loss"], **terms}

    def _held_out_batches(self) -> Iterator[LabelledGraph]:
        rows = validation_rows(self.held_out, self.options.validation_pairs)
        return (self._lay_out(self.held_out, part) for part in np.array_split(rows, -(-len(rows) // LAID_OUT)))

    def _lay_out(self, table: PairTable, rows: Ints) -> LabelledGraph:
        numbers = np.stack([table.source[rows], table.target[rows]], axis=1)  # (pairs, 2)
        sides = [self.vectors[number] for number in numbers.flatten().tolist()]
        sizes = torch.tensor([len(side) for side in sides]).view(-1, 2)
        graph = self.model.graph(torch.from_numpy(np.concatenate(sides)), sizes)
        return LabelledGraph(graph, torch.from_numpy(table.label[rows]))
