"""CIG's network: features of each concept, combined over the concept graph.

B. Liu, D. Niu, H. Wei, J. Lin, Y. He, K. Lai, Y. Xu: "Matching Article Pairs with Graphical Decomposition and
Convolutions", ACL 2019: the variant with siamese and lexical features of concepts and lexical features of the whole
documents (CIG-Siam-Sim-GCN with Sim of the documents), and the one without siamese features. concepts.py builds the
graph.
"""

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from transformers import PretrainedConfig, PreTrainedModel

from longmatch.lab.baselines.cig.concepts import FEATURES, KEYWORDS, GraphBatch
from longmatch.lab.baselines.siamese.token_networks import FromEmbeddings, TokenEmbeddings
from longmatch.lab.encoders.ragged import offsets_of, segment_max, segment_mean
from longmatch.lexical.weights import Frequencies

WHOLE = 5  # similarities of the whole documents
WINDOW = 3  # words, of the convolution


class CigConfig(PretrainedConfig):  # type: ignore[misc]
    """CIG's configuration.

    - `siamese`: whether the words at a concept are encoded; without, its similarities alone are read;
    - `vocabulary`, `word_width`: of the token embeddings; `dropout`: of these and of the pair's vector;
    - `channels`: of the convolution over the words at a concept;
    - `hidden`: the width of a concept's vector; `layers`: the number of graph convolutions;
    - `keywords`: per document, from which concepts are formed;
    - `known_words`: the number of words whose document frequencies are stored with the weights;
    - `threshold`: the probability from which a pair counts as a match, chosen on validation pairs.
    """

    model_type = "longmatch-cig"
    siamese: bool = True
    vocabulary: int = 30_522
    word_width: int = 384
    channels: int = 128
    hidden: int = 128
    layers: int = 2
    dropout: float = 0.1
    keywords: int = KEYWORDS
    known_words: int = 0
    threshold: float | None = None


class GraphLayer(nn.Module):
    """Graph convolution (Kipf and Welling, 2017): D^-1/2 A D^-1/2 X W with self-loops."""

    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.dense = nn.Linear(width, hidden)

    def forward(self, nodes: Tensor, edges: Tensor, weights: Tensor) -> Tensor:
        """(nodes, width) -> (nodes, hidden); edge e leads from node edges[0, e] to edges[1, e], self-loops included."""
        neighbours = torch.zeros_like(nodes).index_add(0, edges[1], nodes[edges[0]] * weights[:, None])
        output: Tensor = self.dense(neighbours).relu()
        return output


class CigModel(FromEmbeddings, PreTrainedModel):  # type: ignore[misc]
    """Siamese and lexical features of concepts, graph convolutions, and a classifier.

    A convolution with max-pooling encodes the words of each document at a concept as x and y; |x - y| and x * y are the
    siamese features, and with the similarities of concepts.py they form the concept's vector. Graph layers, the mean
    over the concepts, concatenation with the similarities of the whole documents, and two dense layers follow. If only
    one document has sentences at a concept, the other's encoding is 0. The score is symmetric.
    """

    config_class = CigConfig
    base_model_prefix = "cig"
    known_words: Tensor
    known_counts: Tensor
    known_documents: Tensor

    def __init__(self, config: CigConfig) -> None:
        super().__init__(config)
        if config.siamese:
            self.words = TokenEmbeddings(config.vocabulary, config.word_width, config.dropout)
            self.convolution = nn.Conv1d(config.word_width, config.channels, WINDOW, padding=WINDOW // 2)
            self.matched = nn.Linear(2 * config.channels, config.hidden)
        widths = [config.hidden * config.siamese + FEATURES, *[config.hidden] * config.layers]
        self.layers = nn.ModuleList(GraphLayer(width, config.hidden) for width in widths[:-1])
        self.dense = nn.Linear(config.hidden + WHOLE, config.hidden)
        self.dropout = nn.Dropout(config.dropout)
        self.classifier = nn.Linear(config.hidden, 2)
        self.register_buffer("known_words", torch.zeros(config.known_words, dtype=torch.long))  # hashes as int64
        self.register_buffer("known_counts", torch.zeros(config.known_words, dtype=torch.long))
        self.register_buffer("known_documents", torch.zeros(1, dtype=torch.long))
        self.post_init()

    @property
    def frequencies(self) -> Frequencies:
        """Document frequencies of words in the training data."""
        ids, counts = self.known_words.cpu().numpy().view(np.uint64), self.known_counts.cpu().numpy()
        return Frequencies(float(self.known_documents.item()), ids, counts.astype(np.float64))

    def store_frequencies(self, frequencies: Frequencies) -> None:
        """Store document frequencies with the weights."""
        self.config.known_words = len(frequencies.ids)
        self.known_words = torch.from_numpy(frequencies.ids.view(np.int64).copy()).to(self.device)
        self.known_counts = torch.from_numpy(frequencies.counts.astype(np.int64)).to(self.device)
        self.known_documents = torch.tensor([int(frequencies.documents)], device=self.device)

    def forward(self, batch: GraphBatch, **unused: Any) -> Tensor:
        """The logits of each pair; the second class is a match: (pairs, 2)."""
        with torch.autocast(batch.ids.device.type, enabled=False):
            nodes = batch.features
            if self.config.siamese:
                x, y = self._texts(batch).unflatten(0, (-1, 2)).unbind(1)  # (nodes, channels) of either document
                nodes = torch.cat([self.matched(torch.cat([(x - y).abs(), x * y], dim=1)).relu(), nodes], dim=1)
            for layer in self.layers:
                nodes = layer(nodes, batch.edges, batch.weights)
            pooled = segment_mean(nodes, offsets_of(batch.nodes).to(nodes.device))
            vectors = self.dense(torch.cat([pooled, batch.whole], dim=1)).relu()
            logits: Tensor = self.classifier(self.dropout(vectors))
            return logits

    def _init_weights(self, module: nn.Module) -> None:
        """Keep torch's initial values: those for deep transformers are too small for such networks."""

    def _texts(self, batch: GraphBatch) -> Tensor:
        """The maxima of the convolution over each text, 0 for an empty one: (texts, channels).

        All texts are concatenated into one long row, with gaps between them.
        """
        lengths, device = batch.lengths, batch.ids.device
        gaps = torch.arange(len(lengths)).repeat_interleave(lengths)
        position = (torch.arange(len(batch.ids)) + gaps).to(device)
        words = self.words(batch.ids)
        row = words.new_zeros(len(batch.ids) + len(lengths) + WINDOW, words.shape[1]).index_copy(0, position, words)
        features = self.convolution(row.T[None])[0].T[position].relu()
        return segment_max(features, offsets_of(lengths).to(device)).clamp(min=0)  # -inf for an empty text


@torch.no_grad()
def margins(model: CigModel, batch: GraphBatch) -> Tensor:
    """The logit of a match minus that of a non-match: (pairs,), on the CPU."""
    logits = model(batch.to(model.device)).double().cpu()
    return torch.as_tensor(logits[:, 1] - logits[:, 0])
