"""CoLDE as a matcher, with a tiny random model."""

import json

import numpy as np
import pytest
import torch

import longmatch
from longmatch.documents import Document, Paragraph, Section, Sentence
from longmatch.errors import LongmatchError
from longmatch.lab.papers.colde.matcher import ColdeMatcher, ShuffledSectionsMatcher, UndividedMatcher
from longmatch.render.output import save
from tests.lab.papers.colde.tiny_colde import tiny_matcher

PAIR = ("coming-back-slowly.md", "the-stream-that-turned.md")


@pytest.fixture(scope="module")
def pair(examples):
    return [examples[name] for name in PAIR]


@pytest.fixture(scope="module")
def matcher(tiny_bert):
    return tiny_matcher(tiny_bert)


@pytest.fixture(scope="module")
def match(matcher, pair):
    return matcher.compare(*pair)


def document(*texts, headings=()):
    """A document of one sentence a section."""
    whole, sections = "", []
    for number, text in enumerate(texts):
        start = len(whole)
        whole += text
        sentence = Sentence(start, len(whole))
        heading = headings[number] if headings else ""
        paragraph = Paragraph(start, len(whole), (sentence,))
        sections.append(Section(start, len(whole), heading, 1, (paragraph,)))
        whole += "\n"
    return Document("made", "Made", whole, tuple(sections))


def test_a_document_is_encoded_alike_alone_and_among_others(matcher, pair, examples):
    alone = matcher.encode([pair[0]])[0]
    among = matcher.encode([examples["parish-council-minutes-march.txt"], *pair])[1]
    assert torch.allclose(alone.vector, among.vector, atol=1e-5)
    assert torch.allclose(alone.sections, among.sections, atol=1e-5)
    assert torch.allclose(alone.attention, among.attention, atol=1e-5)


def test_documents_encoded_in_several_rounds_are_encoded_alike(matcher, pair, monkeypatch):
    before = [e.vector for e in matcher.encode(pair)]
    monkeypatch.setattr("longmatch.lab.matchers.TrainedMatcher.tokens_per_batch", 10)
    monkeypatch.setattr("longmatch.lab.papers.colde.matcher.CHUNKS", 1)
    done: list[int] = []
    after = [e.vector for e in matcher.encode(pair, done.append)]
    assert torch.allclose(torch.stack(before), torch.stack(after), atol=1e-5) and done == [1, 1]


def test_documents_are_read_to_their_end(matcher, pair):
    for text, encoding in zip(pair, matcher.encode(pair), strict=True):
        last = list(text.sentences)[-1]
        assert encoding.coverage == 1.0 and encoding.chunks.ends[-1] == last.end


def test_a_limit_shows_in_the_coverage(tiny_bert, pair):
    limited = tiny_matcher(tiny_bert, max_tokens=100)
    whole = tiny_matcher(tiny_bert)
    found = limited.compare(*pair).coverage
    tokens = [int(e.chunks.lengths.sum()) for e in whole.encode(pair)]
    assert (found.a, found.b) == pytest.approx((100 / tokens[0], 100 / tokens[1]))


def test_the_score_is_the_cosine_of_the_document_vectors(matcher, pair, match):
    a, b = matcher.encode(pair)
    assert matcher.score(a, matcher.collect([a, b])) == pytest.approx([1.0, float(a.vector @ b.vector)], abs=1e-5)
    assert match.score == pytest.approx(max(0.0, float(a.vector @ b.vector)), abs=1e-5)


def test_a_document_with_itself_scores_one_at_every_level(matcher, pair):
    a, b = matcher.encode([pair[0], pair[0]])
    match = matcher.explain(a, b)
    assert match.score == pytest.approx(1.0, abs=1e-5)
    assert np.diag(match.sections.scores) == pytest.approx(1.0, abs=1e-5)
    assert np.diag(match.passages.scores) == pytest.approx(1.0, abs=1e-5)


def test_sections_are_the_cosines_of_section_vectors_named_by_their_headings(matcher, pair, match):
    a, b = matcher.encode(pair)
    assert match.sections.scores == pytest.approx((a.sections @ b.sections.T).clamp(0, 1).numpy(), abs=1e-5)
    headings = [section.heading for section in pair[0].sections if section.paragraphs]
    assert len(match.sections.rows) == 2
    assert match.sections.rows[0].startswith(headings[0]) and match.sections.rows[1].endswith(headings[-1])


def test_chunk_scores_are_the_cosines_of_what_the_lstm_reads(matcher, pair, match):
    a, b = matcher.encode(pair)
    with torch.no_grad():
        mine, theirs = (
            e.vectors
            + matcher.model.attention(e.vectors, torch.from_numpy(e.section_ids), torch.zeros(len(e.section_ids)))[0]
            for e in (a, b)
        )
    expected = torch.nn.functional.cosine_similarity(mine[:, None], theirs, dim=2).clamp(0, 1)
    assert match.passages.scores == pytest.approx(expected.numpy(), abs=1e-5)
    assert match.at("chunks").rows == match.passages.rows


def test_a_section_is_called_by_its_first_and_last_heading(matcher):
    words = ("dog", "cat", "hen", "cow")
    texts = [f"The {word} was seen at the river in the morning, and nobody knew why." for word in words]
    named = document(*texts, headings=("", "Rivers", "Towns", "Close"))
    unnamed = document(*texts)
    assert matcher.encode([named])[0].level("sections")[0] == ("(opening) – Rivers", "Towns – Close")
    assert matcher.encode([unnamed])[0].level("sections")[0] == ("Part 1", "Part 2")
    single = document(" ".join(texts), headings=("Only",))
    assert matcher.encode([single])[0].level("sections")[0] == ("Only 1", "Only 2")


