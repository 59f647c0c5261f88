"""A library's model learns from the library's documents; it is used where it proves better, and only there."""

import signal
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest

from longmatch.default.matcher import HybridMatcher
from longmatch.documents.document import Document
from longmatch.documents.read import read
from longmatch.lab.adapting.adapt import Adaptation, adapt, tokenized, undo
from longmatch.lab.adapting.learning import learn_halves
from longmatch.library.errors import LibraryError
from longmatch.library.library import Library
from tests.forked import start
from tests.lab.adapting.conftest import DOCUMENTS, STEPS, Copy, interrupt_at
from tests.lab.adapting.killed_process import adapt_and_die
from tests.lab.adapting.stems import coined_text, write_coined
from tests.library.tiny import write_texts

FEW = 4  # questions that tell whether the answers are the same
Answers = list[list[tuple[str, float]]]


@pytest.fixture(scope="session")
def siblings(tmp_path_factory: pytest.TempPathFactory) -> list[Document]:
    """Documents of some of the stems that the library does not have."""
    folder = tmp_path_factory.mktemp("siblings")
    for number in range(0, DOCUMENTS, 4):
        (folder / f"c{number:03}.txt").write_text(coined_text(number, salt=1), encoding="utf-8")
    return [read(path) for path in sorted(folder.iterdir())]


@pytest.fixture(scope="session")
def old(tiny: HybridMatcher, plain: Path, siblings: list[Document]) -> Answers:
    """What the library answers that is not adapted."""
    return answers(Library(plain, tiny, create=False), siblings)


@pytest.fixture(scope="session")
def new(tiny: HybridMatcher, adapted: Path, siblings: list[Document]) -> Answers:
    """What the adapted one does."""
    return answers(Library(adapted, tiny, create=False), siblings)


def answers(library: Library, queries: list[Document]) -> Answers:
    return [[(hit.id, round(hit.score, 4)) for hit in library.rank(query, k=4)] for query in queries]


def worth(found: Answers, queries: list[Document]) -> float:
    """The mean reciprocal rank of the library's document of the same stem, 0 where it is not among the best."""
    ranked = [[id for id, _ in some] for some in found]
    places = [ids.index(query.id) if query.id in ids else np.inf for query, ids in zip(queries, ranked, strict=True)]
    return float(np.mean([1 / (1 + place) for place in places]))


def contents(library: Library) -> dict[str, str]:
    folder = Path(library.address)
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {str(path.relative_to(folder)): sha256(path.read_bytes()).hexdigest() for path in files}


def test_where_it_helps_it_is_adopted_and_ranks_new_documents_better(
    old: Answers, new: Answers, siblings: list[Document]
) -> None:
    assert worth(new, siblings) > worth(old, siblings) + 0.05


def test_where_it_cannot_help_the_library_is_kept_byte_for_byte(tiny: HybridMatcher, tmp_path: Path) -> None:
    library = Library(tmp_path / "library", tiny)
    library.add(write_coined(tmp_path / "texts", DOCUMENTS, coined=0))
    before = contents(library)
    found = adapt(library, steps=2)
    assert not found.adopted and not found.proof.holds
    assert contents(library) == before


