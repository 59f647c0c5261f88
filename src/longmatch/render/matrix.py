"""The matrix of two documents' parts as the renderers show it: labels, values in two digits, shades of one hue."""

from base64 import b64encode
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from longmatch.documents.document import Document, Span
from longmatch.matching.match import Grid, Level
from longmatch.matching.wording import label

SHADES = 20
LARGEST_TABLE = 1600  # cells; a larger matrix is drawn by the page's script, a pixel a cell
LEAST_TOP = 0.4  # the darkest shade stands for at least this score, so that chance never looks like a match
NOUNS: dict[Level, str] = {"sections": "section", "chunks": "passage", "sentences": "sentence"}
LEAST_RANGE = 0.2  # between the lightest and the darkest shade, so that small differences never look large


@dataclass(frozen=True)
class Matrix:
    """A grid made ready to be shown. Within one document the diagonal says nothing and takes no shade."""

    grid: Grid
    a: Document
    b: Document
    within: bool = False
    level: Level = "sections"

    @property
    def noun(self) -> str:
        """What one row is."""
        return NOUNS[self.level]

    @cached_property
    def rows(self) -> list[str]:
        """The row labels, none empty."""
        return self._labels(self.row_groups)

    @cached_property
    def columns(self) -> list[str]:
        """The column labels, none empty."""
        return self._labels(self.column_groups)

    @property
    def row_groups(self) -> list[tuple[str, int]]:
        """The rows that stand under one heading, one after the other: its label, and how many they are."""
        return self._groups(self.grid.rows, self.grid.row_spans, self.a)

    @property
    def column_groups(self) -> list[tuple[str, int]]:
        """The same for the columns."""
        return self._groups(self.grid.columns, self.grid.column_spans, self.b)

    def _labels(self, groups: list[tuple[str, int]]) -> list[str]:
        """A section by its heading; a part of one by its number, which stands first and so is never cut off."""
        names = [name for name, size in groups for _ in range(size)]
        return names if self.level == "sections" else [f"{number} · {name}" for number, name in enumerate(names, 1)]

    def _groups(self, headings: Sequence[str], spans: Sequence[Span], document: Document) -> list[tuple[str, int]]:
        text, sections = document.readable, document.sections
        if self.level == "sections":
            opened = zip(headings, spans, strict=True)
            return [(label(heading, text[span.start : span.start + 200]), 1) for heading, span in opened]
        starts = [section.start for section in sections]
        homes = Counter(max(0, bisect_right(starts, span.start) - 1) for span in spans)
        return [
            (label(sections[home].heading, text[sections[home].start :][:200]), size) for home, size in homes.items()
        ]

    @property
    def openings(self) -> tuple[list[str], list[str]] | None:
        """How each row and each column begins, at the levels where a heading does not tell them apart."""
        if self.level == "sections":
            return None
        sides = ((self.a, self.grid.row_spans), (self.b, self.grid.column_spans))
        rows, columns = ([label("", d.readable[s.start : s.end], 14) for s in spans] for d, spans in sides)
        return rows, columns

    @cached_property
    def scores(self) -> npt.NDArray[np.float64]:
        """The scores kept within 0 and 1; below chance is shown as 0, and so is what could not be scored."""
        return np.clip(np.nan_to_num(np.asarray(self.grid.scores, dtype=np.float64)), 0.0, 1.0)

    @cached_property
    def _scale_scores(self) -> npt.NDArray[np.float64]:
        """The scores that set the scale: all, but the diagonal within one document."""
        apart = self.within and len(self.scores) > 1
        return self.scores[np.eye(len(self.scores)) == 0] if apart else self.scores

    @cached_property
    def top(self) -> float:
        """The score of the darkest shade."""
        return max(LEAST_TOP, float(self._scale_scores.max(initial=0.0)))

    @cached_property
    def bottom(self) -> float:
        """The score of the lightest shade: above 0 where all sections are alike, so that differences stay visible."""
        return max(0.0, min(float(self._scale_scores.min(initial=1.0)), self.top - LEAST_RANGE))

    @cached_property
    def shares(self) -> npt.NDArray[np.float64]:
        """How far each score lies between the lightest and the darkest shade, 0 to 1."""
        return np.clip((self.scores - self.bottom) / (self.top - self.bottom), 0.0, 1.0)

    @property
    def drawn(self) -> bool:
        """Whether it is too large for a table."""
        return self.scores.size > LARGEST_TABLE

    @property
    def values(self) -> list[list[int]]:
        """Scores in hundredths."""
        return np.rint(self.scores * 100).astype(int).tolist()  # type: ignore[no-any-return]

    @property
    def packed(self) -> str:
        """The values as one byte each, row by row, in base 64: what the script draws from."""
        return b64encode(np.rint(self.scores * 100).astype(np.uint8).tobytes()).decode()

    @property
    def shades(self) -> list[list[int]]:
        """0 to SHADES, from the bottom to the top."""
        return np.rint(self.shares * SHADES).astype(int).tolist()  # type: ignore[no-any-return]

    @property
    def cells(self) -> list[tuple[str, list[tuple[str, int, bool]]]]:
        """Row by row: the label, then (value, shade, whether it is a section with itself).

        Values have two digits after the point, without the zero before it: .07; 0 and 1 are as they are.
        """
        found = []
        for i, (name, values, shades) in enumerate(zip(self.rows, self.values, self.shades, strict=True)):
            short = [{0: "0", 100: "1"}.get(value, f".{value:02d}") for value in values]
            itself = [self.within and i == j for j in range(len(values))]
            found.append((name, list(zip(short, shades, itself, strict=True))))
        return found
