"""Each network against the slow, obvious way to compute it, one document at a time."""

import torch
from torch.nn import functional

from longmatch.lab.baselines.siamese.dssm import trigrams
from longmatch.lab.baselines.siamese.encoder import SentenceLayout
from tests.lab.baselines.siamese.tiny_baselines import tiny_model, tokens_of


def read(model, documents, backbone, with_parts=True):
    texts = SentenceLayout().lay_out(tokens_of(documents, backbone))
    with torch.no_grad():
        return texts, model(texts, with_parts)


@torch.no_grad()
def test_dssm_reads_a_bag_of_damped_counts_of_length_one(three, tiny_bert):
    model = tiny_model("dssm", tiny_bert)
    _, found = read(model, three, tiny_bert)
    for document, vector in zip(three, found.vectors, strict=True):
        texts, _ = read(model, [document], tiny_bert)
        number, _ = trigrams(texts, model.letters, model.letter_offsets, 500)
        bag = functional.normalize(torch.bincount(number, minlength=500).float().log1p(), dim=0)
        hidden = torch.tanh(bag @ model.trigrams.weight + model.bias)
        for layer in model.layers:
            hidden = torch.tanh(layer(hidden))
        assert torch.allclose(vector, hidden, atol=1e-5)


@torch.no_grad()
def test_dssm_s_parts_are_what_the_vector_loses_without_a_sentence(tiny_bert, three):
    model = tiny_model("dssm", tiny_bert)
    texts, found = read(model, three[:1], tiny_bert)
    number, sentence = trigrams(texts, model.letters, model.letter_offsets, 500)
    counts = torch.bincount(number, minlength=500).float()
    weights = functional.normalize(counts.log1p(), dim=0)
    kept = torch.bincount(number[sentence != 3], minlength=500)
    hidden = torch.tanh((weights * kept / counts.clamp(min=1)) @ model.trigrams.weight + model.bias)
    for layer in model.layers:
        hidden = torch.tanh(layer(hidden))
    assert torch.allclose(found.parts[3], found.vectors[0] - hidden, atol=1e-5)


@torch.no_grad()
def test_arc_i_convolves_and_pools_three_times_and_keeps_the_maxima(three, tiny_bert):
    model = tiny_model("arc-i", tiny_bert)
    texts, found = read(model, three, tiny_bert)
    for ids, vector in zip(texts.ids.split(texts.lengths.tolist()), found.vectors, strict=True):
        row = model.words(ids).T[None]
        for number, layer in enumerate(model.layers):
            if number:
                row = functional.max_pool1d(row, 2, ceil_mode=True)
            row = layer(row).relu()
        assert torch.allclose(vector, model.projection(row.amax(2)[0]), atol=1e-5)


@torch.no_grad()
def test_arc_i_s_parts_are_non_zero_only_where_a_maximum_was_found(three, tiny_bert):
    model = tiny_model("arc-i", tiny_bert)
    _, found = read(model, three, tiny_bert)
    parts = (found.parts.abs().sum(1) > 0).sum()
    assert 0 < parts <= 3 * 12  # a document has as many maxima as channels


@torch.no_grad()
def test_han_reads_words_then_sentences(three, tiny_bert):
    model = tiny_model("han", tiny_bert)
    texts, found = read(model, three, tiny_bert)
    vectors, start = [], 0
    for count, (sentences, _) in zip(texts.lengths.tolist(), texts.documents.tolist(), strict=True):
        ids = texts.ids[start : start + count]
        lengths = texts.sentences[len(vectors) : len(vectors) + sentences]
        own, start = [], start + count
        for sentence in ids.split(lengths.tolist()):
            states = model.word_level.recurrence(model.words(sentence))[0]
            own.append(model.word_level.attention(states, torch.tensor([0, len(states)]))[1])
        states = model.sentence_level.recurrence(torch.cat(own))[0]
        weights, total = model.sentence_level.attention(states, torch.tensor([0, len(states)]))
        place = slice(len(vectors), len(vectors) + sentences)
        assert torch.allclose(found.sentences[place], weights, atol=1e-6)
        vectors += [total] * sentences
    document = texts.document_of_sentence
    assert torch.allclose(found.vectors[document], torch.cat(vectors), atol=1e-5)


@torch.no_grad()
def test_smash_tells_a_document_at_three_depths(three, tiny_bert):
    model = tiny_model("smash", tiny_bert)
    texts, found = read(model, three[:1], tiny_bert)
    words = model.word_level(model.words(texts.ids), texts.sentences)
    ends = torch.tensor([0, texts.tokens])
    sentences = model.sentence_level(words.sums, texts.documents[:, 0])
    inner = model.paragraph_sentences(words.sums, texts.paragraphs)
    paragraphs = model.paragraph_level(inner.sums, torch.tensor([len(texts.paragraphs)]))
    wanted = [model.document_words(words.states, ends)[1], sentences.sums, paragraphs.sums]
    assert torch.allclose(found.vectors, torch.cat(wanted, dim=1), atol=1e-6)
    assert len(texts.paragraphs) > 2 and abs(float(found.sentences.sum()) - 1) < 1e-5


def test_reading_without_explanation_gives_the_same_vectors(three, tiny_bert):
    for kind in ("dssm", "arc-i", "han", "smash", "s-long"):
        model = tiny_model(kind, tiny_bert)
        _, plain = read(model, three, tiny_bert, with_parts=False)
        _, with_parts = read(model, three, tiny_bert)
        assert torch.equal(plain.vectors, with_parts.vectors)


def test_embeddings_begin_as_the_backbone_s_or_anew(tiny_bert):
    from transformers import AutoModel

    table = AutoModel.from_pretrained(tiny_bert).get_input_embeddings().weight
    for kind in ("arc-i", "han", "smash"):
        assert torch.equal(tiny_model(kind, tiny_bert).words.table.weight, table)
        anew = tiny_model(kind, tiny_bert, words="new", word_width=7).words.table.weight
        assert anew.shape == (len(table), 7)
