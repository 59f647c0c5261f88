"""The pairs of a library: copies, versions, documents that reuse each other's text, and those that belong together.

They are found without comparing everything with everything. A pair is judged when one document is among the other's
nearest by words, by phrases or by vector. A document with many partners is searched further: for related
ones up to a limit, for copies until all are found. So the work grows with the collection and with its copies, not with
the square of either.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations_with_replacement, pairwise
from typing import Any, NamedTuple

import numpy as np

from longmatch.default.comparison import Comparison, Query
from longmatch.default.rarity import Language, no_verdict
from longmatch.default.sides import named, similarities
from longmatch.documents.document import Document, Span
from longmatch.lexical.terms import KINDS, Kind, lookup
from longmatch.lexical.weights import QueryTerms
from longmatch.library.index.index import Index, language_code
from longmatch.library.index.segment import Segment, to_stored
from longmatch.library.search.candidates import Nearest, Scope, highest, meaning_scores
from longmatch.library.search.encode import indexed_query
from longmatch.library.search.score import StoredCandidates
from longmatch.library.search.searcher import Searcher
from longmatch.library.shared_text import SharedText
from longmatch.matching.match import Passage, heading_at
from longmatch.matching.wording import pairs_remarks
from longmatch.reuse.reuse import ONE_WORDING, Relation, Reuse
from longmatch.reuse.revision import Count, revise

COMMON = 1_000  # documents: a term of more says little about which of them belong together, and costs most
FIRST = 3  # changes that are quoted
COUNTS: tuple[Count, ...] = ("added", "removed", "moved")
LINKED = 2 / 3  # least share of the possible pairs between two groups that makes them one
ORDER: tuple[Relation, ...] = ("copy", "version", "template", "reuse", "related", "unrelated")
NEAR_DUPLICATES = ORDER[:3]
EXPLAINED = 50  # pairs whose strongest passage or differences are looked up, unless more are asked for


class Judged(NamedTuple):
    """Two documents judged: the probability that they belong together, and how alike they are."""

    probability: float
    likeness: float


class PairSearch:
    """The pairs that belong together with a minimum probability or may be copies, and those judged so far."""

    def __init__(self, searcher: Searcher, minimum: float) -> None:
        self.searcher, self.minimum, self.settings = searcher, minimum, searcher.store.settings
        self.scope = Scope.of(searcher.index)
        self.rarity = searcher.index.rarity
        self.calibration = self.rarity.calibration
        counted = named(lambda side: side.in_likeness) | set(searcher.statistics.probability.sides)
        self.sides = [name for name in self.rarity.sides if name in counted]
        self.nearest = searcher.nearest(len(searcher.index))
        columns = (searcher.index.live_column(name).tolist() for name in ("languages", "known", "lengths"))
        self.languages = {
            id: Language.by_words(language_code(code), known, words)
            for id, code, known, words in zip(self.scope.ids, *columns, strict=True)
        }
        self.found: dict[tuple[str, str], Judged] = {}
        self.judged: set[tuple[str, str]] = set()
        self.partners: Counter[str] = Counter()
        self.copies: Counter[str] = Counter()
        self.closest: tuple[tuple[str, str], Judged] | None = None  # the most probable of those that fell short

    def run_all(self, progress: Callable[[int], None] | None = None) -> None:
        """Search with all documents, a block at a time; `progress` is called with the number of documents done."""
        ids, size = sorted(self.scope.ids), self.settings.pair_block
        for start in range(0, len(ids), size):
            block = ids[start : start + size]
            self.run([indexed_query(id, self.searcher.index) for id in block], self.settings.nearest)
            if progress:
                progress(len(block))

    def run(self, queries: Sequence[Query], count: int) -> None:
        """Judge each document's nearest; where half of them belong with it, there may be more: search further."""
        near = nearest_documents(queries, self.searcher.index, self.scope, count, self.nearest)
        for query, neighbours in zip(queries, near, strict=True):
            fresh = [id for id in sorted(neighbours) if ordered(query.id, id) not in self.judged]
            self.judged.update(ordered(query.id, id) for id in fresh)
            for candidate, judged in zip(fresh, self._judge(query, fresh), strict=True):
                pair = ordered(query.id, candidate)
                # in a library of copies, to be alike is nothing unusual: copies count however probable they are
                nearly_copies = judged.likeness >= self.settings.nearly_copies
                if judged.probability >= self.minimum or nearly_copies:
                    self.found[pair] = judged
                    self.partners.update(pair)
                    self.copies.update(pair if nearly_copies else ())
                fell_short = judged.probability < self.minimum
                if fell_short and (self.closest is None or judged > self.closest[1]):
                    self.closest = pair, judged
        partners = self.partners if count < self.settings.most_nearest else self.copies
        crowded = [query for query in queries if partners[query.id] >= count / 2]
        if crowded and count < len(self.scope):
            self.run(crowded, 4 * count)

    def judge(self, a: str, b: str) -> Judged:
        """Whether two documents belong together, and how alike they are."""
        return self._judge(indexed_query(a, self.searcher.index), [b])[0]

    def _judge(self, query: Query, candidates: Sequence[str]) -> list[Judged]:
        """A document and its candidates."""
        if not candidates:
            return []
        found = StoredCandidates(candidates, self.searcher.index)
        values = similarities(Comparison(query, found), self.sides)
        probability = self.rarity.probability(values, query.words, found.lengths)
        likeness = self.calibration.likeness(values)
        return [Judged(*pair) for pair in zip(probability.tolist(), likeness.tolist(), strict=True)]


