"""A language model as matcher: it judges pairs, and reranks what another model found.

Of a long document it reads an excerpt: title, headings, opening, and the passages most like the other document.
"""

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from typing import Any

import numpy as np

from longmatch.documents.document import Document, Span
from longmatch.errors import LongmatchError
from longmatch.lexical.links import RatedTerms, link_pair
from longmatch.lexical.matcher import LexicalEncoding, tfidf_matcher
from longmatch.lexical.weights import shipped_background
from longmatch.matching.align import Evidence, Ints, merge
from longmatch.matching.hits import Hit, Hits
from longmatch.matching.match import Coverage, Match
from longmatch.matching.matcher import PairMatcher, Pairs, Progress, Scores, is_same, rerank, scores_with
from longmatch.matching.sentences import Sentences
from longmatch.models.llm.chat import Chat, ModelAddress
from longmatch.models.llm.judge import ANSWER_TOKENS, Judge, Tally, messages

BYTES_PER_TOKEN = 4  # of UTF-8: about right for English, on the safe side for most other languages
PIECE = 400  # characters; longer sentences are cut into pieces of this length
HEADINGS, OPENING = 0.15, 0.25  # shares of the budget, at most
GAP = "\n[…]\n"
STEP = 1e-9  # between scores that would be equal
BUDGET = 1200  # tokens of each document: with instructions and answer, within a context of 4,096
THRESHOLD = 0.5  # the prompt asks for 50 or more if two documents belong together


@dataclass(frozen=True)
class Excerpt:
    """What is read of a document, and the share of its running text that this is."""

    text: str
    coverage: float


