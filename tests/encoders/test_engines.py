"""Every way to compute gives the packaged model's vectors; the fastest that does is chosen."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from longmatch.cache import cache_folder, recall
from longmatch.encoders import backbone as backbone_module
from longmatch.encoders import engine, openvino
from longmatch.encoders.backbone import Backbone
from longmatch.encoders.engine import MIN_COSINE, PRECISION_CACHE, row_cosines
from longmatch.encoders.hardware import fast_half_precision, limit_threads, thread_count, usable_cores
from longmatch.errors import LongmatchError

HALF = fast_half_precision()


@pytest.fixture(scope="module")
def texts(examples) -> list[str]:
    """Sentences of every example document, and paragraphs of up to 254 tokens."""
    documents = list(examples.values())
    found = [s.of(d.readable) for d in documents for s in d.sentences][::9]
    return [*found, "Yes.", "本院认为，被告应当承担责任。", *(" ".join(found[i : i + 5]) for i in (0, 40, 80))]


@pytest.fixture(scope="module")
def exact(texts) -> np.ndarray:
    return Backbone.load(device="cpu", precision="float32").encode_texts(texts)


@pytest.fixture(scope="module")
def way() -> Backbone:
    """What ships, on this processor."""
    return Backbone.load(device="cpu")


@pytest.fixture(scope="module")
def by_torch() -> Backbone:
    return Backbone.load(device="cpu", engine="torch")


@pytest.fixture(scope="module")
def vectors(way, texts) -> np.ndarray:
    return way.encode_texts(texts)


@pytest.fixture
def cached(tmp_path: Path, monkeypatch) -> Path:
    """An empty cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return cache_folder()


def test_no_vector_of_real_text_is_further_than_0_9999_from_that_of_float32(vectors, exact):
    assert len(vectors) > 150
    assert row_cosines(vectors, exact).min() > 0.9999


def test_torch_gives_the_same_vectors(by_torch, texts, exact):
    found = by_torch.encode_texts(texts[::10])
    assert row_cosines(found, exact[::10]).min() > 0.99999


@pytest.mark.parametrize("budget", [700, 5_000])
def test_vectors_do_not_depend_on_the_order_or_the_size_of_batches(way, texts, vectors, budget, monkeypatch):
    monkeypatch.setattr(openvino, "TOKEN_BUDGET", budget)
    last = len(texts) - 5  # from here on they are the shortest, the longest and the Chinese
    some = np.random.default_rng(0).permutation([*range(0, last, 10), *range(last, last + 5)])
    assert row_cosines(way.encode_texts([texts[i] for i in some]), vectors[some]).min() > 0.9999


def test_the_same_call_gives_the_same_vectors(way, texts):
    some = texts[:20]
    assert np.array_equal(way.encode_texts(some), way.encode_texts(some))


@pytest.mark.parametrize("precision", ["float32", "float16", "mixed"])
def test_vectors_are_of_unit_length_in_half_precision_too(precision, texts):
    found = Backbone.load(device="cpu", precision=precision).encode_texts(texts[::10])
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1, atol=1e-6)


def test_what_is_chosen_follows_the_processor(way):
    assert way.runtime == f"{HALF or 'float32'}, openvino on cpu"


def test_the_environment_says_what_computes_where_the_call_does_not(tiny_bert: Path, monkeypatch):
    def computes(**asked: str) -> str:
        return Backbone.load(str(tiny_bert), device="cpu", **asked).runtime

    monkeypatch.setenv("LONGMATCH_ENGINE", "torch")
    monkeypatch.setenv("LONGMATCH_PRECISION", "bfloat16")
    assert computes() == "bfloat16, torch on cpu"
    assert computes(precision="float32") == "float32, openvino on cpu"
    assert computes(precision="float32", engine="torch") == "float32, torch on cpu"
    monkeypatch.setenv("LONGMATCH_ENGINE", "onnx")
    with pytest.raises(LongmatchError) as error:
        computes()
    assert str(error.value) == "LONGMATCH_ENGINE is onnx. Set it to openvino or torch, or leave it out."


