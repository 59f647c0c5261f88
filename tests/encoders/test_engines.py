"""Every way to compute gives the packaged model's vectors; the fastest that does is chosen."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import AutoModel, AutoTokenizer

from longmatch.encoders.backbone import Backbone
from longmatch.encoders.engine_selection import MIN_COSINE, has_fast_bfloat16, row_cosines
from longmatch.encoders.openvino import cache_folder, converted_model
from longmatch.encoders.threads import usable_cores
from longmatch.errors import LongmatchError
from tests.processor import emulates_bfloat16

WAYS = {"mixed": {"precision": "mixed"}, "openvino": {"engine": "openvino"}}


@pytest.fixture(scope="module")
def texts(examples) -> list[str]:
    """Sentences of every example document, and paragraphs of up to 254 tokens."""
    documents = list(examples.values())
    found = [s.of(d.readable) for d in documents for s in d.sentences][::9]
    return [*found, "Yes.", "本院认为，被告应当承担责任。", *(" ".join(found[i : i + 5]) for i in (0, 40, 80))]


@pytest.fixture(scope="module")
def exact(backbone, texts) -> np.ndarray:
    return backbone.encode_texts(texts)


SLOW = pytest.mark.skipif(emulates_bfloat16(), reason="bfloat16 products take minutes on this processor")


@pytest.fixture(scope="module", params=[pytest.param("mixed", marks=SLOW), "openvino"])
def way(request) -> Backbone:
    return Backbone.load(device="cpu", **WAYS[request.param])


@pytest.fixture(scope="module")
def vectors(way, texts) -> np.ndarray:
    return way.encode_texts(texts)


@pytest.fixture
def cached(tmp_path: Path, monkeypatch) -> Path:
    """An empty cache for converted models."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return cache_folder()


def test_no_vector_of_real_text_is_further_than_0_9999_from_that_of_float32(vectors, exact):
    assert len(vectors) > 150
    assert row_cosines(vectors, exact).min() > 0.9999


def test_the_default_keeps_the_vectors_of_float32(texts, exact):
    assert row_cosines(Backbone.load(device="cpu").encode_texts(texts), exact).min() > 0.9999


@pytest.mark.parametrize("budget", [700, 5_000])
def test_vectors_do_not_depend_on_the_order_or_the_size_of_batches(way, texts, vectors, budget, monkeypatch):
    monkeypatch.setattr(way, "token_budget", budget)
    last = len(texts) - 5  # from here on they are the shortest, the longest and the Chinese
    some = np.random.default_rng(0).permutation([*range(0, last, 10), *range(last, last + 5)])
    assert row_cosines(way.encode_texts([texts[i] for i in some]), vectors[some]).min() > 0.9999


def test_the_same_call_gives_the_same_vectors(way, texts):
    some = texts[:20]
    assert np.array_equal(way.encode_texts(some), way.encode_texts(some))


def test_what_is_chosen_follows_the_processor_and_what_is_installed(monkeypatch):
    fast = "mixed" if has_fast_bfloat16() else "float32"
    assert Backbone.load(device="cpu").runtime == f"{fast}, openvino on cpu"
    monkeypatch.setitem(sys.modules, "openvino", None)  # cannot be imported
    assert Backbone.load(device="cpu").runtime == f"{fast}, torch on cpu"
    assert Backbone.load(device="cpu", precision="float32").runtime == "float32, torch on cpu"


def test_the_environment_says_what_computes_where_the_call_does_not(tiny_bert: Path, monkeypatch):
    def computes(**asked: str) -> str:
        return Backbone.load(str(tiny_bert), device="cpu", **asked).runtime

    monkeypatch.setenv("LONGMATCH_ENGINE", "torch")
    monkeypatch.setenv("LONGMATCH_PRECISION", "bfloat16")
    assert computes() == "bfloat16, torch on cpu"
    assert computes(precision="float32") == "float32, torch on cpu"
    monkeypatch.setenv("LONGMATCH_ENGINE", "onnx")
    with pytest.raises(LongmatchError) as error:
        computes()
    assert str(error.value) == "LONGMATCH_ENGINE is onnx. Set it to torch or openvino, or leave it out."


def test_a_model_that_bfloat16_would_change_is_read_in_float32(tiny_bert: Path, tmp_path: Path, cached: Path):
    model = AutoModel.from_pretrained(tiny_bert)
    with torch.no_grad():
        for name, weights in model.named_parameters():
            if "encoder" in name and weights.ndim == 2:
                weights.mul_(100)  # attention then turns on the last digits
    model.save_pretrained(tmp_path / "sharp")
    AutoTokenizer.from_pretrained(tiny_bert).save_pretrained(tmp_path / "sharp")
    sharp = Backbone.load(str(tmp_path / "sharp"), device="cpu")
    assert sharp.precision == "float32"
    draw = np.random.default_rng(1)
    pieces = [draw.integers(5, 700, size=length) for length in range(1, 41)]
    exact = Backbone.load(str(tmp_path / "sharp"), device="cpu", precision="float32").encode(pieces)
    assert row_cosines(sharp.encode(pieces), exact).min() > MIN_COSINE
    coarse = Backbone.load(str(tmp_path / "sharp"), device="cpu", precision="mixed").encode(pieces)
    assert row_cosines(coarse, exact).min() < MIN_COSINE


