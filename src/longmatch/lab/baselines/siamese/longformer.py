"""S-LONG: a siamese Longformer (Beltagy et al., Longformer: The Long-Document Transformer, 2020).

Its sliding-window attention (section 3.1) is linear in the number of tokens.
"""

from typing import Any, ClassVar, Self

import torch
from torch import Tensor
from torch.nn.functional import pad, scaled_dot_product_attention
from transformers import AttentionInterface, AutoModel

from longmatch.encoders.pretrained import locate
from longmatch.errors import LongmatchError
from longmatch.lab.baselines.siamese.encoder import TextBatch, VectorConfig, VectorModel, VectorOutput
from longmatch.lab.encoders.checkpoint import nested_config, open_checkpoint, set_dropout, special_tokens
from longmatch.lab.encoders.flat import FlatTokens
from longmatch.lab.encoders.ragged import offsets_of, segment_mean, segment_sum

NAME = "longmatch_local"
GLOBAL_COLUMNS = 16  # for the one global key: fused kernels want mask widths that are multiples of 16
POSITIONS = "embeddings.position_embeddings.weight"


def local_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    real: Tensor,
    window: int,
    dropout: float = 0.0,
    scale: float | None = None,
) -> Tensor:
    """Every token attends to those at most `window` away and to the first token, which attends to all.

    Query, key and value are (batch, heads, tokens, width); `real` (batch, tokens) is false for padding. Each block of
    `window` queries attends to the keys of the same and both neighbouring blocks, so one banded mask fits all blocks,
    and the work grows linearly with their number.
    """
    settings: dict[str, Any] = {"dropout_p": dropout, "scale": scale}
    batch, heads, tokens, width = query.shape
    mask_all = real[:, None, None]
    if tokens <= window + 1:
        return scaled_dot_product_attention(query, key, value, attn_mask=mask_all, **settings)
    blocks = -(-tokens // window)
    padding = blocks * window - tokens
    queries = _by_block(pad(query, (0, 0, 0, padding)), window, window)
    near = [_by_block(pad(x, (0, 0, window, window + padding)), 3 * window, window) for x in (key, value)]
    # the first token of each text, repeated for its blocks
    first = [pad(x[:, :, :1], (0, 0, 0, GLOBAL_COLUMNS - 1)).repeat_interleave(blocks, dim=0) for x in (key, value)]
    keys, values = (torch.cat(both, dim=2) for both in zip(near, first, strict=True))
    mask = _mask(real, window, padding)
    attended = scaled_dot_product_attention(queries, keys, values, attn_mask=mask, **settings)
    attended = attended.view(batch, blocks, heads, window, width).transpose(1, 2).reshape(batch, heads, -1, width)
    attended_first = scaled_dot_product_attention(query[:, :, :1], key, value, attn_mask=mask_all, **settings)
    return torch.cat([attended_first, attended[:, :, 1:tokens]], dim=2)


def _by_block(states: Tensor, size: int, step: int) -> Tensor:
    """Windows of `size` tokens, one every `step`: (batch, heads, tokens, width) -> (windows, heads, size, width)."""
    runs = states.unfold(2, size, step).permute(0, 2, 1, 4, 3)  # (batch, runs, heads, size, width)
    return runs.reshape(-1, *runs.shape[2:])


def _mask(real: Tensor, window: int, padding: int) -> Tensor:
    """Which keys each query of a block attends to: (blocks, 1, window, 3 * window + GLOBAL_COLUMNS)."""
    near = torch.cat([torch.zeros_like(real[:, :1]), real[:, 1:]], dim=1)  # the first token has its own column
    near = pad(near, (window, window + padding)).unfold(1, 3 * window, window).reshape(-1, 1, 1, 3 * window)
    row = torch.arange(window, device=real.device)[:, None]
    column = torch.arange(3 * window, device=real.device)
    band = (column >= row) & (column <= row + 2 * window)  # the query itself is at column row + window
    first = (torch.arange(GLOBAL_COLUMNS, device=real.device) == 0).expand(len(near), 1, window, GLOBAL_COLUMNS)
    return torch.cat([near & band, first], dim=3)


def _attend(
    module: Any,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor,
    scaling: float | None = None,
    dropout: float = 0.0,
    **unused: Any,
) -> tuple[Tensor, None]:
    """The signature of transformers' attention functions; the mask is (batch, 1, 1, tokens)."""
    rate = dropout if module.training else 0.0
    attended = local_attention(query, key, value, attention_mask[:, 0, 0], module.config.local_window, rate, scaling)
    return attended.transpose(1, 2).contiguous(), None


AttentionInterface.register(NAME, _attend)


class LongConfig(VectorConfig):
    """A backbone's configuration, its start and end tokens (`specials`), and `window`, the attention span per side.

    Longformer's window of 512 tokens is 256 per side. 4,096 tokens are read, as in CoLDE's comparison; two of them are
    the start and end tokens, which `max_tokens` does not count.
    """

    model_type = "longmatch-s-long"
    backbone: dict[str, Any] | None = None
    specials: tuple[int, int] = (101, 102)
    first_position: int = 0  # RoBERTa's positions start after the padding's
    window: int = 256
    max_tokens: int | None = 4_094


class LongModel(VectorModel):
    """Any BERT-like checkpoint with sliding-window attention and repeated position embeddings (section 5).

    As for classification in the paper, the start token has global attention; it uses the backbone's own projections,
    with which the paper initialises the separate global ones. The vector is the mean over the document's tokens. No
    Longformer weights are needed: within its window the new model attends as the backbone did within 512 tokens.
    """

    config_class = LongConfig
    full_precision: ClassVar[bool] = False

    def __init__(self, config: LongConfig) -> None:
        super().__init__(config)
        inner = nested_config(
            config.backbone, max_position_embeddings=config.first_position + int(config.max_tokens or 0) + 2
        )
        inner.local_window = config.window
        self.backbone = AutoModel.from_config(inner, attn_implementation=NAME, trust_remote_code=False)
        self.post_init()

    @classmethod
    def new(cls, backbone: str | None, tokenizer: Any, dropout: float | None = None, **settings: Any) -> Self:
        """A new model from any checkpoint with learned positions; the packaged MiniLM by default."""
        place = locate(backbone)
        short = open_checkpoint(AutoModel, place)
        set_dropout(short, dropout)
        weights = short.state_dict()
        if POSITIONS not in weights:
            raise LongmatchError(
                f"The backbone {place} has no position embeddings to repeat; name a BERT-like encoder."
            )
        padding = short.embeddings.position_embeddings.padding_idx
        first = 0 if padding is None else int(padding) + 1
        specials = special_tokens(tokenizer, place)
        model = cls(LongConfig(backbone=short.config.to_dict(), specials=specials, first_position=first, **settings))
        weights[POSITIONS] = repeat_positions(weights[POSITIONS], first, model.config.max_tokens + 2)
        model.backbone.load_state_dict(weights)
        return model

    @property
    def width(self) -> int:
        """The backbone's hidden size."""
        return int(self.backbone.config.hidden_size)

    def read(self, texts: TextBatch, with_parts: bool) -> VectorOutput:
        """The vector is the mean over the tokens; a sentence's part is its tokens' share of that mean."""
        flat, text = add_special_tokens(texts, *self.config.specials)
        outputs, positions = [], []  # documents of similar length are batched together
        for _, places, mask in flat.by_length():
            position = self.config.first_position + torch.arange(mask.shape[1], device=mask.device)[None]
            output = self.backbone(
                input_ids=flat.ids[places] * mask, attention_mask=mask[:, None, None], position_ids=position
            )
            outputs.append(output.last_hidden_state[mask].float())
            positions.append(places[mask])
        states = torch.cat(outputs)[torch.cat(positions).argsort()][text]  # (tokens, width)
        documents = texts.offsets(texts.lengths)
        vectors = segment_mean(states, documents)
        if not with_parts:
            return VectorOutput(vectors)
        share = segment_sum(states, texts.offsets(texts.sentences))
        return VectorOutput(vectors, share / documents.diff()[texts.document_of_sentence][:, None])


def add_special_tokens(texts: TextBatch, first: int, last: int) -> tuple[FlatTokens, Tensor]:
    """Documents with start and end tokens, and the new positions of their own tokens."""
    document = torch.repeat_interleave(texts.lengths).to(texts.device)
    text = torch.arange(texts.tokens, device=texts.device) + 2 * document + 1
    ids = texts.ids.new_full((texts.tokens + 2 * len(texts),), last).index_copy(0, text, texts.ids)
    ids[offsets_of(texts.lengths + 2)[:-1].to(texts.device)] = first
    return FlatTokens(ids, texts.lengths + 2), text


def repeat_positions(table: Tensor, first: int, count: int) -> Tensor:
    """Position embeddings for `count` tokens: the table from row `first` on, repeated; the rows before it stay.

    >>> repeat_positions(torch.tensor([[9.0], [1.0], [2.0]]), first=1, count=5).flatten().tolist()
    [9.0, 1.0, 2.0, 1.0, 2.0, 1.0]
    """
    positions = table[first:]
    return torch.cat([table[:first], positions.repeat(-(-count // len(positions)), 1)[:count]])
