"""Training of CIG: cross-entropy over the concept graphs of labelled pairs."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import torch
from cachetools import LRUCache
from torch import Tensor
from transformers import PreTrainedModel

from longmatch.encoders.pretrained import checkpoint_errors, locate
from longmatch.lab.baselines.cig.concepts import KEYWORDS, ConceptGraph, ConceptGraphBuilder, GraphBatch, PairGraph
from longmatch.lab.baselines.cig.matcher import CigConfig, CigModel, margins
from longmatch.lab.baselines.siamese.token_networks import EmbeddingInit
from longmatch.lab.encoders.checkpoint import open_tokenizer
from longmatch.lab.encoders.flat import groups_within
from longmatch.lab.matchers import match_probability
from longmatch.lab.training.data.labels import PairTable
from longmatch.lab.training.labelled_recipe import (
    LabelledRecipe,
    classification_backward,
    pair_measures,
    validation_rows,
)
from longmatch.lab.training.settings import TrainingSettings, at_least, below_one
from longmatch.lab.words import TokenWords, WordMatrixCache
from longmatch.lexical.weights import Frequencies
from longmatch.units import Tokens
from longmatch.units.tokens import Ints

MAX_COUNTED = 10_000  # documents for the document frequencies
CACHED_GRAPHS = 50_000


@dataclass(frozen=True)
class CigSettings:
    """CIG's settings."""

    backbone: str | None = None  # a folder or hub id, for its tokenizer and input embeddings; by default MiniLM
    siamese: bool = True  # false: the similarities at each concept alone, not its words
    words: EmbeddingInit = "backbone"  # initial token embeddings; new: random ones
    word_width: int = 384  # of new embeddings
    channels: int = 128  # of the convolution
    hidden: int = 128  # width of a concept's vector
    layers: int = 2  # of the graph network
    keywords: int = KEYWORDS  # per document
    dropout: float = 0.1  # of the token embeddings and of the pair's vector
    validation_pairs: int | None = None  # sampled once; all by default

    def __post_init__(self) -> None:
        at_least(self, word_width=1, channels=1, hidden=1, layers=1, keywords=1, validation_pairs=2)
        below_one(self, "dropout")

    @property
    def model(self) -> dict[str, Any]:
        """The settings that go into the model's config."""
        shape = {"channels": self.channels, "hidden": self.hidden, "layers": self.layers}
        return {**shape, "siamese": self.siamese, "keywords": self.keywords, "dropout": self.dropout}


@dataclass(frozen=True)
class LabelledGraphs:
    """Graphs of pairs and their labels; graphs are moved to the device group by group."""

    graphs: Sequence[PairGraph]
    label: Tensor  # (pairs,)

    @property
    def tokens(self) -> int:
        """The number of tokens the model reads."""
        return sum(graph.tokens for graph in self.graphs)

    def to(self, device: torch.device) -> "LabelledGraphs":
        """A copy with its labels on another device."""
        return LabelledGraphs(self.graphs, self.label.to(device))

    def groups(self, budget: int) -> Iterator[tuple[GraphBatch, Tensor]]:
        """Batches of pairs of at most `budget` tokens, with their labels."""
        for first, last in groups_within(torch.tensor([graph.tokens for graph in self.graphs]), budget):
            yield GraphBatch.of(self.graphs[first:last]).to(self.label.device), self.label[first:last]


class CigRecipe(LabelledRecipe[LabelledGraphs]):
    """Graphs are built when a pair is first sampled. Document frequencies are those of the training documents."""

    name: ClassVar[str] = "cig"
    Settings: ClassVar[type] = CigSettings
    defaults: ClassVar[Mapping[str, Any]] = {"documents": 64, "epochs": 10, "patience": 3, "learning_rate": 1e-3}
    model: CigModel
    options: CigSettings

    def prepare(self) -> None:
        """Count the words of the training documents; graphs are built from then on."""
        words = TokenWords.of(self.tokenizer.backend_tokenizer)
        numbers = np.unique(np.concatenate([self.pairs.source, self.pairs.target]))
        counted = numbers[:: -(-len(numbers) // MAX_COUNTED)].tolist()
        frequencies = Frequencies.of(words.words(self._tokens(number)).counts for number in counted)
        repeated = frequencies.counts > 1  # words of one document are left out
        self.model.store_frequencies(
            Frequencies(frequencies.documents, frequencies.ids[repeated], frequencies.counts[repeated])
        )
        matrices, options = WordMatrixCache(words.words), self.options
        self.concepts = ConceptGraphBuilder(matrices, self.model.frequencies, options.keywords, options.siamese)
        self._recent: LRUCache[tuple[int, int], ConceptGraph] = LRUCache(CACHED_GRAPHS)

    @classmethod
    def new_model(cls, settings: TrainingSettings, options: CigSettings) -> tuple[CigModel, Any]:
        """A new model for a backbone's tokenizer, with its token embeddings."""
        with checkpoint_errors(f"The backbone {options.backbone}"):
            tokenizer = open_tokenizer(locate(options.backbone))
            if not options.siamese:
                return CigModel(CigConfig(**options.model)), tokenizer
            words = options.words, options.word_width
            return CigModel.new(options.backbone, tokenizer, *words, **options.model), tokenizer

    def draw(self, step: int) -> LabelledGraphs:
        """The graphs of a step's pairs."""
        rows = self.batch_rows(step)
        return LabelledGraphs(self._graphs(self.pairs, rows), torch.from_numpy(self.pairs.label[rows]))

    def backward(self, model: PreTrainedModel, batch: LabelledGraphs) -> dict[str, Tensor]:
        """The mean cross-entropy of the pairs, accumulated group by group."""
        groups = ((self.model(graphs), label) for graphs, label in batch.groups(self.tokens_per_pass))
        return classification_backward(groups, batch.label)

    def validate(self, model: PreTrainedModel) -> dict[str, float]:
        """Measures of the validation pairs' probabilities; average precision selects the weights."""
        groups = self._held_out.groups(self.tokens_per_pass)
        probabilities = match_probability(torch.cat([margins(self.model, graphs) for graphs, _ in groups]))
        return pair_measures(probabilities.double().numpy(), self._held_out.label.numpy())

    @cached_property
    def _held_out(self) -> LabelledGraphs:
        rows = validation_rows(self.held_out, self.options.validation_pairs)
        return LabelledGraphs(self._graphs(self.held_out, rows), torch.from_numpy(self.held_out.label[rows]))

    def _graphs(self, table: PairTable, rows: Ints) -> list[PairGraph]:
        """The graphs of pairs; their concepts are cached."""
        graphs = []
        for key in zip(table.source[rows].tolist(), table.target[rows].tolist(), strict=True):
            pair = self._tokens(key[0]), self._tokens(key[1])
            if (concepts := self._recent.get(key)) is None:
                concepts = self._recent[key] = self.concepts.graph(*pair)
            graphs.append(self.concepts.pair_graph(concepts, *pair))
        return graphs

    def _tokens(self, number: int) -> Tokens:
        return self.data.tokens[number].truncated(self.settings.max_tokens)