def test_aligned_passages_are_chunks_of_the_text_and_their_contributions_sum_to_one(pair, match):
    assert sum(alignment.contribution for alignment in match.alignments) == pytest.approx(1.0)
    spans = set(match.passages.row_spans)
    for alignment in match.alignments:
        assert alignment.a.text == pair[0].text[alignment.a.start : alignment.a.end]
        assert alignment.b.text == pair[1].text[alignment.b.start : alignment.b.end]
        assert any((s.start, s.end) == (alignment.a.start, alignment.a.end) for s in spans)


def test_within_a_document_each_chunk_is_aligned_with_the_one_it_attends_to_most(matcher, pair):
    encoding = matcher.encode(pair[:1])[0]
    found = matcher.within(pair[0])
    starts = encoding.chunks.starts
    expected = {
        (starts[i], starts[encoding.attention[i].argmax()]) for i in range(len(starts)) if encoding.section_ids[i] == 0
    }
    assert found.a is found.b
    assert {(x.a.start, x.b.start) for x in found.alignments} == expected
    assert sum(x.contribution for x in found.alignments) == pytest.approx(1.0)
    assert found.score == pytest.approx(max(0, float(encoding.sections[0] @ encoding.sections[1])), abs=1e-5)
    assert found.sections.scores[0, 0] == pytest.approx(1.0, abs=1e-5)


@pytest.mark.parametrize(
    "settings", [{"augmented": False}, {"recurrent": False}, {"contrastive": False}, {"sections": 5}]
)
def test_every_variant_explains_itself(tiny_bert, pair, settings, tmp_path):
    variant = tiny_matcher(tiny_bert, **settings)
    match, within = variant.compare(*pair), variant.within(pair[0])
    assert save(match, tmp_path / "pair.html").is_file() and save(within, tmp_path / "within.html").is_file()
    assert sum(x.contribution for x in within.alignments) == pytest.approx(1.0)
    assert len(match.sections.rows) == (1 if not variant.model.config.augmented else variant.model.config.sections)


def test_a_saved_model_opens_with_longmatch_load_and_ranks_alike(matcher, pair, examples, tmp_path):
    matcher.model.config.threshold = 0.25
    matcher.model.save_pretrained(tmp_path)
    matcher.tokenizer.save_pretrained(tmp_path)
    (tmp_path / "longmatch.json").write_text(json.dumps({"model": "colde"}))
    again = longmatch.load(str(tmp_path))
    assert isinstance(again, ColdeMatcher) and again.threshold == 0.25
    others = list(examples.values())[:3]
    assert [hit.id for hit in again.rank(pair[0], others)] == [hit.id for hit in matcher.rank(pair[0], others)]


def test_a_folder_that_holds_no_model_is_an_error_of_one_sentence(tmp_path):
    with pytest.raises(LongmatchError, match="cannot be opened"):
        ColdeMatcher.load(tmp_path)


def test_other_vectors_of_a_saved_model_can_be_matched(tiny_bert, examples, tmp_path):
    saved = tiny_matcher(tiny_bert)
    saved.model.save_pretrained(tmp_path)
    saved.tokenizer.save_pretrained(tmp_path)
    documents = [examples["coming-back-slowly.md"]]
    (own,) = saved.encode(documents)
    weights = own.chunks.lengths / own.chunks.lengths.sum()
    expected = {
        "colde-sections": own.sections.mean(0),
        "colde-chunks": torch.from_numpy(weights).float() @ own.vectors,
        "colde-unprojected": None,
    }
    for rule, vector in expected.items():
        matcher = longmatch.load(f"{rule}@{tmp_path}")
        matcher.precision = "float32"
        found = matcher.encode(documents)[0].vector
        assert found.shape == (matcher.width,)
        if vector is not None:
            assert torch.allclose(found, torch.nn.functional.normalize(vector, dim=0), atol=1e-5)
        else:
            with torch.no_grad():
                z = torch.nn.functional.normalize(saved.model.projection(found), dim=0)
            assert float(z @ own.vector) > 0.9


def test_shuffled_sections_keep_their_embeddings_and_change_only_the_document(tiny_bert, examples):
    plain = tiny_matcher(tiny_bert, sections=3)
    shuffled = ShuffledSectionsMatcher(plain.model, plain.tokenizer, None, "float32")
    documents = [examples[name] for name in PAIR]
    for a, b in zip(plain.encode(documents), shuffled.encode(documents), strict=True):
        order = list(dict.fromkeys(b.section_ids.tolist()))
        assert sorted(order) == [0, 1, 2]
        assert torch.allclose(a.sections[order], b.sections, atol=1e-5)
        same = order == [0, 1, 2]
        assert torch.allclose(a.vector, b.vector, atol=1e-5) == same


def test_an_undivided_document_is_one_section(tiny_bert, examples):
    plain = tiny_matcher(tiny_bert, sections=3)
    undivided = UndividedMatcher(plain.model, plain.tokenizer, None, "float32")
    documents = [examples[name] for name in PAIR]
    for a, b in zip(plain.encode(documents), undivided.encode(documents), strict=True):
        assert set(b.section_ids.tolist()) == {0} and len(b.sections) == 1
        assert b.chunks.lengths.sum() == a.chunks.lengths.sum() and len(b.chunks) <= len(a.chunks)
        assert torch.allclose(b.sections[0], b.vector, atol=1e-5)
        assert not torch.allclose(a.vector, b.vector, atol=1e-3)