@pytest.mark.parametrize("family", ["tiny_bert", "tiny_roberta"])
def test_openvino_in_float32_gives_torchs_vectors_up_to_the_longest_piece(family, request, cached):
    place = str(request.getfixturevalue(family))
    ours = Backbone.load(place, device="cpu", precision="float32")
    theirs = Backbone.load(place, device="cpu", precision="float32", engine="openvino")
    pieces = [np.arange(5, 5 + length) % 50 + 5 for length in (1, 2, 9, 30, ours.max_tokens)]
    assert np.abs(ours.encode(pieces) - theirs.encode(pieces)).max() < 1e-5


@pytest.mark.parametrize("mode", ["cls", "max"])
def test_pooling_is_the_same_whatever_reads(way, backbone, mode, texts):
    found = way.with_pooling(mode).encode_texts(texts[:20])
    assert way.with_pooling(mode).engine is way.engine
    assert row_cosines(found, backbone.with_pooling(mode).encode_texts(texts[:20])).min() > 0.999


def test_a_model_is_converted_once_and_a_damaged_copy_is_made_again(tiny_bert, cached):
    model = AutoModel.from_pretrained(tiny_bert).eval()
    converted_model(model, "tiny")
    graph = cached / "tiny" / "graph.xml"
    made = graph.stat().st_mtime_ns
    assert len(converted_model(model, "tiny").inputs) == 2
    assert graph.stat().st_mtime_ns == made
    graph.write_text("no graph")
    assert len(converted_model(model, "tiny").inputs) == 2


def test_what_is_opened_again_is_not_compiled_again(tiny_bert, cached):
    def load(**asked: str) -> Backbone:
        return Backbone.load(str(tiny_bert), device="cpu", engine="openvino", **asked)

    first, again = load(precision="float32"), load(precision="float32")
    assert again.engine.compiled is first.engine.compiled
    assert load(precision="mixed").engine.compiled is not first.engine.compiled


def test_what_is_opened_again_is_not_tried_again(tiny_bert):
    tries = []
    for opening in range(2):
        backbone = Backbone.load(str(tiny_bert), device="cpu")
        backbone.model.register_forward_hook(lambda *_, opening=opening: tries.append(opening))
        assert backbone.engine.name == "openvino"
    assert 1 not in tries


def test_a_cache_that_cannot_be_written_does_no_harm(tiny_bert, cached):
    cached.parent.mkdir(parents=True)
    cached.write_text("a file where the folder would be")
    assert len(converted_model(AutoModel.from_pretrained(tiny_bert).eval(), "tiny").inputs) == 2


def test_a_missing_extra_is_one_sentence_with_the_install_line(tiny_bert, monkeypatch):
    monkeypatch.setitem(sys.modules, "openvino", None)
    with pytest.raises(LongmatchError) as error:
        Backbone.load(str(tiny_bert), engine="openvino")
    assert str(error.value) == "The OpenVINO engine needs openvino. Install it: pip install 'longmatch[fast]'."


def test_openvino_in_numbers_it_does_not_offer_is_refused(tiny_bert):
    with pytest.raises(LongmatchError, match="float32 or mixed, not in bfloat16"):
        Backbone.load(str(tiny_bert), device="cpu", engine="openvino", precision="bfloat16")


def test_openvino_cannot_report_its_use(python: Callable[[str], str]):
    code = """
        import sys
        from longmatch.encoders.openvino import load_openvino
        load_openvino()
        print(sys.modules["openvino_telemetry"], any(name.startswith("openvino_telemetry.") for name in sys.modules))
    """
    assert python(code) == "None False"


def test_threads_are_no_more_than_the_cores_of_this_process(python: Callable[[str], str]):
    code = """
        import os
        os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])
        from longmatch.encoders.threads import limit_threads
        import torch
        torch.set_num_threads(2)
        print(limit_threads(), torch.get_num_threads(), os.environ["OMP_WAIT_POLICY"])
    """
    assert python(code) == "1 1 PASSIVE"
    assert usable_cores() <= os.cpu_count()


@pytest.fixture
def python() -> Callable[[str], str]:
    """Runs code in a fresh process; what it prints."""

    def run(code: str) -> str:
        lines = [line.strip() for line in code.strip().splitlines()]
        environment = {name: value for name, value in os.environ.items() if name != "OMP_WAIT_POLICY"}
        command = [sys.executable, "-c", "\n".join(lines)]
        return subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout.strip()

    return run
