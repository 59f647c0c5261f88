"""Shell completion, as a shell asks for it."""

import os
import subprocess
import sys
from pathlib import Path

CODE = "import sys; sys.argv = ['longmatch', *sys.argv[1:]]; from longmatch.cli.app import main; main()"


def completed(*words: str) -> list[str]:
    """What bash offers for the last of some words."""
    asked = {"_LONGMATCH_COMPLETE": "complete_bash", "COMP_WORDS": " ".join(words), "COMP_CWORD": str(len(words) - 1)}
    done = subprocess.run(
        [sys.executable, "-c", CODE], env=os.environ | asked, capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    return done.stdout.split()


def test_commands_options_and_choices_are_completed() -> None:
    assert completed("longmatch", "ra") == ["rank"]
    assert "--rerank" in completed("longmatch", "rank", "--r")
    assert completed("longmatch", "rank", "--by", "s") == ["section"]


def test_file_names_are_left_to_the_shell(tmp_path: Path) -> None:
    assert completed("longmatch", "rank", "my-") == []


def test_completion_installs_itself_for_the_user_alone(tmp_path: Path) -> None:
    command = f'"$PYTHON" -c "{CODE}" --install-completion; exit $?'
    environment = os.environ | {"HOME": str(tmp_path), "PYTHON": sys.executable}
    subprocess.run(["bash", "-c", command], env=environment, check=True, capture_output=True)
    script = next((tmp_path / ".bash_completions").iterdir())
    assert str(script) in (tmp_path / ".bashrc").read_text() and "complete -o default" in script.read_text()