def test_a_dry_run_leaves_the_library_as_it_was_whatever_it_proves(
    plain: Path, copied: Copy, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = copied(plain)
    before = contents(library)
    monkeypatch.setattr("longmatch.lab.adapting.proof.Proof.holds", True)
    assert not adapt(library, steps=1, dry_run=True).adopted
    assert contents(library) == before


def test_the_same_seed_learns_the_same_change_and_another_seed_another(tiny: HybridMatcher, plain: Path) -> None:
    library = Library(plain, tiny, create=False)
    documents = list(tokenized(library._store, list(library)[:20], tiny))
    first, again, other = (learn_halves(tiny.backbone, documents, 2, seed, 0.0)[0] for seed in (0, 0, 1))
    assert all(np.array_equal(first[name], again[name]) for name in first)
    assert not all(np.array_equal(first[name], other[name]) for name in first)


def test_without_a_number_of_steps_as_many_are_taken_as_fit_but_a_least_number(
    tiny: HybridMatcher, plain: Path
) -> None:
    library = Library(plain, tiny, create=False)
    documents = list(tokenized(library._store, list(library)[:20], tiny))
    told: list[tuple[int, int]] = []
    _, steps = learn_halves(tiny.backbone, documents, None, 0, 0.0, lambda *far: told.append(far))
    assert steps == 10 and told == [(step, 10) for step in range(1, 11)]


def test_undo_gives_the_old_answers_back_to_a_handle_that_was_open_too(
    adapted: Path, copied: Copy, tiny: HybridMatcher, siblings: list[Document], old: Answers, new: Answers
) -> None:
    library = copied(adapted)
    reader = Library(library.address, tiny, create=False)
    few = siblings[:FEW]
    assert answers(reader, few) == new[:FEW] != old[:FEW]
    undo(library)
    assert answers(library, few) == answers(reader, few) == old[:FEW]
    assert library.summary()["adapted"] is None
    with pytest.raises(LibraryError, match="not adapted, so there is nothing to undo"):
        undo(library)


def test_interrupted_while_it_learns_the_library_is_untouched(plain: Path, copied: Copy) -> None:
    library = copied(plain)
    before = contents(library)
    for stage in ("reading", "learning", "proving"):
        with pytest.raises(KeyboardInterrupt):
            adapt(library, steps=1, progress=interrupt_at(stage))
        assert contents(library) == before


def test_interrupted_or_killed_while_documents_are_encoded_again_it_answers_as_before_and_the_next_run_goes_on(
    halfway: Path, copied: Copy, tiny: HybridMatcher, siblings: list[Document], old: Answers, new: Answers
) -> None:
    library, few = copied(halfway), siblings[:FEW]
    assert answers(library, few) == old[:FEW]
    process = start(adapt_and_die, tiny.backbone.name, library.address)
    process.join()
    assert process.exitcode == -signal.SIGKILL
    opened = Library(library.address, tiny, create=False)
    assert answers(opened, few) == old[:FEW]
    stages: set[str] = set()
    assert adapt(opened, progress=lambda what, *far: stages.add(what)).adopted
    assert stages == {"encoding again"}
    assert answers(opened, few) == new[:FEW]


def test_documents_added_later_are_encoded_with_what_was_learnt(
    adapted: Path, copied: Copy, tiny: HybridMatcher, tmp_path: Path
) -> None:
    library = copied(adapted)
    text = tmp_path / "new.txt"
    text.write_text(coined_text(500), encoding="utf-8")
    library.add(text)
    mean = library.encode("new.txt").mean
    learnt, plain = (matcher.encode([read(text)])[0].mean for matcher in (library.matcher, tiny))
    assert np.allclose(mean, learnt, atol=1e-3)
    assert not np.allclose(mean, plain, atol=1e-3)


def test_it_can_be_adapted_again_and_undone_step_by_step(
    adapted: Path, copied: Copy, siblings: list[Document], new: Answers, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = copied(adapted)
    once = library._store.model.change
    monkeypatch.setattr("longmatch.lab.adapting.proof.Proof.holds", True)  # whatever it gives
    assert adapt(library, steps=2, seed=1).adopted
    twice = library._store.adapter()
    assert twice is not None and twice.before == once
    few = siblings[:FEW]
    assert answers(library, few) != new[:FEW]
    undo(library)
    assert library._store.model.change == once
    assert answers(library, few) == new[:FEW]


def test_encoding_again_keeps_what_was_learnt(
    adapted: Path, copied: Copy, siblings: list[Document], new: Answers
) -> None:
    library = copied(adapted)
    library.reencode()
    assert library.summary()["adapted"]
    assert answers(library, siblings[:FEW]) == new[:FEW]


def test_the_facts_tell_when_it_was_adapted_and_with_what_proof(
    adapted: Path, tiny: HybridMatcher, plain: Path
) -> None:
    library = Library(adapted, tiny, create=False)
    told, learnt = library.summary()["adapted"], library._store.adapter()
    assert told["when"].endswith("+00:00") and told["steps"] == STEPS
    assert learnt is not None and Adaptation.of_adapter(learnt).proof.to_dict() == told["proof"]
    assert told["proof"]["score"]["after"] > told["proof"]["score"]["before"]
    assert Library(plain, tiny, create=False).summary()["adapted"] is None


def test_too_few_documents_are_refused_in_one_sentence(tiny: HybridMatcher, tmp_path: Path) -> None:
    library = Library(tmp_path / "library", tiny)
    library.add(write_texts(tmp_path / "texts", range(8)))
    with pytest.raises(
        LibraryError, match=r"has 0 documents with 16 sentences or more, too few .* at least 40 are needed\.$"
    ):
        adapt(library)
