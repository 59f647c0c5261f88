"""BERT-PLI: every paragraph of one document is read with every paragraph of the other.

Y. Shao, J. Mao, Y. Liu, W. Ma, K. Satoh, M. Zhang, S. Ma: "BERT-PLI: Modeling Paragraph-Level Interactions for Legal
Case Retrieval", IJCAI 2020.

Pairs are laid out as the cross-encoder's, and split into pairs of paragraphs in the forward pass.
"""

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn

from longmatch.lab.baselines.cross.encoder import SPECIALS, CrossConfig, CrossModel
from longmatch.lab.baselines.cross.matcher import CrossMatcher
from longmatch.lab.baselines.cross.training import CrossRecipe, CrossSettings
from longmatch.lab.encoders.engine import max_positions
from longmatch.lab.training.settings import at_least


class PliConfig(CrossConfig):
    """How much is read, and how it is split into paragraphs, which are runs of tokens."""

    model_type = "longmatch-bert-pli"
    side_tokens: int = 768  # read of each document
    paragraph_tokens: int = 128  # fewer if the backbone has too few positions for two such paragraphs
    hidden: int = 256  # width of the recurrent state


class PliModel(CrossModel):
    """A paragraph of a is the maximum over its pairs with those of b; a GRU with attention reads these in order.

    The query of the attention is the maximum over all states, through a linear layer.
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
        """Tokens per paragraph: as configured, or half of what the backbone's positions allow."""
        positions, wanted = max_positions(self.backbone), int(self.config.paragraph_tokens)
        return wanted if positions is None else min(wanted, (positions - SPECIALS) // 2)

    @property
    def side_limit(self) -> int:
        """Tokens read of each document; not limited by the backbone, which reads one pair of paragraphs at a time."""
        return int(self.config.side_tokens)

    def pooled(self, ids: Tensor, mask: Tensor, types: Tensor) -> Tensor:
        """One vector per pair: (pairs, hidden)."""
        grid = ParagraphGrid.of(mask, types, self.paragraph_limit)
        vectors = super().pooled(grid.gather(ids), grid.real, grid.types)
        with torch.autocast(vectors.device.type, enabled=False):
            shape = [*(grid.home.amax(0) + 1).tolist(), vectors.shape[-1]]
            whole = vectors.new_full(shape, -torch.inf, dtype=torch.float32)  # (pairs, paragraphs of a, of b, width)
            paragraphs = whole.index_put(tuple(grid.home.T), vectors.float()).amax(2)
            missing = paragraphs[..., :1].isinf()
            states, _ = self.recurrent(paragraphs.masked_fill(missing, 0.0))
            lead = self.lead(states.masked_fill(missing, -torch.inf).amax(1))
            weights = (states @ lead[..., None]).masked_fill(missing, -torch.inf).softmax(1)
            return torch.sum(weights * states, dim=1)

    def states(self, ids: Tensor, mask: Tensor, types: Tensor) -> Tensor:
        """The state of each token, averaged over layers and over the paragraphs it was read with."""
        grid = ParagraphGrid.of(mask, types, self.paragraph_limit)
        states = super().states(grid.gather(ids), grid.real, grid.types)
        longest = ids.shape[1]
        where = (grid.home[:, :1] * longest + grid.places)[grid.real]
        total = states.new_zeros(len(ids) * longest, states.shape[-1])
        times = torch.bincount(where, minlength=len(total)).clamp(min=1)
        mean = total.index_add(0, where, states[grid.real]) / times[:, None]
        return mean.reshape(-1, longest, states.shape[-1])


@dataclass(frozen=True)
class ParagraphGrid:
    """Rows [CLS] a [SEP] b [SEP] split into rows of one paragraph of a and one of b: (paragraph pairs, longest).

    >>> row = torch.tensor([[1, 7, 8, 9, 2, 5, 2]])
    >>> grid = ParagraphGrid.of(row > 0, torch.tensor([[0, 0, 0, 0, 0, 1, 1]]), size=2)
    >>> grid.gather(row).tolist()
    [[1, 7, 8, 2, 5, 2], [1, 9, 2, 5, 2, 0]]
    """

    home: Tensor  # (paragraph pairs, 3) the row, the paragraph of a, the paragraph of b
    places: Tensor  # the position of each token in its row; 0 for padding
    real: Tensor  # the mask
    types: Tensor  # 1 for the tokens of b

    @staticmethod
    def of(mask: Tensor, types: Tensor, size: int) -> "ParagraphGrid":
        """Split into paragraphs of `size` tokens; the last of a document may be shorter, an empty document has one."""
        second = mask & types.bool()
        lengths = (mask & ~second).sum(1) - 2, second.sum(1) - 1
        counts = [((length + size - 1) // size).clamp(min=1) for length in lengths]
        shape = len(mask), *(int(count.max()) for count in counts)
        every = torch.ones(shape, dtype=torch.bool, device=mask.device).nonzero()
        home = every[(every[:, 1] < counts[0][every[:, 0]]) & (every[:, 2] < counts[1][every[:, 0]])]
        row = home[:, 0]
        whole = [length[row][:, None] for length in lengths]
        starts = [home[:, side + 1, None] * size for side in (0, 1)]
        sizes = [(length - start).clamp(max=size) for length, start in zip(whole, starts, strict=True)]
        steps = torch.arange(int((sizes[0] + sizes[1]).max()) + SPECIALS, device=mask.device)
        after = steps - sizes[0] - 1  # 0 at the end token of a, followed by the tokens of b
        places = torch.where(steps > 0, starts[0] + steps, 0)
        places = torch.where(after >= 0, whole[0] + 1 + after + starts[1] * (after > 0), places)
        places = torch.where(after > sizes[1], whole[0] + whole[1] + 2, places)
        real = after <= sizes[1] + 1
        return ParagraphGrid(home, places * real, real, (after > 0) & real)

    def gather(self, ids: Tensor) -> Tensor:
        """The token ids of the paragraph pairs."""
        return ids[self.home[:, :1], self.places] * self.real


class PliMatcher(CrossMatcher):
    """The probability that two documents match, from the pairs of their first paragraphs."""

    name = "bert-pli"
    Model: ClassVar[type[CrossModel]] = PliModel


@dataclass(frozen=True)
class PliSettings(CrossSettings):
    """BERT-PLI's settings, in addition to the cross-encoder's."""

    side_tokens: int = 768  # read of each document
    paragraph_tokens: int = 128  # per paragraph, at most half of the backbone's positions
    hidden: int = 256  # of the recurrent state

    def __post_init__(self) -> None:
        super().__post_init__()
        at_least(self, paragraph_tokens=1, hidden=1)


class PliRecipe(CrossRecipe):
    """Each paragraph is read once per paragraph of the other document; the token budget accounts for that."""

    name: ClassVar[str] = "bert-pli"
    Settings: ClassVar[type] = PliSettings
    Model: ClassVar[type[CrossModel]] = PliModel
    model: PliModel

    @property
    def tokens_per_pass(self) -> int:
        """Fewer than set: a paragraph is read once for each paragraph of the other document."""
        paragraphs = -(-self.model.side_limit // self.model.paragraph_limit)
        return max(1, super().tokens_per_pass // paragraphs)