def nearest_documents(
    queries: Sequence[Query], index: Index, scope: Scope, count: int, nearest: Nearest | None = None
) -> list[set[str]]:
    """The `count` nearest documents of each query by words, by phrases and by vector; never the query itself.

    Each is one product per block of queries. Only the rarer terms are looked up, so the work grows with the collection,
    not with its square. Document vectors are multiplied with all others, or looked up in the approximate index.
    """
    import scipy.sparse as sp

    ids: list[set[str]] = [set() for _ in queries]
    roster = index.roster
    for kind in KINDS:
        terms = [query.terms[kind] for query in queries]
        parts = [_cosines(kind, terms, segment) for segment in index.segments if len(segment)]
        if not parts:
            continue
        cosines = sp.hstack(parts, format="csr")
        for near, (start, end) in zip(ids, pairwise(cosines.indptr.tolist()), strict=True):
            live = roster.live[cosines.indices[start:end]]
            rows, values = cosines.indices[start:end][live], cosines.data[start:end][live]
            best = rows[highest(values, count + 1, roster.ids[rows].__getitem__)]
            near.update(str(id) for id in roster.ids[best])
    vectors = np.stack([query.vector for query in queries])
    if nearest is not None:
        directions = index.rarity.space.directions(vectors)[0]
        by_vector = [[id for id in nearest(each, count + 1) if scope.covers(id, index)] for each in directions]
    else:
        products = meaning_scores(vectors, index)[scope.rows]
        by_vector = [scope.names(highest(column, count + 1, scope.name)) for column in products.T]
    for near, best_ids, query in zip(ids, by_vector, queries, strict=True):
        near.update(best_ids)
        near.discard(query.id)
    return ids


def _cosines(kind: Kind, queries: Sequence[QueryTerms], segment: Segment) -> Any:
    """(queries, documents of the segment), from the rarer of the documents' heaviest terms."""
    import scipy.sparse as sp

    kept = segment[f"{kind}.kept"]
    bounds, columns, values = [0], [], []
    for terms in queries:
        position, present = lookup(kept, to_stored(kind, terms.ids))
        position = position[present]
        first, last = segment.runs(kind, position)
        rare = last - first <= COMMON
        columns.append(position[rare])
        values.append((terms.idf * terms.weights)[present][rare].astype(np.float32))
        bounds.append(bounds[-1] + int(rare.sum()))
    places, column = np.unique(np.concatenate(columns), return_inverse=True)
    weights = sp.csr_array((np.concatenate(values), column, np.array(bounds)), shape=(len(queries), len(places)))
    cosines = sp.csr_array(weights @ segment.postings(kind, places))
    norms = segment[f"{kind}.norms"][cosines.indices]
    cosines.data = cosines.data / np.where(norms > 0, norms, 1.0)
    return cosines


def ordered(a: str, b: str) -> tuple[str, str]:
    """A pair of ids in alphabetical order."""
    return (a, b) if a < b else (b, a)


class Difference(NamedTuple):
    """A stretch of text that was removed, one that was added, or one that replaced another."""

    removed: str
    added: str


