"""Which passages are shown of two documents: what is particular to the two, and what is the same in other words."""

import json

import pytest

from longmatch.default import evidence
from longmatch.default.explanation import Explanation, aligned_passages
from longmatch.documents import read_text_string
from longmatch.render.json import to_dict

BELLS = """The ringing chamber

The tower of the parish church has eight bells, and the ropes fall to a chamber above the porch.
A learner stands on a box at first, since the sally passes overhead before it can be caught.
The tenor weighs as much as a small car, and it does not forgive a ringer who pulls too hard.
Each method is written as a line of numbers, which the band learns by heart over a winter.
The frame was rehung on ball bearings, so that one person can raise the heaviest bell alone.

Before a quarter peal, the conductor checks that every stay is sound and every rope is dry.
"""
MARSH = """Draining the levels

The marsh lies below the spring tides, and a bank of clay has kept the sea from it for centuries.
Rushes were cut in August, and the cattle went on to the stubble before the first frost.
A sluice of oak opens by itself when the river falls, which does more than any pump.
Silt gathers behind the gates, and the commoners dig it out by turns in a dry summer.
Wading birds nest on the islands that the diggers left, so no work is done there in May.

The old maps name every ditch after the family that had to keep it clear.
"""
OWN_WORDS = "Volcanic ash in the sky can stop the engines of an aircraft."
OTHER_WORDS = "Planes may lose power when they fly through dust from an eruption."


@pytest.fixture(scope="module")
def compared(matcher):
    return lambda a, b: matcher.compare(read_text_string(a, "a"), read_text_string(b, "b"))


def test_a_passage_in_other_words_is_among_the_first_and_marked_though_it_carries_little(compared):
    match = compared(f"{BELLS}\n{OWN_WORDS}\n", f"{MARSH}\n{OTHER_WORDS}\n")
    shown = match.best(3)
    assert [(pair.a.text, pair.b.text) for pair in shown if pair.paraphrase] == [(OWN_WORDS, OTHER_WORDS)]
    assert next(pair for pair in shown if pair.paraphrase).kind == "meaning"
    assert sum(pair.contribution for pair in match.alignments) == pytest.approx(1)
    listed = json.loads(json.dumps(to_dict(match)))["passages"]
    assert [entry["b"]["text"] for entry in listed[:3] if entry["paraphrase"]] == [OTHER_WORDS]


def test_texts_that_have_nothing_in_common_have_no_passage_in_other_words(compared):
    assert not any(pair.paraphrase for pair in compared(BELLS, MARSH).alignments)


SPANISH = (
    """El fondo del embalse se llena poco a poco de barro. El muro tiene cuarenta metros de altura.
Cada pueblo recibe el agua por turnos, y lo vigila un guarda elegido por los regantes.
""",
    """El fondo se talla en arce y la tapa en abeto de los Alpes. Antes de cada movimiento hubo que afinar.
El violín barroco lleva un mástil más corto que el moderno, porque las cuerdas de tripa ceden con el calor.
""",
)


def test_in_a_language_that_the_model_does_not_read_nothing_is_the_same_in_other_words(compared, monkeypatch):
    monkeypatch.setattr(evidence, "SAME_MEANING", 0.3)
    assert not any(pair.paraphrase for pair in compared(*SPANISH).alignments)
    monkeypatch.setattr(evidence, "READ", 0.0)  # then any two sentences of it are alike
    assert any(pair.paraphrase for pair in compared(*SPANISH).alignments)


def test_a_passage_in_the_same_words_is_not_in_other_words(compared):
    match = compared(f"{BELLS}\n{OWN_WORDS}\n", f"{MARSH}\n{OWN_WORDS}\n")
    assert match.best(1)[0].a.text == OWN_WORDS and not any(pair.paraphrase for pair in match.alignments)


def test_everyday_words_and_passages_that_are_not_alike_are_no_evidence(compared):
    match = compared(BELLS, MARSH)
    common = [pair for pair in match.alignments if "does" in pair.a.text and "does" in pair.b.text]
    assert not any("does" in pair.words for pair in match.alignments)
    assert all(pair.score >= evidence.LEAST_SIMILARITY and pair.words for pair in match.evidence)
    assert common and not any(pair.evidence for pair in common) and not set(common) & set(match.best(10))


def test_a_word_that_most_texts_of_some_kind_have_is_neither_evidence_nor_among_the_words_that_weigh_most(compared):
    drained = "The drain was done in a week, and the bank of clay held. "
    match = compared(f"{drained} The peal was done by noon.", "What is done with the silt is a matter for the village.")
    assert not any("done" in pair.words for pair in match.alignments) and match.best(10) == ()
    weighed = [term.text for term in compared(f"{drained} {GLAZES}", f"It is done with celadon. {SHERDS}").terms]
    assert "celadon" in weighed and "done" not in weighed[: weighed.index("celadon")]


METHOD = "All tables give the median of five runs, and the error bars show the interquartile range."
GLAZES = (
    "Celadon glaze turns green when iron is reduced in the kiln. "
    "A celadon fired with too much air comes out brown, as the iron in the glaze stays oxidised. "
    "Potters starve the kiln of air for hours, so that the celadon takes its colour. "
    "The bubbles in a thick celadon glaze scatter the light, which gives it depth. "
)
SHERDS = (
    "The sherds are celadon ware, and their green glaze holds little iron. "
    "Two kilns upstream made the celadon, by the chemistry of the glaze. "
    "A brown sherd shows that the kiln let in air, which spoilt the celadon. "
    "Ships took celadon along the coast for three centuries. "
)


def test_what_both_documents_are_about_comes_before_what_their_methods_share(compared):
    match = compared(GLAZES + METHOD, SHERDS + METHOD.replace("five", "nine"))
    strongest = max(match.alignments, key=lambda pair: pair.contribution)
    assert strongest.a.text == METHOD
    assert "celadon" in match.best(1)[0].words


def test_each_passage_is_shown_once(compared):
    shown = compared(GLAZES, SHERDS).best(10)
    for side in ("a", "b"):
        texts = [getattr(pair, side).text for pair in shown]
        assert len(texts) == len({*texts}) > 1


def test_a_hit_has_the_passages_that_a_comparison_shows(matcher):
    documents = [read_text_string(text, name) for text, name in ((GLAZES, "a"), (SHERDS, "b"))]
    explained = Explanation.of(*matcher.encode(documents), matcher.statistics)
    assert aligned_passages([explained], 3)[0] == explained.match("default").best(3)
