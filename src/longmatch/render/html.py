"""Results as HTML: a match or its redline as one file that loads nothing, and the small tables of a notebook."""

from base64 import b64encode
from collections.abc import Sequence
from functools import lru_cache
from hashlib import sha256
from itertools import groupby
from pathlib import Path
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from longmatch.documents.document import brief
from longmatch.matching.hits import Hits
from longmatch.matching.match import Grid, Level, Match
from longmatch.matching.wording import count, facts, label
from longmatch.render import wording
from longmatch.render.view import MatchView, mark_words, matrix_data, matrix_view
from longmatch.reuse.weaving import RevisedBlock

STYLES, REDLINE_STYLES = ("base.css", "match.css", "reading.css"), ("base.css", "match.css", "redline.css")
SCRIPTS = ("links.js", "words.js", "places.js", "matrix.js", "drawing.js", "threads.js", "match.js")
START = "start.js"  # brings a page that holds its comparison from the start to life
HOME = "longmatch.render"
FOLDED = 4  # unchanged or moved paragraphs in a row from which all but their ends are folded away
LONGEST = 300  # characters of a passage shown in a notebook
PASSAGES = 3  # pairs of a match shown there
_NAMES = {"same": "unchanged paragraph", "moved away": "paragraph moved away", "moved here": "paragraph moved here"}


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
    made.globals.update(label=label, facts=facts, brief=brief, marked=marked, wording=wording)
    made.filters.update(count=count, percent=wording.percent, chance=wording.chance, in_words=wording.in_words)
    made.filters.update(page_label=wording.page_label, kind_label=wording.kind_label)
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


def render_page(
    template: str, styles: Sequence[str], scripts: Sequence[str] = (), *, package: str = HOME, **values: Any
) -> str:
    """A page that holds its own styles and scripts, may run no others, and opens offline."""
    style, script = asset(*styles, package=package), asset(*scripts, package=package)
    allowed = f"style-src {digest(style)};{f' script-src {digest(script)};' if script else ''}"
    policy = f"default-src 'none'; {allowed} base-uri 'none'; form-action 'none'"
    page = environment(package).get_template(template)
    return page.render(style=style, script=script, policy=policy, **values)


def render_html(match: Match) -> str:
    """A match: both texts and what links them."""
    return render_page("page.html", STYLES, (*SCRIPTS, START), view=MatchView(match))


def render_redline(match: Match) -> str:
    """The second of two versions, with its insertions, deletions and moves against the first marked by word."""
    return render_page("redline.html", REDLINE_STYLES, match=match, stretches=stretches(match.revision.blocks))


def render_fragment(match: Match, level: Level = "sections", grid: Grid | None = None) -> str:
    """The comparison alone, for a page that brings the styles and script itself."""
    return environment().get_template("comparison.html").render(view=MatchView(match, level, grid))


def render_matrix(match: Match, level: Level, grid: Grid | None = None) -> str:
    """The matrix alone, to take the place of another level's."""
    matrix = matrix_view(match, level, grid)
    page = environment().get_template("matrix.html")
    return page.render(matrix=matrix, within=match.a is match.b, data=matrix_data(matrix))


def write_page(page: str, path: Path) -> Path:
    """Write a page, making its folder. Characters that no file can hold become question marks."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(page, "utf-8", errors="replace", newline="\n")
    return path


def stretches(blocks: tuple[RevisedBlock, ...]) -> list[dict[str, Any]]:
    """Blocks in order; of long runs of unchanged or moved ones all but the first and the last, folded under a name."""
    found: list[dict[str, Any]] = []
    for (change, _), group in groupby(blocks, key=lambda block: (block.change, block.move)):
        row = list(group)
        folded = row[1:-1] if change in _NAMES and len(row) > FOLDED else []
        parts = ((row[:1], ""), (folded, _NAMES[change]), (row[-1:], "")) if folded else ((row, ""),)
        found += [{"blocks": part, "folded": name} for part, name in parts]
    return found


def marked(text: str, words: tuple[str, ...]) -> list[tuple[str, bool]]:
    """The beginning of a passage, in pieces, each with whether both passages have it."""
    return mark_words(brief(text, LONGEST), words)


def hits_html(hits: Hits) -> str:
    """For a notebook, the remarks, and a table with a row per document: verdict, title, the best pair of passages."""
    return environment().get_template("notebook/hits.html").render(hits=hits)


def match_html(match: Match) -> str:
    """For a notebook, the verdict, what qualifies it, and the passages that say most."""
    within = match.a is match.b
    sentences = [] if within else [*wording.shared_text(match), *wording.remarks(match), wording.carried_by(match)]
    said, stated = None if within else wording.verdict(match), wording.stated_probability(match)
    if said and stated:
        said = f"{said} (probability: {stated})"
    page = environment().get_template("notebook/match.html")
    return page.render(match=match, verdict=said, sentences=sentences, pairs=match.best(PASSAGES))
