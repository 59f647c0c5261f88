"""LDA's row: topics of the whole corpus, from the same words as the lexical rows."""

from collections.abc import Mapping, Sequence
from typing import Any

from longmatch.lab.baselines.topics.lda_matcher import LdaMatcher
from longmatch.lab.evaluation.code import home_of
from longmatch.lab.evaluation.scoring.lexical import LexicalScorer


class LdaScorer(LexicalScorer):
    """The matcher's own fit and scores, over stored words."""

    matcher: LdaMatcher  # type: ignore[assignment]

    @property
    def facts(self) -> Mapping[str, Any]:
        """Among which numbers of topics it chose."""
        return {"counts": list(self.matcher.counts)}

    @property
    def code(self) -> Sequence[str]:  # type: ignore[override]
        """The folder of topics, and how words are counted."""
        return (*home_of(self.matcher), "lexical")