@dataclass(frozen=True)
class Differences:
    """From one of two versions to the other: how many words changed, in how many places, and the first of these."""

    added: int
    removed: int
    moved: int
    places: int
    first: tuple[Difference, ...]

    @classmethod
    def between(cls, a: Document, b: Document) -> "Differences":
        """Compare two versions word by word."""
        revision = revise(a, b)
        found = []
        for block in revision.blocks:
            removed = ""
            for piece in block.pieces:  # what replaces something follows it in its block
                if removed and piece.change != "added":
                    found.append(Difference(removed, ""))
                if piece.change == "added":
                    found.append(Difference(removed, piece.text.strip()))
                removed = piece.text.strip() if piece.change == "removed" else ""
            if removed:
                found.append(Difference(removed, ""))
        words = {name: revision.words(name) for name in COUNTS}
        return cls(**words, places=len(found), first=tuple(found[:FIRST]))


@dataclass(frozen=True)
class Pair:
    """Two documents of a library, and how likely they belong together.

    `score` is how alike they are: 0 as by chance, 1 for copies (`Calibration.likeness`). Relatives on one subject have
    0.2 to 0.5.
    """

    a: str
    b: str
    score: float
    probability: float | None  # that they belong together, as `rank` says it; None where nobody can say
    relation: Relation | None = "related"  # None where nobody can say
    share_a: float = 0.0  # of a's words that stand in b, word for word or nearly
    share_b: float = 0.0
    title_a: str = ""
    title_b: str = ""
    passages: tuple[Passage, Passage] | None = None  # the strongest that the two share, of the pairs listed first
    differences: Differences | None = None  # of versions and forms of one template, of the pairs listed first


@dataclass(frozen=True)
class SimilarPairs:
    """Copies, then versions, then text reuse, then documents that belong together; each the strongest first.

    `groups` are documents of which most are paired with each other, the largest groups first; `families` are groups of
    copies, versions and forms of one template.
    """

    pairs: tuple[Pair, ...]
    looked_at: int  # pairs that were judged
    total: int  # pairs found, of which the first are listed
    groups: tuple[tuple[str, ...], ...] = ()
    families: tuple[tuple[str, ...], ...] = ()
    closest: Pair | None = None  # the most probable pair below the minimum, where no pair is listed
    remarks: tuple[str, ...] = ()  # sentences on documents that cannot be said to belong together


def find_pairs(
    searcher: Searcher, minimum: float, progress: Callable[[int], None] | None = None, k: int | None = None
) -> SimilarPairs:
    """Find the pairs that share text or belong together with a minimum probability, and list the first k.

    `progress` is called with the number of documents done.
    """
    search = PairSearch(searcher, minimum)
    search.run_all(progress)
    texts = SharedText(searcher.store)
    shared = dict(texts.pairs(search.found))
    pairs = [
        Pair(*pair, judged.likeness, judged.probability)
        for pair, judged in search.found.items()
        if pair not in shared and judged.probability >= minimum
    ]
    for ids, reuse in shared.items():
        judged = search.found[ids] if ids in search.found else search.judge(*ids)
        relation = reuse.relation or "related"
        words = (reuse.reused_a, reuse.reused_b)
        if relation in NEAR_DUPLICATES:  # there, boilerplate counts too
            words = (reuse.reused_a + reuse.common_a, reuse.reused_b + reuse.common_b)
        shares = words[0] / max(1, reuse.words_a), words[1] / max(1, reuse.words_b)
        pairs.append(Pair(*ids, judged.likeness, judged.probability, relation, *shares))
    pairs = [_believed(pair, search) for pair in sorted(pairs, key=_strength)]
    shown = pairs if k is None else pairs[:k]
    if not pairs and search.closest is not None:
        ids, judged = search.closest
        shown = [_believed(Pair(*ids, judged.likeness, judged.probability, "unrelated"), search)]
    rows = searcher.store.fetch(sorted({id for pair in shown for id in (pair.a, pair.b)}), ["id", "title"])
    titles = {row.id: str(row.value("title")) for row in rows}
    shown = [replace(pair, title_a=titles.get(pair.a, ""), title_b=titles.get(pair.b, "")) for pair in shown]
    for n, pair in enumerate(shown[: EXPLAINED if k is None else max(1, k)]):
        shown[n] = _explained(pair, searcher, texts, shared.get((pair.a, pair.b)))
    languages = combinations_with_replacement(sorted(set(search.languages.values())), 2)
    reasons = {no_verdict(a, b, search.rarity) for a, b in languages}  # why pairs have no probability; None: some have
    return SimilarPairs(
        pairs=tuple(shown) if pairs else (),
        looked_at=len(search.judged),
        total=len(pairs),
        groups=grouped((pair.a, pair.b) for pair in pairs if pair.relation not in ("reuse", None)),
        families=grouped((pair.a, pair.b) for pair in pairs if pair.relation in NEAR_DUPLICATES),
        closest=shown[0] if shown and not pairs else None,
        remarks=tuple(pairs_remarks(reasons)),
    )


