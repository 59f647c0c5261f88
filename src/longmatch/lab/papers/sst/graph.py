"""The graph that SST's adaptive clustering reads: which sentences of two documents are alike."""

from dataclasses import dataclass, replace

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from longmatch.encoders.ragged import offsets_of


@dataclass(frozen=True)
class SentenceGraph:
    """The sentences of pairs of documents, pair after pair, first document before second; no edge joins two pairs.

    A pair's graph is the same whichever pairs it lies with.
    """

    vectors: Tensor  # (sentences, width)
    edges: Tensor  # (2, edges) from which sentence of the batch, to which
    weights: Tensor  # (edges,)
    sizes: Tensor  # (pairs, 2) sentences of both documents; stays on the CPU

    @staticmethod
    @torch.no_grad()
    def of(vectors: Tensor, sizes: Tensor, neighbours: int = 5) -> "SentenceGraph":
        """The graph over sentence vectors of length 1 (section 3.2, equation 3; appendix B.1).

        A_ij is the product of two sentences' vectors. Sparsified and normalised as in the work the paper names (Bo et
        al., 2020): a sentence keeps its `neighbours` most alike, as far as they are above 0, and is theirs in turn;
        each is joined to itself with weight 1; and D^-1/2 A D^-1/2 with D the sums of rows.

        >>> two = SentenceGraph.of(torch.tensor([[1.0, 0.0], [0.6, 0.8], [0.0, 1.0]]), torch.tensor([[1, 2]]), 1)
        >>> two.edges.tolist()  # the first sentence keeps the second, and the last two keep each other
        [[0, 1, 0, 1, 2, 1, 2], [0, 0, 1, 1, 1, 2, 2]]
        """
        counts = sizes.sum(1)
        with torch.autocast(vectors.device.type, enabled=False):
            padded = pad_sequence(list(vectors.float().split(counts.tolist())), batch_first=True)
            alike = padded @ padded.transpose(1, 2)  # (pairs, most, most), 0 for padding
        alike = alike.round(decimals=5)  # as good as equal is equal: then the earlier sentence comes first
        alike.diagonal(dim1=1, dim2=2).zero_()
        best = alike.argsort(dim=2, descending=True, stable=True)[..., :neighbours]
        kept = torch.zeros_like(alike, dtype=torch.bool).scatter_(2, best, True) & (alike > 0)
        itself = torch.arange(alike.shape[1]) < counts[:, None]
        matrix = torch.where(kept | kept.transpose(1, 2), alike, 0.0) + torch.diag_embed(itself.float()).to(alike)
        root = matrix.sum(2).clamp(min=1.0).rsqrt()  # of padding alone the sum is below 1
        matrix = root[:, :, None] * matrix * root[:, None, :]
        pair, target, source = matrix.nonzero().T
        edges = torch.stack([source, target]) + offsets_of(counts).to(pair.device)[pair]
        return SentenceGraph(vectors, edges, matrix[pair, target, source], sizes)

    def __len__(self) -> int:
        """Pairs."""
        return len(self.sizes)

    def to(self, device: torch.device) -> "SentenceGraph":
        """The same on another device."""
        return replace(
            self, vectors=self.vectors.to(device), edges=self.edges.to(device), weights=self.weights.to(device)
        )
