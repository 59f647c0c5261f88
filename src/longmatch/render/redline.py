"""Two versions of a text as one HTML file: the second, with its insertions, deletions and moves marked by word."""

from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from longmatch.matching.match import Match
from longmatch.render.html import asset, digest, environment, write_page
from longmatch.render.wording import facts, revision_summary
from longmatch.reuse.weaving import RevisedBlock

STYLES = ("base.css", "match.css", "redline.css")
FOLDED = 4  # unchanged or moved paragraphs in a row from which all but their ends are folded away
_NAMES = {"same": "unchanged paragraph", "moved away": "paragraph moved away", "moved here": "paragraph moved here"}


@dataclass(frozen=True)
class Stretch:
    """Blocks in a row; those that did not change, or only moved, may be folded away under a name."""

    blocks: list[RevisedBlock]
    folded: str = ""


def render_redline(match: Match) -> str:
    """The whole page: it holds its own styles, loads nothing and needs no script."""
    style = asset(*STYLES)
    policy = f"default-src 'none'; style-src {digest(style)}; base-uri 'none'; form-action 'none'"
    page = environment().get_template("redline.html")
    return page.render(
        match=match,
        facts=facts,
        summary=revision_summary(match.revision),
        stretches=stretches(match.revision.blocks),
        style=style,
        policy=policy,
    )


def write_redline(match: Match, path: Path) -> Path:
    """Write the page and give back where it is."""
    return write_page(render_redline(match), path)


def stretches(blocks: tuple[RevisedBlock, ...]) -> list[Stretch]:
    """Blocks in order, with long runs of unchanged or moved ones folded between the first and the last of them."""
    found: list[Stretch] = []
    for (change, _), group in groupby(blocks, key=lambda block: (block.change, block.move)):
        row = list(group)
        if change in _NAMES and len(row) > FOLDED:
            found += [Stretch(row[:1]), Stretch(row[1:-1], _NAMES[change]), Stretch(row[-1:])]
        else:
            found.append(Stretch(row))
    return found
