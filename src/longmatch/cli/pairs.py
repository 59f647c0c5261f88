"""`longmatch pairs`: copies, versions, reused text and documents that belong together, of a library or a folder."""

from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from longmatch.cli.library import any_library
from longmatch.cli.options import AsJson
from longmatch.cli.output import Terminal, echo_json
from longmatch.cli.progress import progress

if TYPE_CHECKING:
    from longmatch.library.pairs import Pair, SimilarPairs

LONGEST = 160  # characters of a passage shown
STYLES = {"copy": "red", "version": "magenta", "template": "cyan", "reuse": "yellow", "related": "blue"}


def pairs(
    library: Annotated[str, typer.Argument(help="A library, a folder of documents, or a file of many.")],
    minimum: Annotated[
        float,
        typer.Option(
            "--min",
            min=0.0,
            max=1.0,
            help="Probability, as rank states it, from which two documents that share no text are listed.",
        ),
    ] = 0.5,
    k: Annotated[int, typer.Option("-k", min=1, help="Number of pairs to show.")] = 20,
    as_json: AsJson = False,
) -> None:
    """Find copies, versions, reused text and documents that probably belong together, and the groups they form."""
    with any_library(library) as opened, progress("comparing", total=len(opened)) as report:
        found = opened.pairs(minimum, report, k)
    if as_json:
        from longmatch.render.json import to_dict

        echo_json(to_dict(found))
        return
    print_pairs(found, minimum, Terminal())


def print_pairs(found: "SimilarPairs", minimum: float, console: Console) -> None:
    """Print the groups of three or more, pairs, strongest relation first, and how many pairs are left out."""
    from longmatch.render.terminal import printable
    from longmatch.render.wording import percent

    others = [(group, "documents that belong together") for group in found.groups if group not in found.families]
    for group, kind in [*((family, "near-duplicates") for family in found.families), *others]:
        if len(group) > 2:  # two are a pair
            console.print(Text.assemble((f"{len(group)} {kind}: ", "bold"), ", ".join(map(printable, group))))
    for sentence in found.remarks:
        console.print(Text(sentence))
    for pair in found.pairs:
        _print_pair(pair, console)
    if found.total > len(found.pairs):
        console.print(Text(f"{found.total - len(found.pairs):,} more pairs; -k {found.total} shows all.", "dim"))
    if not found.pairs:
        unlikely = f"No two documents belong together with a probability of {percent(minimum)} or more"
        judged = found.closest is None or found.closest.probability is not None
        console.print(Text(f"{unlikely}, and none reuses another's text." if judged else "None reuses another's text."))
        if found.closest:
            console.print(Text("The closest are:"))
            _print_pair(found.closest, console)
    elif not found.remarks and found.total == len(found.pairs) and all(p.relation != "related" for p in found.pairs):
        others_lack = f"No others belong together with a probability of {percent(minimum)} or more (--min)."
        console.print(Text(others_lack, "dim"))


def _print_pair(pair: "Pair", console: Console) -> None:
    from longmatch.documents.document import brief
    from longmatch.library.pairs import COUNTS
    from longmatch.matching.wording import count
    from longmatch.render.terminal import printable
    from longmatch.render.wording import in_words, percent

    line = Text()
    if pair.relation in STYLES:  # else below --min, which need not be what the words say
        line.append(pair.relation, f"bold {STYLES[pair.relation]}")
    if pair.relation in ("related", "unrelated") and pair.probability is not None:
        line.append("  " if line else "").append(in_words(pair.probability))
    if line:
        console.print(line)
    for side, id, title in (("A", pair.a, pair.title_a), ("B", pair.b, pair.title_b)):
        name = f"  {printable(id)}" if title else ""
        line = Text.assemble((f"{side}  ", "dim"), printable(title or id), (name, "dim"))
        console.print(Padding(line, (0, 0, 0, 6)))
    if pair.differences:  # how much differs between two versions, and the first changes
        counts = [f"{number:,} {name}" for name in COUNTS if (number := getattr(pair.differences, name))]
        places = f", in {count(pair.differences.places, 'place')}" if pair.differences.places else ""
        line = Text(f"Words from A to B: {', '.join(counts)}{places}" if counts else "No word differs", "bold")
        for difference in pair.differences.first:
            removed, added = (f"“{printable(brief(text, LONGEST // 2))}”" if text else "" for text in difference)
            one = f"removed {removed}" if removed else f"added {added}"
            line.append(f"\n{removed} → {added}" if removed and added else f"\n{one}", "not bold dim")
        console.print(Padding(line, (0, 0, 0, 6)))
    elif pair.passages:
        quoted = f"“{printable(brief(pair.passages[0].shown, LONGEST))}”"
        shares = (
            f"{percent(pair.share_a)} of A is in B, {percent(pair.share_b)} of B is in A, word for word or nearly: "
        )
        shared = (shares if pair.share_a or pair.share_b else "", "bold")
        console.print(Padding(Text.assemble(shared, (quoted, "dim")), (0, 0, 0, 6)))
