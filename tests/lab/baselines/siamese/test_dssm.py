"""Letter trigrams from tokens are those of the text."""

import re
from collections import Counter

import pytest
import torch

from longmatch.documents import read_text_string
from longmatch.lab.baselines.siamese.dssm import FACTOR, PRIME, token_letters, trigrams
from longmatch.lab.baselines.siamese.encoder import SentenceLayout
from longmatch.lab.encoders.checkpoint import open_tokenizer
from tests.lab.baselines.siamese.tiny_baselines import tokens_of

BUCKETS = 10**9  # so many that no two share one


def numbers(text):
    """The slow, obvious way: the trigrams of #word#, for every run of letters and digits."""
    words = (f"\0{word}\0" for word in re.findall(r"[^\W_]+", text.lower()))
    codes = (tuple(map(ord, word[i : i + 3])) for word in words for i in range(len(word) - 2))
    return Counter(((a * FACTOR + b) * FACTOR + c) % PRIME % BUCKETS for a, b, c in codes)


def found(documents, backbone):
    texts = SentenceLayout().lay_out(tokens_of(documents, backbone))
    return texts, trigrams(texts, *token_letters(open_tokenizer(str(backbone))), BUCKETS)


@pytest.mark.parametrize("backbone", ["tiny_bert", "tiny_roberta"])
@pytest.mark.parametrize(
    "text", ["Good.", "A good day, isn't it? Good days (and nights) end at 10.30.", "Unforgettable"]
)
def test_trigrams_are_those_of_the_words_between_their_ends(text, backbone, request):
    _, (number, _) = found([read_text_string(text, "a")], request.getfixturevalue(backbone))
    assert Counter(number.tolist()) == numbers(text)


def test_real_documents_have_the_same_trigrams_whatever_the_tokenizer(three, tiny_bert, tiny_roberta):
    plain = [read_text_string(d.text.encode("ascii", "ignore").decode(), d.id) for d in three]
    _, (one, _) = found(plain, tiny_bert)
    _, (other, _) = found(plain, tiny_roberta)
    assert Counter(one.tolist()) == Counter(other.tolist())


def test_every_trigram_knows_its_sentence(tiny_bert):
    sentences = ["The dog ran home.", "A cat sat down.", "Nobody was there."]
    texts, (number, sentence) = found([read_text_string(" ".join(sentences), "a")], tiny_bert)
    assert len(texts.sentences) == 3
    for place, text in enumerate(sentences):
        assert Counter(number[sentence == place].tolist()) == numbers(text)


def test_unknown_tokens_have_no_letters(tiny_bert):
    _, (number, sentence) = found([read_text_string("漢字 漢字.", "a")], tiny_bert)
    assert len(number) == len(sentence) == 0 and number.dtype == torch.long
