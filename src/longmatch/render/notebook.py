"""A bare match or ranking at the end of a notebook's cell shows as HTML."""

from typing import Any

SHOWN = {"Match": "match", "Hit": "hits", "Hits": "hits"}  # by the module of `longmatch.matching` that has them


def notebook_html(result: Any) -> str:
    """A match or hits as the small table of a notebook."""
    from longmatch.matching.hits import Hit, Hits
    from longmatch.matching.match import Match
    from longmatch.render.html import hits_html, match_html

    if isinstance(result, Match):
        return match_html(result)
    return hits_html(Hits([result]) if isinstance(result, Hit) else result)


def register(formatter: Any) -> None:
    """Tell IPython's formatter of HTML; nothing is imported before something is shown."""
    for name, module in SHOWN.items():
        formatter.for_type_by_name(f"longmatch.matching.{module}", name, notebook_html)


def register_in_notebook() -> None:
    """The same for the session that runs, if one does."""
    from IPython import get_ipython

    if session := get_ipython():
        register(session.display_formatter.formatters["text/html"])
