"""The pairs of a library: copies, versions, documents that reuse each other's text, and the most similar ones."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from longmatch.default.explanation import Explanation
from longmatch.documents.document import Document, Span
from longmatch.library.groups import grouped
from longmatch.library.pair_search import PairSearch
from longmatch.library.search.searcher import Searcher
from longmatch.library.shared_text import SharedText
from longmatch.matching.match import Passage, heading_at
from longmatch.reuse.reuse import Relation, Reuse, ReusedPassage

ORDER: tuple[Relation, ...] = ("copy", "version", "reuse", "related", "unrelated")
EXPLAINED = 50  # pairs whose strongest passage is looked up, unless more are asked for


@dataclass(frozen=True)
class Pair:
    """Two documents of a library and how alike they are: 0 as by chance, 1 for copies (`Calibration.likeness`)."""

    a: str
    b: str
    score: float
    relation: Relation = "related"
    share_a: float = 0.0  # of a's words that stand in b, word for word or nearly
    share_b: float = 0.0
    title_a: str = ""
    title_b: str = ""
    passages: tuple[Passage, Passage] | None = None  # the strongest that the two share, of the pairs listed first
    probability: float | None = None  # that they belong together, as `rank` says it; of the pairs listed first

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        passages = None if self.passages is None else [passage.to_dict() for passage in self.passages]
        return {
            "a": self.a,
            "b": self.b,
            "title_a": self.title_a,
            "title_b": self.title_b,
            "score": round(self.score, 6),
            "relation": self.relation,
            "share_a": round(self.share_a, 4),
            "share_b": round(self.share_b, 4),
            "probability": None if self.probability is None else round(self.probability, 4),
            "passages": passages,
        }


@dataclass(frozen=True)
class SimilarPairs:
    """Copies, then versions, then text reuse, then related documents from some score up; each the strongest first.

    `groups` are documents of which most are paired with each other, the largest groups first.
    """

    pairs: tuple[Pair, ...]
    looked_at: int  # pairs that were scored
    total: int  # pairs found, of which the first are listed
    groups: tuple[tuple[str, ...], ...] = ()
    closest: Pair | None = None  # the most similar pair below the minimum, where no pair is listed

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "pairs": [pair.to_dict() for pair in self.pairs],
            "total": self.total,
            "groups": [list(group) for group in self.groups],
            "closest": self.closest.to_dict() if self.closest else None,
            "looked_at": self.looked_at,
        }


def find_pairs(
    searcher: Searcher, minimum: float, progress: Callable[[int], None] | None = None, k: int | None = None
) -> SimilarPairs:
    """Find all pairs and list the first k; `progress` is called with the number of documents done."""
    search = PairSearch(searcher, minimum)
    search.run_all(progress)
    texts = SharedText(searcher.store)
    shared = dict(texts.pairs(search.scores))
    pairs = [Pair(*pair, score) for pair, score in search.scores.items() if pair not in shared]
    for pair, reuse in shared.items():
        score = search.scores[pair] if pair in search.scores else search.likeness(*pair)
        pairs.append(_sharing(pair, score, reuse))
    pairs.sort(key=_strength)
    closest = search.closest_pair() if not pairs else None
    show = _Shower(searcher, texts, shared)
    listed = pairs[:k] if k is not None else pairs
    return SimilarPairs(
        tuple(show(listed, EXPLAINED if k is None else k)),
        len(search.scored),
        len(pairs),
        grouped((pair.a, pair.b) for pair in pairs if pair.relation != "reuse"),
        show([Pair(*closest[0], closest[1], "unrelated")], 1)[0] if closest else None,
    )


def _strength(pair: Pair) -> tuple[int, float, str, str]:
    """Sorts pairs: by relation, then reuse by how much of a document it is, the others by score."""
    value = max(pair.share_a, pair.share_b) if pair.relation == "reuse" else pair.score
    return ORDER.index(pair.relation), -value, pair.a, pair.b


def _sharing(pair: tuple[str, str], score: float, reuse: Reuse) -> Pair:
    """A pair by its shared text; in copies and versions, boilerplate counts too."""
    relation = reuse.relation or "related"
    words = (reuse.reused_a, reuse.reused_b)
    if relation in ("copy", "version"):
        words = (reuse.reused_a + reuse.common_a, reuse.reused_b + reuse.common_b)
    return Pair(*pair, score, relation, words[0] / max(1, reuse.words_a), words[1] / max(1, reuse.words_b))


class _Shower:
    """Adds what a reader wants to see of a pair: titles, the strongest passage that the two share, and whether they
    belong together.
    """

    def __init__(self, searcher: Searcher, texts: SharedText, shared: Mapping[tuple[str, str], Reuse]) -> None:
        self.searcher, self.texts, self.shared = searcher, texts, shared

    def __call__(self, pairs: Sequence[Pair], explained: int) -> list[Pair]:
        ids = sorted({id for pair in pairs for id in (pair.a, pair.b)})
        rows = self.searcher.store.fetch(ids, ["id", "title"]) if ids else []
        titles = {row.id: str(row.value("title")) for row in rows}
        named = [replace(pair, title_a=titles.get(pair.a, ""), title_b=titles.get(pair.b, "")) for pair in pairs]
        return [self._explained(pair) if n < explained else pair for n, pair in enumerate(named)]

    def _explained(self, pair: Pair) -> Pair:
        encodings = self.searcher.encodings([pair.a, pair.b])
        if len(encodings) < 2:
            return pair
        explanation = self.searcher.explain(encodings[0], encodings[1])
        return replace(pair, passages=self._strongest(pair, explanation), probability=explanation.probability)

    def _strongest(self, pair: Pair, explanation: Explanation) -> tuple[Passage, Passage] | None:
        reuse = self.shared.get((pair.a, pair.b))
        if reuse is not None:
            counted = [passage for passage in reuse.passages if not passage.common] or reuse.passages
            return self._reused(pair, counted[0]) if counted else None
        best = explanation.alignments(1)
        return (best[0].a, best[0].b) if best else None

    def _reused(self, pair: Pair, passage: ReusedPassage) -> tuple[Passage, Passage] | None:
        texts = self.texts.texts([pair.a, pair.b])
        if len(texts) < 2:
            return None
        return _passage(texts[pair.a].document, passage.a), _passage(texts[pair.b].document, passage.b)


def _passage(document: Document, span: Span) -> Passage:
    plain = span.of(document.plain) if document.plain else ""
    heading, page = heading_at(document, span.start), document.page_at(span.start)
    return Passage(span.of(document.text), span.start, span.end, heading, plain, page)
