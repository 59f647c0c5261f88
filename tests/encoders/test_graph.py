"""The graph built from config and weights alone gives the vectors of transformers."""

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from safetensors.numpy import load_file
from transformers import AutoModel, AutoTokenizer

from longmatch.encoders.graph import (
    ARCHITECTURES,
    UnsupportedArchitecture,
    _distance_buckets,
    build_graph,
    first_position,
    max_positions,
)
from longmatch.encoders.openvino import shared_core
from longmatch.encoders.pretrained import default_folder

KEPT: list[Any] = []  # compiled graphs are never released, as in the package
LENGTHS = (150, 3, 40, 1)  # beyond 128 tokens, MPNet tells no distances apart
WIDTH, POSITIONS = 32, 160
SIZES = {"vocab_size": 99, "max_position_embeddings": POSITIONS}
BERT_SIZES = {"hidden_size": WIDTH, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 48}
DISTILBERT_SIZES = {"dim": WIDTH, "n_layers": 2, "n_heads": 4, "hidden_dim": 48}
CONFIGS = {
    "bert": ("BertConfig", BERT_SIZES),
    "bert-tanh": ("BertConfig", {**BERT_SIZES, "hidden_act": "gelu_new", "layer_norm_eps": 1e-3}),
    "electra": ("ElectraConfig", {**BERT_SIZES, "embedding_size": 16}),
    "electra-without-projection": ("ElectraConfig", {**BERT_SIZES, "embedding_size": WIDTH}),
    "roberta": ("RobertaConfig", BERT_SIZES),
    "roberta-other-padding": ("RobertaConfig", {**BERT_SIZES, "pad_token_id": 4}),
    "xlm-roberta": ("XLMRobertaConfig", BERT_SIZES),
    "camembert": ("CamembertConfig", {**BERT_SIZES, "hidden_act": "gelu_pytorch_tanh"}),
    "mpnet": ("MPNetConfig", BERT_SIZES),
    "distilbert": ("DistilBertConfig", {**DISTILBERT_SIZES, "activation": "relu"}),
}


@dataclass
class Checkpoint:
    """A tiny model as it is saved, and what transformers makes of four pieces of unlike lengths."""

    config: dict[str, Any]
    weights: dict[str, np.ndarray]
    ids: np.ndarray
    mask: np.ndarray
    token_vectors: np.ndarray  # (pieces, tokens, width)


def save_checkpoint(kind: str, folder: Path) -> Checkpoint:
    """Every weight is random, also those that a new model sets to 0 or 1."""
    name, sizes = CONFIGS[kind]
    config = getattr(transformers, name)(**SIZES, **sizes)
    torch.manual_seed(0)
    model = AutoModel.from_config(config).eval()
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    model.save_pretrained(folder)
    mask = np.array([np.arange(max(LENGTHS)) < length for length in LENGTHS], np.int64)
    ids = np.where(mask, np.random.default_rng(0).integers(5, 99, mask.shape), config.pad_token_id)
    with torch.inference_mode():
        found = model(input_ids=torch.from_numpy(ids), attention_mask=torch.from_numpy(mask)).last_hidden_state
    said = json.loads((folder / "config.json").read_text())
    return Checkpoint(said, load_file(folder / "model.safetensors"), ids, mask, found.numpy())


@pytest.fixture(scope="module", params=CONFIGS)
def checkpoint(request, tmp_path_factory) -> Checkpoint:
    return save_checkpoint(request.param, tmp_path_factory.mktemp(request.param))


@pytest.fixture(scope="module")
def bert(tmp_path_factory) -> Checkpoint:
    return save_checkpoint("bert", tmp_path_factory.mktemp("bert"))


def run(graph: Any, ids: np.ndarray, mask: np.ndarray) -> np.ndarray:
    settings = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": 1, "ENABLE_CPU_PINNING": False}
    KEPT.append(shared_core().compile_model(graph, "CPU", settings))
    return np.array(KEPT[-1]({"ids": ids, "mask": mask})["vectors"])


