"""How CIG learns: cross-entropy over labelled pairs, each as the graph of its concepts."""

from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

from longmatch.encoders.flat import groups_within
from longmatch.encoders.pretrained import checkpoint_errors, locate
from longmatch.encoders.tokenizer import open_tokenizer
from longmatch.errors import LongmatchError
from longmatch.lab.baselines.cig.concepts import KEYWORDS, ConceptGraph
from longmatch.lab.baselines.cig.encoder import CigModel
from longmatch.lab.baselines.cig.graphs import Concepts, GraphBatch, PairGraph
from longmatch.lab.baselines.cig.matcher import chances, margins
from longmatch.lab.baselines.siamese.words import Start
from longmatch.lab.training.data import PairTable, TrainingData
from longmatch.lab.training.labelled_recipe import LabelledRecipe
from longmatch.lab.training.limits import at_least
from longmatch.lab.training.settings import TrainingSettings
from longmatch.lab.training.validation import pair_measures, validation_rows
from longmatch.lab.words.matrix import Matrices
from longmatch.lab.words.token_words import TokenWords
from longmatch.lexical.frequencies import Frequencies
from longmatch.units import Tokens
from longmatch.units.tokens import Ints

COUNTED = 10_000  # documents, at most, from which it is known how rare a word is
REMEMBERED = 20_000  # pairs whose graphs are kept


@dataclass(frozen=True)
class CigSettings:
    """What CIG knows beside the settings of all models."""

    backbone: str | None = None  # a folder or hub id, for its tokenizer and input embeddings; by default MiniLM
    words: Start = "backbone"  # token vectors to begin with; new: random ones
    word_width: int = 384  # of new ones
    channels: int = 128  # of the convolution
    hidden: int = 128  # width of a concept's vector
    layers: int = 2  # of the graph network
    keywords: int = KEYWORDS  # of each document
    dropout: float = 0.1  # of the token vectors and of the pair's
    validation_pairs: int | None = None  # looked at, drawn once; by default all

    def __post_init__(self) -> None:
        at_least(self, word_width=1, channels=1, hidden=1, layers=1, keywords=1, validation_pairs=2)
        if not 0 <= self.dropout < 1:
            raise LongmatchError(f"The setting dropout is {self.dropout}; it must be 0 or more and below 1.")

    @property
    def model(self) -> dict[str, Any]:
        """The settings that are the model's own."""
        shape = {"channels": self.channels, "hidden": self.hidden, "layers": self.layers}
        words = {"words": self.words, "word_width": self.word_width, "keywords": self.keywords}
        return {**shape, **words, "dropout": self.dropout}


@dataclass(frozen=True)
class LabelledGraphs:
    """Pairs as graphs, and which of them belong together; the graphs go to a device when they are read."""

    graphs: Sequence[PairGraph]
    label: Tensor  # (pairs,)

    @property
    def tokens(self) -> int:
        """How many tokens the model reads."""
        return sum(graph.tokens for graph in self.graphs)

    def to(self, device: torch.device) -> "LabelledGraphs":
        """The same, its labels on another device."""
        return LabelledGraphs(self.graphs, self.label.to(device))

    def groups(self, budget: int) -> Iterator[tuple[GraphBatch, Tensor]]:
        """As many pairs at a time as the device holds, with their labels."""
        for first, last in groups_within(torch.tensor([graph.tokens for graph in self.graphs]), budget):
            yield GraphBatch.of(self.graphs[first:last]).to(self.label.device), self.label[first:last]


class CigRecipe(LabelledRecipe[LabelledGraphs]):
    """The graph of a pair is made when it is first drawn. How rare words are, the documents of training tell."""

    name: ClassVar[str] = "cig"
    Settings: ClassVar[type] = CigSettings
    defaults: ClassVar[Mapping[str, Any]] = {"documents": 64, "epochs": 10, "patience": 3, "learning_rate": 1e-3}
    model: CigModel
    options: CigSettings

    def __init__(
        self, data: TrainingData, model: Any, tokenizer: Any, settings: TrainingSettings, options: Any
    ) -> None:
        super().__init__(data, model, tokenizer, settings, options)
        words = TokenWords.of(tokenizer.backend_tokenizer)
        self.model.know(self._frequencies(words))
        self.concepts = Concepts(Matrices(words.words), self.model.frequencies, options.keywords)
        self._known: OrderedDict[tuple[int, int], ConceptGraph] = OrderedDict()

    @classmethod
    def new_model(cls, settings: TrainingSettings, options: CigSettings) -> tuple[CigModel, Any]:
        """A new model for a backbone's tokenizer, with its token vectors."""
        with checkpoint_errors(f"The backbone {options.backbone}"):
            tokenizer = open_tokenizer(locate(options.backbone))
            return CigModel.new(options.backbone, tokenizer, **options.model), tokenizer

    def draw(self, step: int) -> LabelledGraphs:
        """Some pairs."""
        rows = self._batch_rows(step)
        return LabelledGraphs(self._graphs(self.pairs, rows), torch.from_numpy(self.pairs.label[rows]))

    def backward(self, model: PreTrainedModel, batch: LabelledGraphs) -> dict[str, Tensor]:
        """The mean cross-entropy of the pairs; as it is a sum over them, one group after another."""
        total = torch.zeros((), device=batch.label.device)
        for graphs, label in batch.groups(self._budget):
            loss = nn.functional.cross_entropy(self.model(graphs), label, reduction="sum") / len(batch.label)
            loss.backward()  # type: ignore[no-untyped-call]
            total += loss.detach()
        return {"loss": total}

    def validate(self, model: PreTrainedModel) -> dict[str, float]:
        """The chances of the validation pairs, as the trained model will give them: average precision decides."""
        found = chances(torch.cat([margins(self.model, graphs) for graphs, _ in self._held_out.groups(self._budget)]))
        return pair_measures(found, self._held_out.label.numpy())

    @cached_property
    def _held_out(self) -> LabelledGraphs:
        rows = validation_rows(self.held_out, self.options.validation_pairs)
        return LabelledGraphs(self._graphs(self.held_out, rows), torch.from_numpy(self.held_out.label[rows]))

    def _graphs(self, table: PairTable, rows: Ints) -> list[PairGraph]:
        pairs = np.stack([table.source[rows], table.target[rows]], axis=1).tolist()
        return [self._graph(source, target) for source, target in pairs]

    def _graph(self, source: int, target: int) -> PairGraph:
        """Of two documents; their concepts as found the last time where that is not long ago."""
        pair, key = (self._tokens(source), self._tokens(target)), (source, target)
        if key not in self._known:
            self._known[key] = self.concepts.graph(*pair)
        self._known.move_to_end(key)
        if len(self._known) > REMEMBERED:
            self._known.popitem(last=False)
        return self.concepts.laid_out(self._known[key], *pair)

    def _tokens(self, number: int) -> Tokens:
        return self.data.shelf[number].truncated(self.settings.max_tokens)

    def _frequencies(self, words: TokenWords) -> Frequencies:
        """Of the documents of the training pairs, of every so many where there are many; without words of one alone."""
        numbers = np.unique(np.concatenate([self.pairs.source, self.pairs.target]))
        numbers = numbers[:: -(-len(numbers) // COUNTED)]
        found = Frequencies.of(words.words(self._tokens(number)).counts for number in numbers.tolist())
        often = found.counts > 1
        return Frequencies(found.documents, found.ids[often], found.counts[often])
