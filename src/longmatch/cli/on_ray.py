"""`--ray [ADDRESS]`: the options that send work to a cluster."""

from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from longmatch.distributed.cluster import AUTO

if TYPE_CHECKING:
    from longmatch.distributed.indexing import RayBackend

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


class WithRay(TyperCommand):
    """A command whose option --ray takes an optional address."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse as usual, with the address filled in where it is left out."""
        bare = [place for place, word in enumerate(args) if word == "--ray" and _ends(args[place + 1 : place + 2])]
        for place in reversed(bare):
            args = [*args[: place + 1], AUTO, *args[place + 1 :]]
        return super().parse_args(ctx, args)


def _ends(following: list[str]) -> bool:
    return not following or following[0].startswith("-")


def on_ray(address: str, workers: int | None, cpus: float, gpus: float | None) -> "RayBackend":
    """The cluster asked for; a sentence where Ray is not installed."""
    from longmatch.distributed.cluster import ray_module

    ray_module()
    from longmatch.distributed.indexing import RayBackend
    from longmatch.distributed.worker_pool import WorkerResources

    return RayBackend(address, WorkerResources(cpus, gpus, workers))
