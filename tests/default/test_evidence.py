"""Which passages are shown of two documents: what is particular to the two, and what is the same in other words."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from longmatch.default import evidence
from longmatch.default.calibration import Calibration, Scale
from longmatch.default.collection import Collection
from longmatch.default.encoding import Encoding
from longmatch.default.explanation import Explanation, explain_hits
from longmatch.default.matcher import HybridMatcher
from longmatch.default.rarity import Rarity
from longmatch.default.term_rarity import phrase_power
from longmatch.documents import Document, read_text_string
from longmatch.lexical.mentions import title_terms
from longmatch.render.json import to_dict
from longmatch.render.output import save
from longmatch.render.terminal_match import print_match
from tests.library.tiny import made_up_text, tiny_matcher

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
WEIGHTS = {"words": 1.0, "meaning": 0.5, "named": 2.0}
NAMED = Calibration({name: Scale(weight, 0.03, 0.01) for name, weight in WEIGHTS.items()}, slope=0.5, bias=-2.0)

TEXTS = {
    "turing": ("Alan Turing", "He was a man of numbers. Machines were his trade."),
    "enigma": ("Enigma machine", "Rotors turned as keys were struck. Each day had another setting."),
    "bletchley": ("Bletchley Park", "In the hut Alan Turing worked on the Enigma machine. Trains passed nearby."),
    "bombe": ("Bombe", "A drum for every rotor: Alan Turing drew it, to undo the Enigma machine. It was loud."),
    "pears": ("The Pear Orchard", "Trees were pruned in winter. The drip valve broke twice."),
    "loose": ("", "Nobody knows what this is about. It has no title of its own."),
    "水": ("量子力学 (书)", "他学习量子力学。光很重要。"),
}


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
    monkeypatch.setattr(evidence, "SAME_MEANING_SUMMED", 0.2)
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
    both = matcher.encode(documents)
    explained = Explanation.of(*both, Rarity.of(both, matcher.statistics))
    assert explain_hits([explained], 3, [False])[0].passages == explained.match("default").best(3)


def titled(id: str, title: str, text: str) -> Document:
    return replace(read_text_string(text, id), title=title)


@pytest.fixture(scope="module")
def weighed(tiny_bert: Path) -> HybridMatcher:
    tiny = tiny_matcher(tiny_bert)
    return HybridMatcher(tiny.backbone, replace(tiny.statistics, calibration=NAMED))


@pytest.fixture(scope="module")
def made(weighed: HybridMatcher) -> dict[str, Encoding]:
    documents = [titled(id, *texts) for id, texts in TEXTS.items()]
    return dict(zip(TEXTS, weighed.encode(documents), strict=True))


def named(query: Encoding, others: list[Encoding], weighed: HybridMatcher) -> list[float]:
    return Collection.of(others, weighed.statistics).similarities(query, ["named"])["named"].tolist()


def alone(a: Encoding, b: Encoding, weighed: HybridMatcher) -> Explanation:
    return Explanation.of(a, b, Rarity.of([a, b], weighed.statistics))


def slow(a: Encoding, b: Encoding, collection: list[Encoding], rarity: Rarity) -> float:
    """Title by title: 100 Σ (rarity / the largest)² / √((500 + words of a) (500 + words of b))."""

    def names(document: Encoding, terms: list[int]) -> bool:
        mine = [*document.terms.words.ids, *document.terms.phrases.ids, *title_terms(document.document.title)]
        return set(terms) <= {int(term) for term in mine}

    titles = [tuple(title_terms(e.document.title).tolist()) for e in collection]
    most, total = np.log(1 + rarity.words.scale), 0.0
    for title in {*titles, *(tuple(e.title_terms.tolist()) for e in (a, b))}:
        if any(title) and names(a, list(title)) and names(b, list(title)) and titles.count(title) < 2:
            terms = np.array(title, dtype=np.uint64)
            each = np.minimum(
                rarity.words.idf(terms), rarity.phrases.idf(terms) ** (1 / phrase_power(rarity.familiarity))
            )
            share = each.max() / most
            total += share**2 if share >= 0.3 else 0.0
    return float(100 * total / np.sqrt((500 + a.words) * (500 + b.words)))


@pytest.mark.parametrize("query", TEXTS)
def test_a_query_from_inside_and_one_from_outside_have_what_title_by_title_gives(
    weighed: HybridMatcher, made: dict[str, Encoding], query: str
) -> None:
    inside, outside = list(made.values()), [e for id, e in made.items() if id != query]
    for others in (inside, outside):
        rarity = Rarity.of(others, weighed.statistics)
        expected = [slow(made[query], other, others, rarity) for other in others]
        assert named(made[query], others, weighed) == pytest.approx(expected, abs=1e-12)


def test_who_names_the_same_third_or_the_other_is_nearer(weighed: HybridMatcher, made: dict[str, Encoding]) -> None:
    others = [e for id, e in made.items() if id != "bombe"]
    found = dict(zip((e.document.id for e in others), named(made["bombe"], others, weighed), strict=True))
    assert found["bletchley"] > found["turing"] > 0
    assert found["enigma"] > 0
    assert found["pears"] == found["loose"] == found["水"] == 0


def test_a_title_from_outside_that_documents_name_counts(weighed: HybridMatcher, made: dict[str, Encoding]) -> None:
    asked = weighed.encode([titled("asked", "Drip valve", "Rubber and brass.")])[0]
    found = named(asked, list(made.values()), weighed)
    assert [e.document.id for e, value in zip(made.values(), found, strict=True) if value] == ["pears"]


def test_a_title_that_several_documents_have_says_nothing(weighed: HybridMatcher) -> None:
    texts = [titled(f"d{n}", "Yearly Ledger" if n < 30 else f"Other{n}", made_up_text(n, 2)) for n in range(40)]
    many = weighed.encode(texts)
    assert named(many[0], many[1:], weighed)[0] == named(many[0], [*many[1:3], *many[30:]], weighed)[0] == 0
    assert named(many[0], [many[1], *many[30:]], weighed)[0] > 0


def test_a_ranks_score_is_that_of_the_explanation_and_it_tells_the_names(
    weighed: HybridMatcher, made: dict[str, Encoding]
) -> None:
    query, others = made["bombe"], [e for id, e in made.items() if id != "bombe"]
    collection = weighed.collect(others)
    matches = {e.document.id: weighed.explain(query, e, collection) for e in others}
    assert weighed.score(query, collection).tolist() == pytest.approx([m.score for m in matches.values()], abs=1e-6)
    assert set(matches["bletchley"].names) == {"Alan Turing", "Enigma machine"}
    assert matches["turing"].names == ("Alan Turing",)
    assert matches["pears"].names == ()
    assert matches["bletchley"].parts["named"] > 0
    assert matches["pears"].parts.get("named", 0) == 0
    assert json.loads(json.dumps(to_dict(matches["turing"])))["names"] == ["Alan Turing"]


def test_two_documents_alone_may_name_each_other(weighed: HybridMatcher, made: dict[str, Encoding]) -> None:
    there = alone(made["turing"], made["bombe"], weighed)
    back = alone(made["bombe"], made["turing"], weighed)
    assert there.similarities["named"][0] == pytest.approx(back.similarities["named"][0])
    assert there.match("tiny").names == back.match("tiny").names == ("Alan Turing",)
    assert alone(made["bletchley"], made["bombe"], weighed).match("tiny").names == ()


def test_without_titles_nothing_is_named(weighed: HybridMatcher, made: dict[str, Encoding]) -> None:
    bare = weighed.encode([titled(f"d{n}", "", made_up_text(n)) for n in range(4)])
    assert named(bare[0], bare[1:], weighed) == [0, 0, 0]
    assert weighed.explain(bare[0], bare[1], weighed.collect(bare)).names == ()


def test_copies_are_alike_to_the_full_though_they_name_little(
    weighed: HybridMatcher, made: dict[str, Encoding]
) -> None:
    sides = alone(made["bombe"], made["bombe"], weighed).similarities
    assert sides["named"][0] < 0.5
    assert NAMED.likeness(sides)[0] == pytest.approx(1, abs=1e-3)


def test_terminal_and_page_say_the_names_in_one_line(
    weighed: HybridMatcher, made: dict[str, Encoding], tmp_path: Path
) -> None:
    rarity = Rarity.of(list(made.values()), weighed.statistics)
    match = Explanation.of(made["bletchley"], made["bombe"], rarity).match("default")
    console = Console(width=200, record=True)
    print_match(match, console)
    (line,) = (line for line in console.export_text().splitlines() if line.startswith("Both mention"))
    assert "“Alan Turing”" in line and "“Enigma machine”" in line and " and " in line
    assert line in save(match, tmp_path / "match.html").read_text(encoding="utf-8")
    assert "Both mention" not in save(replace(match, names=()), tmp_path / "other.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(("title", "counts"), [("Received", False), ("Notice", False), ("Photosynthesis", True)])
def test_a_title_of_one_ordinary_word_is_not_taken_for_a_mention(
    weighed: HybridMatcher, title: str, counts: bool
) -> None:
    texts = ((title, "Trees were pruned in winter."), ("", f"We write about {title.lower()} today. The valve broke."))
    about, mentioning = weighed.encode([titled(str(n), *text) for n, text in enumerate(texts)])
    match = alone(about, mentioning, weighed).match("default")
    assert match.names == ((title,) if counts else ())
    assert (named(mentioning, [about], weighed)[0] > 0) is counts
