"""How a model is declared: once, in one place. All that lists, opens, trains or measures models reads this."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True, kw_only=True)
class Model:
    """A model. Addresses are `package.module:attribute`, opened when they are used.

    A model has a `rule`, a `network`, or both; one with a `recipe` can be trained. `NAME@PLACE` opens a rule over the
    backbone at PLACE, or a network from that folder; a folder that `longmatch train` wrote opens as the network, or
    else as the rule, that it was trained to be.
    """

    name: str
    label: str  # for people
    summary: str = ""  # one sentence for those who choose; a model with one is offered by help texts and the page
    rule: str = ""  # address of what makes the matcher with nothing to be trained
    place: Literal["backbone", "model", ""] = "backbone"  # the argument by which a rule takes what stands behind @
    network: str = ""  # address of the class whose `load` opens the folder that training wrote
    recipe: str = ""  # address of how `longmatch train` makes it
    stage: str = ""  # for a model that is trained for another: how the other takes it
    needs: Literal["", "lab", "sst"] = ""  # the extra to install; none where the core is enough
    reads_pairs: bool = False  # has to see both documents, so it re-ranks; others encode each document alone
    calibrated: bool = False  # its score is a probability
    from_scratch: bool = False  # training starts from random weights by default, not from a backbone
    scorer: str = ""  # address of how an evaluation scores it; by default by what kind of matcher it is
    code: tuple[str, ...] = ()  # what its results depend on beside the folders of its classes: paths in the package
    score_label: str = ""  # in tables: how vectors, untrained or of another model, become this model's score
    settings: Mapping[str, str] = field(default_factory=dict)  # in tables: labels of KEY=VALUE, "" for none
    ablations: tuple[str, ...] = ()  # the KEY=VALUE that leave out a part of the method
    studied: tuple[str, ...] = ()  # the settings that its studies vary
