"""Adaptive clustering as it is used once it is trained: two documents in, a soft assignment of their sentences out."""

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

from longmatch.encoders.backbone import Backbone, Vectors
from longmatch.encoders.pretrained import DEFAULT_NAME, checkpoint_errors
from longmatch.lab.papers.sst.network import ClusterConfig, ClusterModel
from longmatch.lab.papers.sst.vectors import first_sentence_vectors
from longmatch.units import Tokens

INSIDE = "backbone"  # the folder of a copy's own backbone
Assignment = npt.NDArray[np.float32]


@dataclass(frozen=True)
class AdaptiveClustering:
    """A trained cluster model, which learns no more (SST section 3.2), and the backbone whose vectors it reads."""

    model: ClusterModel
    backbone: Backbone

    @classmethod
    def load(cls, folder: str | os.PathLike[str], device: str | None = None) -> "AdaptiveClustering":
        """What `longmatch train sst-clusters` left in a folder, or a copy of it that has its backbone inside."""
        logging.set_verbosity_error()
        logging.disable_progress_bar()
        advice = "Name a folder that `longmatch train sst-clusters` made."
        with checkpoint_errors(f"The cluster model {os.fspath(folder)}", advice):
            kind = ClusterConfig.get_config_dict(folder)[0].get("model_type")
            if kind != ClusterConfig.model_type:
                raise ValueError(f"it holds a model of the kind {kind}")
            model: Any = ClusterModel.from_pretrained(folder, dtype=torch.float32)
        inside = Path(folder) / INSIDE
        backbone = Backbone.load(str(inside) if inside.is_dir() else model.config.backbone, device)
        return cls(model.to(backbone.device).eval().requires_grad_(False), backbone)

    def save(self, folder: Path) -> None:
        """A copy that opens wherever it is taken: with the backbone, where that is a folder on this machine."""
        self.model.save_pretrained(folder)
        if self.model.config.backbone not in (None, DEFAULT_NAME) and Path(self.backbone.name).is_dir():
            shutil.copytree(self.backbone.name, folder / INSIDE, ignore=shutil.ignore_patterns("training"))

    def assign(self, a: Tokens, b: Tokens) -> Assignment:
        """B of a pair: (sentences of a and then of b, clusters), of each document the first `max_sentences`.

        The tokens are those of the backbone's tokenizer.
        """
        first, second = self.vectors([a, b])
        return self.assign_vectors([(first, second)])[0]

    def vectors(self, documents: Sequence[Tokens]) -> list[Vectors]:
        """Each document's sentence vectors, which are the same whichever document it is compared with."""
        found = first_sentence_vectors(documents, self.backbone, self.model.config.max_sentences) if documents else ()
        # as training keeps them, so that both see the same clusters
        return [vectors.astype(np.float16).astype(np.float32) for vectors in found]

    @torch.no_grad()
    def assign_vectors(self, pairs: Sequence[tuple[Vectors, Vectors]]) -> list[Assignment]:
        """B of each pair, from its documents' sentence vectors; all pairs at once."""
        if not pairs:
            return []
        sizes = torch.tensor([[len(a), len(b)] for a, b in pairs])
        flat = torch.from_numpy(np.concatenate([side for pair in pairs for side in pair]))
        found: Tensor = self.model(self.model.graph(flat.to(self.model.device), sizes)).cpu()
        clusters = self.model.config.cluster_counts(sizes).tolist()
        parts = found.split(sizes.sum(1).tolist())
        return [part[:, :count].numpy() for part, count in zip(parts, clusters, strict=True)]
