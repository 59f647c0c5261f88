"""BERT-like encoders as OpenVINO graphs, built from a model's config and weights without torch or transformers."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from longmatch.encoders.checkpoint import as_float32
from longmatch.encoders.openvino import POOLINGS, input_nodes, integers, load_openvino, operations, unit_vectors
from longmatch.errors import LongmatchError

Node = Any  # of OpenVINO
Floats = npt.NDArray[np.float32]

WORDS = "embeddings.word_embeddings.weight"
MASKED = 1e4  # subtracted from a score, it leaves no weight; float16 can hold it
REQUIRED: dict[str, Any] = {  # settings that change the computation, with the only value built here
    "position_embedding_type": "absolute",
    "is_decoder": False,
    "add_cross_attention": False,
    "pruned_heads": {},
    "relative_attention_num_buckets": 32,
}
OPTIONAL: dict[str, Any] = {"hidden_act": "gelu", "layer_norm_eps": 1e-12}  # settings a config may leave out
ACTIVATIONS = {  # a config's name to OpenVINO's operation and its arguments
    "gelu": ("gelu", "erf"),
    "gelu_new": ("gelu", "tanh"),
    "gelu_pytorch_tanh": ("gelu", "tanh"),
    "relu": ("relu",),
}


class UnsupportedArchitecture(LongmatchError):
    """A model that only torch can read."""


@dataclass(frozen=True)
class Architecture:
    """The names of an architecture's weights, and how it differs from BERT, which is the default."""

    layer: str = "encoder.layer.{}."  # prefix of the names below
    query: str = "attention.self.query"
    key: str = "attention.self.key"
    value: str = "attention.self.value"
    attention_output: str = "attention.output.dense"
    attention_norm: str = "attention.output.LayerNorm"
    feed_forward: str = "intermediate.dense"
    feed_forward_output: str = "output.dense"
    feed_forward_norm: str = "output.LayerNorm"
    token_types: str | None = "embeddings.token_type_embeddings.weight"
    projection: str | None = None  # from the width of the embeddings to that of the layers, where they differ
    relative_bias: str | None = None  # added to the scores, by the distance between two tokens
    first_position: int | None = 0  # None: the one after the id of the padding token
    settings: Mapping[str, str] = field(default_factory=dict)  # BERT's names of settings to its own


ROBERTA = Architecture(first_position=None)
ARCHITECTURES = {
    "bert": Architecture(),
    "electra": Architecture(projection="embeddings_project"),
    "roberta": ROBERTA,
    "xlm-roberta": ROBERTA,
    "camembert": ROBERTA,
    "mpnet": Architecture(
        query="attention.attn.q",
        key="attention.attn.k",
        value="attention.attn.v",
        attention_output="attention.attn.o",
        attention_norm="attention.LayerNorm",
        token_types=None,
        relative_bias="encoder.relative_attention_bias.weight",
        first_position=2,
    ),
    "distilbert": Architecture(
        layer="transformer.layer.{}.",
        query="attention.q_lin",
        key="attention.k_lin",
        value="attention.v_lin",
        attention_output="attention.out_lin",
        attention_norm="sa_layer_norm",
        feed_forward="ffn.lin1",
        feed_forward_output="ffn.lin2",
        feed_forward_norm="output_layer_norm",
        token_types=None,
        settings={
            "hidden_size": "dim",
            "num_attention_heads": "n_heads",
            "num_hidden_layers": "n_layers",
            "hidden_act": "activation",
        },
    ),
}


def build_graph(
    config: Mapping[str, Any], weights: Mapping[str, npt.NDArray[Any]], pooling: str = "mean", sums: int | None = None
) -> Any:
    """The `openvino.Model` of an encoder: pieces of text as token ids to unit vectors.

    Inputs are `ids` and `mask`, both (pieces, tokens) of int64; the mask is 1 for tokens and 0 for padding, which
    comes after them. The output `vectors` is (pieces, width) of float32. float32 weights are shared, not copied.

    Args:
        config: what the model's `config.json` says.
        weights: what its `model.safetensors` holds, of float32, float16 or the bits of bfloat16 as uint16.
        pooling: `mean` of the tokens, `cls` (the first token) or `max`.
        sums: the most products that are added up at a time, for processors that add in half precision.
    """
    for name, value in REQUIRED.items():
        if config.get(name) not in (None, value):
            raise _unsupported(f"with {name} {config[name]!r}")
    if (activation := _setting(config, "hidden_act")) not in ACTIVATIONS:
        raise _unsupported(f"with the activation {activation!r}")
    if pooling not in POOLINGS:
        raise _unsupported(f"with {pooling!r} pooling")
    return GraphBuilder(config, Weights(weights), sums).model(pooling)


