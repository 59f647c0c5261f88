"""SST as a matcher: a trained network reads views of both documents, sampled from the subtopics of the pair."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

from cachetools import LRUCache
from tokenizers import Tokenizer
from torch import nn

from longmatch.documents.document import Document
from longmatch.encoders.backbone import Vectors
from longmatch.lab.baselines.cross.encoder import CrossModel
from longmatch.lab.baselines.cross.matcher import CrossMatcher
from longmatch.lab.encoders.backbone import Precision
from longmatch.lab.matchers import tokens_of
from longmatch.lab.papers.sst.encoder import SstModel
from longmatch.lab.papers.sst.explanation import Subtopics, find_subtopics
from longmatch.lab.papers.sst.network import AdaptiveClustering
from longmatch.lab.papers.sst.selection import NetworkClustering
from longmatch.lab.store.tokens import tokenizer_json
from longmatch.matching.match import Match
from longmatch.units import Tokens, tokenize

CLUSTERS = "clusters"  # the cluster network's folder within the model's
CACHED_DOCUMENTS = 2048  # whose sentence vectors are kept, as a document occurs in many pairs


class SstMatcher(CrossMatcher):
    """The probability that two documents match, from views of their shared and supplementary subtopics.

    The views of a pair depend only on the model's seed and the documents. The model's folder is self-contained.
    """

    name = "sst"
    Model: ClassVar[type[CrossModel]] = SstModel

    def __init__(self, model: SstModel, tokenizer: Any, precision: Precision | None = None) -> None:
        super().__init__(model, tokenizer, precision)
        self.views = model.selection(tokenizer)
        if model.config.clustering == "adaptive":
            network = AdaptiveClustering.load(Path(str(model.name_or_path)) / CLUSTERS, str(self.device))
            clustering = NetworkClustering(network, _VectorCache(network, tokenizer.backend_tokenizer))
            self.views = replace(self.views, clustering=clustering)
        self.layout = replace(self.layout, selection=self.views)

    @property
    def networks(self) -> Sequence[nn.Module]:
        """The cross-encoder or dual encoder, and the networks that find subtopics."""
        clustering = self.views.clustering
        if not isinstance(clustering, NetworkClustering):
            return super().networks
        return (*super().networks, clustering.network.model, clustering.network.backbone.model)

    @property
    def needs_text(self) -> bool:
        """Whether the cluster network's backbone has another tokenizer."""
        clustering = self.views.clustering
        return isinstance(clustering, NetworkClustering) and bool(getattr(clustering.vectors, "retokenizes", False))

    def compare(self, a: Document, b: Document) -> Match:
        """Compare two documents, explained by the sentences read; a dual encoder's score is not a probability."""
        match = super().compare(a, b)
        return replace(match, probability=None) if self.model.config.head == "dual" else match

    def subtopics(self, a: Document, b: Document) -> Subtopics:
        """The subtopics of two documents, from which the model draws its views."""
        pair = tokens_of(a, self.tokenizer), tokens_of(b, self.tokenizer)
        return find_subtopics(a, b, self.views.clusters(*pair), self.views.clustering.similarity(*pair))

    @property
    def reads(self) -> str:
        """How much of a long document is read."""
        most = self.model.config.max_sentences
        return super().reads + (f", drawn from its first {most} sentences" if most is not None else "")


class _VectorCache:
    """Caches the sentence vectors of documents.

    Documents are tokenised again if the cluster network's backbone has another tokenizer.
    """

    def __init__(self, network: AdaptiveClustering, tokenizer: Tokenizer) -> None:
        self.network = network
        self.retokenizes = tokenizer_json(tokenizer) != tokenizer_json(network.backbone.tokenizer)
        self._cache: LRUCache[tuple[str, str], Vectors] = LRUCache(CACHED_DOCUMENTS)

    def __call__(self, documents: Sequence[Tokens]) -> list[Vectors]:
        keys = [(tokens.document.id, tokens.document.text) for tokens in documents]
        found = {key: self._cache[key] for key in keys if key in self._cache}
        missing = {key: tokens for key, tokens in zip(keys, documents, strict=True) if key not in found}
        made = self.network.vectors([self._tokens(tokens) for tokens in missing.values()])
        found |= zip(missing, made, strict=True)
        self._cache.update(found)
        return [found[key] for key in keys]

    def _tokens(self, tokens: Tokens) -> Tokens:
        return tokenize(tokens.document, self.network.backbone.tokenizer) if self.retokenizes else tokens
