"""Training of SST's adaptive clustering (section 3.2): its losses (equations 4 to 6), the recipe.

Matches are to have similar subtopic distributions, other pairs distinct subtopics. Pairs are laid out flat: sentences
ordered by pair, then by document. `assignment` (sentences, clusters) is B, the probability of each cluster for each
sentence; if a pair has fewer clusters than there are columns, the last ones are 0. `sizes` (pairs, 2) counts the
sentences of both documents.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

import numpy as np
import torch
from torch import Tensor
from transformers import PreTrainedModel

from longmatch.encoders.backbone import Backbone
from longmatch.encoders.pretrained import DEFAULT_NAME
from longmatch.errors import LongmatchError
from longmatch.lab.encoders.checkpoint import save_checkpoint
from longmatch.lab.encoders.ragged import offsets_of, segment_ids, segment_sum
from longmatch.lab.papers.sst.network import ClusterConfig, ClusterModel, FirstSentenceVectors, SentenceGraph
from longmatch.lab.training.data.labels import PairTable
from longmatch.lab.training.data.training_data import TrainingData
from longmatch.lab.training.labelled_recipe import validation_rows
from longmatch.lab.training.recipe import EpochSampler, Recipe
from longmatch.lab.training.settings import TrainingSettings, above_zero, at_least, below_one
from longmatch.units.tokens import Ints

Divergence = Literal["symmetrised-kl", "jensen-shannon"]
Orthogonality = Literal["scaled", "written"]

FLOOR = 1e-3  # of shares before taking logarithms: less than that of one sentence in forty
VALIDATION_PAIRS = 64  # per batch


def agreement_loss(assignment: Tensor, sizes: Tensor, divergence: Divergence = "symmetrised-kl") -> Tensor:
    """L_p (SST equation 4): the divergence of the cluster distributions of a pair's documents, (pairs,).

        p_q = 1 / l_q * sum over the sentences i of q of Max(B_i), likewise p_d          JS(p_q || p_d)

    Max keeps the largest probability of a sentence, at that cluster, and drops the others: p_q has one entry per
    cluster.

    The paper names the Jensen-Shannon divergence but writes half the sum of both Kullback-Leibler divergences, which we
    use. It is infinite where one document has no sentence in a cluster, so shares are at least FLOOR. `jensen-shannon`
    compares both with their mean. It is finite, but nearly flat for documents without a common cluster, and training
    does not always recover from there.

    >>> three = torch.tensor([[1.0, 0.0], [0.8, 0.2], [0.4, 0.6]])  # shares 1, 0 and 0.4, 0.3
    >>> round(agreement_loss(three, torch.tensor([[1, 2]])).item(), 4)  # (0.6 ln(1 / 0.4) + 0.299 ln(0.3 / 0.001)) / 2
    1.1276
    """
    p, q = cluster_shares(assignment, sizes).unbind(1)  # (pairs, clusters) each
    if divergence == "symmetrised-kl":
        p, q = p.clamp(min=FLOOR), q.clamp(min=FLOOR)
        return (0.5 * (p - q) * (p.log() - q.log())).sum(1)
    middle, tiny = (p + q) / 2, torch.finfo(p.dtype).tiny
    log_p, log_q, log_middle = (share.clamp(min=tiny).log() for share in (p, q, middle))
    return 0.5 * (p * (log_p - log_middle) + q * (log_q - log_middle)).sum(1)


def cluster_shares(assignment: Tensor, sizes: Tensor) -> Tensor:
    """The cluster distributions of equation 4, for both documents of each pair: (pairs, 2, clusters).

    They sum to less than 1 where assignments are uncertain.
    """
    counts = sizes.flatten().to(assignment.device)
    largest, cluster = assignment.float().max(1)
    document = segment_ids(offsets_of(counts))
    sums = largest.new_zeros(len(counts), assignment.shape[1]).index_put((document, cluster), largest, accumulate=True)
    return (sums / counts.clamp(min=1)[:, None]).view(*sizes.shape, -1)


def separation_loss(
    assignment: Tensor, sizes: Tensor, clusters: Tensor, orthogonality: Orthogonality = "scaled"
) -> Tensor:
    """L_n (SST equation 5): how far the clusters of a pair are from orthogonal, (pairs,).

        || B^T B - I ||_F                                 as written
        || B^T B / ||B^T B||_F - I / sqrt(m) ||_F         scaled (Bianchi et al., 2020)

    As written, B^T B = I is impossible: each row of B sums to 1, so six sentences in two clusters of three have B^T B =
    3 I and a loss of 2.83, but 2.24 if each sentence is half in either. It rewards what it should penalise. The work
    the paper cites for this term normalises both matrices; its loss is 0 for disjoint clusters of equal size, and
    largest if there is only one cluster or every sentence is split evenly.

    `clusters` (pairs,) is m, the number of clusters of each pair.

    >>> B, sizes, two = torch.eye(2).repeat(3, 1), torch.tensor([[3, 3]]), torch.tensor([2])
    >>> [round(separation_loss(B, sizes, two, how).item(), 2) for how in ("scaled", "written")]
    [0.0, 2.83]
    """
    b, columns = assignment.float(), assignment.shape[1]
    pairs = offsets_of(sizes.sum(1)).to(b.device)
    products = segment_sum((b[:, :, None] * b[:, None, :]).flatten(1), pairs)  # (pairs, clusters * clusters)
    exists = torch.arange(columns, device=b.device) < clusters.to(b.device)[:, None]
    identity = torch.diag_embed(exists.float()).flatten(1)
    if orthogonality == "scaled":
        products, identity = (m / m.norm(dim=1, keepdim=True).clamp(min=1e-12) for m in (products, identity))
    loss: Tensor = (products - identity).norm(dim=1)
    return loss


def subtopic_loss(agreement: Tensor, separation: Tensor, labels: Tensor, weight: float = 1.0) -> Tensor:
    """L_u (SST equation 6) of a batch: the mean L_p of matches plus `weight` times the mean L_n of other pairs.

    Both losses are given for all pairs (pairs,), with labels 1 for matches and 0 for others; `weight` is lambda. A
    batch should hold as many matches as other pairs (appendix B.1); a missing kind adds nothing.

    >>> two = torch.tensor([0.2, 9.0]), torch.tensor([9.0, 0.5])
    >>> round(subtopic_loss(*two, labels=torch.tensor([1, 0]), weight=10).item(), 4)
    5.2
    """
    matches, others = labels.float(), 1 - labels.float()
    of_matches = (agreement * matches).sum() / matches.sum().clamp(min=1)
    of_others = (separation * others).sum() / others.sum().clamp(min=1)
    return of_matches + weight * of_others


def modularity_loss(assignment: Tensor, edges: Tensor, weights: Tensor, sizes: Tensor, clusters: Tensor) -> Tensor:
    """DMoN's own loss (Tsitsulin et al., 2023) of each pair's graph, for the ablation without SST's losses: (pairs,).

        -1 / 2e * Tr(B^T (A - d d^T / 2e) B)  +  sqrt(m) / n * || sum over i of B_i ||  -  1

    A pair's graph has n sentences, edge weights A with row sums d and total 2e, and m clusters. Flat arguments:
    `assignment` (sentences, columns), `edges` (2, edges) source and target, `weights` (edges,), `sizes` (pairs, 2),
    `clusters` (pairs,). Self-loops are left out.

    >>> two = torch.tensor([[0, 1], [1, 0]]), torch.ones(2), torch.tensor([[1, 1]]), torch.tensor([2])
    >>> round(modularity_loss(torch.eye(2), *two).item(), 4)  # nothing inside, (1 + 1) / 2 by chance; even clusters
    0.5
    """
    b = assignment.float()
    pairs = offsets_of(sizes.sum(1)).to(b.device)
    pair, count = segment_ids(pairs), sizes.sum(1).to(b.device).clamp(min=1)
    weights = torch.where(edges[0] == edges[1], 0.0, weights.float())
    degrees = b.new_zeros(len(b)).index_add(0, edges[1], weights)
    total = b.new_zeros(len(pairs) - 1).index_add(0, pair, degrees).clamp(min=1e-9)
    shared = weights * (b[edges[0]] * b[edges[1]]).sum(1)
    inside = b.new_zeros(len(pairs) - 1).index_add(0, pair[edges[1]], shared)
    by_chance = segment_sum(degrees[:, None] * b, pairs).square().sum(1) / total
    even = clusters.to(b.device).sqrt() / count * segment_sum(b, pairs).norm(dim=1) - 1
    return torch.sub(even, (inside - by_chance) / total)


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
