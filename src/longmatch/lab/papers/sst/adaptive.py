"""A trained cluster network (SST section 3.2): the soft assignment of the sentences of two documents to clusters."""

import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from transformers.utils import logging

from longmatch.encoders.backbone import Vectors
from longmatch.encoders.pretrained import DEFAULT_NAME, checkpoint_errors, place_of
from longmatch.errors import LongmatchError
from longmatch.lab.encoders.backbone import TorchBackbone
from longmatch.lab.encoders.checkpoint import open_checkpoint, save_checkpoint
from longmatch.lab.papers.sst.network import ClusterConfig, ClusterModel
from longmatch.lab.papers.sst.vectors import first_sentence_vectors
from longmatch.units import Tokens

BACKBONE = "backbone"  # the folder of a copy's backbone
Assignment = npt.NDArray[np.float32]


@dataclass(frozen=True)
class AdaptiveClustering:
    """A trained cluster model, now frozen, and the backbone whose vectors it reads."""

    model: ClusterModel
    backbone: TorchBackbone

    @classmethod
    def load(cls, folder: str | os.PathLike[str], device: str | None = None) -> "AdaptiveClustering":
        """Open a folder written by `longmatch train sst-clusters`, or a copy of it that includes the backbone."""
        logging.set_verbosity_error()
        logging.disable_progress_bar()
        advice = "Name a folder written by `longmatch train sst-clusters`."
        with checkpoint_errors(f"The cluster model {os.fspath(folder)}", advice):
            kind = ClusterConfig.get_config_dict(folder)[0].get("model_type")
            if kind != ClusterConfig.model_type:
                raise ValueError(f"it holds a model of type {kind}")
            model: Any = open_checkpoint(ClusterModel, folder)
        inside = Path(folder) / BACKBONE
        name = str(inside) if inside.is_dir() else str(model.config.backbone or DEFAULT_NAME)
        place = place_of(name)
        if place is None:
            raise LongmatchError(f"{folder} reads with the backbone {name}. Put that into {inside}: it is not fetched.")
        backbone = TorchBackbone.load(place, device)
        return cls(model.to(backbone.device).eval().requires_grad_(False), backbone)

    def save(self, folder: Path) -> None:
        """Write a self-contained copy: it includes the backbone if that is a folder on this machine."""
        save_checkpoint(self.model, folder)
        if self.model.config.backbone not in (None, DEFAULT_NAME) and Path(self.backbone.name).is_dir():
            shutil.copytree(self.backbone.name, folder / BACKBONE, ignore=shutil.ignore_patterns("training"))

    def assign(self, a: Tokens, b: Tokens) -> Assignment:
        """B of a pair: (sentences of a and then of b, clusters), for the first `max_sentences` of each document.

        The tokens must come from the backbone's tokenizer.
        """
        first, second = self.vectors([a, b])
        return self.assign_vectors([(first, second)])[0]

    def vectors(self, documents: Sequence[Tokens]) -> list[Vectors]:
        """The sentence vectors of each document, which do not depend on its partner."""
        vectors = first_sentence_vectors(documents, self.backbone, self.model.config.max_sentences) if documents else ()
        # rounded as the training's stored vectors are, so that both give the same clusters
        return [rows.astype(np.float16).astype(np.float32) for rows in vectors]

    @torch.no_grad()
    def assign_vectors(self, pairs: Sequence[tuple[Vectors, Vectors]]) -> list[Assignment]:
        """B of each pair, from the sentence vectors of its documents; all pairs in one pass."""
        if not pairs:
            return []
        sizes = torch.tensor([[len(a), len(b)] for a, b in pairs])
        flat = torch.from_numpy(np.concatenate([side for pair in pairs for side in pair]))
        assignment: Tensor = self.model(self.model.graph(flat.to(self.model.device), sizes)).cpu()
        clusters = self.model.config.cluster_counts(sizes).tolist()
        parts = assignment.split(sizes.sum(1).tolist())
        return [part[:, :count].numpy() for part, count in zip(parts, clusters, strict=True)]
