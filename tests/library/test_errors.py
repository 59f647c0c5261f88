"""What goes wrong is one sentence, and what was there is still readable."""

import json
import os
import resource
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import lancedb
import pytest

from longmatch.default.matcher import HybridMatcher
from longmatch.errors import LongmatchError
from longmatch.library import store
from longmatch.library.library import Library
from tests.library.tiny import made_up_text, tiny_matcher, write_texts
from tests.tiny_models import save_roberta


def sentence(error: pytest.ExceptionInfo[LongmatchError]) -> str:
    said = str(error.value)
    assert "\n" not in said
    assert "Traceback" not in said
    return said


@pytest.fixture
def filled(library: Library, texts: Path) -> Library:
    library.add(texts)
    return library


@pytest.fixture
def small_files() -> Iterator[Callable[[int], None]]:
    """Lets files grow to so many bytes only, as a full disk would."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    yield lambda size: resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_full_disk_is_said_and_what_was_stored_stays(
    filled: Library, texts: Path, opened: Callable[[], Library], small_files: Callable[[int], None]
) -> None:
    before = [hit.id for hit in filled.rank("d001.txt")]
    write_texts(texts, range(30, 38))
    small_files(10_000)
    with pytest.raises(LongmatchError) as error:
        filled.add(texts)
    assert "is full. Free some space" in sentence(error)
    small_files(resource.RLIM_INFINITY)
    assert [hit.id for hit in opened().rank("d001.txt")] == before
    assert len(opened().add(texts).added) == 8


def test_a_library_that_cannot_be_written_can_be_asked(
    filled: Library, texts: Path, opened: Callable[[], Library], tmp_path: Path
) -> None:
    before = [hit.id for hit in filled.rank("d001.txt")]
    shutil.rmtree(Path(filled.address) / "index")  # not even the index is at hand
    with read_only(Path(filled.address)):
        reader = opened()
        assert [hit.id for hit in reader.rank("d001.txt")] == before
        (texts / "d001.txt").write_text(made_up_text(9))
        with pytest.raises(LongmatchError) as error:
            reader.add(texts)
    assert "cannot be written" in sentence(error)


class read_only:
    """A folder mounted read-only onto itself, or without the right to write where nothing can be mounted."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __enter__(self) -> None:
        self.mounted = os.geteuid() == 0
        if self.mounted:
            subprocess.run(["mount", "--bind", self.folder, self.folder], check=True)
            subprocess.run(["mount", "-o", "remount,ro,bind", self.folder], check=True)
        else:
            for place, _, _ in os.walk(self.folder):
                Path(place).chmod(0o555)

    def __exit__(self, *_: object) -> None:
        if self.mounted:
            subprocess.run(["umount", self.folder], check=True)
        else:
            for place, _, _ in os.walk(self.folder):
                Path(place).chmod(0o755)


def test_a_damaged_file_is_said_and_the_other_documents_stay_readable(
    filled: Library, texts: Path, opened: Callable[[], Library]
) -> None:
    other = write_texts(texts.parent / "other", range(40, 42))
    filled.add(other)
    data = sorted((Path(filled.address) / "documents.lance" / "data").iterdir(), key=lambda p: p.stat().st_size)
    data[-1].write_bytes(data[-1].read_bytes()[:1000])
    with pytest.raises(LongmatchError) as error:
        opened().show("d001.txt")
    assert "is damaged" in sentence(error)
    assert opened().show("d040.txt").text == (other / "d040.txt").read_text()
    assert "d001.txt" in {hit.id for hit in opened().rank("d040.txt")}  # from its record in the index
    shutil.rmtree(Path(filled.address) / "index")
    with pytest.raises(LongmatchError) as error:
        opened().rank("d040.txt")  # its candidates are damaged
    assert "is damaged" in sentence(error)


def test_a_damaged_file_of_the_index_is_made_again(filled: Library, opened: Callable[[], Library]) -> None:
    before = [hit.id for hit in filled.rank("d001.txt")]
    for file in (Path(filled.address) / "index").rglob("*"):
        if file.is_file():
            file.write_bytes(b"damaged")
    assert [hit.id for hit in opened().rank("d001.txt")] == before


def test_a_library_of_a_newer_schema_is_left_alone(
    tmp_path: Path, filled: Library, opened: Callable[[], Library]
) -> None:
    newer = json.loads(filled.store.model.to_json()) | {"schema": 99, "later": True}
    table = lancedb.connect(filled.address).open_table(store.DOCUMENTS)
    schema = table.schema.with_metadata({store.MODEL_KEY: json.dumps(newer)})
    lancedb.connect(tmp_path / "newer").create_table(store.DOCUMENTS, schema=schema)
    with pytest.raises(LongmatchError, match="newer longmatch") as error:
        Library(tmp_path / "newer")
    assert "schema 99" in sentence(error)


def test_a_library_of_another_model_names_it(filled: Library, texts: Path, tmp_path: Path) -> None:
    (tmp_path / "roberta").mkdir()
    other = Library(filled.address, tiny_matcher(save_roberta(tmp_path / "roberta")))
    (texts / "new.txt").write_text(made_up_text(9))
    with pytest.raises(LongmatchError) as error:
        other.add(texts)
    assert filled.store.model.backbone in sentence(error)
    assert "longmatch index" in str(error.value)
    assert len(filled) == 8


def test_a_question_that_needs_no_model_asks_no_library_of_another_background(filled: Library) -> None:
    with pytest.raises(LongmatchError) as error:
        Library(filled.address, create=False).rank("d001.txt")
    assert "other background statistics" in sentence(error)


def test_the_same_model_in_another_precision_is_the_same_model(
    filled: Library, texts: Path, tiny: HybridMatcher
) -> None:
    coarse = HybridMatcher(type(tiny.backbone).load(tiny.backbone.name, precision="bfloat16"), tiny.statistics)
    assert coarse.backbone.precision == "bfloat16"
    (texts / "new.txt").write_text(made_up_text(9))
    assert Library(filled.address, coarse).add(texts).added == ["new.txt"]


@pytest.mark.parametrize("name", ["missing", "texts", "texts/d001.txt"])
def test_what_is_no_library_is_said_not_to_be_one(texts: Path, name: str) -> None:
    with pytest.raises(LongmatchError) as error:
        Library(texts.parent / name, create=False)
    assert "longmatch index" in sentence(error)


def test_unknown_ids_are_named(filled: Library) -> None:
    for ask in (filled.show, filled.remove, filled.rank):
        with pytest.raises(LongmatchError) as error:
            ask("nobody.txt")
        assert "nobody.txt" in sentence(error)
    assert len(filled) == 8


@pytest.mark.parametrize("where", ["year == = 2019", "year >> 2019", "words", "year + 1", "title"])
def test_a_condition_that_is_no_condition_is_said_to_be_none(filled: Library, where: str) -> None:
    for ask in (lambda: filled.rank("d001.txt", where=where), lambda: filled.records(where)):
        with pytest.raises(LongmatchError) as error:
            ask()
        assert f"condition {where!r} is not understood at character" in sentence(error)