def first_position(config: Mapping[str, Any]) -> int:
    """The position of the first token: RoBERTa and its relatives start after the padding token's id, BERT at 0.

    >>> first_position({"model_type": "bert", "pad_token_id": 0})
    0
    >>> first_position({"model_type": "roberta", "pad_token_id": 1})
    2
    """
    fixed = _architecture(config).first_position
    padding = config.get("pad_token_id")
    return fixed if fixed is not None else (1 if padding is None else int(padding)) + 1


def max_positions(config: Mapping[str, Any]) -> int:
    """The most tokens a model takes, special tokens included.

    >>> max_positions({"model_type": "roberta", "pad_token_id": 1, "max_position_embeddings": 514})
    512
    """
    return int(_setting(config, "max_position_embeddings")) - first_position(config)


def _unsupported(feature: str) -> UnsupportedArchitecture:
    return UnsupportedArchitecture(
        f"longmatch alone cannot run a model {feature}: install 'longmatch[lab]', which reads it with torch."
    )


def _architecture(config: Mapping[str, Any]) -> Architecture:
    kind = config.get("model_type")
    if kind not in ARCHITECTURES:
        raise _unsupported(f"of the architecture {kind!r}")
    return ARCHITECTURES[kind]


def _setting(config: Mapping[str, Any], name: str) -> Any:
    own = _architecture(config).settings.get(name, name)
    value = config.get(own, OPTIONAL.get(name))
    if value is None:
        raise _unsupported(f"whose config has no {own!r}")
    return value


class Weights:
    """A model's weights in float32, whatever prefix its names have."""

    def __init__(self, weights: Mapping[str, npt.NDArray[Any]]) -> None:
        prefixes = [name.removesuffix(WORDS) for name in weights if name.endswith(WORDS)]
        if len(prefixes) > 1:
            raise _unsupported(f"that holds several encoders ({', '.join(sorted(prefixes))})")
        self._weights, self._prefix = weights, "".join(prefixes)

    def __getitem__(self, name: str) -> Floats:
        old = name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta")
        for spelling in (self._prefix + name, self._prefix + old, name):  # a head on the encoder has no prefix
            if (array := self._weights.get(spelling)) is not None:
                try:
                    return as_float32(array)
                except ValueError as error:
                    raise _unsupported(f"whose weight {name!r} is stored as {array.dtype}") from error
        raise _unsupported(f"that lacks the weight {name!r}")


