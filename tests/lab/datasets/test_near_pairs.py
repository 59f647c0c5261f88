"""Near pairs: matches against BM25's best documents that do not match."""

import pytest

import longmatch as lm
from longmatch.errors import ReadError
from longmatch.lab.datasets import CollectionWriter, DataFolder, Part, RawDocument
from longmatch.lab.datasets.collection import find_set
from longmatch.lab.datasets.near_pairs import main, write_near_pairs
from longmatch.lab.datasets.splits import DEFAULT, LEGAL, label_citations
from longmatch.lab.training.data.sources import find_sources

DEPTH = 8  # of a subject's fifteen documents
SUBJECTS = ("ferries cross the strait", "bakers knead the dough", "judges read the statutes", "miners wash the gold")


@pytest.fixture
def folder(tmp_path):
    """Sixty documents of four subjects; each cites the next of its subject."""
    with CollectionWriter(tmp_path / "subjects") as writer:
        for n in range(60):
            text = f"{SUBJECTS[n % 4]} and {SUBJECTS[n % 4]} again, {'as before ' * (n // 4)}"
            writer.add(RawDocument(f"d{n:02}", f"Document {n}", (Part("", text),)))
        label_citations(writer, {f"d{n:02}": {f"d{n + 4:02}"} for n in range(56)}, DEFAULT)
        writer.finish()
    return DataFolder(tmp_path / "subjects")


def test_each_match_stands_beside_a_similar_document_that_no_label_relates(folder):
    near = DataFolder(write_near_pairs(folder, depth=DEPTH))
    matches = [(p.split, p.source, p.target) for p in near.pairs() if p.label]
    others = [(p.split, p.source, p.target) for p in near.pairs() if not p.label]
    assert matches == [(p.split, p.source, p.target) for p in folder.pairs() if p.label]
    assert [(split, source) for split, source, _ in others] == [(split, source) for split, source, _ in matches]
    cited = {frozenset((source, target)) for _, source, target in matches}
    assert not any(frozenset((source, target)) in cited or source == target for _, source, target in others)
    same_subject = [int(source[1:]) % 4 == int(target[1:]) % 4 for _, source, target in others]
    assert sum(same_subject) >= 0.9 * len(others)  # of documents drawn from all, a quarter


def test_no_document_of_a_later_split_is_a_non_match_of_an_earlier_one(folder):
    near = DataFolder(write_near_pairs(folder, depth=DEPTH))
    assert set(near.splits) == {"train", "validation", "test"}
    assert all(pair.split == DEFAULT.of_pair(pair.source, pair.target) for pair in near.pairs())


def test_the_same_command_writes_the_same_pairs(folder, capsys):
    main([str(folder.path)])
    first = (folder.path / "pairs-near.tsv").read_bytes()
    main([str(folder.path)])
    assert (folder.path / "pairs-near.tsv").read_bytes() == first
    main([str(folder.path), "--seed", "1"])
    assert (folder.path / "pairs-near.tsv").read_bytes() != first
    assert "subjects/pairs-near.tsv: train " in capsys.readouterr().out


def test_a_set_split_by_another_rule_is_refused(folder):
    with pytest.raises(ReadError, match="other splits"):
        write_near_pairs(folder, LEGAL)


def test_near_pairs_are_a_set_that_training_and_evaluation_know_by_one_name(folder):
    path = write_near_pairs(folder, depth=DEPTH)
    near = DataFolder(path)
    (source,) = find_sources([path])
    assert (near.name, near.path.name, source.name, source.documents) == ("subjects-near", "subjects") * 2
    assert source.labels == (path,)
    assert find_set(folder.path.parent, "subjects-near") == path
    assert find_set(folder.path.parent, "subjects") == folder.path
    assert near.judgements() == []


def test_evaluation_measures_near_pairs_on_the_encodings_of_the_folder(folder, tmp_path):
    path, out = write_near_pairs(folder, depth=1), tmp_path / "out"
    random = lm.evaluate(folder.path, "tfidf", out=out, protocol="pairs")
    near = lm.evaluate(path, "tfidf", out=out)
    assert {row.run.data for row in near} == {"subjects-near"}
    assert len(list((out / "encodings").iterdir())) == 1
    auc = {row.run.data: row.measures["roc_auc"] for row in (*random, *near) if row.model == "bm25"}
    assert auc["subjects-near"] < 0.5 < auc["subjects"]  # the non-matches are BM25's own best guesses
