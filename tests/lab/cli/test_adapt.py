"""`longmatch adapt` at the command line."""

from collections.abc import Callable
from pathlib import Path

import pytest

from longmatch.lab.adapting.adapt import Adaptation
from longmatch.lab.adapting.proof import Gain, Proof
from longmatch.lab.cli.adapt import print_adaptation
from tests.cli.conftest import Ran

BETTER = Proof(Gain(0.71, 0.75, 0.0123), Gain(0.6, 0.7, 0.001), documents=26, passages=156, among=251)
WORSE = Proof(Gain(0.75, 0.71, 0.9877), Gain(0.6, 0.7, 0.001), documents=26, passages=156, among=251)


def test_a_library_too_small_and_one_that_is_not_adapted_are_told_so_in_a_sentence(
    longmatch: Callable[..., Ran], folder: Path, tmp_path: Path
) -> None:
    assert longmatch("index", tmp_path / "library", folder).code == 0
    assert "too few to learn from" in longmatch("adapt", tmp_path / "library").complaint
    assert "not adapted, so there is nothing to undo" in longmatch("adapt", tmp_path / "library", "--undo").complaint
    assert longmatch("show", tmp_path / "library", "--json").json["facts"]["adapted"] is None


def test_a_place_without_a_library_is_said_to_be_none(longmatch: Callable[..., Ran], tmp_path: Path) -> None:
    assert "does not exist" in longmatch("adapt", tmp_path / "nowhere").complaint


@pytest.mark.parametrize(
    ("found", "dry_run", "ending"),
    [
        (Adaptation(BETTER, 234, 40, adopted=True), False, "better than before. papers uses the adapted model"),
        (Adaptation(BETTER, 234, 40), True, "Without --dry-run it would be adopted; papers is as it was."),
        (Adaptation(WORSE, 234, 40), False, "no better than before. Nothing is adopted; papers is as it was."),
    ],
)
def test_the_proof_is_a_table_and_a_sentence(
    capsys: pytest.CaptureFixture[str], found: Adaptation, dry_run: bool, ending: str
) -> None:
    print_adaptation(found, "papers", dry_run)
    printed = capsys.readouterr().out
    assert f"{found.proof.score.p:.4f}" in printed and f"{found.proof.score.difference:+.3f}" in printed
    assert "Learnt from 234 documents in 40 steps; proven on 156 passages of 26 others" in printed
    assert ending in printed