def vectors(checkpoint: Checkpoint, weights: dict[str, np.ndarray] | None = None) -> np.ndarray:
    graph = build_graph(checkpoint.config, weights or checkpoint.weights)
    return run(graph, checkpoint.ids, checkpoint.mask)


def pooled_by_hand(checkpoint: Checkpoint, pooling: str) -> np.ndarray:
    pool = {"mean": lambda tokens: tokens.mean(0), "cls": lambda tokens: tokens[0], "max": lambda tokens: tokens.max(0)}
    pieces = [pool[pooling](tokens[:length]) for tokens, length in zip(checkpoint.token_vectors, LENGTHS, strict=True)]
    return np.array([piece / np.linalg.norm(piece) for piece in pieces])


@pytest.mark.parametrize("pooling", ["mean", "cls", "max"])
def test_vectors_are_those_of_transformers(checkpoint, pooling):
    graph = build_graph(checkpoint.config, checkpoint.weights, pooling)
    found = run(graph, checkpoint.ids, checkpoint.mask)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, pooled_by_hand(checkpoint, pooling), atol=1e-5)


def test_every_architecture_is_compared_with_transformers():
    kinds = {getattr(transformers, name).model_type for name, _ in CONFIGS.values()}
    assert kinds == set(ARCHITECTURES)


@pytest.mark.parametrize(
    ("kind", "padding", "first"),
    [
        ("bert", 0, 0),
        ("electra", 0, 0),
        ("distilbert", 0, 0),
        ("roberta", 1, 2),
        ("xlm-roberta", 1, 2),
        ("camembert", 1, 2),
        ("camembert", None, 2),
        ("roberta", 4, 5),
        ("mpnet", 1, 2),
    ],
)
def test_positions_of_roberta_start_after_the_padding_token(kind, padding, first):
    config = {"model_type": kind, "pad_token_id": padding, "max_position_embeddings": 514}
    assert first_position(config) == first
    assert max_positions(config) == 514 - first


def test_a_piece_may_be_as_long_as_there_are_positions(checkpoint):
    ids = np.full((1, max_positions(checkpoint.config)), 7)
    found = run(build_graph(checkpoint.config, checkpoint.weights), ids, np.ones_like(ids))
    assert np.linalg.norm(found) == pytest.approx(1)


def test_distances_fall_into_the_buckets_of_transformers():
    from transformers.models.mpnet.modeling_mpnet import MPNetEncoder

    distances = np.arange(-1000, 1001)
    expected = MPNetEncoder.relative_position_bucket(torch.from_numpy(distances))
    assert _distance_buckets(distances).tolist() == expected.tolist()


@pytest.mark.parametrize("prefix", ["bert.", "model.", "module.encoder."])
def test_weights_are_found_behind_a_prefix(bert, prefix):
    named = {prefix + name: array for name, array in bert.weights.items()}
    head = {"classifier.weight": np.zeros((2, WIDTH), np.float32)}
    assert np.array_equal(vectors(bert, named | head), vectors(bert))


def test_norms_may_have_the_names_of_old_checkpoints(bert):
    old = {"LayerNorm.weight": "LayerNorm.gamma", "LayerNorm.bias": "LayerNorm.beta"}

    def renamed(name: str) -> str:
        return next((name.replace(new, was) for new, was in old.items() if name.endswith(new)), name)

    assert np.array_equal(vectors(bert, {renamed(n): a for n, a in bert.weights.items()}), vectors(bert))


def test_weights_of_float16_are_read(bert):
    half = {name: array.astype(np.float16) for name, array in bert.weights.items()}
    same = {name: array.astype(np.float32) for name, array in half.items()}
    assert np.array_equal(vectors(bert, half), vectors(bert, same))


@pytest.mark.parametrize("dtype", ["<u2", "V2"])
def test_weights_of_bfloat16_are_read_from_their_bits(bert, dtype):
    bits = {name: (array.view(np.uint32) >> 16).astype(np.uint16) for name, array in bert.weights.items()}
    same = {name: torch.from_numpy(array).view(torch.bfloat16).float().numpy() for name, array in bits.items()}
    stored = {name: array.view(dtype) for name, array in bits.items()}
    assert np.array_equal(vectors(bert, stored), vectors(bert, same))


