"""A match as one HTML file: it holds its own styles and script, loads nothing, and opens offline."""

from base64 import b64encode
from functools import lru_cache
from hashlib import sha256
from pathlib import Path

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from longmatch.matching.match import Grid, Level, Match
from longmatch.render.verdict import chance, in_words
from longmatch.render.view import MatchView, matrix_data, matrix_view
from longmatch.render.wording import (
    count,
    kind_label,
    label,
    page_label,
    percent,
    section_note,
    section_status,
)

STYLES = ("base.css", "match.css", "reading.css")
SCRIPTS = ("links.js", "words.js", "places.js", "matrix.js", "drawing.js", "threads.js", "match.js")
START = "start.js"  # brings a page that holds its comparison from the start to life


HOME = "longmatch.render"


@lru_cache
def environment(package: str = HOME) -> Environment:
    """The templates of this package, behind those of another `package` if one is named; all values are escaped."""
    made = Environment(
        loader=ChoiceLoader([PackageLoader(name) for name in dict.fromkeys((package, HOME))]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals.update(label=label, section_note=section_note, section_status=section_status)
    made.filters.update(chance=chance, in_words=in_words, percent=percent, count=count, page_label=page_label)
    made.filters.update(kind_label=kind_label)
    return made


def asset(*names: str, package: str = HOME) -> Markup:
    """Style sheets or scripts, concatenated, to be inlined unescaped; looked up as `environment(package)` does."""
    templates = environment(package)
    assert templates.loader is not None
    sources = (templates.loader.get_source(templates, name)[0] for name in names)
    return Markup("\n".join(source.strip() for source in sources))


def digest(inlined: str) -> str:
    """An inlined style or script as a content security policy names it."""
    return f"'sha256-{b64encode(sha256(inlined.encode()).digest()).decode()}'"


def render_fragment(match: Match, level: Level = "sections", grid: Grid | None = None) -> str:
    """The comparison alone, for a page that brings the styles and script itself."""
    return environment().get_template("comparison.html").render(view=MatchView(match, level, grid))


def render_matrix(match: Match, level: Level, grid: Grid | None = None) -> str:
    """The matrix alone, to take the place of another level's."""
    matrix = matrix_view(match, level, grid)
    page = environment().get_template("matrix.html")
    return page.render(matrix=matrix, within=match.a is match.b, data=matrix_data(matrix))


def render_html(match: Match) -> str:
    """The whole page."""
    style, script = asset(*STYLES), asset(*SCRIPTS, START)
    allowed = f"style-src {digest(style)}; script-src {digest(script)}"
    policy = f"default-src 'none'; {allowed}; base-uri 'none'; form-action 'none'"
    page = environment().get_template("page.html")
    return page.render(view=MatchView(match), style=style, script=script, policy=policy)


def write_html(match: Match, path: Path) -> Path:
    """Write the page and give back where it is."""
    return write_page(render_html(match), path)


def write_page(page: str, path: Path) -> Path:
    """Write a page, making its folder. Characters that no file can hold become question marks."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(page, "utf-8", errors="replace", newline="\n")
    return path
