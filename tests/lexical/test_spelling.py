"""Words as they are written in a sentence."""

from longmatch.lexical.spelling import written
from longmatch.lexical.terms import hash_word


def between(first: str, last: str, sentence: str) -> str:
    return written(hash_word(first), hash_word(last), sentence)


def test_letters_whose_lower_case_is_longer_do_not_shift_what_follows():
    assert between("alan", "turing", "İzmir ve İstanbul: Alan Turing geldi.") == "Alan Turing"


def test_a_sigma_is_found_at_the_end_of_a_word_and_within():
    assert between("οδος", "σοφια", "Η ΟΔΟΣ ΣΟΦΙΑ είναι εδώ.") == "ΟΔΟΣ ΣΟΦΙΑ"
