"""SST's adaptive clustering (section 3.2): sentence graph, graph attention layer, DMoN's cluster head.

The sentence vectors that it reads come first: made once by a frozen backbone, and memory-mapped.
"""

import hashlib
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence
from transformers import PretrainedConfig, PreTrainedModel
from transformers.utils import logging

from longmatch.documents.document import Document
from longmatch.encoders.backbone import Backbone, Vectors
from longmatch.encoders.pretrained import DEFAULT_NAME, checkpoint_errors, place_of
from longmatch.errors import LongmatchError
from longmatch.lab.encoders.backbone import TorchBackbone
from longmatch.lab.encoders.checkpoint import open_checkpoint, save_checkpoint
from longmatch.lab.encoders.ragged import offsets_of, segment_ids, segment_mean
from longmatch.lab.matchers import check_kind
from longmatch.lab.store.digests import backbone_facts, code_digest
from longmatch.lab.store.files import StoredLayer
from longmatch.lab.store.layer import Arrays, Layer, Shapes
from longmatch.lab.store.tokens import TokenCollection, TokenLayer, restore_tokens
from longmatch.lab.training.data.training_data import TrainingData
from longmatch.units import Tokens
from longmatch.units.pieces import piece_ends
from longmatch.units.tokens import Ints

BACKBONE = "backbone"  # the folder of a copy's backbone
Assignment = npt.NDArray[np.float32]


def first_sentence_vectors(documents: Sequence[Tokens], backbone: Backbone, limit: int) -> Iterator[Vectors]:
    """The unit vectors of the first `limit` sentences of each document: (sentences, width).

    A sentence longer than the backbone's limit is split, and its vector is the mean over the pieces.
    """
    pieces, lengths, counts = [], [], []  # token ids; pieces per sentence; sentences per document
    for tokens in documents:
        bounds = list(pairwise(tokens.sentence_offsets[: limit + 1].tolist()))
        for start, end in bounds:
            cuts = [start, *piece_ends(tokens, start, end, backbone.max_tokens)]
            pieces += [tokens.ids[a:b] for a, b in pairwise(cuts)]
            lengths.append(len(cuts) - 1)
        counts.append(len(bounds))
    vectors = backbone.encode(pieces)
    if any(length > 1 for length in lengths):
        vectors = np.add.reduceat(vectors, np.cumsum([0, *lengths[:-1]]), axis=0)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    yield from np.split(vectors, np.cumsum(counts)[:-1])


class FirstSentenceLayer(Layer):
    """The vectors of the first `most` sentences of some documents, in half precision; of the others none."""

    name = "first-sentences"
    reads_documents = False

    def __init__(self, backbone: Backbone, most: int, ids: Sequence[str]) -> None:
        self.backbone, self.most, self.ids = backbone, most, frozenset(ids)
        self.base = TokenLayer(backbone.tokenizer)

    @cached_property
    def facts(self) -> Mapping[str, Any]:  # type: ignore[override]
        """Those of the backbone, the number of sentences, and which documents."""
        return {
            **backbone_facts(self.backbone),
            "most": self.most,
            "documents": hashlib.sha256("\0".join(sorted(self.ids)).encode()).hexdigest(),
            "vectors": code_digest("lab/papers/sst/network.py"),
        }

    @property
    def shapes(self) -> Shapes:
        """One vector per sentence."""
        return {"vectors": (np.float16, (self.backbone.width,))}

    def make(self, documents: Sequence[Document], below: Sequence[Arrays]) -> list[Arrays]:
        """Encode the first sentences of the documents that are wanted."""
        wanted = [restore_tokens(*pair) for pair in zip(below, documents, strict=True) if pair[1].id in self.ids]
        vectors = first_sentence_vectors(wanted, self.backbone, self.most) if wanted else iter(())
        return [{"vectors": next(vectors)} if document.id in self.ids else self.empty() for document in documents]


