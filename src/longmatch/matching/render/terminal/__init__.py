"""Matches, rankings and structures for a terminal. Without colours nothing is lost: every shade has its number."""

from longmatch.matching.render.terminal.match import print_match
from longmatch.matching.render.terminal.ranking import Ranked, print_ranking
from longmatch.matching.render.terminal.structure import print_structure

__all__ = ["Ranked", "print_match", "print_ranking", "print_structure"]
