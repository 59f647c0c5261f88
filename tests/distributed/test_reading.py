"""Files are read in blocks; what a block holds is what the files hold."""

import gzip
import json
import zipfile
from pathlib import Path

import pytest

from longmatch.distributed.reading import file_blocks, read_block
from longmatch.errors import LongmatchError
from longmatch.library.files import SourceFile, SourcePaths, read_files, survey
from tests.library.tiny import made_up_text, write_texts


@pytest.fixture
def files(tmp_path: Path) -> list[SourceFile]:
    folder = write_texts(tmp_path / "texts", range(7))
    rows = [json.dumps({"id": f"r{n}", "text": made_up_text(n)}) for n in range(9)] + ["", "{", '{"id": 3}']
    (folder / "rows.jsonl.gz").write_bytes(gzip.compress("\n".join(rows).encode()))
    (folder / "none.jsonl").write_text("\n\n")
    (folder / "cut.jsonl.gz").write_bytes(gzip.compress("\n".join(rows).encode())[:-20])
    (folder / "empty.md").write_text("")
    messages = (f"From x\nFrom: a@example.org\nSubject: {n}\n\n{made_up_text(n)}\n\n" for n in range(3))
    (folder / "in.mbox").write_text("".join(messages) + "From x\nSubject: none\n\n1\n")
    with zipfile.ZipFile(folder / "all.zip", "w") as file:
        for n in range(70):
            file.writestr(f"{n}.txt", made_up_text(n))
        file.writestr("bad.odt", "x")
        file.writestr("inner.zip", "x")
    (folder / "none.zip").write_bytes((folder / "all.zip").read_bytes()[:-50])
    return survey([folder], {}, SourcePaths(tmp_path)).to_read


@pytest.mark.parametrize("size", [1, 2_000, 10_000_000])
def test_blocks_hold_what_the_files_hold_in_their_order(files: list[SourceFile], size: int) -> None:
    found: dict[str, tuple[list[str], list[str]]] = {}
    for block in file_blocks(files, size):
        seen, documents = read_block(block)
        for one in seen:
            ids, problems = found.setdefault(one.file.source, ([], []))
            ids += [documents[document.position].text for document in one.documents]
            problems += map(str, one.problems)
    expected = {}
    for reading in read_files(files, processes=1):
        texts = [document.text for document in reading.documents]
        expected[reading.file.source] = texts, list(map(str, reading.problems))
    assert found == expected
    assert list(found) == [file.source for file in files]


def test_a_small_block_size_cuts_json_lines_between_lines(files: list[SourceFile]) -> None:
    rows = [file for file in files if file.path.name.startswith("rows")]
    blocks = list(file_blocks(rows, 2_000))
    assert len(blocks) > 2
    assert [block.last for block in blocks] == [False] * (len(blocks) - 1) + [True]


def test_documents_that_a_machine_does_not_see_are_named_with_the_way_out(
    files: list[SourceFile], tmp_path: Path
) -> None:
    (tmp_path / "texts").rename(tmp_path / "moved")
    block = next(block for block in file_blocks(files) if block.members is None)
    with pytest.raises(LongmatchError, match="where all machines of the cluster find them"):
        read_block(block)