class FirstSentenceVectors:
    """The vectors of documents' first sentences, by the numbers of a collection of tokens."""

    def __init__(self, stored: StoredLayer, rows: Ints) -> None:
        self._stored, self._rows = stored, rows

    @classmethod
    def build(cls, tokens: TokenCollection, documents: Ints, backbone: Backbone, most: int) -> "FirstSentenceVectors":
        """Encode the first `most` sentences of these documents into the store of the tokens, unless that is done."""
        layer = FirstSentenceLayer(backbone, most, [tokens.ids[number] for number in documents.tolist()])
        (stored,) = tokens.store.build([layer])
        return cls(stored, tokens.rows)

    @classmethod
    def of_pairs(cls, data: TrainingData, backbone: Backbone, most: int) -> "FirstSentenceVectors":
        """The same for all documents of the training and validation pairs."""
        pairs = [data.pairs("train"), data.pairs("validation")]
        numbers = np.unique(np.concatenate([side for table in pairs for side in (table.source, table.target)]))
        return cls.build(data.tokens, numbers, backbone, most)

    def __getitem__(self, number: int) -> Vectors:
        """The vectors of one document: (sentences, width)."""
        row = int(self._rows[number])
        first, last = self._stored.bounds("vectors")[row : row + 2]
        return self._stored.mapped("vectors")[first:last].astype(np.float32)


@dataclass(frozen=True)
class SentenceGraph:
    """The similarity graphs of several pairs of documents in one: sentences ordered by pair, then by document.

    No edge connects two pairs, so a pair's graph does not depend on the rest of the batch.
    """

    vectors: Tensor  # (sentences, width)
    edges: Tensor  # (2, edges) source and target sentence
    weights: Tensor  # (edges,)
    sizes: Tensor  # (pairs, 2) number of sentences of both documents; stays on the CPU

    @staticmethod
    @torch.no_grad()
    def of(vectors: Tensor, sizes: Tensor, neighbours: int = 5) -> "SentenceGraph":
        """The graph over unit sentence vectors (section 3.2, equation 3; appendix B.1).

        A_ij is the dot product of two sentence vectors. It is sparsified and normalised as in the work the paper cites
        (Bo et al., 2020): each sentence is connected with its `neighbours` most similar ones, if the similarity is
        positive, in both directions, and with itself with weight 1; then D^-1/2 A D^-1/2 with D the row sums.

        >>> two = SentenceGraph.of(torch.tensor([[1.0, 0.0], [0.6, 0.8], [0.0, 1.0]]), torch.tensor([[1, 2]]), 1)
        >>> two.edges.tolist()  # the first sentence keeps the second, and the last two keep each other
        [[0, 1, 0, 1, 2, 1, 2], [0, 0, 1, 1, 1, 2, 2]]
        """
        counts = sizes.sum(1)
        with torch.autocast(vectors.device.type, enabled=False):
            padded = pad_sequence(list(vectors.float().split(counts.tolist())), batch_first=True)
            similarity = padded @ padded.transpose(1, 2)  # (pairs, longest, longest), 0 for padding
        similarity = similarity.round(decimals=5)  # ties within rounding go to the earlier sentence
        similarity.diagonal(dim1=1, dim2=2).zero_()
        best = similarity.argsort(dim=2, descending=True, stable=True)[..., :neighbours]
        kept = torch.zeros_like(similarity, dtype=torch.bool).scatter_(2, best, True) & (similarity > 0)
        itself = torch.diag_embed((torch.arange(similarity.shape[1]) < counts[:, None]).float()).to(similarity)
        matrix = torch.where(kept | kept.transpose(1, 2), similarity, 0.0) + itself
        root = matrix.sum(2).clamp(min=1.0).rsqrt()  # only for padding is the sum below 1
        matrix = root[:, :, None] * matrix * root[:, None, :]
        pair, target, source = matrix.nonzero().T
        edges = torch.stack([source, target]) + offsets_of(counts).to(pair.device)[pair]
        return SentenceGraph(vectors, edges, matrix[pair, target, source], sizes)

    def __len__(self) -> int:
        """Number of pairs."""
        return len(self.sizes)

    def to(self, device: torch.device) -> "SentenceGraph":
        """The graph on another device."""
        vectors, edges, weights = (each.to(device) for each in (self.vectors, self.edges, self.weights))
        return replace(self, vectors=vectors, edges=edges, weights=weights)


