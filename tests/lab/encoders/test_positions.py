"""How far a backbone can read at once."""

import pytest
from transformers import AutoModel

from longmatch.lab.encoders.positions import max_positions


@pytest.mark.parametrize("kind", ["tiny_bert", "tiny_roberta"])
def test_places_are_counted_from_where_a_backbone_begins(kind, request):
    model = AutoModel.from_pretrained(str(request.getfixturevalue(kind)))
    assert max_positions(model) == 64


def test_positions_that_are_no_table_have_no_end():
    from transformers import ModernBertConfig, ModernBertModel

    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
    model = ModernBertModel(ModernBertConfig(vocab_size=60, pad_token_id=0, **sizes))
    assert max_positions(model) is None
