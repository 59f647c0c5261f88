"""Models on pairs of different lengths, from the stored runs."""

from dataclasses import replace

import numpy as np
import pytest
from benchmarks.papers.figures import PARTS, draw_lengths, length_groups, length_table
from benchmarks.papers.stored_results import ResultGroup
from sklearn.metrics import roc_auc_score

from longmatch.errors import LongmatchError
from longmatch.lab.datasets import CollectionWriter, DataFolder, Part, RawDocument
from longmatch.lab.evaluation.measures import PairPredictions
from tests.lab.evaluation.test_result_rows import run

PAIRS = 24
LABELS = np.arange(PAIRS) % 2 == 0
SCORES = {"one": np.random.default_rng(1).random(PAIRS), "two": np.random.default_rng(2).random(PAIRS)}
MODELS = {"One": ["one"], "Two": ["two"]}


@pytest.fixture
def folder(tmp_path):
    """Pair n is of documents of n + 1 and of 100 words; the pairs are not in the order of their lengths."""
    with CollectionWriter(tmp_path / "set") as writer:
        writer.add(RawDocument("target", "", (Part("", "word " * 100),)))
        for number in np.random.default_rng(0).permutation(PAIRS).tolist():
            writer.add(RawDocument(f"source{number:02d}", "", (Part("", "word " * (number + 1)),)))
            writer.pair("test", f"source{number:02d}", "target", int(LABELS[number]))
        writer.finish()
    return DataFolder(tmp_path / "set")


@pytest.fixture
def group(folder):
    numbers = [int(pair.source.removeprefix("source")) for pair in folder.pairs("test")]
    runs = [
        replace(
            run(model, None),
            verdicts=PairPredictions(LABELS[numbers], scores[numbers], 0.5),
            sources=tuple(pair.source for pair in folder.pairs("test")),
        )
        for model, scores in SCORES.items()
    ]
    return ResultGroup("set", "test", runs=runs)


def test_each_quarter_is_measured_on_its_pairs_alone(folder, group):
    found = length_groups(folder, group, MODELS)
    assert [part.words for part in found] == [(101, 106), (107, 112), (113, 118), (119, 124)]
    for number, part in enumerate(found):
        pairs = slice(6 * number, 6 * number + 6)
        for label, (model,) in MODELS.items():
            assert part.value(label) == pytest.approx(100 * roc_auc_score(LABELS[pairs], SCORES[model][pairs]))
        assert part.p("One") == "" and part.p("Two")


def test_the_table_has_a_column_a_quarter_and_the_figure_is_drawn(folder, group, tmp_path):
    found = length_groups(folder, group, MODELS)
    lines = length_table("set", found)
    assert lines[2] == "| | 0.1 to 0.1 | p | 0.1 to 0.1 | p | 0.1 to 0.1 | p | 0.1 to 0.1 | p |"
    assert lines[4].startswith(f"| One | {found[0].value('One'):.1f} | |") and len(lines[5].split("|")) == 3 + 2 * PARTS
    draw_lengths({"set": found}, tmp_path / "lengths.svg")
    assert (tmp_path / "lengths.svg").stat().st_size > 0


def test_other_pairs_than_those_measured_are_refused(folder, group):
    group.runs = [
        replace(each, verdicts=PairPredictions(~each.verdicts.labels, each.verdicts.scores, 0.5)) for each in group.runs
    ]
    with pytest.raises(LongmatchError, match="has other test pairs than the stored results of set"):
        length_groups(folder, group, MODELS)
