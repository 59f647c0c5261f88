"""Documents that name the same others, where the calibration gives names weight."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from longmatch.default.calibration import Calibration, Scale
from longmatch.default.collection import Collection
from longmatch.default.encoding import Encoding
from longmatch.default.explanation import Explanation
from longmatch.default.matcher import HybridMatcher
from longmatch.default.rarity import Rarity, phrase_power
from longmatch.documents import Document, read_text_string
from longmatch.lexical.mentions import title_terms
from longmatch.render.json import to_dict
from longmatch.render.output import save
from longmatch.render.terminal_match import print_match
from tests.library.tiny import made_up_text, tiny_matcher

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
    there = Explanation.of(made["turing"], made["bombe"], weighed.statistics)
    back = Explanation.of(made["bombe"], made["turing"], weighed.statistics)
    assert there.similarities["named"][0] == pytest.approx(back.similarities["named"][0])
    assert there.names() == back.names() == ("Alan Turing",)
    assert Explanation.of(made["bletchley"], made["bombe"], weighed.statistics).names() == ()


def test_without_titles_nothing_is_named(weighed: HybridMatcher, made: dict[str, Encoding]) -> None:
    bare = weighed.encode([titled(f"d{n}", "", made_up_text(n)) for n in range(4)])
    assert named(bare[0], bare[1:], weighed) == [0, 0, 0]
    assert weighed.explain(bare[0], bare[1], weighed.collect(bare)).names == ()


def test_copies_are_alike_to_the_full_though_they_name_little(
    weighed: HybridMatcher, made: dict[str, Encoding]
) -> None:
    sides = Explanation.of(made["bombe"], made["bombe"], weighed.statistics).similarities
    assert sides["named"][0] < 0.5
    assert NAMED.likeness(sides)[0] == pytest.approx(1, abs=1e-3)


def test_terminal_and_page_say_the_names_in_one_line(
    weighed: HybridMatcher, made: dict[str, Encoding], tmp_path: Path
) -> None:
    rarity = Rarity.of(list(made.values()), weighed.statistics)
    match = Explanation.of(made["bletchley"], made["bombe"], weighed.statistics, rarity).match("default")
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
    match = Explanation.of(about, mentioning, weighed.statistics).match("default")
    assert match.names == ((title,) if counts else ())
    assert (named(mentioning, [about], weighed)[0] > 0) is counts
