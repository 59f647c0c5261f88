"""Options that several commands share."""

from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from longmatch.distributed.cluster import AUTO
from longmatch.errors import LongmatchError
from longmatch.models.registry import names_of

if TYPE_CHECKING:
    from longmatch.distributed.indexing import RayBackend

MODELS = f"{', '.join(names_of('summary'))}, or the folder of a trained model."

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Model = Annotated[str, typer.Option("--model", "-m", help=MODELS)]
Backbone = Annotated[
    str | None,
    typer.Option(
        help="The encoder of the model: a folder, a Hugging Face id, all-MiniLM-L6-v2, or multilingual.", metavar="NAME"
    ),
]
Ray = Annotated[
    str | None,
    typer.Option(
        "--ray",
        metavar="[ADDRESS]",
        help="Run on a Ray cluster: the one at ADDRESS, else a local one, started if necessary.",
    ),
]
Workers = Annotated[int | None, typer.Option("--workers", min=1, help="Number of workers; by default as many as fit.")]
WorkerCpus = Annotated[float, typer.Option("--worker-cpus", min=0.1, help="CPUs per worker; fractions are allowed.")]
WorkerGpus = Annotated[
    float | None,
    typer.Option("--worker-gpus", min=0.0, help="GPUs per worker, or a fraction; by default one if there are any."),
]


def with_backbone(model: str, backbone: str | None) -> str:
    """The name of a model with another backbone.

    >>> with_backbone("default", None), with_backbone("sdr", "multilingual")
    ('default', 'sdr@multilingual')
    """
    if backbone is not None and "@" in model:
        raise LongmatchError(f"{model} names its backbone already. Leave out --backbone.")
    return model if backbone is None else f"{model}@{backbone}"


class WithRay(TyperCommand):
    """A command whose option --ray takes an optional address."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse as usual, with the address filled in where it is left out."""
        given: list[str] = []
        for word, following in zip(args, [*args[1:], "-"], strict=False):  # shell completion gives none
            given += [word, AUTO] if word == "--ray" and following.startswith("-") else [word]
        return super().parse_args(ctx, given)


def on_ray(address: str, workers: int | None, cpus: float, gpus: float | None) -> "RayBackend":
    """The cluster asked for; a sentence where Ray is not installed."""
    from longmatch.distributed.cluster import ray_module

    ray_module()
    from longmatch.distributed.cluster import WorkerResources
    from longmatch.distributed.indexing import RayBackend

    return RayBackend(address, WorkerResources(cpus, gpus, workers or 0))