class GraphBuilder:
    """Adds the nodes of an encoder from its inputs to its output.

    Attention is written out, with three products for queries, keys and values: on a Neoverse-N1, neither OpenVINO's
    ScaledDotProductAttention nor one product for all three is faster.
    """

    def __init__(self, config: Mapping[str, Any], weights: Weights, sums: int | None) -> None:
        self._op, self._sums = operations(), sums
        self._weights, self._names = weights, _architecture(config)
        self._width = int(_setting(config, "hidden_size"))
        self._heads = int(_setting(config, "num_attention_heads"))
        self._layers = int(_setting(config, "num_hidden_layers"))
        self._epsilon = float(_setting(config, "layer_norm_eps"))
        self._activation = ACTIVATIONS[_setting(config, "hidden_act")]
        self._first, self._positions = first_position(config), max_positions(config)

    def model(self, pooling: str) -> Any:
        """The `openvino.Model`, from the inputs to unit vectors."""
        ids, mask = input_nodes()
        tokens = self._op.gather(self._op.shape_of(ids), integers(1), integers(0))  # (1)
        is_token = self._op.convert(mask, np.float32)  # (pieces, tokens)
        states = self._embeddings(ids, tokens)
        bias = self._bias(is_token, tokens)
        for layer in range(self._layers):
            states = self._layer(states, bias, self._names.layer.format(layer))
        return load_openvino().Model([unit_vectors(states, mask, pooling)], [ids, mask], "encoder")

    def _embeddings(self, ids: Node, tokens: Node, second: Node | None = None) -> Node:
        """(pieces, tokens, width); `second` is 1 for the tokens of the second of two texts: (pieces, tokens)."""
        words = self._weights[WORDS]
        if words.shape[-1] != self._width and not self._names.projection:
            raise ValueError(f"its config says hidden_size {self._width:,}, and its vectors have {words.shape[-1]:,}")
        positions = self._weights["embeddings.position_embeddings.weight"][self._first :]
        start, step, rows = integers(0), integers(1), integers(0)
        types = self._weights[self._names.token_types] if self._names.token_types else None
        if types is not None:
            positions = positions + types[0]
        places = self._op.slice(self._constant(positions), start, tokens, step, rows)
        if types is not None and second is not None:
            places = places + self._op.unsqueeze(second, integers(2)) * self._constant(types[1] - types[0])
        states = self._norm(self._op.gather(self._constant(words), ids, rows) + places, "embeddings.LayerNorm")
        if self._names.projection and words.shape[1] != self._width:
            return self._linear(states, self._names.projection)
        return states

    def _bias(self, is_token: Node, tokens: Node) -> Node:
        """What is added to the attention scores: (pieces, 1, 1, tokens), or (pieces, heads, tokens, tokens)."""
        bias = self._op.unsqueeze((is_token - self._number(1)) * self._number(MASKED), integers(1, 2))
        if not self._names.relative_bias:
            return bias
        distances = np.arange(1 - self._positions, self._positions)
        by_distance = self._weights[self._names.relative_bias][_distance_buckets(distances)].T  # (heads, distances)
        places = self._op.range(self._integer(0), self._op.squeeze(tokens), self._integer(1), "i64")
        between = self._op.unsqueeze(places, integers(0)) - self._op.unsqueeze(places, integers(1))
        table = self._constant(np.ascontiguousarray(by_distance))
        return bias + self._op.gather(table, between + self._integer(self._positions - 1), integers(1))

    def _layer(self, states: Node, bias: Node, layer: str) -> Node:
        names, width = self._names, self._width // self._heads
        split, swap = integers(0, 0, self._heads, width), integers(0, 2, 1, 3)
        query, key, value = (  # (pieces, heads, tokens, width of a head)
            self._op.transpose(self._op.reshape(self._linear(states, layer + name), split, True), swap)
            for name in (names.query, names.key, names.value)
        )
        scores = self._op.matmul(query, key, False, True) * self._number(width**-0.5) + bias
        mixed = self._op.matmul(self._op.softmax(scores, -1), value, False, False)
        joined = self._op.reshape(self._op.transpose(mixed, swap), integers(0, 0, self._width), True)
        attended = self._linear(joined, layer + names.attention_output)
        states = self._norm(attended + states, layer + names.attention_norm)
        operation, *arguments = self._activation
        hidden = getattr(self._op, operation)(self._linear(states, layer + names.feed_forward), *arguments)
        return self._norm(
            self._linear(hidden, layer + names.feed_forward_output) + states, layer + names.feed_forward_norm
        )

    def _linear(self, states: Node, name: str) -> Node:
        weight, total = self._weights[f"{name}.weight"], self._constant(self._weights[f"{name}.bias"])
        parts = weight.shape[1] // self._sums if self._sums else 1
        if parts < 2 or weight.shape[1] % parts:
            return self._op.matmul(states, self._constant(weight), False, True) + total
        slices = self._op.split(states, self._integer(2), parts).outputs()
        for part, columns in zip(slices, np.split(weight, parts, axis=1), strict=True):
            total = total + self._op.matmul(part, self._constant(np.ascontiguousarray(columns)), False, True)
        return total

    def _norm(self, states: Node, name: str) -> Node:
        scaled = self._op.mvn(states, integers(-1), True, self._epsilon, "inside_sqrt")
        return scaled * self._constant(self._weights[f"{name}.weight"]) + self._constant(self._weights[f"{name}.bias"])

    def _constant(self, array: Floats) -> Node:
        return self._op.constant(array, shared_memory=array.flags.writeable)  # OpenVINO shares no read-only memory

    def _number(self, value: float) -> Node:
        return self._op.constant(np.float32(value))

    def _integer(self, value: int) -> Node:
        return self._op.constant(np.int64(value))


def _distance_buckets(distances: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """MPNet's bucket for each distance from query to key: one each below 8, then two for each doubling.

    >>> _distance_buckets(np.array([0, -1, -8, -11, -12, -500, 1, 500])).tolist()
    [0, 1, 8, 8, 9, 15, 17, 31]
    """
    starts = [*range(1, 8), *(8 * 2 ** (half / 2) for half in range(8))]
    return np.digitize(np.abs(distances), starts) + 16 * (distances > 0)