def _strength(pair: Pair) -> tuple[int, float, float, str, str]:
    """Sorts pairs: by relation, then reuse by how much of a document it is, related ones by probability."""
    values = {"reuse": max(pair.share_a, pair.share_b), "related": pair.probability or 0.0}
    relation = pair.relation or "unrelated"
    return ORDER.index(relation), -values.get(relation, pair.score), -pair.score, pair.a, pair.b


def _believed(pair: Pair, search: PairSearch) -> Pair:
    """A pair without its probability, and what follows from it, where that cannot be believed."""
    if no_verdict(search.languages[pair.a], search.languages[pair.b], search.rarity) is None:
        return pair
    by_text = None if pair.relation in ("related", "unrelated") else pair.relation
    return replace(pair, probability=None, relation=by_text)


def _explained(pair: Pair, searcher: Searcher, texts: SharedText, reuse: Reuse | None) -> Pair:
    """A pair with the strongest passage that the two share, and what differs."""
    if reuse is None:
        encodings = searcher.encodings([pair.a, pair.b])
        best = searcher.explain(encodings[0], encodings[1]).alignments(1) if len(encodings) == 2 else ()
        return replace(pair, passages=(best[0].a, best[0].b)) if best else pair
    read = texts.texts([pair.a, pair.b])
    if len(read) < 2:  # another process has removed one
        return pair
    a, b = read[pair.a].document, read[pair.b].document
    if pair.relation in ONE_WORDING:
        pair = replace(pair, differences=Differences.between(a, b))
    counted = [passage for passage in reuse.passages if not passage.common] or reuse.passages
    return replace(pair, passages=(_passage(a, counted[0].a), _passage(b, counted[0].b))) if counted else pair


def _passage(document: Document, span: Span) -> Passage:
    plain = span.of(document.plain) if document.plain else ""
    heading, page = heading_at(document, span.start), document.page_at(span.start)
    return Passage(span.of(document.text), span.start, span.end, heading, plain, page)


def grouped(pairs: Iterable[tuple[str, str]], linked: float = LINKED) -> tuple[tuple[str, ...], ...]:
    """The groups that pairs form, given strongest first; the largest groups first, each of at least two.

    >>> grouped([("a", "b"), ("b", "c"), ("c", "d")])
    (('a', 'b'), ('c', 'd'))
    >>> grouped([("a", "b"), ("b", "c"), ("a", "c")])
    (('a', 'b', 'c'),)
    """
    ordered = list(dict.fromkeys(pairs))
    links: dict[str, Counter[str]] = defaultdict(Counter)  # pairs between any two groups, named by a member each
    for a, b in ordered:
        links[a][b] += 1
        links[b][a] += 1
    members = {id: [id] for id in links}
    home = {id: id for id in links}
    has_grown = True
    while has_grown:  # two groups may be close enough only after one of them has grown
        has_grown = False
        for a, b in ordered:
            large, small = sorted((home[a], home[b]), key=lambda name: -len(members[name]))
            possible = len(members[large]) * len(members[small])
            if large == small or links[large][small] < linked * possible:
                continue
            has_grown = True
            home.update(dict.fromkeys(members[small], large))
            members[large] += members.pop(small)
            for other, count in links.pop(small).items():
                del links[other][small]
                if other != large:
                    links[large][other] += count
                    links[other][large] += count
    found = (tuple(sorted(group)) for group in members.values() if len(group) > 1)
    return tuple(sorted(found, key=lambda group: (-len(group), group)))
