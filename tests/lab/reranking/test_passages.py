"""Passages of a query and documents, against loops over sentences."""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import torch

from longmatch.lab.datasets import DataFolder
from longmatch.lab.evaluation.corpus import Corpus
from longmatch.lab.evaluation.encodings.layers import ExpectationLayer, SentenceVectorLayer
from longmatch.lab.reranking.passages import BEST, CLOSEST, COVERED, KINDS, SectionedSentences, passage_evidence
from longmatch.lab.store.store import LayerStore
from longmatch.matching.chance import SIZES
from longmatch.matching.levels import SentenceVectors
from longmatch.ragged import unit_rows
from tests.library.tiny import made_up_text, tiny_matcher

WIDTH = 6
QUERY = [(3, 1, 4)]  # sentences of each section of each document
DOCUMENTS = [(2,), (5, 4, 3), (1, 1), (9,), (2, 2)]


def random_sentences(documents: Sequence[Sequence[int]], seed: int) -> SectionedSentences:
    """Sentences with random vectors, and expectations that rise with the size."""
    rng = np.random.default_rng(seed)
    count = sum(map(sum, documents))
    vectors = unit_rows(rng.normal(size=(count, WIDTH))).astype(np.float32)
    expected = np.sort(rng.uniform(0, 0.6, size=(count, len(SIZES))), axis=1).astype(np.float32)
    lengths = [sum(sections) for sections in documents]
    return SectionedSentences(
        SentenceVectors(torch.from_numpy(vectors), torch.from_numpy(expected)),
        torch.tensor([0, *np.cumsum(lengths)]),
        torch.tensor([0, *np.cumsum([size for sections in documents for size in sections])]),
        torch.tensor([0, *np.cumsum([len(sections) for sections in documents])]),
    )


def best_partner(sentence: int, mine: SentenceVectors, theirs: SentenceVectors, there: Sequence[int]) -> float:
    """The best cosine of a sentence with some of another text, corrected for chance."""
    best = max(float(mine.vectors[sentence] @ theirs.vectors[other]) for other in there)
    place = np.log(len(there)) / np.log(4)
    expected = float(np.interp(place, np.arange(len(SIZES)), mine.expectations[sentence].double().numpy()))
    return (best - expected) / (1 - expected)


def section_score(a: SentenceVectors, b: SentenceVectors, mine: Sequence[int], theirs: Sequence[int]) -> float:
    forward = np.mean([best_partner(sentence, a, b, theirs) for sentence in mine])
    backward = np.mean([best_partner(sentence, b, a, mine) for sentence in theirs])
    return float(forward + backward) / 2


def slow_values(query: SentenceVectors, document: SentenceVectors, parts: Sequence[list[list[int]]]):
    """The values of one pair by kind; `parts` are the sections' sentences, of the query and of the document."""
    everything = [[sentence for section in sections for sentence in section] for sections in parts]
    there = [best_partner(i, query, document, everything[1]) for i in everything[0]]
    back = [best_partner(j, document, query, everything[0]) for j in everything[1]]
    best = [max(section_score(query, document, mine, theirs) for theirs in parts[1]) for mine in parts[0]]
    values = {
        "best_sentence": max(there),
        "best_sentences_query": np.mean(sorted(there, reverse=True)[:BEST]),
        "best_sentences_document": np.mean(sorted(back, reverse=True)[:BEST]),
        "best_section": max(best),
        "best_sections": np.mean(best),
    }
    for share in COVERED:
        values[f"coverage_query_{round(100 * share)}"] = np.mean([value > share for value in there])
        values[f"coverage_document_{round(100 * share)}"] = np.mean([value > share for value in back])
    return values, there, back


def closest(values: Sequence[float]) -> list[int]:
    order = sorted(range(len(values)), key=lambda sentence: -values[sentence])[:CLOSEST]
    return order + [-1] * (CLOSEST - len(order))


def section_numbers(sections: Sequence[int]) -> list[list[int]]:
    ends = np.cumsum(sections)
    return [list(range(end - size, end)) for size, end in zip(sections, ends.tolist(), strict=True)]


@pytest.mark.parametrize("seed", [0, 1])
def test_the_evidence_is_that_of_a_loop_over_sentences_and_sections(seed: int) -> None:
    query, documents = random_sentences(QUERY, seed), random_sentences(DOCUMENTS, seed + 10)
    found = passage_evidence(query, documents)
    assert len(found.values) == len(DOCUMENTS)
    covered = []
    for number, sections in enumerate(DOCUMENTS):
        document = documents.between(number, number + 1).sentences
        parts = [section_numbers(QUERY[0]), section_numbers(sections)]
        values, there, back = slow_values(query.sentences, document, parts)
        assert found.values[number].tolist() == pytest.approx([values[kind] for kind in KINDS], abs=1e-5)
        assert found.query_sentences[number].tolist() == closest(there)
        assert found.document_sentences[number].tolist() == closest(back)
        covered += [value for kind, value in values.items() if kind.startswith("coverage")]
    assert 0 < np.mean(covered) < 1


@pytest.mark.parametrize("room", [1, 60, 100])
def test_it_does_not_depend_on_how_many_documents_are_taken_together(room: int) -> None:
    query, documents = random_sentences(QUERY, 0), random_sentences(DOCUMENTS, 10)
    whole, parts = passage_evidence(query, documents), passage_evidence(query, documents, room)
    assert torch.allclose(whole.values, parts.values, atol=1e-6)
    assert torch.equal(whole.query_sentences, parts.query_sentences)
    assert torch.equal(whole.document_sentences, parts.document_sentences)


def test_stored_documents_begin_and_end_with_their_own_sections(tiny_bert: Path, tmp_path: Path) -> None:
    lengths = {"a": (2, 3), "b": (4,), "c": (1, 1, 2)}
    lines = []
    for id, sections in lengths.items():
        texts = [made_up_text(n, sentences=count) for n, count in enumerate(sections)]
        parts = [{"heading": f"Part {n}", "text": text} for n, text in enumerate(texts)]
        lines.append(json.dumps({"id": id, "title": id, "sections": parts}))
    (tmp_path / "documents.jsonl").write_text("\n".join(lines) + "\n")
    matcher, corpus = tiny_matcher(tiny_bert), Corpus(DataFolder(tmp_path))
    layer = SentenceVectorLayer(matcher.backbone)
    chance = ExpectationLayer(layer, matcher.statistics.sentences)
    stored = LayerStore.of(tmp_path / "layers", corpus.source).build([layer, chance])
    found = SectionedSentences.of(*stored, [2, 0, 1])
    wanted = [lengths[id] for id in ("c", "a", "b")]
    assert found.offsets.diff().tolist() == [sum(sections) for sections in wanted]
    assert found.section_offsets.diff().tolist() == [size for sections in wanted for size in sections]
    assert found.sections.diff().tolist() == [len(sections) for sections in wanted]
    alone, part = SectionedSentences.of(*stored, [0]), found.between(1, 2)
    assert torch.equal(alone.sentences.vectors, part.sentences.vectors)
    assert torch.equal(alone.sentences.expectations, part.sentences.expectations)
    assert torch.equal(alone.section_offsets, part.section_offsets)
