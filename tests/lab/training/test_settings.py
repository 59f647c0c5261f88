"""Settings from the command line and from files, into the types they have."""

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Literal

import pytest

from longmatch.errors import LongmatchError
from longmatch.lab.training.settings import TrainingSettings, above_zero, at_least, fill, read_config, read_pairs


@dataclass(frozen=True)
class Own:
    """A model's own settings."""

    backbone: str | None = None
    sections: int = 2
    rule: Literal["linked", "connected"] = "linked"
    margin: float = 1.0
    recurrent: bool = True


def filled(**values):
    return fill(values, [TrainingSettings, Own])


def test_text_from_the_command_line_becomes_the_settings_type():
    shared, own = filled(
        seed="3", learning_rate="2e-5", steps="none", sections="4", recurrent="false", backbone="x", rule="connected"
    )
    assert shared == TrainingSettings(seed=3, learning_rate=2e-5, steps=None)
    assert own == Own("x", 4, "connected", 1.0, False)
    assert (type(shared.seed), type(shared.learning_rate), own.recurrent) == (int, float, False)


def test_values_that_have_their_type_stay():
    assert filled(epochs=2, margin=2, sections=3.0)[0].epochs == 2.0
    assert type(filled(margin=2)[1].margin) is float and type(filled(sections=3.0)[1].sections) is int


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"sections": "two"}, "The setting sections is 'two'; it must be a whole number."),
        ({"sections": 2.5}, "The setting sections is 2.5; it must be a whole number."),
        ({"sections": "2.5"}, "The setting sections is '2.5'; it must be a whole number."),
        ({"sections": True}, "The setting sections is True; it must be a whole number."),
        ({"recurrent": "maybe"}, "The setting recurrent is 'maybe'; it must be true or false."),
        ({"steps": "all"}, "The setting steps is 'all'; it must be a whole number or none."),
        ({"rule": "near"}, "The setting rule is 'near'; it must be linked, connected."),
        ({"backbone": 3}, "The setting backbone is 3; it must be text or none."),
        ({"margin": [1]}, "The setting margin is [1]; it must be a number."),
        ({"learning_rate": "nan"}, "The setting learning_rate is nan; it must be 0 or more."),
        ({"accumulate": 0}, "The setting accumulate is 0; it must be 1 or more."),
        ({"warmup": 3}, "The setting warmup is 3.0; it is a share of the steps, 1 at most."),
    ],
)
def test_a_wrong_value_is_one_sentence(values, sentence):
    with pytest.raises(LongmatchError) as said:
        filled(**values)
    assert str(said.value) == sentence


def test_an_unknown_setting_names_the_nearest():
    with pytest.raises(
        LongmatchError, match=r"There is no setting learning-rate. Did you mean learning_rate or head_learning_rate\?"
    ):
        fill({"learning-rate": 1}, [TrainingSettings, Own])
    with pytest.raises(LongmatchError, match=r"There is no setting section. Did you mean sections\?"):
        filled(section=1)
    with pytest.raises(LongmatchError, match=r"There is no setting zzz. Name one of accumulate, backbone, cache, clip"):
        filled(zzz=1)


def test_a_recipes_defaults_hold_where_nothing_is_said():
    defaults = {"learning_rate": 2e-5, "documents": 100}
    (shared,) = fill({"documents": "8"}, [TrainingSettings], defaults)
    assert (shared.learning_rate, shared.documents, shared.weight_decay) == (2e-5, 8, 0.01)


def test_a_config_file_is_toml_or_json(tmp_path):
    (tmp_path / "a.toml").write_text('seed = 3\nbackbone = "x"\ndata = ["d"]\n')
    (tmp_path / "a.json").write_text('{"seed": 3, "backbone": "x", "data": ["d"]}')
    assert (
        read_config(tmp_path / "a.toml")
        == read_config(tmp_path / "a.json")
        == {
            "seed": 3,
            "backbone": "x",
            "data": ["d"],
        }
    )


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("a.toml", b"seed: 3", "is neither TOML nor JSON"),
        ("a.json", b"[1, 2]", "must hold keys and values"),
        ("a.toml", b"[training]\nseed = 3", "without tables"),
        ("a.toml", b"\xff\xfe", "is neither TOML nor JSON"),
        ("none.toml", None, "cannot be read"),
    ],
)
def test_a_config_file_that_is_none_is_one_sentence(tmp_path, name, content, sentence):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(LongmatchError, match=sentence) as said:
        read_config(tmp_path / name)
    assert "\n" not in str(said.value)


@pytest.mark.parametrize("pairs", [["seed"], ["=3"], ["seed=1", "seed=2"]])
def test_a_setting_that_is_no_key_and_value_is_an_error(pairs):
    with pytest.raises(LongmatchError):
        read_pairs(pairs)


def test_the_least_value_itself_and_what_is_left_open_or_unknown_pass():
    at_least(SimpleNamespace(heads=1, width=None), heads=1, width=2, layers=3)


@pytest.mark.parametrize("value", [0, -1, float("nan")])
def test_less_or_no_number_is_one_sentence(value):
    with pytest.raises(LongmatchError) as said:
        at_least(SimpleNamespace(heads=value), heads=1)
    assert str(said.value) == f"The setting heads is {value}; it must be 1 or more."
    with pytest.raises(LongmatchError) as said:
        above_zero(SimpleNamespace(scale=1e-9, bias=value), "scale", "bias")
    assert str(said.value) == f"The setting bias is {value}; it must be above 0."
