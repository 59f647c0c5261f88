"""The `longmatch` command. Heavy libraries are imported inside the commands, so that `--help` is fast."""

import os
import sys
import warnings
from contextlib import suppress
from errno import ENOSPC
from importlib.metadata import version
from io import TextIOWrapper
from typing import Annotated, Any

import typer

from longmatch.addresses import COMMANDS, raise_missing, resolve
from longmatch.cli.compare import compare
from longmatch.cli.index import index
from longmatch.cli.interrupt import INTERRUPTED, leave_interrupted, raised_interrupts
from longmatch.cli.mcp import mcp
from longmatch.cli.options import WithRay
from longmatch.cli.output import echo, warn
from longmatch.cli.pairs import pairs
from longmatch.cli.rank import rank
from longmatch.cli.read import read
from longmatch.cli.remove import remove
from longmatch.cli.serve import serve
from longmatch.cli.show import show
from longmatch.errors import LongmatchError, LongmatchWarning

app = typer.Typer(
    help="Finds the long documents that belong together, and shows why.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
for own in (read, compare, rank, index, pairs, show, serve, mcp, remove):
    app.command(cls=WithRay if own in (rank, index) else None)(own)
for name, address in COMMANDS.items():
    command = resolve(address)
    if isinstance(command, typer.Typer):
        app.add_typer(command, name=name)
    else:
        app.command(name)(command)


def _show_version(wanted: bool) -> None:
    if wanted:
        echo(f"longmatch {version('longmatch')}")
        raise typer.Exit()


@app.callback()
def options(
    show_version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Finds the long documents that belong together, and shows why."""


def _say_warnings() -> None:
    """Print our own warnings once, as a sentence without the place in the code; leave all others to Python."""
    warnings.simplefilter("once", LongmatchWarning)
    shown = warnings.showwarning

    def say(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> None:
        if issubclass(category, LongmatchWarning):
            warn(message)
        else:
            shown(message, category, *place, **more)

    warnings.showwarning = say


def main() -> None:
    """Run the command; a user's mistake is one sentence and exit code 2."""
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # threads must not spin beside another busy process
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # its threads spin, and products here are small
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "true")
    if isinstance(sys.stdout, TextIOWrapper):
        with suppress(OSError):  # a terminal that was opened as a file
            sys.stdout.reconfigure(errors="replace")  # file names may hold what cannot be printed
    with warnings.catch_warnings():
        _say_warnings()
        _run()


def _run() -> None:
    try:
        with raised_interrupts():
            try:
                app()
            except ModuleNotFoundError as error:  # a command of the laboratory imports its libraries when it is called
                raise_missing(error)
    except LongmatchError as error:
        warn(error)
        raise SystemExit(2) from None
    except BrokenPipeError:  # the reader of our output has seen enough
        sys.stderr.close()
        raise SystemExit(0) from None
    except KeyboardInterrupt:
        leave_interrupted()
    except SystemExit as end:
        if end.code == INTERRUPTED:
            leave_interrupted()
        raise
    except PermissionError as error:  # of a folder; a file's is a ReadError
        place = error.filename or "A file"
        warn(f"{place} cannot be reached. Check its permissions and those of its folders.")
        raise SystemExit(2) from None
    except Exception as error:
        if not _is_full_disk(error):
            raise
        warn("The disk is full. Make room and run the same command again to resume.")
        raise SystemExit(2) from None


def _is_full_disk(error: BaseException | None) -> bool:
    """Whether the disk was full, whichever library noticed."""
    while error is not None:
        if (isinstance(error, OSError) and error.errno == ENOSPC) or "No space left on device" in str(error):
            return True
        error = error.__cause__ or error.__context__
    return False
