"""SST's adaptive clustering (section 3.2): a graph attention layer and DMoN's cluster head."""

from typing import Any

import torch
from torch import Tensor, nn
from transformers import PretrainedConfig, PreTrainedModel

from longmatch.encoders.ragged import offsets_of, segment_ids, segment_mean
from longmatch.errors import LongmatchError
from longmatch.lab.papers.sst.graph import SentenceGraph


class ClusterConfig(PretrainedConfig):  # type: ignore[misc]
    """What a cluster model is made of.

    The paper (section 4.3, appendix B.1): sentence vectors of a pretrained model, which stays as it is; at most 40
    sentences a document; one cluster for every 6 sentences of a pair; DMoN with graph attention (GAT) in the place of
    its graph convolution.

    Where the paper is silent we chose: one layer of 4 heads, 256 wide together, with DMoN's SELU and its skip
    connection; an edge's weight takes part in its attention; a sentence keeps 5 neighbours, as many as it has fellows
    in a cluster of 6; a pair with m clusters uses the first m of those that the head knows, and has 2 at least. The
    layer reads vectors as seen from the mean of their pair: what all of a pair's sentences have in common tells no
    subtopics apart, and drew most of them into one cluster.
    """

    model_type = "longmatch-sst-clusters"

    def __init__(
        self,
        backbone: str | None = None,
        vector_width: int = 384,
        hidden: int = 256,
        heads: int = 4,
        neighbours: int = 5,
        cluster_size: float = 6.0,
        max_sentences: int = 40,
        dropout: float = 0.0,
        **others: Any,
    ) -> None:
        self.backbone = backbone  # whose sentence vectors it reads: a folder or hub id; None: the packaged MiniLM
        self.vector_width, self.hidden, self.heads, self.neighbours = vector_width, hidden, heads, neighbours
        self.cluster_size, self.max_sentences, self.dropout = cluster_size, max_sentences, dropout
        super().__init__(**others)

    @property
    def max_clusters(self) -> int:
        """As many as two documents of the most sentences have."""
        return max(2, round(2 * self.max_sentences / self.cluster_size))

    def cluster_counts(self, sizes: Tensor) -> Tensor:
        """How many clusters pairs have whose documents have so many sentences: (pairs, 2) -> (pairs,).

        >>> ClusterConfig().cluster_counts(torch.tensor([[20, 22], [3, 2]])).tolist()
        [7, 2]
        """
        return (sizes.sum(1) / self.cluster_size).round().long().clamp(2, self.max_clusters)


class ClusterModel(PreTrainedModel):  # type: ignore[misc]
    """B = Cluster_u(A): of each sentence of a pair the chance of each cluster.

    The graph attention is torch-geometric's, which reads flat edges as they are. Its DMoN layer is not used: it wants
    padded matrices and the same number of clusters for all; what is left of it without its own losses is the head here.
    """

    config_class = ClusterConfig
    base_model_prefix = "clusters"

    def __init__(self, config: ClusterConfig) -> None:
        super().__init__(config)
        if config.hidden % config.heads:
            raise LongmatchError(f"The layer has {config.heads} heads; they must divide its width, {config.hidden}.")
        self.attention = _graph_attention()(
            config.vector_width,
            config.hidden // config.heads,
            heads=config.heads,
            edge_dim=1,
            residual=True,
            add_self_loops=False,  # the graph has its own
            dropout=config.dropout,
        )
        self.head = nn.Linear(config.hidden, config.max_clusters)
        self.post_init()

    def _init_weights(self, module: nn.Module) -> None:
        """The layers begin as they were made."""

    def forward(self, graph: SentenceGraph, **unused: Any) -> Tensor:
        """B for all sentences: (sentences, max_clusters), 0 for clusters that a pair does not have.

        In full precision: the network is small, and a chance of 0.5 must not be a tie by rounding.
        """
        with torch.autocast(graph.vectors.device.type, enabled=False):
            pairs = offsets_of(graph.sizes.sum(1)).to(graph.vectors.device)
            features = standardised(graph.vectors.float(), pairs)
            hidden = nn.functional.selu(self.attention(features, graph.edges, graph.weights[:, None].float()))
            scores: Tensor = self.head(hidden)
            clusters = self.config.cluster_counts(graph.sizes).to(scores.device)[segment_ids(pairs)]
            own = torch.arange(scores.shape[1], device=scores.device) < clusters[:, None]
            return scores.masked_fill(~own, float("-inf")).softmax(1)

    def graph(self, vectors: Tensor, sizes: Tensor) -> SentenceGraph:
        """The graph it reads, over sentence vectors (sentences, vector_width) of pairs of such sizes (pairs, 2)."""
        return SentenceGraph.of(vectors, sizes, self.config.neighbours)


def standardised(vectors: Tensor, pairs: Tensor) -> Tensor:
    """Vectors as seen from the mean of their pair, in units of the pair's spread; `pairs` is where each pair begins.

    >>> standardised(torch.tensor([[1.0, 0.0], [0.8, 0.6], [0.0, 1.0]]), torch.tensor([0, 2, 3])).round(decimals=2)
    tensor([[ 0.4500, -1.3400],
            [-0.4500,  1.3400],
            [ 0.0000,  0.0000]])
    """
    pair = segment_ids(pairs)
    centred = vectors - segment_mean(vectors, pairs)[pair]
    spread = segment_mean(centred.square(), pairs).mean(1, keepdim=True).sqrt()
    return centred / spread.clamp(min=1e-6)[pair]


def _graph_attention() -> Any:
    """Imported when a model is made: torch-geometric takes two seconds."""
    try:
        from torch_geometric.nn import GATConv
    except ModuleNotFoundError as error:
        raise LongmatchError(
            "Adaptive clustering needs torch-geometric. Install it: pip install 'longmatch[sst]'."
        ) from error
    return GATConv
