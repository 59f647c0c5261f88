"""Several matrices on one page."""

import re

import numpy as np

from longmatch.documents.document import Span
from longmatch.lab.papers.colde.grids import Panel, write_grids
from longmatch.matching.match import Grid

NAMES = ("A · one", "B · <two>")


def page(tmp_path, scores):
    spans = (Span(0, 0),) * 2
    grid = Grid(NAMES, NAMES, spans, spans, np.array(scores, dtype=np.float32))
    path = write_grids(tmp_path / "grids.html", "Levels", [Panel("Documents", "A note.", grid)])
    return path.read_text(encoding="utf-8")


def test_every_pair_s_score_is_on_the_page_and_the_diagonal_is_not(tmp_path):
    found = page(tmp_path, [[1.0, 0.37], [0.37, 1.0]])
    assert found.count(">.37<") == 2 and ">1<" not in found
    assert "Documents" in found and "A note." in found


def test_labels_are_escaped_and_nothing_is_loaded(tmp_path):
    found = page(tmp_path, [[1.0, 0.2], [0.2, 1.0]])
    assert "B · &lt;two&gt;" in found and "<two>" not in found
    assert not re.search(r"(src|href)=", found) and "default-src &#39;none&#39;" in found
