"""The benchmark of a GPU runs on a processor too, where it is small, and its ways agree."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from benchmarks.papers.gpu import workload
from benchmarks.papers.gpu.benchmark import main
from benchmarks.papers.gpu.profiling import Span, busy, gaps
from benchmarks.papers.gpu.workload import forward_work
from transformers import BertConfig, BertModel

pytestmark = pytest.mark.slow


@pytest.fixture
def text(tmp_path: Path) -> Path:
    """Four documents of made-up sentences."""
    draw = np.random.default_rng(0)
    lengths = draw.integers(3, 40, size=40)
    offsets = np.concatenate([[0], lengths.cumsum()])
    documents = [0, 10, 20, 30, 40]
    tokens = draw.integers(1_000, 20_000, size=offsets[-1])
    np.savez(tmp_path / "text.npz", tokens=tokens.astype(np.uint16), offsets=offsets, documents=documents)
    return tmp_path / "text.npz"


def test_every_way_is_measured_and_gives_the_vectors_of_padded_batches(text, tmp_path, capsys):
    out = tmp_path / "gpu.json"
    main([str(text), "--out", str(out), "--compare", "padded,sorted,packed", "--seconds", "60"])
    told = json.loads(out.read_text())
    assert told["rates"]["best"] > 0
    for part in ("encode", "colde", "smith"):
        for way in ("padded", "sorted", "packed"):
            row = told[part]["ways"][way]
            assert "error" not in row, row["error"]
            assert row["least_cosine"] > 0.9999 and row["tokens_a_second"] > 0 and row["share"] > 0
        assert told[part]["ways"]["padded"]["times"] == 1
        seen = told[f"{part} profile"]
        assert seen["kernels"] and seen["processor"] and 0 < seen["busy"] < 1.5
    said = capsys.readouterr().out
    assert "tokens per second" in said and "the GPU is busy for" in said


def test_a_way_that_fails_is_noted_and_the_others_go_on(text, tmp_path, monkeypatch):
    def fails(*_: object) -> None:
        raise RuntimeError("no such kernel")

    monkeypatch.setattr(workload, "encode_padded", fails)
    out = tmp_path / "gpu.json"
    main([str(text), "--out", str(out), "--only", "encode", "--compare", "padded,packed"])
    ways = json.loads(out.read_text())["encode"]["ways"]
    assert "no such kernel" in ways["padded"]["error"] and ways["packed"]["tokens_a_second"] > 0


def test_the_work_of_a_layer_is_counted_by_hand():
    config = BertConfig(vocab_size=50, hidden_size=8, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16)
    weights = 4 * 8 * 8 + 2 * 8 * 16
    found = forward_work(BertModel(config).encoder, config, torch.tensor([3, 5]))
    assert found == 2 * weights * 8 + 4 * 8 * (9 + 25)


def test_a_gpu_is_busy_while_at_least_one_kernel_runs():
    assert busy([Span("b", 5, 7), Span("a", 0, 4), Span("inside", 1, 2), Span("over", 3, 6)]) == 7
    assert busy([]) == 0


def test_the_longest_gap_is_told_with_what_the_processor_did_in_it():
    kernels = [Span("first", 0, 1_000), Span("second", 4_000, 5_000), Span("third", 5_500, 6_000)]
    host = [Span("step", 0, 9_000), Span("cudaStreamSynchronize", 1_200, 3_900), Span("early", 0, 500)]
    longest, other = gaps(kernels, host)
    assert longest["between"] == "first ... second" and longest["ms"] == 3
    assert longest["meanwhile"] == ["step: 3.000 ms", "cudaStreamSynchronize: 2.700 ms"]
    assert other["ms"] == 0.5
