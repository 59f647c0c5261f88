"""Files that cannot be read: one sentence each, never a traceback."""

import threading
import warnings
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from longmatch.documents import ocr
from longmatch.documents.draft import Draft
from longmatch.documents.pdf.reader import read_pdf
from longmatch.errors import LongmatchWarning, ReadError
from tests.documents.pdf.reading import FIXTURES, blank_scan
from tests.effort import tried

PATENT = (FIXTURES / "patent.pdf").read_bytes()


def error(path: Path) -> str:
    with pytest.raises(ReadError) as caught:
        read_pdf(path)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_scan_is_said_to_hold_no_text_and_which_extra_reads_it(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(ocr, "is_available", lambda: False)
    said = error(FIXTURES / "scan.pdf")
    assert "holds no text (it may be a scan). Install OCR to read scans: pip install 'longmatch[ocr]'." in said


def test_a_picture_in_which_ocr_finds_nothing_either_is_said_to_hold_no_text(tmp_path: Path):
    assert "holds no text (it may be a scan). OCR found none either" in error(blank_scan(tmp_path / "blank.pdf"))


def test_an_encrypted_file_is_said_to_need_a_password():
    assert "needs a password. Save a copy without one" in error(FIXTURES / "encrypted.pdf")


def test_a_file_encrypted_with_an_empty_password_is_read():
    assert "TECHNICAL FIELD" in read_pdf(FIXTURES / "encrypted-open.pdf").document("p").text


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 0.999])
def test_a_truncated_file_is_said_to_be_damaged(tmp_path: Path, share: float):
    path = tmp_path / "cut.pdf"
    path.write_bytes(PATENT[: int(share * len(PATENT))])
    assert "is damaged" in error(path)


@pytest.mark.parametrize("content", [b"", b"hello", b"PK\x03\x04"])
def test_a_file_that_is_no_pdf_is_said_to_be_none(tmp_path: Path, content: bytes):
    path = tmp_path / "letter.pdf"
    path.write_bytes(content)
    assert "is not a PDF" in error(path)


def test_a_missing_file_and_a_folder_are_named(tmp_path: Path):
    assert "cannot be opened" in error(tmp_path / "missing.pdf")
    assert "cannot be opened" in error(tmp_path)


@settings(max_examples=tried(25), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    start=st.integers(0, len(PATENT)),
    end=st.integers(0, len(PATENT)),
    flips=st.lists(st.tuples(st.integers(0, len(PATENT) - 1), st.integers(0, 255)), max_size=30),
)
def test_cut_and_flipped_bytes_give_a_draft_or_one_sentence(
    tmp_path: Path, start: int, end: int, flips: list[tuple[int, int]]
):
    data = bytearray(PATENT)
    for place, value in flips:
        data[place] = value
    if start < end < start + 2000:
        del data[start:end]
    path = tmp_path / "fuzzed.pdf"
    path.write_bytes(bytes(data))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LongmatchWarning)
        try:
            assert isinstance(read_pdf(path), Draft)
        except ReadError as problem:
            assert str(path) in str(problem)


def test_several_threads_may_read_at_once():
    drafts: list[Draft] = []
    threads = [threading.Thread(target=lambda: drafts.append(read_pdf(FIXTURES / "paper.pdf"))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({draft.document("x").text for draft in drafts}) == 1
    assert len(drafts) == 4