@pytest.mark.skipif(HALF is None, reason="this processor has no fast half precision to choose")
def test_a_model_that_half_precision_would_change_is_read_in_float32(tiny_bert: Path, tmp_path: Path, cached: Path):
    folder = shutil.copytree(tiny_bert, tmp_path / "sharp")
    weights = load_file(folder / "model.safetensors")
    for name, matrix in weights.items():
        if "encoder" in name and matrix.ndim == 2:
            weights[name] = 100 * matrix  # attention then turns on the last digits
    save_file(weights, folder / "model.safetensors")
    sharp = Backbone.load(str(folder), device="cpu")
    assert sharp.precision == "float32"
    draw = np.random.default_rng(1)
    pieces = [draw.integers(5, 700, size=length) for length in range(1, 41)]
    exact = Backbone.load(str(folder), device="cpu", precision="float32").encode(pieces)
    assert row_cosines(sharp.encode(pieces), exact).min() > MIN_COSINE
    coarse = Backbone.load(str(folder), device="cpu", precision=HALF).encode(pieces)
    assert row_cosines(coarse, exact).min() < MIN_COSINE


@pytest.mark.skipif(HALF is None, reason="this processor has no fast half precision to choose")
def test_what_was_found_once_is_not_tried_again_in_the_next_process(tiny_bert: Path, cached: Path, monkeypatch):
    key = Backbone.load(str(tiny_bert), device="cpu")
    assert key.engine.name == "openvino"
    found = json.loads((cached / PRECISION_CACHE).read_text())
    assert list(found.values()) == [key.precision == HALF]
    monkeypatch.setattr(engine, "row_cosines", None)  # a trial would fail
    assert Backbone.load(str(tiny_bert), device="cpu").precision == key.precision
    assert recall(PRECISION_CACHE, next(iter(found))) is not None


@pytest.mark.parametrize("family", ["tiny_bert", "tiny_roberta"])
def test_openvino_in_float32_gives_torchs_vectors_up_to_the_longest_piece(family, request):
    place = str(request.getfixturevalue(family))
    ours = Backbone.load(place, device="cpu", precision="float32", engine="openvino")
    theirs = Backbone.load(place, device="cpu", precision="float32", engine="torch")
    assert ours.max_tokens == theirs.max_tokens
    pieces = [np.arange(5, 5 + length) % 50 + 5 for length in (1, 2, 9, 30, ours.max_tokens)]
    assert np.abs(ours.encode(pieces) - theirs.encode(pieces)).max() < 1e-5


@pytest.mark.parametrize("mode", ["cls", "max"])
def test_pooling_is_the_same_whatever_computes(way, by_torch, mode, texts):
    found, theirs = (backbone.with_pooling(mode).encode_texts(texts[:10]) for backbone in (way, by_torch))
    assert row_cosines(found, theirs).min() > 0.999


def test_what_is_opened_again_is_not_compiled_again(tiny_bert: Path):
    for _ in range(2):
        Backbone.load(str(tiny_bert), device="cpu", precision="float32").encode([np.arange(5, 9)])
        compiled = len(openvino.COMPILED)
    Backbone.load(str(tiny_bert), device="cpu", precision="float32").encode([np.arange(5, 9)])
    assert len(openvino.COMPILED) == compiled


def test_a_graph_is_kept_for_the_next_process_and_a_damaged_one_is_made_again(
    tiny_bert: Path, cached: Path, monkeypatch
):
    def vectors() -> np.ndarray:
        openvino.COMPILED.clear()  # as in a new process
        return Backbone.load(str(tiny_bert), device="cpu", precision="float32").encode([np.arange(5, 20)])

    monkeypatch.setattr(openvino, "COMPILED", {})
    first = vectors()
    (kept,) = (cached / openvino.GRAPHS).iterdir()
    with monkeypatch.context() as patch:
        patch.setattr("longmatch.encoders.network.read_weights", None)  # reading the weights would fail
        assert np.array_equal(vectors(), first)
    kept.write_bytes(kept.read_bytes()[:100])
    assert np.array_equal(vectors(), first)


