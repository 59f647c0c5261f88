"""One match: the verdict, the section matrix, the passages that say most."""

from rich.console import Console
from rich.text import Text

from longmatch.matching.match import Match
from longmatch.render.matrix import Matrix
from longmatch.render.terminal.bars import probability_bar
from longmatch.render.terminal.matrix import print_matrix
from longmatch.render.terminal.passages import print_passages
from longmatch.render.terminal.printable import printable
from longmatch.render.terminal.reuse import print_reuse, print_sections, print_tables
from longmatch.render.verdict import caution, deciding_probability, stated_probability, verdict
from longmatch.render.wording import both_name, carried_by, facts, shared_text, unread
from longmatch.reuse.reuse import ONE_WORDING

BAR = 30  # characters


def print_match(match: Match, console: Console, passages: int = 5) -> None:
    """Print a match; it fits any terminal of 60 columns or more."""
    within = match.a is match.b
    _print_titles(match, console, within)
    if not within:
        _print_verdict(match, console)
    about_two = () if within else (*shared_text(match), caution(match), carried_by(match))
    for sentence in (*about_two, _words(match), printable(both_name(match)), *unread(match)):
        if sentence:
            console.print(Text(sentence))
    console.print()
    changed = match.revision.sections if match.relation in ONE_WORDING else ()
    gone, new = ({row.start for row in changed if row.status == status} for status in ("removed", "added"))
    print_matrix(Matrix(match.sections, match.a, match.b, within), console, gone, new)
    console.print()
    if match.relation in ONE_WORDING:
        print_sections(match.revision, console)
        print_tables(match.revision, console)
    elif match.relation != "copy" and match.reuse.passages:
        print_reuse(match, console)
    print_passages(match, console, passages)


def _print_titles(match: Match, console: Console, within: bool) -> None:
    for side, document in [("", match.a)] if within else [("A  ", match.a), ("B  ", match.b)]:
        console.print(
            Text.assemble((side, "dim"), (printable(document.title), "bold"), (f"  ({facts(document)})", "dim"))
        )
    if within:
        console.print(Text("Its sections against each other."))


def _print_verdict(match: Match, console: Console) -> None:
    console.print()
    if (said := verdict(match)) is None:
        return
    bar = probability_bar(deciding_probability(match), BAR)
    stated = stated_probability(match)
    console.print(Text.assemble(*bar, (said, "bold"), f" (probability: {stated})." if stated else "."))


def _words(match: Match) -> str:
    words = ", ".join(printable(term.text) for term in match.terms[:10])
    return f"Shared words that weigh most: {words}." if words else ""
