"""Matches and rankings as small tables for a notebook; the page of a match shows the whole texts."""

from typing import TYPE_CHECKING

from longmatch.documents.document import brief
from longmatch.matching.match import Match
from longmatch.render.html import environment
from longmatch.render.marking import mark_words
from longmatch.render.verdict import remarks, stated_probability, verdict
from longmatch.render.wording import carried_by, shared_text

if TYPE_CHECKING:
    from longmatch.matching.hits import Hits

LONGEST = 300  # characters of a passage shown
PASSAGES = 3  # pairs shown of a match


def marked(text: str, words: tuple[str, ...]) -> list[tuple[str, bool]]:
    """The beginning of a passage, in pieces, each with whether both passages have it."""
    return mark_words(brief(text, LONGEST), words)


def hits_html(hits: "Hits") -> str:
    """The remarks, and a table with a row per document: verdict, title, the best pair of passages."""
    return environment().get_template("notebook/hits.html").render(hits=hits, marked=marked, brief=brief)


def match_html(match: Match) -> str:
    """The verdict, what qualifies it, and the passages that say most."""
    within = match.a is match.b
    sentences = [] if within else [*shared_text(match), *remarks(match), carried_by(match)]
    said, stated = None if within else verdict(match), stated_probability(match)
    if said and stated:
        said = f"{said} (probability: {stated})"
    template = environment().get_template("notebook/match.html")
    shown = {"verdict": said, "sentences": sentences, "pairs": match.best(PASSAGES)}
    return template.render(match=match, marked=marked, brief=brief, **shown)
