"""How common terms are in texts of many kinds, and which words are of a language that is known."""

from pathlib import Path

import numpy as np
import pytest

from longmatch.lexical.background import TermBackground, read_term_background, shipped_background
from longmatch.lexical.weights import Frequencies

WORDS = np.array([3, 5, 2**63 + 7], dtype=np.uint64)
PHRASES = np.array([11, 13], dtype=np.uint64)
FOREIGN, UNKNOWN = WORDS[1], 4


@pytest.fixture
def made() -> TermBackground:
    """Three words, of which the second is foreign, and two phrases."""
    words = Frequencies(10_000.0, WORDS, np.array([9_000.0, 40.0, 20.0]))
    phrases = Frequencies(10_000.0, PHRASES, np.array([500.0, 1.0]))
    return TermBackground(words, phrases, everyday=WORDS[:1], foreign=WORDS[1:2])


def test_words_of_a_foreign_language_are_known_and_not_familiar(made: TermBackground) -> None:
    asked = np.array([*WORDS, UNKNOWN], dtype=np.uint64)
    assert made.known(asked).tolist() == [True, True, True, False]
    assert made.familiar(asked).tolist() == [True, False, True, False]


def test_words_and_phrases_have_their_own_frequencies(made: TermBackground) -> None:
    assert made.frequencies("words") is made.words and made.frequencies("phrases") is made.phrases


def test_it_comes_back_from_disk(made: TermBackground, tmp_path: Path) -> None:
    made.write(tmp_path / "frequencies.safetensors")
    again = read_term_background(tmp_path / "frequencies.safetensors")
    for name in ("words", "phrases"):
        before, after = getattr(made, name), getattr(again, name)
        assert after.documents == before.documents
        assert after.ids.dtype == np.uint64 and after.ids.tolist() == before.ids.tolist()
        assert after.counts.tolist() == before.counts.tolist()
    assert (again.everyday.tolist(), again.foreign.tolist()) == (made.everyday.tolist(), made.foreign.tolist())


def test_everyday_words_of_what_ships_are_familiar_and_foreign_ones_are_not() -> None:
    shipped = shipped_background()
    assert len(shipped.everyday) and shipped.familiar(shipped.everyday).all()
    assert not shipped.familiar(shipped.foreign).any()