def test_a_graph_that_other_code_made_is_not_taken(tiny_bert, cached, monkeypatch):
    for code in ("older", "newer"):
        monkeypatch.setattr("longmatch.encoders.network._code_digest", lambda code=code: code)
        Backbone.load(str(tiny_bert), device="cpu", precision="float32").encode([np.arange(5, 20)])
    assert sorted(path.name.split("-")[2] for path in (cached / openvino.GRAPHS).iterdir()) == ["newer", "older"]


def test_only_the_latest_graphs_are_kept(tiny_bert, cached, monkeypatch):
    monkeypatch.setattr(openvino, "MOST_GRAPHS", 2)
    for code in ("a", "b", "c"):
        monkeypatch.setattr("longmatch.encoders.network._code_digest", lambda code=code: code)
        Backbone.load(str(tiny_bert), device="cpu", precision="float32").encode([np.arange(5, 20)])
    assert sorted(path.name.split("-")[2] for path in (cached / openvino.GRAPHS).iterdir()) == ["b", "c"]


def test_a_cache_that_cannot_be_written_does_no_harm(tiny_bert: Path, cached: Path):
    cached.parent.mkdir(parents=True)
    cached.write_text("a file where the folder would be")
    assert Backbone.load(str(tiny_bert), device="cpu").encode([np.arange(5, 9)]).shape == (1, 32)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"engine": "torch"}, "Computing with torch needs torch. Install it: pip install 'longmatch[lab]'."),
        ({"precision": "bfloat16"}, "Computing in bfloat16 needs torch. Install it: pip install 'longmatch[lab]'."),
        ({"device": "cuda"}, "Computing on cuda needs torch. Install it: pip install 'longmatch[lab]'."),
    ],
)
def test_a_missing_extra_is_one_sentence_with_the_install_line(tiny_bert, monkeypatch, asked, message):
    monkeypatch.setattr(backbone_module, "torch_is_installed", lambda: False)
    with pytest.raises(LongmatchError) as error:
        Backbone.load(str(tiny_bert), **asked)
    assert str(error.value) == message


def test_openvino_in_numbers_it_does_not_offer_is_refused(tiny_bert):
    with pytest.raises(LongmatchError, match="float32 or float16 or mixed, not in bfloat16"):
        Backbone.load(str(tiny_bert), device="cpu", engine="openvino", precision="bfloat16")


def test_openvino_runs_on_the_cpu_alone(tiny_bert):
    with pytest.raises(LongmatchError, match="OpenVINO runs on the CPU, not on cuda"):
        Backbone.load(str(tiny_bert), device="cuda", engine="openvino")


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
        from longmatch.encoders.hardware import thread_count
        print(thread_count())
    """
    assert python(code) == "1"
    assert usable_cores() <= os.cpu_count()


def test_threads_can_be_limited_to_fewer(monkeypatch):
    monkeypatch.setattr("longmatch.encoders.hardware._limit", None)
    monkeypatch.setattr("longmatch.encoders.hardware.usable_cores", lambda: 8)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    assert thread_count() == 8
    limit_threads(3)
    assert thread_count() == 3
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    assert thread_count() == 1


@pytest.fixture
def python() -> Callable[[str], str]:
    """Runs code in a fresh process; what it prints."""

    def run(code: str) -> str:
        lines = [line.strip() for line in code.strip().splitlines()]
        environment = {name: value for name, value in os.environ.items() if name != "OMP_WAIT_POLICY"}
        command = [sys.executable, "-c", "\n".join(lines)]
        return subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout.strip()

    return run
