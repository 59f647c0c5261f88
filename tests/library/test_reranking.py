"""A trained model reads the best of a library once more."""

import json
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from longmatch.cli.app import app
from longmatch.default.matcher import HybridMatcher
from longmatch.errors import LongmatchError
from longmatch.lab.training.train import train
from longmatch.library.errors import LibraryError
from longmatch.library.library import Library
from longmatch.matching.matcher import PairMatcher
from longmatch.models.loading import load
from tests.lab.baselines.cross.tiny_cross import save_learner
from tests.lab.training.synthetic.classes import common_words
from tests.lab.training.synthetic.wordings import name_of, write_two_wordings

pytestmark = pytest.mark.filterwarnings("ignore::longmatch.errors.LongmatchWarning")
THEMES = 3
QUERY = name_of(0, 0)  # of the validation split, as are all documents that are numbered below 5


@pytest.fixture(scope="module")
def place(tiny_bert: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A collection in which nothing but training tells what belongs together, and a model trained on it."""
    place = tmp_path_factory.mktemp("reranking")
    made = write_two_wordings(place / "wordings", common_words(tiny_bert / "vocab.txt"), THEMES)
    backbone = save_learner(tiny_bert, place / "learner")
    settings = {"documents": 64, "steps": 60, "learning_rate": 2e-3, "dropout": 0.0, "side_tokens": 16}
    train("cross", made, place / "model", backbone=str(backbone), device="cpu", schedule="constant", **settings)
    return place


@pytest.fixture(scope="module")
def model(place: Path) -> PairMatcher:
    found = load(place / "model")
    assert isinstance(found, PairMatcher)
    return found


@pytest.fixture(scope="module")
def made(place: Path, tiny: HybridMatcher) -> Library:
    library = Library(place / "library", tiny)
    library.add(place / "wordings" / "documents.jsonl")
    return library


def test_a_trained_model_brings_what_no_word_says_belongs_together_to_the_top(
    made: Library, model: PairMatcher
) -> None:
    other = " OR ".join(f"id LIKE 'w{THEMES + theme}-%'" for theme in range(THEMES))  # all in the other wording
    found = []
    for theme in range(THEMES):
        hits = made.rank(name_of(theme, 0), k=8, where=other, rerank=model, depth=48, combine=False)
        found += [hit.id.startswith(f"w{THEMES + theme}-") for hit in hits]
    assert sum(found) / len(found) > 0.85  # a third by chance


def test_without_combining_hits_have_the_second_models_scores_best_first(made: Library, model: PairMatcher) -> None:
    hits = made.rank(QUERY, k=5, rerank=model, depth=20, combine=False)
    first = [hit.document for hit in made.rank(QUERY, k=20)]
    scores = model.score_pairs([(made.show(QUERY), document) for document in first])
    best = sorted(zip((-scores).tolist(), (d.id for d in first), strict=True))[:5]
    assert [hit.id for hit in hits] == [id for _, id in best]
    assert [hit.score for hit in hits] == pytest.approx([-score for score, _ in best], abs=1e-4)
    assert hits[0].percentile == pytest.approx(100 * (len(made) - 2) / (len(made) - 1))


def test_both_orders_count_alike_and_scores_stay_the_librarys(made: Library, model: PairMatcher) -> None:
    plain = {hit.id: hit for hit in made.rank(QUERY, k=20)}
    first = [hit.document for hit in plain.values()]
    scores = model.score_pairs([(made.show(QUERY), document) for document in first]).tolist()
    own = [sum(other < score for other in scores) for score in scores]  # no two are equal
    mean = {d.id: (19 - place + rank) / 2 for place, (d, rank) in enumerate(zip(first, own, strict=True))}
    hits = made.rank(QUERY, k=20, rerank=model, depth=20)
    assert [hit.id for hit in hits] == sorted(mean, key=lambda id: (-mean[id], id))
    for hit in hits:
        assert (hit.score, hit.percentile) == pytest.approx((plain[hit.id].score, plain[hit.id].percentile))
    together = f"Ordered by default and {model.name} together."
    assert hits.remarks[0] == hits[:3].remarks[0] == together
    alone = made.rank(QUERY, k=20, rerank=model, depth=20, combine=False)
    assert [hit.id for hit in hits] not in ([hit.id for hit in alone], [document.id for document in first])


def test_hits_carry_the_first_stages_passages(made: Library, model: PairMatcher) -> None:
    first = {hit.id: hit for hit in made.rank(QUERY, k=20)}
    for hit in made.rank(QUERY, k=4, rerank=model, depth=20):
        assert hit.why == first[hit.id].why and hit.why


def test_as_many_are_read_as_are_asked_for_and_at_least_those_shown(made: Library, model: PairMatcher) -> None:
    for k, depth, read in ((3, 7, 7), (6, 2, 6)):
        told: list[int] = []
        hits = made.rank(QUERY, k=k, rerank=model, depth=depth, progress=told.append)
        assert sum(told) == read and len(hits) == k


def test_sdrs_best_are_ranked_anew_too(made: Library, model: PairMatcher) -> None:
    first = {hit.id for hit in made.rank(QUERY, k=8, by="sdr")}
    assert {hit.id for hit in made.rank(QUERY, k=8, by="sdr", rerank=model, depth=8)} == first


def test_a_document_whose_text_is_gone_is_named(
    made: Library, place: Path, tiny: HybridMatcher, model: PairMatcher
) -> None:
    shutil.copytree(made.address, place / "bare")
    library = Library(place / "bare", tiny)
    library.store.documents.update(where="id = 'w0-1'", values={"text": ""})
    shutil.rmtree(place / "bare" / "index")  # its records hold the text too
    with pytest.raises(LibraryError, match=r"holds no text of w0-1, so .* cannot read it") as error:
        Library(place / "bare", tiny).rank(QUERY, k=100, rerank=model)
    assert "\n" not in str(error.value)


def test_the_command_takes_a_models_folder(place: Path) -> None:
    run, source = CliRunner(), place / "some.jsonl"
    lines = (place / "wordings" / "documents.jsonl").read_text().splitlines()
    source.write_text("\n".join(lines[:20]) + "\n")
    library, model = str(place / "by-command"), str(place / "model")
    assert run.invoke(app, ["index", library, str(source)]).exit_code == 0
    asked = ["--json", "-k", "3", "--rerank", model, "--rerank-depth", "9"]
    found = json.loads(run.invoke(app, ["rank", QUERY, library, *asked]).stdout)
    plain = json.loads(run.invoke(app, ["rank", QUERY, library, "--json", "-k", "9"]).stdout)
    assert found["rerank"] == model and len(found["hits"]) == 3
    assert {hit["id"] for hit in found["hits"]} <= {hit["id"] for hit in plain["hits"]}
    assert all(hit["passages"] for hit in found["hits"])
    score = {hit["id"]: hit["score"] for hit in plain["hits"]}
    assert all(hit["score"] == score[hit["id"]] for hit in found["hits"])
    alone = json.loads(run.invoke(app, ["rank", QUERY, library, *asked, "--no-combine"]).stdout)
    assert (found["combined"], alone["combined"]) == (True, False)
    assert any(remark.startswith("Ordered by ") for remark in found["remarks"])
    assert not any(remark.startswith("Ordered by") for remark in alone["remarks"])
    assert [hit["score"] for hit in alone["hits"]] == sorted((hit["score"] for hit in alone["hits"]), reverse=True)
    assert not any(hit["score"] == score[hit["id"]] for hit in alone["hits"])
    for option in ("--combine", "--no-combine"):
        single = run.invoke(app, ["rank", QUERY, library, option])
        assert str(single.exception) == "--combine and --no-combine are for two models: add --rerank MODEL."


def test_the_command_ranks_anew_in_memory_too(place: Path, tmp_path: Path) -> None:
    lines = (place / "wordings" / "documents.jsonl").read_text().splitlines()
    (tmp_path / "some.jsonl").write_text("\n".join(lines[1:12]) + "\n")
    (tmp_path / "query.txt").write_text(json.loads(lines[0])["text"])
    asked = ["rank", str(tmp_path / "query.txt"), str(tmp_path / "some.jsonl"), "--json", "-k", "2"]
    second = [*asked, "--rerank", str(place / "model")]
    found = json.loads(CliRunner().invoke(app, [*second, "--no-combine"]).stdout)
    assert len(found["hits"]) == 2 and found["hits"][0]["percentile"] == pytest.approx(100 * 10 / 11, abs=0.01)
    both = json.loads(CliRunner().invoke(app, second).stdout)
    plain = json.loads(CliRunner().invoke(app, asked[:-2]).stdout)
    score = {hit["id"]: hit["score"] for hit in plain["hits"]}
    assert all(hit["score"] == score[hit["id"]] for hit in both["hits"])
    assert any(remark.startswith("Ordered by default and ") for remark in both["remarks"])


def test_a_model_that_is_not_there_is_said_before_anything_is_read(place: Path) -> None:
    result = CliRunner().invoke(app, ["rank", QUERY, str(place / "library"), "--rerank", str(place / "nowhere")])
    assert isinstance(result.exception, LongmatchError) and "There is no model" in str(result.exception)
