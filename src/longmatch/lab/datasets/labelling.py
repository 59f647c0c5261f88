"""From a graph to labels: who belongs with whom, and the negatives drawn beside them."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from random import Random

from longmatch.lab.datasets.splits import SplitRule
from longmatch.lab.datasets.writer import CollectionWriter


def label_citations(
    writer: CollectionWriter, cited: Mapping[str, Collection[str]], rule: SplitRule, seed: int = 0
) -> None:
    """Each document with each one it cites is a match; beside it stands a random document that neither cites.

    CoLDE section 4.1.1, SMITH section 5.1.2. The random draw depends on the seed and the citing document alone.
    Only documents already written count.
    """
    known = writer.ids
    ordered = sorted(known)
    edges = {source: sorted((set(targets) & known) - {source}) for source, targets in cited.items() if source in known}
    for source in sorted(edges):
        near = {source, *edges[source]}
        strangers = _strangers(ordered, near, source, edges, Random(f"{seed}:{source}"))
        for target in edges[source]:
            writer.judge(rule.of(source), source, target)
            writer.pair(rule.of_pair(source, target), source, target, 1)
            stranger = next(strangers, None)
            if stranger is not None:
                writer.pair(rule.of_pair(source, stranger), source, stranger, 0)


def _strangers(
    ordered: Sequence[str], near: set[str], source: str, edges: Mapping[str, Collection[str]], random: Random
) -> Iterator[str]:
    """Documents in random order, none twice, that the source does not cite and that do not cite it."""
    seen = set(near)
    while len(seen) < len(ordered):
        one = ordered[random.randrange(len(ordered))]
        if one in seen:
            continue
        seen.add(one)
        if source not in edges.get(one, ()):
            yield one


def label_similar(
    writer: CollectionWriter,
    similar: Iterable[tuple[str, str]],
    linked: Mapping[str, Collection[str]],
    rule: SplitRule,
    seed: int = 0,
) -> None:
    """Similar documents are matches; beside each stands a document the source links to that is not similar to it.

    SMITH section 5.1.1: the source is the one whose address sorts first. A source with fewer links than matches uses
    them again, so that matches and non-matches stay level. For ranking, similarity counts both ways.
    """
    targets: dict[str, set[str]] = {}
    for pair in similar:
        targets.setdefault(min(pair), set()).add(max(pair))
    both = {(a, b) for a, ends in targets.items() for b in ends}
    for source in sorted(targets):
        matches = sorted(targets[source])
        hard = negatives(source, linked.get(source, ()), both, seed)
        for at, target in enumerate(matches):
            writer.judge(rule.of(source), source, target)
            writer.judge(rule.of(target), target, source)
            writer.pair(rule.of_pair(source, target), source, target, 1)
            if hard:
                chosen = hard[at % len(hard)]
                writer.pair(rule.of_pair(source, chosen), source, chosen, 0)


def negatives(source: str, linked: Collection[str], similar: Collection[tuple[str, str]], seed: int) -> list[str]:
    """The documents a source links to that are not similar to it, in random order."""
    hard = sorted(one for one in set(linked) - {source} if (min(source, one), max(source, one)) not in similar)
    Random(f"{seed}:{source}").shuffle(hard)
    return hard
