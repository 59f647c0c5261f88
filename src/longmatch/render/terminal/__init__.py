"""Matches, rankings and structures for a terminal. Without colours nothing is lost."""

from longmatch.render.terminal.match import print_match
from longmatch.render.terminal.ranking import print_ranking
from longmatch.render.terminal.structure import print_structure

__all__ = ["print_match", "print_ranking", "print_structure"]
