"""SST as a matcher: views of both documents, drawn from the subtopics of the pair, and one network that reads them."""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

from tokenizers import Tokenizer
from torch import nn

from longmatch.documents.document import Document
from longmatch.encoders.backbone import Vectors
from longmatch.lab.baselines.cross.encoder import CrossModel
from longmatch.lab.baselines.cross.matcher import CrossMatcher
from longmatch.lab.matchers import tokens_of
from longmatch.lab.papers.sst.adaptive import AdaptiveClustering
from longmatch.lab.papers.sst.encoder import SstModel
from longmatch.lab.papers.sst.explanation import subtopics
from longmatch.lab.papers.sst.selection import Clustering, DirectClustering, NetworkClustering, SubtopicViews
from longmatch.lab.papers.sst.subtopics import Subtopics
from longmatch.lab.store.tokens import tokenizer_json
from longmatch.lab.words.token_words import TokenWords
from longmatch.matching.match import Match
from longmatch.units import Tokens, tokenize

CLUSTERS = "clusters"  # the cluster network's folder in that of the model
REMEMBERED = 2048  # documents whose sentence vectors are kept: a query is read with many, and many with each other


class SstMatcher(CrossMatcher):
    """The chance that two documents belong together, from views of their common subtopics and of the others.

    The views of a pair depend on the model's seed and on the documents alone. The model's folder holds all it needs.
    """

    name = "sst"
    Model: ClassVar[type[CrossModel]] = SstModel
    views: SubtopicViews

    def selection(self) -> SubtopicViews:
        """Views drawn as the model's settings say; an adaptive clustering lies in the folder it was opened from."""
        config = self.model.config
        if config.clustering == "adaptive":
            network = AdaptiveClustering.load(Path(str(self.model.name_or_path)) / CLUSTERS, str(self.device))
            clustering: Clustering = NetworkClustering(network, _Encoded(network, self.tokenizer.backend_tokenizer))
        else:
            clustering = direct_clustering(self.tokenizer, config)
        self.views = SubtopicViews(clustering, config.sampling, config.max_sentences)
        return self.views

    @property
    def networks(self) -> Sequence[nn.Module]:
        """The one that reads, and those that find subtopics."""
        clustering = self.views.clustering
        if not isinstance(clustering, NetworkClustering):
            return super().networks
        return (*super().networks, clustering.network.model, clustering.network.backbone.model)

    @property
    def needs_text(self) -> bool:
        """Where the cluster network's backbone cuts documents into other tokens."""
        clustering = self.views.clustering
        return isinstance(clustering, NetworkClustering) and bool(getattr(clustering.vectors, "cuts_again", False))

    def compare(self, a: Document, b: Document) -> Match:
        """Two documents compared, explained by the sentences that were read; a dual encoder's score is no chance."""
        match = super().compare(a, b)
        return replace(match, probability=None) if self.model.config.head == "dual" else match

    def subtopics(self, a: Document, b: Document) -> Subtopics:
        """What the two documents speak of, together and alone, as the model finds it before it draws its views."""
        pair = tokens_of(a, self.tokenizer), tokens_of(b, self.tokenizer)
        return subtopics(a, b, self.views.clusters(*pair), self.views.clustering.similarity(*pair))

    @property
    def _reads(self) -> str:
        most = self.model.config.max_sentences
        return super()._reads + (f", drawn from its first {most} sentences" if most is not None else "")


def direct_clustering(tokenizer: Any, config: Any) -> DirectClustering:
    """By the words that a model's tokens make."""
    return DirectClustering(TokenWords.of(tokenizer.backend_tokenizer), config.cluster_size, config.max_sentences)


class _Encoded:
    """The sentence vectors of documents, of the last ones kept.

    They are cut into tokens again where the cluster network's backbone has a tokenizer of its own.
    """

    def __init__(self, network: AdaptiveClustering, tokenizer: Tokenizer) -> None:
        self.network = network
        self.cuts_again = tokenizer_json(tokenizer) != tokenizer_json(network.backbone.tokenizer)
        self._known: OrderedDict[tuple[str, str], Vectors] = OrderedDict()

    def __call__(self, documents: Sequence[Tokens]) -> list[Vectors]:
        keys = [(tokens.document.id, tokens.document.text) for tokens in documents]
        missing = {key: tokens for key, tokens in zip(keys, documents, strict=True) if key not in self._known}
        for key, made in zip(missing, self.network.vectors([self._own(t) for t in missing.values()]), strict=True):
            self._known[key] = made
        for key in keys:
            self._known.move_to_end(key)
        found = [self._known[key] for key in keys]
        while len(self._known) > REMEMBERED:
            self._known.popitem(last=False)
        return found

    def _own(self, tokens: Tokens) -> Tokens:
        return tokenize(tokens.document, self.network.backbone.tokenizer) if self.cuts_again else tokens
