"""Splits, determined by a document's id alone, and labels from citation and link graphs: matches, sampled negatives."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from random import Random

from longmatch.lab.datasets.records import Split
from longmatch.lab.datasets.writer import CollectionWriter


def residue(id: str) -> int:
    """A number from 0 to 99 hashed from the id.

    >>> residue("PEP1"), residue("PEP8")
    (46, 13)
    """
    return int.from_bytes(sha256(f"longmatch:{id}".encode()).digest(), "big") % 100


@dataclass(frozen=True, slots=True)
class SplitRule:
    """Percentages: residues below `test` are test, the next `validation` are validation, the rest train."""

    test: int = 25
    validation: int = 10

    def of(self, id: str) -> Split:
        """The split of a document or query.

        >>> SplitRule().of("PEP8"), SplitRule(test=10, validation=10).of("PEP8")
        ('test', 'validation')
        """
        percentile = residue(id)
        if percentile < self.test:
            return "test"
        return "validation" if percentile < self.test + self.validation else "train"

    def of_pair(self, source: str, target: str) -> Split:
        """Test if either document is, else validation if either is: training never sees a test document."""
        both = {self.of(source), self.of(target)}
        if "test" in both:
            return "test"
        return "validation" if "validation" in both else "train"


DEFAULT = SplitRule()
LEGAL = SplitRule(test=50, validation=10)
LEGAL_ZH = SplitRule(test=60, validation=10)
NEWS = SplitRule(test=35, validation=15)
PAPERS = SplitRule(test=10, validation=10)
"""The 80/10/10 of CoLDE section 4.1.2 and SMITH table 4, over documents instead of pairs."""


def label_citations(
    writer: CollectionWriter, cited: Mapping[str, Collection[str]], rule: SplitRule, seed: int = 0
) -> None:
    """Label each document and each one it cites as a match, with a random unrelated document as the negative.

    CoLDE section 4.1.1, SMITH section 5.1.2. The sample depends only on the seed and the citing document.
    Only documents already written count.
    """
    known = writer.ids
    ordered = sorted(known)
    edges = {source: sorted((set(targets) & known) - {source}) for source, targets in cited.items() if source in known}
    for source in sorted(edges):
        unrelated = _unrelated(ordered, source, edges, Random(f"{seed}:{source}"))
        for target in edges[source]:
            writer.judge(rule.of(source), source, target)
            writer.pair(rule.of_pair(source, target), source, target, 1)
            negative = next(unrelated, None)
            if negative is not None:
                writer.pair(rule.of_pair(source, negative), source, negative, 0)


def _unrelated(ids: Sequence[str], source: str, edges: Mapping[str, Collection[str]], random: Random) -> Iterator[str]:
    """Documents in random order, without repeats, that the source does not cite and that do not cite it."""
    seen = {source, *edges[source]}
    while len(seen) < len(ids):
        id = ids[random.randrange(len(ids))]
        if id in seen:
            continue
        seen.add(id)
        if source not in edges.get(id, ()):
            yield id


def label_similar(
    writer: CollectionWriter,
    similar: Iterable[tuple[str, str]],
    linked: Mapping[str, Collection[str]],
    rule: SplitRule,
    seed: int = 0,
) -> None:
    """Label similar documents as matches, each with a document the source links to but is not similar to as negative.

    SMITH section 5.1.1: the source is the document whose id sorts first. A source with fewer links than matches reuses
    them, so that there are as many negatives as matches. For ranking, similarity counts both ways.
    """
    targets: dict[str, set[str]] = {}
    for pair in similar:
        targets.setdefault(min(pair), set()).add(max(pair))
    pairs = {(source, target) for source, matches in targets.items() for target in matches}
    for source in sorted(targets):
        negatives = linked_negatives(source, linked.get(source, ()), pairs, seed)
        for index, target in enumerate(sorted(targets[source])):
            writer.judge(rule.of(source), source, target)
            writer.judge(rule.of(target), target, source)
            writer.pair(rule.of_pair(source, target), source, target, 1)
            if negatives:
                negative = negatives[index % len(negatives)]
                writer.pair(rule.of_pair(source, negative), source, negative, 0)


def linked_negatives(
    source: str, linked: Collection[str], similar: Collection[tuple[str, str]], seed: int
) -> list[str]:
    """The documents a source links to but is not similar to, in random order."""
    negatives = sorted(id for id in set(linked) - {source} if (min(source, id), max(source, id)) not in similar)
    Random(f"{seed}:{source}").shuffle(negatives)
    return negatives
