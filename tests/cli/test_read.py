"""`longmatch read`."""

import pytest


def test_json_tells_title_words_and_sections(longmatch, folder):
    found = longmatch("read", folder / "bank.md", "--json").json
    assert (found["title"], found["words"]) == ("The run", 22)
    assert [(s["heading"], s["paragraphs"], s["sentences"]) for s in found["sections"]] == [
        ("The run", 1, 2),
        ("After", 1, 2),
    ]
    text = (folder / "bank.md").read_text()
    first, second = (text[s["start"] : s["end"]] for s in found["sections"])
    assert first.lstrip("# ").startswith("The run") and first.endswith("all night.")
    assert second.lstrip("# ").startswith("After") and second.endswith("in full.")


def test_the_structure_is_printed_without_json(longmatch, folder):
    ran = longmatch("read", folder / "bank.md")
    assert ran.code == 0 and "The run" in ran.out and "After" in ran.out


def test_text_prints_what_spans_count_in(longmatch, folder):
    assert longmatch("read", folder / "bank.md", "--text").out == (folder / "bank.md").read_text() + "\n"


def test_latin_1_is_read_right(longmatch, tmp_path):
    sentence = "Le café fermé près de la forêt était très âgé. Où êtes-vous allé hier, à la fin de l'été ?"
    (tmp_path / "latin.txt").write_bytes(sentence.encode("latin-1"))
    assert longmatch("read", tmp_path / "latin.txt", "--text").out.strip() == sentence


@pytest.mark.slow
def test_a_file_of_one_line_of_5_mb_is_read(longmatch, tmp_path):
    (tmp_path / "line.txt").write_text("The bank failed on Monday again. " * 155_000)
    found = longmatch("read", tmp_path / "line.txt", "--json").json
    assert found["words"] == 930_000 and found["sections"][0]["sentences"] == 155_000
