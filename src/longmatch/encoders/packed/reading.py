"""A BERT over sequences that lie one after another in one array: no padding is computed."""

import os
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import embedding

from longmatch.encoders.flat import Flat
from longmatch.encoders.packed.attention import HALF
from longmatch.encoders.packed.layers import read_layers
from longmatch.encoders.ragged import offsets_of, segment_max
from longmatch.encoders.transfer import moved

KINDS = ("bert", "roberta", "xlm-roberta")
TOKEN_BYTES = 48  # that training keeps for each token, layer and number of the width
MULTIPLE = 512  # tokens: on a GPU their number is filled up to it, so that few sizes of memory and products appear


def packs(model: Any) -> bool:
    """Whether `model` is read without padding: a BERT that a GPU computes in 16 bits is.

    LONGMATCH_PACKED is 1: any BERT, anywhere; 0: none.
    """
    said = os.environ.get("LONGMATCH_PACKED")
    if said == "0" or not is_known(model):
        return False
    device = model.device
    return said == "1" or (device.type == "cuda" and _precision(model, device) in HALF)


def is_known(model: Any) -> bool:
    """Whether a model is the plain BERT that `read_packed` computes."""
    config = getattr(model, "config", None)
    return (
        getattr(config, "model_type", None) in KINDS
        and getattr(config, "hidden_act", None) == "gelu"
        and not getattr(config, "is_decoder", False)
        and getattr(config, "position_embedding_type", "absolute") in ("absolute", None)
        and all(hasattr(model, part) for part in ("embeddings", "encoder"))
    )


def read_packed(model: Any, text: Flat, added: Tensor | None = None, words: Tensor | None = None) -> Tensor:
    """The vectors of all tokens, in their order: (tokens, width), as `model` gives them for padded sequences.

    `added` (sequences, width) is added to the embeddings of each sequence's words; `words` (tokens, width) are in the
    place of those embeddings, and the text's ids are their positions then. Computed in the precision of autocast, if
    there is one, else in that of the weights.
    """
    device, dropping = text.ids.device, model.training and model.config.hidden_dropout_prob > 0
    learning, precision = torch.is_grad_enabled(), _precision(model, device)
    with torch.autocast(device.type, enabled=False), torch.set_grad_enabled(learning or dropping):
        # with dropout a pass without gradients is that with them, so that both drop the same
        found = _read(model, _filled(text) if device.type == "cuda" else text, added, words, precision)
    return found[: text.tokens] if learning else found[: text.tokens].detach()


def tokens_that_fit(model: Any, device: torch.device) -> int | None:
    """How many tokens at a time half of a GPU's memory holds in training; None where nothing is known of it."""
    if device.type != "cuda" or not packs(model):
        return None
    config, memory = model.config, torch.cuda.get_device_properties(device).total_memory
    return int(memory / 2 / (TOKEN_BYTES * config.num_hidden_layers * config.hidden_size))


def pooled(states: Tensor, text: Flat, mode: str = "mean") -> Tensor:
    """One vector a sequence from those of all tokens: the mean, the maximum or the first; in float32."""
    offsets = moved(offsets_of(text.lengths), states.device)
    if mode == "cls":
        return states.index_select(0, offsets[:-1]).float()
    if mode == "max":
        return segment_max(states.float(), offsets)
    lengths = offsets.diff()[:, None]
    found: Tensor = torch.segment_reduce(states.float(), "sum", offsets=offsets, axis=0, unsafe=True, initial=0)
    return found / lengths


def _read(model: Any, text: Flat, added: Tensor | None, words: Tensor | None, dtype: torch.dtype) -> Tensor:
    offsets = moved(offsets_of(text.lengths), text.ids.device)
    own = torch.repeat_interleave(offsets.diff(), output_size=text.tokens)  # the sequence of each token
    embeddings = model.embeddings
    table = embeddings.position_embeddings
    first = 0 if table.padding_idx is None else table.padding_idx + 1
    if words is None:
        known = embeddings.word_embeddings
        x = embedding(text.ids, known.weight.to(dtype), known.padding_idx)
        places = torch.arange(first, first + text.tokens, device=own.device) - offsets[own]
    else:
        x, places = _longer(words.to(dtype), text.tokens), text.ids + first
    if added is not None:
        x = x + embedding(own, _longer(added.to(dtype), len(text)))
    x = x + embedding(places, (table.weight + embeddings.token_type_embeddings.weight[0]).to(dtype))
    norm = embeddings.LayerNorm
    x = nn.functional.layer_norm(x, norm.normalized_shape, norm.weight.to(dtype), norm.bias.to(dtype), norm.eps)
    x = embeddings.dropout(x)
    return read_layers(x, offsets.int(), int(text.lengths.max()), model.encoder.layer, model.config, model.training)


def _filled(text: Flat) -> Flat:
    """With sequences of padding at the end, none longer than the longest, up to a multiple of MULTIPLE tokens."""
    missing, longest = -text.tokens % MULTIPLE, int(text.lengths.max())
    if not missing:
        return text
    more = [longest] * (missing // longest) + ([missing % longest] if missing % longest else [])
    return Flat(nn.functional.pad(text.ids, (0, missing)), torch.cat([text.lengths, torch.tensor(more)]))


def _precision(model: Any, device: torch.device) -> torch.dtype:
    if torch.is_autocast_enabled(device.type):
        return torch.get_autocast_dtype(device.type)
    found: torch.dtype = next(model.parameters()).dtype
    return found


def _longer(rows: Tensor, count: int) -> Tensor:
    """With rows of zeros at the end, up to so many."""
    return nn.functional.pad(rows, (0, 0, 0, count - len(rows)))
