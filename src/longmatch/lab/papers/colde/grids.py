"""Several matrices on one page: a file that holds its own styles, loads nothing, and opens offline."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from longmatch.documents.document import Document
from longmatch.matching.match import Grid
from longmatch.matching.render.html import asset, digest, environment
from longmatch.matching.render.matrix import Matrix


@dataclass(frozen=True)
class Panel:
    """A matrix of some things with each other, and what a reader should know of it."""

    heading: str
    note: str
    grid: Grid

    @property
    def matrix(self) -> Matrix:
        """The matrix made ready; its diagonal says nothing."""
        nothing = Document("", "", "", ())
        return Matrix(self.grid, nothing, nothing, within=True)


def write_grids(path: Path, title: str, panels: Sequence[Panel]) -> Path:
    """Write the page and give back where it is."""
    style = asset("base.css", "match.css", "grids.css")
    policy = f"default-src 'none'; style-src {digest(style)}; base-uri 'none'; form-action 'none'"
    page = environment().get_template("grids.html").render(title=title, panels=panels, style=style, policy=policy)
    path.write_text(page, "utf-8", errors="replace", newline="\n")
    return path
