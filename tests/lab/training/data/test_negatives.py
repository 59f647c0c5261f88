"""Non-matches that share most words, held against BM25 written out."""

import json
import math
from pathlib import Path
from random import Random

import numpy as np
import pytest

from longmatch.lab.training.data.negatives import Candidates, FirstStage
from longmatch.lab.training.data.training_data import TrainingData
from tests.lab.training.data.conftest import table

WORDS = [f"w{letter}{other}" for letter in "abcdef" for other in "ghijk"]


def written(folder: Path, texts: dict[str, str], **files: str) -> Path:
    folder.mkdir()
    records = (json.dumps({"id": id, "title": "", "text": text}) for id, text in texts.items())
    (folder / "documents.jsonl").write_text("\n".join(records), encoding="utf-8")
    for name, content in files.items():
        (folder / f"{name}.tsv").write_text(content, encoding="utf-8")
    return folder


@pytest.fixture
def mixed(tmp_path: Path, opened) -> TrainingData:
    """Thirty documents of words drawn at random, of many lengths."""
    random = Random(3)
    texts = {f"d{n:02}": " ".join(random.choices(WORDS, k=random.randrange(3, 40))) + "." for n in range(30)}
    return opened(written(tmp_path / "mixed", texts), negatives="near")


def by_hand(data: TrainingData, query: int, pool: list[int]) -> list[float]:
    documents = [data.tokens[number].ids.tolist() for number in pool]
    mean = sum(map(len, documents)) / len(documents)
    scores = []
    for words in documents:
        score = 0.0
        for word in data.tokens[query].ids.tolist():  # as often as the query holds it
            holding = sum(word in other for other in documents)
            rarity = math.log(1 + (len(documents) - holding + 0.5) / (holding + 0.5))
            often = words.count(word)
            score += rarity * often / (often + 1.5 * (0.25 + 0.75 * len(words) / mean))
        scores.append(score)
    return scores


def test_the_nearest_are_those_of_bm25_without_the_query(mixed) -> None:
    pool = np.arange(5, 30)
    queries, near = np.array([0, 7, 29]), FirstStage(mixed.tokens, Candidates(pool, {}))
    for query, found in zip(queries, near.nearest(queries, 6), strict=True):
        scores = dict(zip(pool.tolist(), by_hand(mixed, int(query), pool.tolist()), strict=True))
        scores.pop(int(query), None)
        best = sorted(scores.values(), reverse=True)[:6]
        assert [scores[number] for number in found.tolist()] == pytest.approx(best, rel=1e-4)


def test_near_non_matches_share_words_and_make_up_for_those_that_judgements_lack(tmp_path, opened) -> None:
    near = {f"n{n:02}": f"{WORDS[0]} {WORDS[1]} {WORDS[n % 25 + 2]}." for n in range(45)}
    far = {f"f{n:02}": f"{WORDS[n % 20 + 5]}." for n in range(45)}
    rows = [("train", "q", "n00", 2), ("train", "q", "n01", 1), ("train", "q", "n02", 1), ("train", "q", "f00", 0)]
    rows += [("validation", "v", "n03", 1)]
    texts = near | far | {"q": f"{WORDS[0]} {WORDS[1]}.", "v": f"{WORDS[0]}."}
    folder = written(tmp_path / "judged", texts, qrels=table("split query document grade", rows))
    data = opened(folder, negatives="near")
    pairs = data.pairs("train")
    others = [data.tokens.ids[number] for number in pairs.target[pairs.label == 0].tolist()]
    assert sorted(pairs.label.tolist()) == [0, 0, 0, 1, 1, 1]  # one more match than judged non-matches: two are added
    assert "f00" in others
    assert all(other.startswith("n") for other in others if other != "f00")
    assert not {"n00", "n01", "n02", "n03"} & set(others)


def test_near_non_matches_follow_the_seed_in_training_alone(tmp_path, opened) -> None:
    texts = {f"n{n:02}": f"{WORDS[0]} {WORDS[n % 25 + 2]}." for n in range(45)}
    rows = [(split, split, f"n{n:02}", 1) for split, n in [("train", 0), ("train", 1), ("validation", 2)]]
    texts |= dict.fromkeys(("train", "validation"), f"{WORDS[0]}.")
    folder = written(tmp_path / "seeded", texts, qrels=table("split query document grade", rows))
    first, same, other = (opened(folder, seed=seed, negatives="near") for seed in (1, 1, 2))
    assert first.pairs("train").target.tolist() == same.pairs("train").target.tolist()
    assert first.pairs("train").target.tolist() != other.pairs("train").target.tolist()
    assert first.pairs("validation").target.tolist() == other.pairs("validation").target.tolist()


def test_a_query_with_a_pool_of_its_own_finds_nothing_else(mixed) -> None:
    pool, own = np.arange(5, 30), np.array([3, 8, 12, 7, 20])
    near = FirstStage(mixed.tokens, Candidates(pool, {7: own}))
    (found,) = near.nearest(np.array([7]))
    scores = dict(zip(pool.tolist(), by_hand(mixed, 7, pool.tolist()), strict=True))
    assert found.tolist() == sorted([8, 12, 20], key=lambda number: -scores[number])  # 3 is no candidate, 7 the query


@pytest.fixture
def judged(tmp_path: Path) -> Path:
    """Two queries with three matches each: one that BM25 finds among 50 documents, and two that share no word."""
    near = {f"n{n:02}": f"{WORDS[0]} {WORDS[1]} {WORDS[n % 25 + 2]}." for n in range(45)}
    far = {f"f{n}": f"{WORDS[28]} {WORDS[29]}." for n in range(5)}
    queries = dict.fromkeys(("train", "validation", "test"), f"{WORDS[0]} {WORDS[1]}.")
    rows = [(split, split, id, 1) for split in queries for id in ("n00", "f0", "f1")]
    return written(tmp_path / "reached", near | far | queries, qrels=table("split query document grade", rows))


def targets(data: TrainingData, split: str, label: int) -> list[str]:
    pairs = data.pairs(split)
    return sorted(data.tokens.ids[number] for number in pairs.target[pairs.label == label].tolist())


def test_only_matches_that_the_first_stage_finds_are_learnt_from_and_validated_with(judged, opened) -> None:
    every, reached = (opened(judged, negatives="near", reachable=reachable) for reachable in (False, True))
    for split in ("train", "validation", "test"):
        assert targets(every, split, 1) == ["f0", "f1", "n00"]
    for split in ("train", "validation"):
        assert targets(reached, split, 1) == ["n00"]
        (other,) = targets(reached, split, 0)  # one for each match that is left
        assert other.startswith("n")
    assert targets(reached, "test", 1) == ["f0", "f1", "n00"]
    assert reached.positives.tolist() == every.positives.tolist()  # what is left out is no non-match either


def test_matches_out_of_reach_are_left_out_of_labelled_pairs_too(tmp_path, judged, opened) -> None:
    rows = [("train", "train", id, label) for id, label in (("n00", 1), ("f0", 1), ("f1", 0))]
    (judged / "pairs.tsv").write_text(table("split source target label", rows), encoding="utf-8")
    (judged / "qrels.tsv").unlink()
    data = opened(judged, reachable=True)
    assert targets(data, "train", 1) == ["n00"]
    assert targets(data, "train", 0) == ["f1"]
