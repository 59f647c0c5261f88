"""Several matrices on one HTML page: a single file that works offline."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from longmatch.documents.document import Document
from longmatch.matching.match import Grid
from longmatch.render.html import asset, digest, environment
from longmatch.render.matrix import Matrix


@dataclass(frozen=True)
class Panel:
    """A square matrix with its heading and a note."""

    heading: str
    note: str
    grid: Grid

    @property
    def matrix(self) -> Matrix:
        """The matrix as the template reads it; its diagonal is left blank."""
        empty = Document("", "", "", ())
        return Matrix(self.grid, empty, empty, within=True)


def write_grids(path: Path, title: str, panels: Sequence[Panel]) -> Path:
    """Write the page to `path` and return it."""
    style = asset("base.css", "match.css", "grids.css", package=__package__)
    policy = f"default-src 'none'; style-src {digest(style)}; base-uri 'none'; form-action 'none'"
    template = environment(__package__).get_template("grids.html")
    page = template.render(title=title, panels=panels, style=style, policy=policy)
    path.write_text(page, "utf-8", errors="replace", newline="\n")
    return path