class ClusterConfig(PretrainedConfig):  # type: ignore[misc]
    """The parts and sizes of a cluster model.

    The paper (section 4.3, appendix B.1): sentence vectors of a frozen pretrained model; at most 40 sentences per
    document; one cluster for every 6 sentences of a pair; DMoN with graph attention (GAT) instead of its graph
    convolution.

    Where the paper is silent we chose: one layer of 4 heads, 256 wide in total, with DMoN's SELU and skip connection;
    edge weights enter the attention; 5 neighbours per sentence, as a cluster of 6 has; a pair with m clusters uses the
    first m outputs of the head, at least 2. The vectors of a pair are centred and scaled first: what all its sentences
    have in common does not separate subtopics, and drew most of them into one cluster.
    """

    model_type = "longmatch-sst-clusters"
    backbone: str | None = None  # of the sentence vectors: a folder or hub id; None: the packaged MiniLM
    vector_width: int = 384
    hidden: int = 256
    heads: int = 4
    neighbours: int = 5
    cluster_size: float = 6.0
    max_sentences: int = 40
    dropout: float = 0.0

    @property
    def max_clusters(self) -> int:
        """Clusters of a pair of the longest documents."""
        return max(2, round(2 * self.max_sentences / self.cluster_size))

    def cluster_counts(self, sizes: Tensor) -> Tensor:
        """The number of clusters of each pair, given the sentences of its documents: (pairs, 2) -> (pairs,).

        >>> ClusterConfig().cluster_counts(torch.tensor([[20, 22], [3, 2]])).tolist()
        [7, 2]
        """
        return (sizes.sum(1) / self.cluster_size).round().long().clamp(2, self.max_clusters)


class ClusterModel(PreTrainedModel):  # type: ignore[misc]
    """B = Cluster_u(A): the probability of each cluster for each sentence of a pair.

    The graph attention is torch-geometric's, which takes flat edges. Its DMoN layer is not used, as it needs padded
    matrices and the same number of clusters for all pairs; without its own losses it reduces to the head here.
    """

    config_class = ClusterConfig
    base_model_prefix = "clusters"

    def __init__(self, config: ClusterConfig) -> None:
        super().__init__(config)
        if config.hidden % config.heads:
            raise LongmatchError(f"The layer has {config.heads} heads; they must divide its width, {config.hidden}.")
        try:
            from torch_geometric.nn import GATConv  # takes two seconds
        except ModuleNotFoundError as error:
            raise LongmatchError(
                "Adaptive clustering needs torch-geometric. Install it: pip install 'longmatch[sst]'."
            ) from error
        self.attention = GATConv(
            config.vector_width,
            config.hidden // config.heads,
            heads=config.heads,
            edge_dim=1,
            residual=True,
            add_self_loops=False,  # the graph has them
            dropout=config.dropout,
        )
        self.head = nn.Linear(config.hidden, config.max_clusters)
        self.post_init()

    def _init_weights(self, module: nn.Module) -> None:
        """Keep the layers' own initialisation."""

    def forward(self, graph: SentenceGraph, **unused: Any) -> Tensor:
        """B for all sentences: (sentences, max_clusters), 0 for clusters that the pair does not have.

        In full precision: the network is small, and rounding must not create ties.
        """
        with torch.autocast(graph.vectors.device.type, enabled=False):
            pairs = offsets_of(graph.sizes.sum(1)).to(graph.vectors.device)
            pair = segment_ids(pairs)
            vectors = graph.vectors.float()
            centred = vectors - segment_mean(vectors, pairs)[pair]
            spread = segment_mean(centred.square(), pairs).mean(1, keepdim=True).sqrt()
            features = centred / spread.clamp(min=1e-6)[pair]
            hidden = nn.functional.selu(self.attention(features, graph.edges, graph.weights[:, None].float()))
            scores: Tensor = self.head(hidden)
            clusters = self.config.cluster_counts(graph.sizes).to(scores.device)[pair]
            exists = torch.arange(scores.shape[1], device=scores.device) < clusters[:, None]
            return scores.masked_fill(~exists, float("-inf")).softmax(1)

    def graph(self, vectors: Tensor, sizes: Tensor) -> SentenceGraph:
        """The input graph of sentence vectors (sentences, vector_width), given the sizes of the pairs (pairs, 2)."""
        return SentenceGraph.of(vectors, sizes, self.config.neighbours)


