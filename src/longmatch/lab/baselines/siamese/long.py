"""S-LONG: a siamese Longformer (Beltagy et al., Longformer: The Long-Document Transformer, 2020)."""

from typing import Any, ClassVar, Self

import torch
from torch import Tensor
from transformers import AutoConfig, AutoModel, PretrainedConfig

from longmatch.encoders.flat import FlatTokens
from longmatch.encoders.pretrained import locate
from longmatch.encoders.ragged import offsets_of, segment_mean, segment_sum
from longmatch.encoders.tokenizer import special_tokens
from longmatch.errors import LongmatchError
from longmatch.lab.baselines.siamese.batch import Texts
from longmatch.lab.baselines.siamese.config import VectorConfig
from longmatch.lab.baselines.siamese.encoder import Reading, VectorModel
from longmatch.lab.baselines.siamese.local_attention import NAME

POSITIONS = "embeddings.position_embeddings.weight"


class LongConfig(VectorConfig):
    """A backbone's settings, its start and end tokens, and `window`: how far to either side a token sees.

    Longformer's window of 512 tokens is 256 to either side. 4,096 tokens are read, as in CoLDE's comparison; two of
    them are the start and end tokens, which `max_tokens` does not count.
    """

    model_type = "longmatch-s-long"

    def __init__(
        self,
        backbone: dict[str, Any] | None = None,
        specials: tuple[int, int] = (101, 102),
        first_position: int = 0,
        window: int = 256,
        max_tokens: int = 4_094,
        **others: Any,
    ) -> None:
        self.backbone, self.specials, self.window = backbone, tuple(specials), window
        self.first_position = first_position  # RoBERTa and its kin count positions from the one after that of padding
        super().__init__(max_tokens=max_tokens, **others)

    def backbone_config(self) -> PretrainedConfig:
        """The backbone's own settings, with as many positions as are read, and its window."""
        facts = dict(self.backbone or {})
        positions = self.first_position + int(self.max_tokens or 0) + 2
        found = AutoConfig.for_model(facts.pop("model_type", "bert"), **facts | {"max_position_embeddings": positions})
        found.local_window = self.window
        return found


class LongModel(VectorModel):
    """Any BERT-like checkpoint with sliding-window attention, its position embeddings repeated (section 5).

    As for classification in the paper, the start token sees the whole document and is seen by all of it; it uses the
    backbone's own projections, from which the paper's separate ones begin. The vector is the mean over the document's
    tokens. No Longformer weights are needed: without them its window begins as the backbone read 512 tokens.
    """

    config_class = LongConfig
    in_full: ClassVar[bool] = False

    def __init__(self, config: LongConfig) -> None:
        super().__init__(config)
        self.backbone = AutoModel.from_config(config.backbone_config(), attn_implementation=NAME)
        self.post_init()

    @classmethod
    def new(cls, backbone: str | None, tokenizer: Any, **settings: Any) -> Self:
        """From any checkpoint with learned positions; the packaged MiniLM by default."""
        place = locate(backbone)
        short = AutoModel.from_pretrained(place, dtype=torch.float32)
        weights = short.state_dict()
        if POSITIONS not in weights:
            raise LongmatchError(f"The backbone {place} has no table of positions to repeat; name a BERT-like encoder.")
        padding = short.embeddings.position_embeddings.padding_idx
        first = 0 if padding is None else int(padding) + 1
        specials = special_tokens(tokenizer, place)
        model = cls(LongConfig(short.config.to_dict(), specials, first, **settings))
        weights[POSITIONS] = repeated(weights[POSITIONS], first, model.config.max_tokens + 2)
        model.backbone.load_state_dict(weights)
        return model

    @property
    def width(self) -> int:
        """The backbone's."""
        return int(self.backbone.config.hidden_size)

    def read(self, texts: Texts, explained: bool) -> Reading:
        """The vector is the mean over the tokens, so a sentence's part is its tokens' share of it."""
        states = self._states(texts)  # (tokens, width)
        documents = texts.offsets(texts.lengths)
        vectors = segment_mean(states, documents)
        if not explained:
            return Reading(vectors)
        share = segment_sum(states, texts.offsets(texts.sentences))
        return Reading(vectors, share / documents.diff()[texts.document_of_sentence][:, None])

    def _states(self, texts: Texts) -> Tensor:
        """The last layer's vector of every token, in full precision; documents of about one length go together."""
        flat, text = with_specials(texts, *self.config.specials)
        found, where = [], []
        for _, places, mask in flat.by_length():
            position = self.config.first_position + torch.arange(mask.shape[1], device=mask.device)[None]
            states = self.backbone(
                input_ids=flat.ids[places] * mask, attention_mask=mask[:, None, None], position_ids=position
            )
            found.append(states.last_hidden_state[mask].float())
            where.append(places[mask])
        return torch.cat(found)[torch.cat(where).argsort()][text]


def with_specials(texts: Texts, first: int, last: int) -> tuple[FlatTokens, Tensor]:
    """Each document between a start and an end token, and where its own tokens then stand."""
    document = torch.repeat_interleave(texts.lengths).to(texts.device)
    text = torch.arange(texts.tokens, device=texts.device) + 2 * document + 1
    ids = texts.ids.new_full((texts.tokens + 2 * len(texts),), last).index_copy(0, text, texts.ids)
    ids[offsets_of(texts.lengths + 2)[:-1].to(texts.device)] = first
    return FlatTokens(ids, texts.lengths + 2), text


def repeated(table: Tensor, first: int, count: int) -> Tensor:
    """Position embeddings for `count` tokens: those there are, again and again; rows before the first position stay.

    >>> repeated(torch.tensor([[9.0], [1.0], [2.0]]), first=1, count=5).flatten().tolist()
    [9.0, 1.0, 2.0, 1.0, 2.0, 1.0]
    """
    own = table[first:]
    return torch.cat([table[:first], own.repeat(-(-count // len(own)), 1)[:count]])
