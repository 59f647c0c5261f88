"""The command starts at once: nothing heavy is loaded before it is needed."""

import resource
import subprocess
import sys

import pytest

HEAVY = ("torch", "transformers", "tokenizers", "numpy", "scipy", "sklearn", "lancedb", "pyarrow", "pypdfium2")


def cpu_seconds(*codes: str) -> list[float]:
    """User and system time of fresh Pythons that run some code each: the least of five runs, taken in turns."""
    times: list[list[float]] = [[] for _ in codes]
    for _ in range(5):
        for code, taken in zip(codes, times, strict=True):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            taken.append(after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)
    return [min(taken) for taken in times]


def calling(*arguments: str) -> str:
    """Code that runs the command and goes on after it."""
    return (
        f"import sys; sys.argv = {['longmatch', *arguments]!r}\n"
        "from longmatch.cli.app import main\n"
        "try: main()\nexcept SystemExit as left: assert not left.code\n"
    )


def test_help_answers_in_not_much_more_than_its_command_line_library_takes_to_load():
    answered, loaded = cpu_seconds(calling("--help"), "import typer.rich_utils, rich.table")
    assert answered < 2.5 * loaded


def test_importing_longmatch_takes_under_a_second():
    assert cpu_seconds("import longmatch")[0] < 1


@pytest.mark.parametrize("arguments", [["--help"], ["rank", "--help"], ["--version"]])
def test_help_and_version_load_nothing_heavy(arguments):
    code = calling(*arguments) + f"print('loaded:', *(set(sys.modules) & set({HEAVY})))"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == "loaded:"


def test_help_names_every_verb():
    done = subprocess.run([sys.executable, "-c", calling("--help")], check=True, capture_output=True, text=True)
    assert all(verb in done.stdout for verb in ("read", "compare", "rank", "data"))


def test_reading_a_text_loads_no_model_library(tmp_path):
    (tmp_path / "a.txt").write_text("The bank failed. It rained.")
    code = (
        calling("read", str(tmp_path / "a.txt")) + "print('loaded:', *(set(sys.modules) & {'torch', 'transformers'}))"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == "loaded:"