@dataclass(frozen=True)
class AdaptiveClustering:
    """A trained cluster model, now frozen, and the backbone whose vectors it reads."""

    model: ClusterModel
    backbone: TorchBackbone

    @classmethod
    def load(cls, folder: str | os.PathLike[str], device: str | None = None) -> "AdaptiveClustering":
        """Open a folder written by `longmatch train sst-clusters`, or a copy of it that includes the backbone."""
        logging.set_verbosity_error()
        logging.disable_progress_bar()
        advice = "Name a folder written by `longmatch train sst-clusters`."
        with checkpoint_errors(f"The cluster model {os.fspath(folder)}", advice):
            check_kind(ClusterModel, folder)
            model: Any = open_checkpoint(ClusterModel, folder)
        inside = Path(folder) / BACKBONE
        name = str(inside) if inside.is_dir() else str(model.config.backbone or DEFAULT_NAME)
        place = place_of(name)
        if place is None:
            raise LongmatchError(f"{folder} reads with the backbone {name}. Put that into {inside}: it is not fetched.")
        backbone = TorchBackbone.load(place, device)
        return cls(model.to(backbone.device).eval().requires_grad_(False), backbone)

    def save(self, folder: Path) -> None:
        """Write a self-contained copy: it includes the backbone if that is a folder on this machine."""
        save_checkpoint(self.model, folder)
        if self.model.config.backbone not in (None, DEFAULT_NAME) and Path(self.backbone.name).is_dir():
            shutil.copytree(self.backbone.name, folder / BACKBONE, ignore=shutil.ignore_patterns("training"))

    def assign(self, a: Tokens, b: Tokens) -> Assignment:
        """B of a pair: (sentences of a and then of b, clusters), for the first `max_sentences` of each document.

        The tokens must come from the backbone's tokenizer.
        """
        first, second = self.vectors([a, b])
        return self.assign_vectors([(first, second)])[0]

    def vectors(self, documents: Sequence[Tokens]) -> list[Vectors]:
        """The sentence vectors of each document, which do not depend on its partner."""
        vectors = first_sentence_vectors(documents, self.backbone, self.model.config.max_sentences) if documents else ()
        # rounded as the training's stored vectors are, so that both give the same clusters
        return [rows.astype(np.float16).astype(np.float32) for rows in vectors]

    @torch.no_grad()
    def assign_vectors(self, pairs: Sequence[tuple[Vectors, Vectors]]) -> list[Assignment]:
        """B of each pair, from the sentence vectors of its documents; all pairs in one pass."""
        if not pairs:
            return []
        sizes = torch.tensor([[len(a), len(b)] for a, b in pairs])
        flat = torch.from_numpy(np.concatenate([side for pair in pairs for side in pair]))
        assignment: Tensor = self.model(self.model.graph(flat.to(self.model.device), sizes)).cpu()
        clusters = self.model.config.cluster_counts(sizes).tolist()
        parts = assignment.split(sizes.sum(1).tolist())
        return [part[:, :count].numpy() for part, count in zip(parts, clusters, strict=True)]
