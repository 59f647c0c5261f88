"""Names that are given once."""

from longmatch.documents.unique_names import UniqueNames


def test_a_number_that_another_name_has_already_is_passed_over():
    unique = UniqueNames()
    assert [unique(name) for name in ("a (2)", "a", "a", "a (2)")] == ["a (2)", "a", "a (3)", "a (2) (2)"]


def test_the_names_of_others_are_passed_over():
    unique = UniqueNames(is_taken={"a", "a (3)"}.__contains__)
    assert [unique("a") for _ in range(3)] == ["a (2)", "a (4)", "a (5)"]


def test_a_name_s_number_is_written_as_wanted():
    unique = UniqueNames(numbered="{}-{}".format)
    assert [unique("a") for _ in range(2)] == ["a", "a-2"]


def test_equal_names_are_each_looked_up_once():
    looked_up: list[str] = []
    unique = UniqueNames(is_taken=lambda name: bool(looked_up.append(name)))
    assert len({unique("a") for _ in range(1_000)}) == len(looked_up) == 1_000
