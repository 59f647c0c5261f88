"""Pages drawn as pictures of bounded size, with a passage highlighted where it stands."""

import struct
import zlib

import numpy as np
import pytest

from longmatch.documents.pdf.picture import page_picture
from longmatch.errors import ReadError
from tests.documents.pdf.reading import FIXTURES, document

PAPER = FIXTURES / "paper.pdf"


def pixels(png: bytes) -> np.ndarray:
    """The pixels of a PNG without filters, read by hand."""
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", png[16:24])
    size = struct.unpack(">I", png[33:37])[0]
    rows = np.frombuffer(zlib.decompress(png[41 : 41 + size]), dtype=np.uint8).reshape(height, 1 + 3 * width)
    return rows[:, 1:].reshape(height, width, 3)


def yellow(image: np.ndarray) -> np.ndarray:
    return image[..., 2].astype(int) < image[..., 0].astype(int) - 60


def test_a_page_is_drawn_no_larger_than_asked():
    drawn = page_picture(PAPER, 1, longest=400)
    assert max(pixels(drawn.png).shape) == 400 and drawn.pages >= 1


def test_a_passage_is_highlighted_and_nothing_else():
    found = document("paper")
    sentence = next(s for s in found.sentences if s.end - s.start > 80 and found.page_at(s.start) == 1)
    plain, marked = (pixels(page_picture(PAPER, 1, text).png) for text in ("", sentence.of(found.text)))
    marks = yellow(marked) & ~yellow(plain)
    assert 0.001 < marks.mean() < 0.05
    assert (plain != marked).any(axis=2).mean() < 0.05


def test_a_passage_that_is_not_on_the_page_leaves_it_as_it_is():
    assert page_picture(PAPER, 1, "Nobody ever wrote this sentence about zebras.") == page_picture(PAPER, 1)


def test_a_page_that_is_not_there_is_refused_in_a_sentence():
    with pytest.raises(ReadError, match=r"has no page 99\. Its pages are numbered from 1 to"):
        page_picture(PAPER, 99)