def excerpt(document: Document, passages: Sequence[Span], budget: int) -> Excerpt:
    """A document within about `budget` tokens; of the passages, the most important first.

    What passages leave of the budget goes to the text after the opening. The same input gives the same excerpt.
    """
    pieces = [
        Span(start, min(start + PIECE, sentence.end))
        for sentence in document.sentences
        for start in range(sentence.start, sentence.end, PIECE)
    ]
    title = clip(clean(document.title), budget // 10)
    headings = clip("; ".join(filter(None, (clean(s.heading) for s in document.sections))), int(HEADINGS * budget))
    chosen = _choose(document, pieces, passages, budget - tokens(title) - tokens(headings))
    lines = [f"Title: {title}" if title else "", f"Sections: {headings}" if headings else "", "Text:"]
    read = sum(pieces[i].end - pieces[i].start for i in chosen)
    whole = sum(piece.end - piece.start for piece in pieces)
    return Excerpt("\n".join([*filter(None, lines), _join(document, pieces, chosen)]), read / whole if whole else 1.0)


def _choose(document: Document, pieces: Sequence[Span], passages: Sequence[Span], budget: int) -> list[int]:
    """The pieces to read, in order: the opening, each passage with its neighbours, then whatever comes first."""
    sizes = [tokens(clean(piece.of(document.readable))) + 1 for piece in pieces]
    starts = [piece.start for piece in pieces]
    chosen: set[int] = set()
    left = _take(chosen, range(len(pieces)), sizes, int(OPENING * budget)) + budget - int(OPENING * budget)
    for passage in passages:
        first, end = bisect_left(starts, passage.start), bisect_left(starts, passage.end)
        around = [i for i in (first - 1, end) if 0 <= i < len(pieces)]
        left = _take(chosen, [*range(first, end), *around], sizes, left)
    _take(chosen, range(len(pieces)), sizes, left)
    return sorted(chosen)


def _take(chosen: set[int], wanted: Iterable[int], sizes: Sequence[int], left: int) -> int:
    """Add pieces until one does not fit; what is left of the budget."""
    for i in wanted:
        if i not in chosen:
            if sizes[i] > left:
                break
            chosen.add(i)
            left -= sizes[i]
    return left


def _join(document: Document, pieces: Sequence[Span], chosen: Sequence[int]) -> str:
    """The text of pieces, with a mark where something is left out; what lies between sentences, as a table, is not."""
    if not chosen:
        return ""
    parts = [pieces[chosen[0]].of(document.readable)]
    for before, after in pairwise(chosen):
        separator = GAP
        if after == before + 1:  # nothing within a sentence that was cut, a line break between paragraphs, else a space
            between = Span(pieces[before].end, pieces[after].start).of(document.readable)
            separator = "\n" if between.count("\n") > 1 else " " if between else ""
        parts += [separator, pieces[after].of(document.readable)]
    text = "\n".join(filter(None, map(clean, "".join(parts).split("\n"))))
    return text + (GAP.rstrip() if chosen[-1] + 1 < len(pieces) else "")


def tokens(text: str) -> int:
    """About how many tokens a text has.

    >>> tokens("twelve chars"), tokens("")
    (3, 0)
    """
    return -(-len(text.encode("utf-8", "replace")) // BYTES_PER_TOKEN)


def clip(text: str, budget: int) -> str:
    """The beginning of a text, within a budget of tokens.

    >>> clip("one two three", 2)
    'one two …'
    """
    if tokens(text) <= budget:
        return text
    kept = text.encode("utf-8", "replace")[: budget * BYTES_PER_TOKEN].decode("utf-8", "ignore")
    return f"{kept.rstrip()} …"


def clean(text: str) -> str:
    """A text on one line, with nothing in it that JSON cannot carry."""
    return " ".join(text.encode("utf-8", "replace").decode("utf-8").split())


def linked_passages(a: LexicalEncoding, b: LexicalEncoding) -> tuple[list[Span], list[Span]]:
    """Sentences of each document, those that share most first: the alignments of TF-IDF without their scores."""
    frequencies = shipped_background().frequencies("words")
    shared = link_pair(RatedTerms.of(a.stream, frequencies), b.stream)
    pairs = merge(*([Evidence(links.partner, links.mass)] for links in (shared.forward, shared.backward)))
    best = pairs.strongest()
    return _spans(a.sentences, pairs.a[best]), _spans(b.sentences, pairs.b[best])


def _spans(sentences: Sentences, places: Ints) -> list[Span]:
    """The sentences at some places, each once."""
    distinct = list(dict.fromkeys(places.tolist()))
    return [Span(int(sentences.starts[i]), int(sentences.ends[i])) for i in distinct]


class LlmMatcher(PairMatcher):
    """Scores from 0 to 1 by a language model behind an OpenAI-style chat completions address.

    The model reads an excerpt of about `budget` tokens of each document. One try lasts at most `timeout` seconds; there
    are `retries` more, after pauses that begin with `backoff` seconds and double. Address, model and key come from
    LONGMATCH_LLM_URL, LONGMATCH_LLM_MODEL and LONGMATCH_LLM_KEY where they are not given. Without an address nothing is
    sent.
    """

    name = "llm"
    counts_with_first = False
    threshold = THRESHOLD

    def __init__(
        self,
        url: str | None = None,
        model: str | None = None,
        key: str | None = None,
        timeout: float = 60.0,
        retries: int = 3,
        backoff: float = 1.0,
        budget: int = BUDGET,
    ) -> None:
        self._judge = Judge(Chat(ModelAddress.of(url, model, key), timeout, retries, backoff))
        self._lexical = tfidf_matcher()
        self.budget = budget

    @property
    def tally(self) -> Tally:
        """What was asked so far, and what came of it."""
        return self._judge.tally

    @property
    def settings(self) -> Mapping[str, Any]:
        """What scores depend on: address (a query may hold secrets), model and budget."""
        address = self._judge.chat.address
        return {"url": address.url.partition("?")[0], "model": address.model, "budget": self.budget}

    def report(self) -> str:
        """One line: how many pairs were asked about, known from the cache and refused, and the tokens."""
        return f"{self._judge.chat.address.model}: {self.tally}."

    def score_pairs(self, pairs: Pairs, progress: Progress | None = None, for_ranking: bool = False) -> Scores:
        """The score of each pair; NaN where the model gave none.

        For ranking, consecutive pairs of one query have to be in a first stage's order, best first: a document without
        a score keeps its place there, and equal scores keep that order.
        """
        scores: list[Scores] = [np.zeros(0)]
        for _, group in groupby(pairs, key=lambda pair: id(pair[0])):
            of_query = list(group)
            query = self._lexical.encode([of_query[0][0]])[0]
            judged = np.full(len(of_query), np.nan)
            for place, (_, document) in enumerate(of_query):
                left, right = self._excerpts(query, self._lexical.encode([document])[0])
                if (score := self._judge.score(messages(left.text, right.text), ANSWER_TOKENS)) is not None:
                    judged[place] = score
                if progress:
                    progress(1)
            scores.append(settle(judged) if for_ranking else judged)
        return np.concatenate(scores)

    def rank(
        self, query: Document, documents: Sequence[Document], k: int = 10, progress: Progress | None = None
    ) -> Hits:
        """The k documents that belong most with the query, best first: all of them are read, in the order of TF-IDF."""
        others = sorted((d for d in documents if not is_same(d, query)), key=lambda document: document.id)
        first = scores_with(self._lexical, query, others)
        ordered = [others[i] for i in np.argsort(-first, kind="stable").tolist()]
        best = rerank(self, query, ordered, k, len(ordered), progress)
        found = [(ordered[one.place], one) for one in best]
        whys = (self._lexical.compare(query, document).best(3) for document, _ in found)
        return Hits.of(
            query, (Hit(d, one.score, one.percentile, why) for (d, one), why in zip(found, whys, strict=True))
        )

    def compare(self, a: Document, b: Document) -> Match:
        """The model's score; sections and passages are those that share words, from which its excerpts were chosen."""
        first, second = self._lexical.encode([a, b])
        match = self._lexical.explain(first, second)
        left, right = self._excerpts(first, second)
        score = self._judge.score(messages(left.text, right.text), ANSWER_TOKENS)
        if score is None:
            raise LongmatchError(f"The language model gave no score for {a.id} and {b.id} ({self.tally}).")
        coverage = Coverage(left.coverage, right.coverage)
        return replace(match, score=score, model=self.name, threshold=THRESHOLD, coverage=coverage, parts={})

    def _excerpts(self, a: LexicalEncoding, b: LexicalEncoding) -> tuple[Excerpt, Excerpt]:
        """What the model reads of each document."""
        from_a, from_b = linked_passages(a, b)
        return excerpt(a.sentences.document, from_a, self.budget), excerpt(b.sentences.document, from_b, self.budget)


def settle(scores: Scores) -> Scores:
    """Distinct scores for documents in a first stage's order, where NaN means not judged.

    A document that was not judged keeps its place; the others take the remaining places by their scores, and equal
    scores keep the first stage's order. One that was not judged is given the score of the next document.

    >>> settle(np.array([0.2, np.nan, 0.9])).round(3).tolist()
    [0.2, 0.2, 0.9]
    >>> np.argsort(-settle(np.array([0.2, np.nan, 0.9]))).tolist()
    [2, 1, 0]
    """
    unjudged = np.isnan(scores)
    by_score = iter(np.argsort(-scores[~unjudged], kind="stable").tolist())
    judged = np.flatnonzero(~unjudged)
    order = [place if unjudged[place] else int(judged[next(by_score)]) for place in range(len(scores))]
    settled = np.zeros(len(scores))
    below = float(np.nanmin(scores)) - STEP if len(judged) else -STEP
    for place in reversed(order):
        below = max(below + STEP, 0.0 if unjudged[place] else float(scores[place]))
        settled[place] = below
    return settled
