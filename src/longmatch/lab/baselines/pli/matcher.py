"""BERT-PLI: every paragraph of one document is read with every paragraph of the other.

Y. Shao, J. Mao, Y. Liu, W. Ma, K. Satoh, M. Zhang, S. Ma: "BERT-PLI: Modeling Paragraph-Level Interactions for Legal
Case Retrieval", IJCAI 2020.

A pair is laid out as the cross-encoder's, and cut into pairs of paragraphs where it is read.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from longmatch.encoders.positions import max_positions
from longmatch.lab.baselines.cross.config import CrossConfig
from longmatch.lab.baselines.cross.encoder import SPECIALS, CrossModel
from longmatch.lab.baselines.cross.matcher import CrossMatcher


class PliConfig(CrossConfig):
    """How much is read, and how it is cut.

    - `side_tokens`: read of each document;
    - `paragraph_tokens`: of a paragraph, as which running text of that length counts; fewer where the backbone has no
      places for two such paragraphs;
    - `hidden`: the width of the recurrent state.
    """

    model_type = "longmatch-bert-pli"

    def __init__(self, side_tokens: int = 768, paragraph_tokens: int = 128, hidden: int = 256, **others: Any) -> None:
        self.paragraph_tokens, self.hidden = paragraph_tokens, hidden
        super().__init__(side_tokens=side_tokens, **others)


class PliModel(CrossModel):
    """The vector of a paragraph of a is the maximum over those of b; a GRU with attention reads them in order.

    The attention is led by the maximum over all states, through a linear layer.
    """

    config_class = PliConfig  # type: ignore[assignment]

    def __init__(self, config: PliConfig) -> None:
        super().__init__(config)
        self.recurrent = nn.GRU(self.width, config.hidden, batch_first=True)
        self.lead = nn.Linear(config.hidden, config.hidden)
        self.classifier = nn.Linear(config.hidden, 2)
        self.post_init()

    @property
    def paragraph_limit(self) -> int:
        """The most tokens of a paragraph: as configured, or half of what the backbone reads at once."""
        places, wanted = max_positions(self.backbone), int(self.config.paragraph_tokens)
        return wanted if places is None else min(wanted, (places - SPECIALS) // 2)

    @property
    def side_limit(self) -> int:
        """The most tokens read of each document: paragraphs are read one by one, so the backbone does not limit it."""
        return int(self.config.side_tokens)

    def pooled(self, ids: Tensor, mask: Tensor, types: Tensor) -> Tensor:
        """One vector a pair: (pairs, hidden)."""
        grid = Grid.of(mask, types, self.paragraph_limit)
        found = super().pooled(grid.taken(ids), grid.real, grid.types)
        with torch.autocast(found.device.type, enabled=False):
            return self.attended(grid.best(found.float()))

    def attended(self, paragraphs: Tensor) -> Tensor:
        """The paragraphs of a (pairs, paragraphs, width), missing ones -inf, in one vector: (pairs, hidden)."""
        missing = paragraphs[..., :1].isinf()
        states, _ = self.recurrent(paragraphs.masked_fill(missing, 0.0))
        lead = self.lead(states.masked_fill(missing, -torch.inf).amax(1))
        weights = (states @ lead[..., None]).masked_fill(missing, -torch.inf).softmax(1)
        attended: Tensor = (weights * states).sum(1)
        return attended

    def states(self, ids: Tensor, mask: Tensor, types: Tensor) -> Tensor:
        """What the backbone makes of each token, the mean over layers and over what it was read with."""
        grid = Grid.of(mask, types, self.paragraph_limit)
        found = super().states(grid.taken(ids), grid.real, grid.types)
        return grid.returned(found, ids.shape[1])


@dataclass(frozen=True)
class Grid:
    """Rows of [CLS] a [SEP] b [SEP] as rows of one paragraph of a and one of b each: (paragraph pairs, longest).

    >>> row = torch.tensor([[1, 7, 8, 9, 2, 5, 2]])
    >>> grid = Grid.of(row > 0, torch.tensor([[0, 0, 0, 0, 0, 1, 1]]), size=2)
    >>> grid.taken(row).tolist()
    [[1, 7, 8, 2, 5, 2], [1, 9, 2, 5, 2, 0]]
    """

    home: Tensor  # (paragraph pairs, 3) the row, the paragraph of a, the paragraph of b
    places: Tensor  # where each token stands in its row; 0 for padding
    real: Tensor  # the mask
    types: Tensor  # 1 for the tokens of b

    @staticmethod
    def of(mask: Tensor, types: Tensor, size: int) -> "Grid":
        """Paragraphs of `size` tokens, the last of either document as long as it is; an empty document has one."""
        second = mask & types.bool()
        lengths = (mask & ~second).sum(1) - 2, second.sum(1) - 1
        counts = [((length + size - 1) // size).clamp(min=1) for length in lengths]
        shape = len(mask), *(int(count.max()) for count in counts)
        every = torch.ones(shape, dtype=torch.bool, device=mask.device).nonzero()
        home = every[(every[:, 1] < counts[0][every[:, 0]]) & (every[:, 2] < counts[1][every[:, 0]])]
        row = home[:, 0]
        whole = [length[row][:, None] for length in lengths]
        begun = [home[:, side + 1, None] * size for side in (0, 1)]
        own = [(length - start).clamp(max=size) for length, start in zip(whole, begun, strict=True)]
        steps = torch.arange(int((own[0] + own[1]).max()) + SPECIALS, device=mask.device)
        after = steps - own[0] - 1  # 0 at the end token of a, then come the tokens of b
        places = torch.where(steps > 0, begun[0] + steps, 0)
        places = torch.where(after >= 0, whole[0] + 1 + after + begun[1] * (after > 0), places)
        places = torch.where(after > own[1], whole[0] + whole[1] + 2, places)
        real = after <= own[1] + 1
        return Grid(home, places * real, real, (after > 0) & real)

    def taken(self, ids: Tensor) -> Tensor:
        """The token ids of paragraph pairs."""
        return ids[self.home[:, :1], self.places] * self.real

    def best(self, vectors: Tensor) -> Tensor:
        """Of each paragraph of a, the maximum over those of b, -inf where a row has no such paragraph."""
        shape = [*(self.home.amax(0) + 1).tolist(), vectors.shape[-1]]
        whole = vectors.new_full(shape, -torch.inf).index_put(tuple(self.home.T), vectors)
        return whole.amax(2)

    def returned(self, states: Tensor, longest: int) -> Tensor:
        """The mean state of each token of the rows, over the paragraph pairs it stands in: (rows, longest, width)."""
        where = (self.home[:, :1] * longest + self.places)[self.real]
        total = states.new_zeros(int(self.home[-1, 0] + 1) * longest, states.shape[-1])
        times = torch.bincount(where, minlength=len(total)).clamp(min=1)
        total = total.index_add(0, where, states[self.real]) / times[:, None]
        return total.reshape(-1, longest, states.shape[-1])


class PliMatcher(CrossMatcher):
    """The chance that two documents belong together, from the pairs of their first paragraphs."""

    name = "bert-pli"
    Model: ClassVar[type[CrossModel]] = PliModel
