"""`longmatch index`: bring a library up to date with files and folders, once or until Ctrl-C."""

import time
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from longmatch.cli.options import AsJson, Ray, WorkerCpus, WorkerGpus, Workers, on_ray
from longmatch.cli.output import echo, echo_json, warn
from longmatch.cli.progress import indexing, progress
from longmatch.errors import LongmatchError, ReadError

if TYPE_CHECKING:
    from longmatch.library.changes import IndexingSummary, Prune
    from longmatch.library.files import DescribedFile
    from longmatch.library.library import Library
    from longmatch.library.watching import Watcher

RETRY = 60.0  # seconds after an error of the library, such as a full disk


def index(
    library: Annotated[str, typer.Argument(help="The library: a folder, or an object storage URL.")],
    paths: Annotated[list[Path] | None, typer.Argument(help="Files and folders of documents.")] = None,
    zotero: Annotated[
        Path | None,
        typer.Option(help="Index the attachments of Zotero, with what it knows of them: its data folder."),
    ] = None,
    prune: Annotated[bool, typer.Option("--prune", help="Remove the documents whose files are gone.")] = False,
    watch: Annotated[
        bool, typer.Option("--watch", help="Then keep the library up to date with the files until Ctrl-C.")
    ] = False,
    again: Annotated[
        bool, typer.Option("--reencode", help="Encode all documents of the library again with its model.")
    ] = False,
    vectors: Annotated[
        Literal["float16", "int8"] | None,
        typer.Option(
            "--vectors", help="How a new library keeps a transformer's vectors: float16, or int8 in half the space."
        ),
    ] = None,
    backbone: Annotated[
        str | None,
        typer.Option(
            help="The encoder of a new library, or with --reencode of this one: a folder, a Hugging Face id, "
            "all-MiniLM-L6-v2 (extra `deep`), or multilingual (15 languages; extra `languages`); by default token "
            "vectors. The library keeps it.",
            metavar="NAME",
        ),
    ] = None,
    as_json: AsJson = False,
    ray: Ray = None,
    workers: Workers = None,
    worker_cpus: WorkerCpus = 1.0,
    worker_gpus: WorkerGpus = None,
) -> None:
    """Index documents into a library. Run it again after changes; if interrupted, it resumes where it stopped."""

    def opened(create: bool = True) -> "Library":
        from longmatch.library.library import Library

        return Library(library, create=create, vectors=vectors, backbone=backbone, on_message=warn)

    if again:
        old = opened(create=False)
        with progress("encoding again", total=len(old)) as advance:
            old.reencode(advance)
        echo(f"{library}: {len(old):,} documents encoded again")
    elif not paths and zotero is None:
        raise LongmatchError("Name the files or folders to index: longmatch index LIBRARY PATHS.")
    if not paths and zotero is None:
        return
    paths = paths or []
    if not prune and paths and not any(path.exists() for path in paths):  # a slip of the keys makes no library
        raise ReadError(paths[0], "does not exist", "Check the name.")
    _refuse_documents(library)
    if watch and ray:
        raise LongmatchError("--watch indexes on this computer. Leave out --ray.")
    backend = on_ray(ray, workers, worker_cpus, worker_gpus) if ray else None
    watcher = None
    if watch:
        from longmatch.library.watching import Watcher
        from longmatch.library.zotero import DATABASE

        roots = [*paths, *([zotero / DATABASE] if zotero is not None else [])]
        watcher = Watcher(roots, lambda root: warn(f"{root} is not there; waiting until it is back."))
    keeping_model = cache(opened)

    def index_files(removes: "Prune") -> "IndexingSummary":
        described = zotero_files(zotero) if zotero is not None else []
        with indexing() as report:
            return keeping_model().add([*paths, *described], removes, report, backend)

    done = index_files(prune and not (watcher and watcher.missing))
    if as_json:
        echo_json(done.to_dict(), None if watch else 2)
    else:
        print_added(done, library)
    if watcher:
        follow = partial(index_files, partial(watcher.may_remove, otherwise=prune))
        keep_indexed(watcher, follow, library, as_json, {problem for _, problem in done.unreadable})
    if done.unreadable and not (done.added or done.replaced or done.unchanged):
        raise LongmatchError(f"None of the files could be read, so nothing was added to {library}.")


def _refuse_documents(library: str) -> None:
    """A folder of documents, or a name like one's, is no library: the first of two folders was meant to be indexed."""
    from longmatch.documents.formats import is_readable
    from longmatch.library.store import is_library

    place = Path(library)
    if "://" in library or is_library(place):
        return
    found = next((path for path in place.rglob("*") if is_readable(path.name) and path.is_file()), None)
    if found or (is_readable(place.name) and not place.exists()):
        holds = f"holds documents, such as {found.relative_to(place)}" if found else "is the name of a document"
        raise LongmatchError(f"{library} {holds}. Name a new folder for the library: longmatch index LIBRARY PATHS.")


def zotero_files(folder: Path) -> "list[DescribedFile]":
    """The attachments of a Zotero library; what is wrong with others goes to standard error."""
    from longmatch.library.zotero import attachments

    found = attachments(folder)
    for problem in found.problems:
        warn(str(problem))
    if not found.files:
        raise LongmatchError(f"The Zotero library in {folder} has no attachment that longmatch reads.")
    return found.files


def print_added(done: "IndexingSummary", library: str) -> None:
    """Summarise what indexing did; problems go to standard error."""
    for sentence in [*(problem for _, problem in done.unreadable), *done.remarks]:
        warn(sentence)
    if done.passed_over:
        warn(passed_over(done.passed_over))
    counts = {"added": len(done.added), "replaced": len(done.replaced), "unchanged": done.unchanged}
    counts |= {"renamed": len(done.renamed), "removed": len(done.removed), "unreadable": len(done.unreadable)}
    echo(f"{library}: " + ", ".join(f"{count:,} {what}" for what, count in counts.items() if count))
    if done.vanished:
        echo(vanished(done.vanished))


def vanished(ids: Sequence[str]) -> str:
    """Count documents whose file is gone, and name the first ten.

    >>> vanished(["a.md"])
    '1 document no longer has a file (--prune removes it): a.md'
    >>> vanished(["a.md", "b.md"])
    '2 documents no longer have a file (--prune removes them): a.md, b.md'
    """
    one = len(ids) == 1
    counted = "1 document no longer has" if one else f"{len(ids):,} documents no longer have"
    return f"{counted} a file (--prune removes {'it' if one else 'them'}): {', '.join(ids[:10])}"


def passed_over(files: Sequence[str]) -> str:
    """Count files that are not read by their suffixes.

    >>> passed_over(["a.XLSX", "b.xlsx", "Makefile"])
    '3 files were passed over (--json names them): 2 .xlsx, 1 without a suffix.'
    """
    kinds = Counter(Path(file).suffix.lower() or "without a suffix" for file in files)
    verb = "file was" if len(files) == 1 else "files were"
    counted = ", ".join(f"{count:,} {kind}" for kind, count in kinds.most_common())
    return f"{len(files):,} {verb} passed over (--json names them): {counted}."


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
    changed = []
    for what, ids in counts.items():
        more = f" and {len(ids) - 3:,} more" if len(ids) > 3 else ""
        changed += [f"{what} {', '.join(ids[:3])}{more}"] if ids else []
    if as_json and (changed or problems - known):
        echo_json(done.to_dict(), None)
    elif changed:
        echo(f"{time.strftime('%H:%M:%S')} {library}: {', '.join(changed)}")
    return problems
