"""Trained models as rows: by folder, several seeds in one row, vectors kept."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from longmatch.lab.evaluation.corpus import Corpus
from longmatch.lab.evaluation.evaluate import evaluate
from longmatch.lab.evaluation.scoring.pairs import scorer_of
from longmatch.lab.evaluation.scoring.scorer import InMemoryScorer
from longmatch.lab.evaluation.scoring.sentences import VectorScorer
from longmatch.lab.store.store import LayerStore
from longmatch.models.loading import load

Make = Callable[..., Path]
QRELS = [("test", "boats", "ships", 1), ("test", "bread", "cakes", 2), ("test", "cakes", "bread", 1)]


def results(out: Path) -> dict[str, dict]:
    return {row["model"]: row for row in json.loads((out / "results.json").read_text(encoding="utf-8"))}


def test_seeds_of_one_model_are_one_row_with_mean_and_deviation(
    make_data: Make, save_colde: Make, tmp_path: Path
) -> None:
    models = [str(save_colde(f"m{seed}", seed)) for seed in (1, 2, 3)]
    models.append(str(save_colde("plain", 1, contrastive=False)))
    evaluate([make_data(qrels=QRELS)], models, out=tmp_path / "out")
    rows = results(tmp_path / "out")
    assert set(rows) == {"tfidf", "phrases", "bm25", "colde", "colde contrastive=False"}
    row = rows["colde"]
    each = [seed["nDCG@10"] for seed in row["each_seed"]]
    assert row["seeds"] == [1, 2, 3]
    assert row["measures"]["nDCG@10"] == pytest.approx(np.mean(each))
    assert row["deviations"]["nDCG@10"] == pytest.approx(np.std(each, ddof=1))
    assert rows["colde contrastive=False"]["deviations"] == {}
    assert set(row["against_best_untrained"]["MRR"]) == {"model", "difference", "p", "p_t"}
    assert row["against_best_untrained"]["MRR"]["model"] in {"tfidf", "phrases", "bm25"}
    assert "seeds" not in rows["tfidf"]
    assert str(tmp_path) not in (tmp_path / "out" / "results.json").read_text(encoding="utf-8")


def test_stored_vectors_give_the_models_own_scores(example_corpus: Corpus, save_colde: Make, tmp_path: Path) -> None:
    matcher = load(save_colde("m", 1))
    scorer, plain = scorer_of(matcher), InMemoryScorer(matcher)
    assert isinstance(scorer, VectorScorer)
    scorer.open(LayerStore.of(tmp_path / "store", example_corpus.source).build(scorer.layers), example_corpus)
    plain.open([], example_corpus)
    for (_, mine), (_, theirs) in zip(scorer.scores([0, 7]), plain.scores([0, 7]), strict=True):
        np.testing.assert_allclose(mine, theirs, atol=1e-5)


def test_vectors_are_kept_by_weights_not_by_folder(save_colde: Make) -> None:
    first, copy, other = (
        scorer_of(load(save_colde(name, seed))).layers[0].key for name, seed in (("a", 1), ("b", 1), ("c", 2))
    )
    assert first == copy != other


def test_a_document_without_a_sentence_is_counted(make_data: Make, save_colde: Make, tmp_path: Path) -> None:
    texts = {"one": "A boat sails.", "two": "The boat sails far.", "none": ""}
    folder = make_data(texts, qrels=[("test", "one", "two", 1)])
    evaluate([folder], [str(save_colde("m", 1))], out=tmp_path / "out")
    assert list(results(tmp_path / "out")["colde"]["unhandled_documents"]) == ["none"]


def test_a_second_evaluation_scores_nothing_anew(make_data: Make, save_colde: Make, tmp_path: Path) -> None:
    folder, model, out = make_data(qrels=QRELS), str(save_colde("m", 1)), tmp_path / "out"
    evaluate([folder], [model], out=out)
    before = {path.name: path.stat().st_mtime_ns for path in (out / "runs").iterdir()}
    assert "tiny.test.colde.seed1.json" in before
    evaluate([folder], [model], out=out)
    assert {path.name: path.stat().st_mtime_ns for path in (out / "runs").iterdir()} == before


def test_a_model_trained_anew_with_the_same_seed_is_measured_anew(
    make_data: Make, save_colde: Make, tmp_path: Path
) -> None:
    folder, out = make_data(qrels=QRELS), tmp_path / "out"
    model = save_colde("m", 1)
    evaluate([folder], [str(model)], out=out)
    run = out / "runs" / "tiny.test.colde.seed1.json"
    before = json.loads(run.read_text(encoding="utf-8"))["facts"]
    other = save_colde("other", 2)
    (other / "model.safetensors").replace(model / "model.safetensors")
    evaluate([folder], [str(model)], out=out)
    assert json.loads(run.read_text(encoding="utf-8"))["facts"] != before
