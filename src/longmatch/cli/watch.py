"""`longmatch index --watch`: keep a library up to date until Ctrl-C."""

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from longmatch.cli.printing import echo, echo_json, warn
from longmatch.errors import LongmatchError

if TYPE_CHECKING:
    from longmatch.library.indexing import IndexingSummary
    from longmatch.library.watching import Watcher

RETRY = 60.0  # seconds after an error of the library, such as a full disk


def watch_files(paths: Sequence[Path], zotero: Path | None) -> "Watcher":
    """Begin to watch files and folders, and the database of Zotero."""
    from longmatch.library.watching import Watcher
    from longmatch.library.zotero import DATABASE

    roots = [*paths, *([zotero / DATABASE] if zotero is not None else [])]
    return Watcher(roots, lambda root: warn(f"{root} is not there; waiting until it is back."))


def keep_indexed(
    watcher: "Watcher", index: Callable[[], "IndexingSummary"], library: str, as_json: bool, known: set[str]
) -> None:
    """Index whenever files change; say what changed, and what cannot be read unless it is `known`."""
    warn(f"watching {', '.join(map(str, watcher.roots))}. Stop with Ctrl-C.")
    for _ in watcher.changes():
        try:
            done = index()
        except LongmatchError as error:
            warn(f"{error} Trying again in a minute.")
            time.sleep(RETRY)
            watcher.forget()
            continue
        known = _print_changes(done, library, as_json, known)


def _print_changes(done: "IndexingSummary", library: str, as_json: bool, known: set[str]) -> set[str]:
    """One line for what changed, if anything did; returns the problems that have been said."""
    problems = {problem for _, problem in done.unreadable}
    for sentence in [*sorted(problems - known), *done.remarks]:
        warn(sentence)
    renamed = [f"{before} to {after}" for before, after in done.renamed]
    counts = {"added": done.added, "replaced": done.replaced, "renamed": renamed, "removed": done.removed}
    changed = {what: ids for what, ids in counts.items() if ids}
    if as_json and (changed or problems - known):
        echo_json(done.to_dict(), None)
    elif changed:
        when = time.strftime("%H:%M:%S")
        echo(f"{when} {library}: " + ", ".join(f"{what} {_named(ids)}" for what, ids in changed.items()))
    return problems


def _named(ids: Sequence[str]) -> str:
    more = f" and {len(ids) - 3:,} more" if len(ids) > 3 else ""
    return ", ".join(ids[:3]) + more