def test_weights_that_cannot_be_written_to_are_read(bert):
    frozen = {name: array.copy() for name, array in bert.weights.items()}
    for array in frozen.values():
        array.setflags(write=False)
    assert np.array_equal(vectors(bert, frozen), vectors(bert))


def test_weights_of_float32_are_not_copied(bert):
    constants = [node.data for node in build_graph(bert.config, bert.weights).get_ops() if hasattr(node, "data")]
    for name in ("embeddings.word_embeddings.weight", "encoder.layer.1.output.dense.weight"):
        assert any(np.shares_memory(bert.weights[name], constant) for constant in constants)


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"model_type": "modernbert"}, "'modernbert'"),
        ({"model_type": None}, "None"),
        ({"position_embedding_type": "relative_key"}, "'relative_key'"),
        ({"is_decoder": True}, "is_decoder"),
        ({"add_cross_attention": True}, "add_cross_attention"),
        ({"hidden_act": "silu"}, "'silu'"),
        ({"num_attention_heads": None}, "'num_attention_heads'"),
    ],
)
def test_an_unsupported_model_says_why_and_which_extra_reads_it(bert, changes, name):
    with pytest.raises(UnsupportedArchitecture, match=name) as error:
        build_graph(bert.config | changes, bert.weights)
    assert str(error.value).endswith("install 'longmatch[lab]', which reads it with torch.")


def test_an_unknown_pooling_is_unsupported(bert):
    with pytest.raises(UnsupportedArchitecture, match="'lasttoken' pooling"):
        build_graph(bert.config, bert.weights, "lasttoken")


@pytest.mark.parametrize("missing", ["embeddings.word_embeddings.weight", "encoder.layer.1.attention.self.key.bias"])
def test_a_missing_weight_is_named(bert, missing):
    weights = {name: array for name, array in bert.weights.items() if name != missing}
    with pytest.raises(UnsupportedArchitecture, match=f"'{missing}'"):
        build_graph(bert.config, weights)


def test_quantized_weights_are_unsupported(bert):
    name = "encoder.layer.0.output.dense.weight"
    with pytest.raises(UnsupportedArchitecture, match=f"'{name}' is stored as int8"):
        build_graph(bert.config, bert.weights | {name: bert.weights[name].astype(np.int8)})


def test_of_several_encoders_none_is_guessed(bert):
    towers = {f"{tower}.{name}": array for tower in ("query", "passage") for name, array in bert.weights.items()}
    with pytest.raises(UnsupportedArchitecture, match=r"several encoders \(passage\., query\.\)"):
        build_graph(bert.config, towers)


def test_the_packaged_model_agrees_with_transformers():
    folder = default_folder()
    texts = ["Yes.", "The court dismissed the appeal.", "本院认为，被告应当承担责任。", "A claim holds. " * 30]
    encoded = AutoTokenizer.from_pretrained(folder)(texts, padding=True, return_tensors="pt")
    ids, mask = encoded["input_ids"], encoded["attention_mask"]
    with torch.inference_mode():
        states = AutoModel.from_pretrained(folder)(input_ids=ids, attention_mask=mask).last_hidden_state
    means = (states * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)
    config = json.loads((folder / "config.json").read_text())
    found = run(build_graph(config, load_file(folder / "model.safetensors")), ids.numpy(), mask.numpy())
    assert (torch.nn.functional.normalize(means).numpy() * found).sum(1).min() > 0.99999


def test_neither_torch_nor_transformers_is_imported(tmp_path):
    save_checkpoint("bert", tmp_path)
    code = """
import json, sys
from pathlib import Path
from safetensors.numpy import load_file
from longmatch.encoders.graph import build_graph
build_graph(json.loads(Path("config.json").read_text()), load_file("model.safetensors"))
print({"torch", "transformers", "openvino_telemetry"} & {name for name, module in sys.modules.items() if module})
"""
    found = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert found.stdout == "set()\n"
